//! Opening, ending and losing sessions.

use super::*;
use crate::mcp::client::settings::OnSessionLost;

fn in_first(seen: &Seen) -> bool {
    seen.session.as_deref() == Some("session-1")
}

/// Calls after 10, 20, … seconds; everything in the first session is answered 404 from the second call on, but what
/// the first call's stream was sent by then.
fn lost_under_two_calls(setup: Setup) -> Told {
    let setup = setup.with(|settings| settings.call_interval_s = seconds((10, 10))).until(29);
    let mut calls = 0;
    setup.run(move |seen| {
        calls += u32::from(is_call(seen));
        match (calls, is_call(seen)) {
            (1, true) => Some(Reply::Stream(vec![Piece::Text(seen.part("1/0", 0))], End::Open)),
            (2.., _) if in_first(seen) => Some(Reply::Status(404)),
            (_, true) => Reply::says(format!("{}{}", seen.part("1/0", 1), seen.response("2/0")), End::Clean),
            _ => None,
        }
    })
}

#[test]
fn a_session_is_opened_as_the_revision_says() {
    let told = Setup::new().until(5).run(|_| None);
    let mut order: Vec<_> =
        told.seen.iter().map(|seen| (seen.method.as_str(), seen.rpc(), seen.session.as_deref())).collect();
    // The SDK asks for the stream and lists the tools at once, in an order that it draws.
    order[2..].sort();
    assert_eq!(
        order,
        [
            ("POST", "initialize", None),
            ("POST", "notifications/initialized", Some("session-1")),
            ("GET", "", Some("session-1")),
            ("POST", "tools/list", Some("session-1")),
        ]
    );
    assert_eq!(told.posted("initialize")[0].body["params"]["protocolVersion"], "2025-11-25");
}

#[test]
fn connecting_is_tried_until_it_succeeds() {
    let mut attempts = 0;
    let told = Setup::new().until(30).run(move |seen| {
        attempts += u32::from(seen.rpc() == "initialize");
        (seen.rpc() == "initialize" && attempts <= 3).then_some(Reply::Status(503))
    });
    let at: Vec<_> = told.posted("initialize").iter().map(|seen| seen.at.as_secs_f64().round()).collect();
    assert_eq!(at, [0.0, 1.0, 3.0, 7.0]);
    assert_eq!(told.gets().len(), 1);
}

#[test]
fn a_session_ends_with_delete_after_its_time_and_not_under_a_call() {
    let setup = Setup::new()
        .with(|settings| {
            settings.call_interval_s = seconds((20, 20));
            settings.call_timeout_s = Seconds::new(15);
            settings.session_duration_s = Some(seconds((30, 30)));
        })
        .until(50);
    // The first call runs from 20 s into its timeout at 35 s.
    let told = setup.run(|seen| is_call(seen).then(|| Reply::Stream(Vec::new(), End::Open)));
    let deleted = told.seen.iter().find(|seen| seen.method == "DELETE").expect("the session is ended");
    assert_eq!(deleted.at.as_secs_f64().round(), 35.0);
    assert_eq!(deleted.session.as_deref(), Some("session-1"));
    assert_eq!(told.purposes().iter().filter(|purpose| **purpose == Purpose::Delete).count(), 1);
    let call = told.posted("tools/call")[1];
    assert_eq!((call.session.as_deref(), call.at.as_secs_f64().round()), (Some("session-2"), 40.0));
    assert!(told.losses().is_empty());
}

#[test]
fn a_lost_session_is_declared_once_and_every_call_is_sent_again_from_its_checkpoint() {
    let told = lost_under_two_calls(Setup::new());
    assert_eq!(told.losses(), [(DetectedBy::NotFound, 2)]);
    assert_eq!(told.posted("initialize").len(), 2);
    // The application sends the first call again, the SDK the second, in either order.
    let mut replays = told.replays();
    replays.sort();
    assert_eq!(replays, [(0, 1, 1), (1, 0, 0)]);
    let mut reports = told.reports();
    reports.sort_by_key(|report| format!("{report:?}"));
    assert_eq!(reports, [success(&[0xa0, 0xa1]), success(&[0xa1])]);
}

#[test]
fn a_restart_is_over_when_every_call_has_been_sent_again() {
    let told = lost_under_two_calls(Setup::new());
    let restored = told.pick(|event| match event {
        Event::SessionRestored { session, requests, .. } => Some((session.clone(), *requests)),
        _ => None,
    });
    let [(session, requests)] = &restored[..] else { panic!("{restored:?}") };
    assert_eq!(session, "session-2");
    // `initialize`, `notifications/initialized` and the two calls; the GET is before them or after them.
    assert!((4..=5).contains(requests), "{requests}");
}

#[test]
fn where_calls_are_not_to_be_sent_again_they_fail_in_the_sdk_s_words() {
    let told = lost_under_two_calls(Setup::new().with(|settings| settings.on_session_lost = OnSessionLost::Fail));
    let failed = CallReport::Error {
        reason: "streamable HTTP session was re-initialized before the response arrived".to_owned(),
    };
    assert!(told.reports().contains(&failed), "{:?}", told.reports());
    // The SDK sends the other one again by itself: its request was never taken.
    assert_eq!(told.replays(), [(1, 0, 0)]);
}

#[test]
fn where_the_sdk_must_not_initialize_again_the_application_connects_anew() {
    let told = lost_under_two_calls(Setup::new().with(|settings| settings.rmcp.reinit_on_expired_session = false));
    assert_eq!(told.losses(), [(DetectedBy::NotFound, 2)]);
    assert_eq!(told.posted("initialize").len(), 2);
    let calls: Vec<_> = told.posted("tools/call").iter().map(|seen| seen.session.as_deref().unwrap()).collect();
    assert_eq!(calls[..2], ["session-1", "session-1"]);
    assert!(calls[2..].iter().all(|session| *session == "session-2"), "{calls:?}");
    assert_eq!(told.reports().len(), 2, "{:?}", told.reports());
    assert!(told.reports().iter().all(|report| matches!(report, CallReport::Success { .. })), "{:?}", told.reports());
}

#[test]
fn a_cancellation_that_is_answered_404_says_nothing_of_the_session() {
    let told = Setup::new().run(|seen| match seen.rpc() {
        "tools/call" => Some(Reply::Stream(Vec::new(), End::Open)),
        "notifications/cancelled" => Some(Reply::Status(404)),
        _ => None,
    });
    assert_eq!(told.posted("notifications/cancelled").len(), 1);
    assert!(told.losses().is_empty());
}

#[test]
fn in_revision_2026_07_28_there_are_no_sessions() {
    use crate::mcp::sdk::settings::RmcpProtocol;
    let setup = Setup::new().with(|settings| settings.rmcp.protocol = RmcpProtocol::Stateless);
    let told = setup.run(|seen| match seen.rpc() {
        "server/discover" => {
            let id = &seen.body["id"];
            Some(Reply::Json(format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{{}},"ttlMs":0,"cacheScope":"private"}}}}"#
            )))
        }
        "tools/call" => Reply::says(format!("{}{}", seen.part("1", 0), seen.response("2")), End::Clean),
        _ => None,
    });
    let purposes = [Purpose::Initialize, Purpose::ListTools, Purpose::Call { call: 0 }];
    assert_eq!(told.purposes(), purposes);
    assert!(told.seen.iter().all(|seen| seen.session.is_none()));
    assert_eq!(told.reports(), [success(&[0xa0])]);
}
