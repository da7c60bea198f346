//! Tool calls: where their parts come from, how they end, and how they are sent again.

use super::peer::{End, Piece};
use super::*;
use crate::observe::event::DetectedBy;

fn success(checks: &[u32]) -> CallReport {
    CallReport::Success { checks: checks.to_vec() }
}

fn failure(reason: &str) -> CallReport {
    CallReport::Error { reason: reason.to_owned() }
}

/// Answers the calls one after the other with what `replies` make of them.
fn calls(replies: Vec<fn(&Seen) -> Reply>) -> impl FnMut(&Seen) -> Option<Reply> {
    let mut replies = replies.into_iter();
    move |seen| if seen.rpc() == "tools/call" { replies.next().map(|reply| reply(seen)) } else { None }
}

#[test]
fn parts_and_response_on_the_posts_own_stream() {
    let told = Setup::arm(Arm::Trusting).run(calls(vec![|call| {
        let text = event("1", "") + &call.part("2", 0) + &call.part("3", 1) + &call.response("4");
        Reply::Stream(vec![Piece::Text(text)], End::Clean)
    }]));
    assert_eq!(told.reports(), [success(&[0xa0, 0xa1])]);
}

#[test]
fn a_response_as_a_single_message() {
    let told = Setup::arm(Arm::Trusting).run(calls(vec![|call| {
        let data = call.response("1");
        Reply::Json(data.lines().find_map(|line| line.strip_prefix("data: ")).unwrap().to_owned())
    }]));
    assert_eq!(told.reports(), [success(&[])]);
}

#[test]
fn an_error_response_fails_the_call_with_its_words() {
    let told = Setup::arm(Arm::Trusting).run(calls(vec![|call| {
        let id = &call.body["id"];
        Reply::Json(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32602,"message":"no such tool"}}}}"#))
    }]));
    assert_eq!(told.reports(), [failure("no such tool")]);
}

#[test]
fn what_each_status_does_to_a_call() {
    for (status, reason) in [(400, "400"), (406, "406"), (500, "500"), (503, "503")] {
        let told = Setup::arm(Arm::Trusting)
            .run(move |seen: &Seen| (seen.rpc() == "tools/call").then_some(Reply::Status(status)));
        assert_eq!(told.reports(), [failure(&format!("tools/call was answered {reason}"))]);
    }
}

#[test]
fn parts_and_response_on_the_get_stream_after_202() {
    let mut call = None;
    // The GET stream breaks every 20 s; the leg that begins after the call has been posted carries its outcome.
    let told = Setup::arm(Arm::Trusting).run(move |seen| match (seen.method.as_str(), seen.rpc()) {
        ("POST", "tools/call") => {
            call = Some(seen.clone());
            None
        }
        ("GET", _) => {
            let mut pieces = Vec::new();
            if let Some(call) = call.take() {
                pieces.push(Piece::Text(call.part("1", 0) + &call.response("2")));
            }
            pieces.push(Piece::Wait(Duration::from_secs(20)));
            Some(Reply::Stream(pieces, End::Broken))
        }
        _ => None,
    });
    assert_eq!(told.reports(), [success(&[0xa0])]);
}

#[test]
fn a_posts_stream_that_breaks_is_resumed_by_a_get_with_its_cursor() {
    let mut call: Option<Seen> = None;
    let told = Setup::arm(Arm::Validating).run(move |seen| match (seen.rpc(), seen.cursor.as_deref()) {
        ("tools/call", _) => {
            call = Some(seen.clone());
            Reply::says(event("1", "") + &seen.part("2", 0), End::Broken)
        }
        ("", Some("2")) => {
            let call = call.as_ref().unwrap();
            Reply::says(call.part("3", 1) + &call.response("4"), End::Clean)
        }
        _ => None,
    });
    assert_eq!(told.reports(), [success(&[0xa0, 0xa1])]);
    assert_eq!(told.cursors(), [None, Some("2")]);
    assert!(told.losses().is_empty());
}

#[test]
fn a_posts_stream_that_ends_without_an_id_cannot_be_resumed_and_says_so() {
    let told = Setup::arm(Arm::Trusting)
        .run(calls(vec![|_| Reply::Stream(vec![Piece::Text(": hello\n\n".to_owned())], End::Clean)]));
    assert_eq!(told.reports(), [failure("the response stream ended before its response and gave no event id")]);
}

#[test]
fn a_call_that_nobody_answers_times_out_and_is_cancelled() {
    let told = Setup::arm(Arm::Trusting).run(|_| None);
    assert_eq!(told.reports(), [CallReport::TimedOut]);
    let call = &told.posted("tools/call")[0];
    let cancelled = &told.posted("notifications/cancelled")[0];
    assert_eq!(cancelled.body["params"]["requestId"], call.body["id"]);
    assert_eq!((cancelled.at - call.at).as_secs(), 50);
}

/// The first attempt brings one part, then the session is gone; the second must ask for what is missing only.
fn lost_after_one_part(idempotent: bool, checkpointable: bool) -> impl FnMut(&Seen) -> Option<Reply> {
    let mut attempts = 0;
    move |seen| match seen.rpc() {
        "tools/list" => {
            let id = serde_json::from_value(seen.body["id"].clone()).unwrap();
            let listed = crate::mcp::wire::message::list_tools_result(&id, idempotent, checkpointable);
            Some(Reply::Json(listed.to_string()))
        }
        "tools/call" => {
            attempts += 1;
            match attempts {
                1 => Reply::says(event("8411", "") + &seen.part("8412", 0), End::Broken),
                _ => {
                    let from = seen.body["params"]["arguments"]["from_part"].as_u64().unwrap();
                    let parts: String =
                        (from as u32..2).map(|index| seen.part(&format!("{}", 2 + index), index)).collect();
                    Reply::says(event("1", "") + &parts + &seen.response("9"), End::Clean)
                }
            }
        }
        "" if seen.cursor.as_deref() == Some("8412") => Reply::says(notification("17"), End::Open),
        _ => None,
    }
}

#[test]
fn a_replayed_call_continues_from_its_checkpoint() {
    let told = Setup::arm(Arm::Validating).run(lost_after_one_part(true, true));
    assert_eq!(told.losses(), [(DetectedBy::Regression, 1)]);
    assert_eq!(told.reports(), [success(&[0xa0, 0xa1])]);
    let calls = told.posted("tools/call");
    assert_eq!(calls[1].body["params"]["arguments"]["from_part"], 1);
    assert_eq!(calls[1].session.as_deref(), Some("session-2"));
    assert_ne!(calls[0].body["id"], calls[1].body["id"]);
    assert!(told.posted("tools/call").iter().all(|call| call.cursor.is_none()), "a replay knows no SSE cursor");
}

#[test]
fn a_tool_without_checkpoints_starts_again_and_its_parts_are_not_mixed() {
    let told = Setup::arm(Arm::Validating).run(lost_after_one_part(true, false));
    assert_eq!(told.reports(), [success(&[0xa0, 0xa1])]);
    assert_eq!(told.posted("tools/call")[1].body["params"]["arguments"]["from_part"], 0);
}

#[test]
fn a_tool_with_side_effects_is_replayed_only_if_told_so() {
    let lost = "the session was lost while the call was in flight";
    let careful = Setup::arm(Arm::Validating).with(|settings| settings.replay_non_idempotent = false);
    assert_eq!(careful.run(lost_after_one_part(false, true)).reports(), [failure(lost)]);
    let bold = Setup::arm(Arm::Validating);
    assert_eq!(bold.run(lost_after_one_part(false, true)).reports(), [success(&[0xa0, 0xa1])]);
    let never = Setup::arm(Arm::Validating)
        .with(|settings| settings.on_session_lost = super::super::settings::OnSessionLost::Fail);
    assert_eq!(never.run(lost_after_one_part(true, true)).reports(), [failure(lost)]);
}

#[test]
fn a_trusting_client_hangs_where_the_validating_one_recovers() {
    let told = Setup::arm(Arm::Trusting).run(lost_after_one_part(true, true));
    assert_eq!(told.reports(), [CallReport::TimedOut]);
}

#[test]
fn another_calls_token_and_id_are_nobodys() {
    let told = Setup::arm(Arm::Trusting).run(calls(vec![|call| {
        let foreign = event("1", r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"c9-0-3","progress":1,"total":1,"message":"000000ff"}}"#);
        let response = event("2", r#"{"jsonrpc":"2.0","id":999,"result":{}}"#);
        Reply::Stream(vec![Piece::Text(foreign + &response + &call.response("3"))], End::Clean)
    }]));
    assert_eq!(told.reports(), [success(&[])]);
}
