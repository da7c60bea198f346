//! Scheduled faults: what each changes, that it is reported once, and what a process leaves behind.

use super::*;
use crate::mcp::server::settings::{CursorAnswer, Delivery, UnknownSession};
use crate::observe::event::{Cause, CursorFound, ExecutionEnd, FrameKind, Origin};
use crate::world::draw::Span;
use crate::world::fault::{Keep, RecycleTo};

/// A part each second for a minute, on the standalone stream.
fn a_minute_of_parts(change: impl FnOnce(&mut ServerSettings)) -> Setup {
    Setup::server(|server| {
        server.delivery = Delivery::GetStream;
        server.counter_start = 100;
        change(server);
    })
    .tool(|tool| {
        tool.parts = Span::exactly(60);
        tool.interval_s = Span::exactly(Seconds::new(1));
    })
}

fn struck(world: &World, took_effect: bool) -> usize {
    world.count(|event| matches!(event, Event::FaultStruck { took_effect: t, .. } if *t == took_effect))
}

fn shutdown(keep: Keep) -> Fault {
    Fault::ServerShutdown { server: 0, down_s: Seconds::new(5), keep }
}

#[test]
fn a_session_recycled_to_its_client_keeps_its_key_and_nothing_else() {
    let fault = Fault::SessionRecycle { client: 0, to: RecycleTo::Same };
    a_minute_of_parts(|server| server.ahead_cursor = CursorAnswer::Live).fault(10, fault).run(async |world| {
        let client = world.client(0);
        let key = client.initialize().await;
        let mut leg = client.get().await;
        client.call(0, 0).await;
        let (blocks, ended) = leg.within(20).await;
        assert_eq!((blocks.len(), ended), (9, true), "the leg ends cleanly");
        assert_eq!(struck(&world, true), 1);
        assert_eq!(world.when(|event| matches!(event, Event::FaultStruck { .. })), 10.0);
        assert!(world.has(|event| matches!(event, Event::SessionOpened {
                session, incarnation: 1, owner: 0, origin: Origin::Recycled, ..
            } if *session == key)));
        let mut leg = client.resume("109").await;
        assert_eq!(leg.ids().await, (vec![], false), "the call's output has nowhere to go");
        assert!(
            world
                .has(|event| matches!(event, Event::Attached { log: Some(1), next: 0, found: CursorFound::Ahead, .. }))
        );
        until(100.0).await;
        assert_eq!(world.count(|event| matches!(event, Event::Discarded { .. })), 52);
        assert!(world.has(|event| matches!(event, Event::Discarded { part: None, .. })));
        client.call(1, 59).await;
        let (ids, _) = leg.within(5).await;
        assert_eq!(ids[0].id.as_deref(), Some("100"), "the counter has started again");
    });
}

#[test]
fn a_session_recycled_to_another_gives_its_key_to_the_next_client() {
    let fault = Fault::SessionRecycle { client: 0, to: RecycleTo::Other };
    Setup::server(|_| {}).fault(10, fault).run(async |world| {
        let (first, second) = (world.client(0), world.client(1));
        let key = first.initialize().await;
        until(11.0).await;
        assert_eq!(first.get().await.status, 404);
        assert_ne!(first.initialize().await, key, "never its former owner");
        assert_eq!(second.initialize().await, key);
        assert!(world.has(|event| matches!(event, Event::SessionOpened { owner: 1, origin: Origin::KeyReused, .. })));
        assert_ne!(world.client(2).initialize().await, key);
    });
}

#[test]
fn a_counter_wrap_begins_another_life_and_the_leg_goes_on_in_it() {
    a_minute_of_parts(|server| server.ahead_cursor = CursorAnswer::Reject)
        .fault(10, Fault::CounterWrap { client: 0 })
        .run(async |world| {
            let client = world.client(0);
            client.initialize().await;
            let mut leg = client.get().await;
            until(0.5).await;
            client.call(0, 0).await;
            let (blocks, ended) = leg.within(12).await;
            let ids: Vec<_> = blocks.iter().filter_map(|block| block.id.as_deref()).collect();
            assert_eq!(ids[8..], ["108", "100", "101"]);
            assert!(!ended);
            assert!(world.has(|event| matches!(event, Event::LogClosed { log: 0, cause: Cause::CounterWrap })));
            assert!(world.has(|event| matches!(event, Event::LogOpened { log: 1, incarnation: 0, stream: 0 })));
            assert!(world.has(|event| matches!(
                event,
                Event::Rebased { sent: 9, log: 1, next: 0, cause: Cause::CounterWrap, .. }
            )));
            assert_eq!(client.resume("109").await.status, 400, "its event is gone");
            assert_eq!(client.resume("100").await.ids().await.0[0], "101");
        });
}

#[test]
fn a_truncated_buffer_keeps_its_newest_events() {
    let fault = Fault::BufferTruncate { client: 0, keep_events: 2 };
    a_minute_of_parts(|server| server.purged_cursor = CursorAnswer::Oldest).fault(10, fault.clone()).run(
        async |world| {
            let client = world.client(0);
            client.initialize().await;
            until(0.5).await;
            client.call(0, 0).await;
            until(10.1).await;
            assert!(
                world.has(|event| matches!(event, Event::Evicted { log: 0, through: 6, cause: Cause::BufferTruncate }))
            );
            assert_eq!(struck(&world, true), 1);
            let (ids, _) = client.resume("100").await.ids().await;
            assert_eq!(ids[..2], ["107", "108"]);
            assert!(world.has(|event| matches!(event, Event::Attached { next: 7, found: CursorFound::Purged, .. })));
        },
    );
    Setup::server(|_| {}).fault(10, fault).run(async |world| {
        world.client(0).initialize().await;
        until(11.0).await;
        assert_eq!((struck(&world, true), struck(&world, false)), (0, 1), "nothing was there to drop");
    });
}

#[test]
fn a_fault_without_a_session_takes_no_effect() {
    Setup::server(|_| {})
        .fault(1, Fault::CounterWrap { client: 0 })
        .fault(2, Fault::SessionRecycle { client: 0, to: RecycleTo::Same })
        .fault(3, Fault::BufferTruncate { client: 0, keep_events: 0 })
        .run(async |world| {
            until(4.0).await;
            assert_eq!((struck(&world, true), struck(&world, false)), (0, 3));
        });
}

#[test]
fn a_fleet_reports_each_fault_once_where_the_session_is() {
    Setup::server(|_| {})
        .fault(10, Fault::CounterWrap { client: 0 })
        .fault(20, Fault::CounterWrap { client: 1 })
        .fault(30, Fault::ServerShutdown { server: 1, down_s: Seconds::new(1), keep: Keep::default() })
        .run_fleet(3, async |worlds| {
            let keys = [worlds[2].client(0).initialize().await, worlds[0].client(7).initialize().await];
            until(40.0).await;
            let world = &worlds[0];
            assert_ne!(keys[0], keys[1]);
            assert_eq!((struck(world, true), struck(world, false)), (2, 1));
            assert!(world.has(|event| matches!(event, Event::LogClosed { log: 0, cause: Cause::CounterWrap })));
            assert!(!world.has(|event| matches!(event, Event::LogClosed { log: 1, .. })));
            assert_eq!(world.count(|event| matches!(event, Event::FaultOver { .. })), 1);
        });
}

#[test]
fn a_stopped_process_breaks_connections_kills_calls_and_comes_back() {
    a_minute_of_parts(|_| {}).fault(10, shutdown(Keep::default())).run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        let mut leg = client.get().await;
        client.call(0, 0).await;
        let (_, ended) = leg.within(12).await;
        assert!(ended);
        assert!(world.pipe.dial().is_none(), "connections are refused while it is down");
        until(16.0).await;
        assert!(world.has(|event| matches!(event, Event::SessionClosed { cause: Cause::ServerShutdown, .. })));
        assert!(world.has(|event| matches!(event, Event::ExecutionEnded { how: ExecutionEnd::Killed, .. })));
        assert_eq!(world.when(|event| matches!(event, Event::ExecutionEnded { .. })), 10.0);
        assert_eq!(world.when(|event| matches!(event, Event::Detached { .. })), 10.0);
        assert_eq!(world.when(|event| matches!(event, Event::FaultOver { .. })), 15.0);
        assert_eq!(client.get().await.status, 404, "its sessions are gone");
        let appended = |event: &Event| matches!(event, Event::Appended { kind: FrameKind::Part, .. });
        let parts = world.count(appended);
        until(100.0).await;
        assert_eq!(world.count(appended), parts, "a killed call sends nothing more");
    });
}

#[test]
fn what_a_process_leaves_behind_decides_how_a_cursor_is_judged() {
    struct Case {
        keep: (bool, bool),
        /// The newest id of the first life, 108, and an older one, 105: how they are judged and what is replayed.
        newest: (CursorFound, usize),
        older: (CursorFound, usize),
        /// The first id after the restart.
        next_id: &'static str,
    }
    let cases = [
        Case { keep: (true, true), newest: (CursorFound::Known, 0), older: (CursorFound::Known, 3), next_id: "109" },
        Case { keep: (false, true), newest: (CursorFound::Known, 0), older: (CursorFound::Purged, 0), next_id: "109" },
        Case { keep: (true, false), newest: (CursorFound::Known, 0), older: (CursorFound::Known, 3), next_id: "100" },
        Case { keep: (false, false), newest: (CursorFound::Ahead, 0), older: (CursorFound::Ahead, 0), next_id: "100" },
    ];
    for case in cases {
        let (store, counters) = case.keep;
        let keep = Keep { sessions: true, store, counters };
        a_minute_of_parts(|_| {}).fault(10, shutdown(keep)).run(async |world| {
            let client = world.client(0);
            client.initialize().await;
            until(0.5).await;
            client.call(0, 0).await;
            until(16.0).await;
            let name = format!("store {store}, counters {counters}");
            assert!(!world.has(|event| matches!(event, Event::SessionClosed { .. })), "{name}");
            let found = || {
                world.events().into_iter().rev().find_map(|event| match event {
                    Event::Attached { found, .. } => Some(found),
                    _ => None,
                })
            };
            let mut leg = client.resume("108").await;
            assert_eq!((found(), leg.ids().await.0.len()), (Some(case.newest.0), case.newest.1), "{name}");
            let mut leg = client.resume("105").await;
            assert_eq!((found(), leg.ids().await.0.len()), (Some(case.older.0), case.older.1), "{name}");
            client.call(1, 59).await;
            let block = leg.block().await.expect("a part");
            assert_eq!(block.id.as_deref(), Some(case.next_id), "{name}");
            let rebased = world
                .has(|event| matches!(event, Event::Rebased { log: 1, next: 0, cause: Cause::ServerShutdown, .. }));
            assert_eq!(rebased, store && !counters, "{name}: the leg goes on in another life");
            let closed = world.has(|event| matches!(event, Event::LogClosed { log: 0, .. }));
            assert_eq!(closed, !store && !counters, "{name}");
            let evicted =
                world.has(|event| matches!(event, Event::Evicted { cause: Cause::ServerShutdown, through: 8, .. }));
            assert_eq!(evicted, !store && counters, "{name}");
        });
    }
}

#[test]
fn a_leg_of_a_kept_session_ends_because_the_server_stopped() {
    let keep = Keep { sessions: true, store: true, counters: true };
    Setup::server(|_| {}).fault(10, shutdown(keep)).run(async |world| {
        let client = world.client(0);
        client.initialize().await;
        let mut leg = client.get().await;
        assert!(leg.within(11).await.1);
        let stopped = |event: &Event| matches!(event, Event::Detached { why, .. } if why == "server-stopped");
        assert_eq!(world.when(stopped), 10.0);
        until(16.0).await;
        assert_eq!(client.get().await.status, 200);
    });
}

#[test]
fn a_process_that_is_down_cannot_be_stopped() {
    Setup::server(|_| {}).fault(10, shutdown(Keep::default())).fault(12, shutdown(Keep::default())).run(
        async |world| {
            until(30.0).await;
            assert_eq!((struck(&world, true), struck(&world, false)), (1, 1));
            assert_eq!(world.count(|event| matches!(event, Event::FaultOver { .. })), 1);
        },
    );
}

#[test]
fn a_fault_strikes_a_session_whose_process_is_down() {
    let keep = Keep { sessions: true, store: true, counters: true };
    let recycle = Fault::SessionRecycle { client: 0, to: RecycleTo::Same };
    Setup::server(|server| server.unknown_session = UnknownSession::NotFound)
        .fault(10, shutdown(keep))
        .fault(12, recycle)
        .run(async |world| {
            let client = world.client(0);
            client.initialize().await;
            until(16.0).await;
            assert_eq!(struck(&world, true), 2);
            assert_eq!(client.get().await.status, 200);
        });
}

#[test]
fn a_process_that_is_down_reaps_no_sessions() {
    let keep = Keep { sessions: true, store: true, counters: true };
    Setup::server(|server| server.session_idle_s = Some(Seconds::new(2))).fault(10, shutdown(keep)).run(
        async |world| {
            let client = world.client(0);
            client.initialize().await;
            let _leg = client.get().await;
            until(30.0).await;
            let reaped = |event: &Event| matches!(event, Event::SessionClosed { .. });
            assert!((15.0..=16.0).contains(&world.when(reaped)));
        },
    );
}
