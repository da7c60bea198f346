//! Session keys, unknown sessions, and idle sessions.

use super::*;
use crate::mcp::server::settings::{Churn, UnknownSession};
use crate::observe::event::{Cause, Origin};
use crate::world::draw::Span;

fn closed(cause: Cause) -> impl Fn(&Event) -> bool {
    move |event| matches!(event, Event::SessionClosed { cause: c, .. } if *c == cause)
}

fn idle_after_10_s(change: impl FnOnce(&mut ServerSettings)) -> Setup {
    Setup::server(|server| {
        server.session_idle_s = Some(Seconds::new(10));
        change(server);
    })
    .tool(|tool| {
        tool.parts = Span::exactly(1);
        tool.interval_s = Span::exactly(Seconds::new(20));
    })
}

#[test]
fn every_session_has_a_key_of_its_own_in_hexadecimal() {
    Setup::default().run(async |world| {
        let keys = [world.client(0).initialize().await, world.client(1).initialize().await];
        assert_ne!(keys[0], keys[1]);
        for key in &keys {
            assert_eq!(key.len(), 32);
            assert!(key.bytes().all(|byte| byte.is_ascii_hexdigit()));
        }
        assert!(world.has(|event| matches!(event, Event::SessionOpened {
            server: 0, session, incarnation: 0, owner: 0, origin: Origin::Initialized
        } if *session == keys[0])));
    });
}

#[test]
fn an_unknown_session_is_recreated_where_the_settings_say_so() {
    Setup::server(|server| server.unknown_session = UnknownSession::Recreate).run(async |world| {
        let client = world.client(5);
        client.key.replace(Some("of-another-life".into()));
        assert_eq!(client.get().await.status, 200);
        assert_eq!(client.post(&message::list_tools(1)).await.status, 200);
        assert_eq!(
            world.count(|event| matches!(event, Event::SessionOpened {
            session, owner: 5, origin: Origin::Recreated, ..
        } if session == "of-another-life")),
            1
        );
    });
}

#[test]
fn delete_ends_the_session_and_its_legs() {
    Setup::server(|_| {}).run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        let mut leg = client.get().await;
        assert_eq!(client.send(client.request("DELETE"), "").await.status, 200);
        assert_eq!(leg.ids().await, (vec![], true));
        assert!(world.has(closed(Cause::Deleted)));
        assert!(world.has(|event| matches!(event, Event::LogClosed { log: 0, cause: Cause::Deleted })));
        assert!(world.has(|event| matches!(event, Event::Detached { why, .. } if why == "log-closed")));
        assert_eq!(client.send(client.request("DELETE"), "").await.status, 404);
    });
}

#[test]
fn an_idle_session_is_reaped_on_the_second() {
    idle_after_10_s(|_| {}).run(async |world| {
        until(1.5).await;
        let client = world.client(0);
        client.initialize().await;
        until(5.0).await;
        client.post(&message::list_tools(1)).await;
        until(14.9).await;
        assert!(!world.has(closed(Cause::SessionIdle)));
        until(20.0).await;
        assert_eq!(world.when(closed(Cause::SessionIdle)), 15.0);
        assert_eq!(client.get().await.status, 404);
    });
}

#[test]
fn an_attached_leg_keeps_its_session_from_being_idle() {
    idle_after_10_s(|_| {}).run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        let leg = client.get().await;
        until(30.0).await;
        assert!(!world.has(closed(Cause::SessionIdle)));
        drop(leg);
        until(60.0).await;
        assert_eq!(world.when(closed(Cause::SessionIdle)), 40.0);
    });
}

#[test]
fn a_call_in_flight_keeps_its_session_alive_where_the_settings_say_so() {
    for (keeps, reaped_at, discarded) in [(true, 50.0, 0), (false, 10.0, 2)] {
        idle_after_10_s(|server| server.in_flight_keeps_alive = keeps).run(async |world| {
            let client = world.client(0);
            client.initialize().await;
            drop(client.call(0, 0).await);
            until(100.0).await;
            assert_eq!(world.when(closed(Cause::SessionIdle)), reaped_at);
            assert_eq!(world.count(|event| matches!(event, Event::Discarded { .. })), discarded);
            assert!(world.has(|event| matches!(event, Event::ExecutionEnded { .. })));
        });
    }
}

#[test]
fn churn_keeps_its_grid_whenever_the_session_is_opened() {
    let bursts_at = |opened_at: f64| {
        let instants = RefCell::new(Vec::new());
        Setup::server(|server| {
            server.churn = Some(Churn {
                interval_s: Span::new(Seconds::new(1), Seconds::new(9)).expect("a range"),
                burst_events: Span::new(1, 5).expect("a range"),
                quiet_every_bursts: 3,
                quiet_s: Span::exactly(Seconds::new(5)),
            });
        })
        .run(async |world| {
            until(opened_at).await;
            world.client(0).initialize().await;
            until(200.0).await;
            let log = world.log.borrow();
            instants.replace(
                log.0
                    .iter()
                    .filter(|(at, _)| at.as_secs_f64() > 50.0)
                    .filter_map(|(at, event)| match event {
                        Event::Appended { first, last, .. } => Some((*at, last - first)),
                        _ => None,
                    })
                    .collect(),
            );
        });
        instants.into_inner()
    };
    assert!(bursts_at(0.0).len() > 10);
    assert_eq!(bursts_at(0.0), bursts_at(49.0));
}
