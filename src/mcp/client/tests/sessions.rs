//! Opening, ending and replacing sessions.

use super::*;
use crate::observe::event::DetectedBy;

#[test]
fn a_session_is_opened_as_the_revision_says() {
    let told = Setup::arm(Arm::Trusting).until(5).run(|_| None);
    let order: Vec<_> =
        told.seen.iter().map(|seen| (seen.method.as_str(), seen.rpc(), seen.session.as_deref())).collect();
    assert_eq!(
        order,
        [
            ("POST", "initialize", None),
            ("POST", "notifications/initialized", Some("session-1")),
            ("POST", "tools/list", Some("session-1")),
            ("GET", "", Some("session-1")),
        ]
    );
}

#[test]
fn opening_is_tried_until_it_succeeds() {
    let mut attempts = 0;
    let told = Setup::arm(Arm::Trusting).until(30).run(move |seen| {
        attempts += u32::from(seen.rpc() == "initialize");
        (seen.rpc() == "initialize" && attempts <= 3).then_some(Reply::Status(503))
    });
    assert_eq!(told.posted("initialize").len(), 4);
    assert_eq!(told.gets().count(), 1);
}

#[test]
fn a_session_ends_with_delete_after_its_time_and_not_under_a_call() {
    let setup = Setup::arm(Arm::Trusting)
        .with(|settings| {
            settings.call_interval_s = seconds((20, 20));
            settings.call_timeout_s = Seconds::new(15);
            settings.session_duration_s = Some(seconds((30, 30)));
        })
        .until(50);
    // The first call runs from 20 s into its timeout at 35 s.
    let told = setup.run(|_| None);
    let deleted = told.seen.iter().find(|seen| seen.method == "DELETE").expect("the session is ended");
    assert_eq!(deleted.at.as_secs_f64().round(), 35.0);
    assert_eq!(deleted.session.as_deref(), Some("session-1"));
    let call = told.posted("tools/call")[1];
    assert_eq!((call.session.as_deref(), call.at.as_secs_f64().round()), (Some("session-2"), 40.0));
    assert!(told.losses().is_empty());
}

#[test]
fn a_lost_session_is_declared_once_however_many_streams_notice() {
    let setup = Setup::arm(Arm::Trusting).with(|settings| settings.call_interval_s = seconds((10, 10))).until(60);
    // Everything in the first session is answered 404 from the second call on.
    let mut calls = 0;
    let told = setup.run(move |seen| {
        calls += u32::from(seen.rpc() == "tools/call");
        let first = seen.session.as_deref() == Some("session-1");
        (calls >= 2 && first).then_some(Reply::Status(404))
    });
    assert_eq!(told.losses(), [(DetectedBy::NotFound, 2)]);
    assert_eq!(told.posted("initialize").len(), 2);
}

#[test]
fn a_restart_is_over_when_every_call_has_been_sent_again() {
    let mut gone = false;
    let told = Setup::arm(Arm::Trusting).run(move |seen| {
        let first = seen.session.as_deref() == Some("session-1");
        gone |= seen.rpc() == "tools/call";
        (gone && first).then_some(Reply::Status(404))
    });
    let restored: Vec<_> = told
        .events
        .iter()
        .filter_map(|(_, event)| match event {
            Event::SessionRestored { requests, session, .. } => Some((*requests, session.as_str())),
            _ => None,
        })
        .collect();
    // initialize, initialized, tools/list, and the GET and the call in either order.
    assert_eq!(restored, [(5, "session-2")]);
}

/// A session that is about to be ended is a session: the end of a restart is not put off until the next one.
#[test]
fn a_restart_is_over_even_if_the_new_session_is_about_to_end() {
    let setup = Setup::arm(Arm::Trusting)
        .with(|settings| {
            settings.call_interval_s = seconds((20, 20));
            settings.call_timeout_s = Seconds::new(15);
            settings.session_duration_s = Some(seconds((21, 21)));
        })
        .until(34);
    // The first session is lost under the call of second 20; the next one is asked to end a second later.
    let mut gone = false;
    let told = setup.run(move |seen| {
        let first = seen.session.as_deref() == Some("session-1");
        gone |= seen.rpc() == "tools/call";
        (gone && first).then_some(Reply::Status(404))
    });
    let restored = told.events.iter().find(|(_, event)| matches!(event, Event::SessionRestored { .. }));
    assert!(restored.is_some_and(|(at, _)| at.as_secs_f64() < 22.0), "{restored:?}");
}
