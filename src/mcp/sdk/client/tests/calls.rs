//! Calls and their streams.

use super::*;
use crate::observe::event::{FrameKind, LegEnd};

#[test]
fn a_call_gets_its_parts_and_its_response_and_the_log_is_told() {
    let told = Setup::new().run(|seen| {
        let text = format!("id: 0/0\ndata:\n\n{}{}{}", seen_part(seen, 0)?, seen_part(seen, 1)?, seen.response("3/0"));
        Reply::says(text, End::Clean)
    });
    assert_eq!(told.reports(), [success(&[0xa0, 0xa1])]);
    let call = told.pick(|event| match event {
        Event::RequestSent { purpose: Purpose::Call { .. }, request, .. } => Some(*request),
        _ => None,
    })[0];
    let frames = told.pick(|event| match event {
        Event::FrameReceived { request, id, kind, .. } if *request == call => Some((id.clone().unwrap(), *kind)),
        _ => None,
    });
    let expected =
        [("0/0", FrameKind::Priming), ("1/0", FrameKind::Part), ("2/0", FrameKind::Part), ("3/0", FrameKind::Response)];
    assert_eq!(frames, expected.map(|(id, kind)| (id.to_owned(), kind)));
    let ends = told.pick(|event| match event {
        Event::LegEnded { request, how, .. } if *request == call => Some(*how),
        _ => None,
    });
    // The SDK means to read on to the end of the body, for the sake of the connection; its own bookkeeping, which lets
    // go of the request with its response, ends that at once.
    assert_eq!(ends, [LegEnd::Left]);
}

fn seen_part(seen: &Seen, index: u32) -> Option<String> {
    is_call(seen).then(|| seen.part(&format!("{}/0", index + 1), index))
}

#[test]
fn a_cut_stream_is_resumed_with_its_last_id_for_its_call() {
    let mut call = None;
    let told = Setup::new().run(move |seen| match (&call, seen.cursor.as_deref()) {
        (None, _) if is_call(seen) => {
            call = Some(seen.clone());
            Reply::says(seen.part("1/0", 0), End::Broken)
        }
        (Some(call), Some("1/0")) => {
            Reply::says(format!("{}{}", call.part("2/0", 1), call.response("3/0")), End::Clean)
        }
        _ => None,
    });
    assert_eq!(told.reports(), [success(&[0xa0, 0xa1])]);
    let resumes: Vec<_> =
        told.purposes().into_iter().filter(|purpose| matches!(purpose, Purpose::Resume { .. })).collect();
    assert_eq!(resumes, [Purpose::Resume { call: 0 }]);
}

#[test]
fn the_standing_stream_is_resumed_for_itself() {
    let told = Setup::new().until(5).run(|seen| {
        let is_first = seen.method == "GET" && seen.cursor.is_none();
        is_first.then(|| Reply::says(notification("7"), End::Clean)).flatten()
    });
    let listens = told.purposes().into_iter().filter(|purpose| *purpose == Purpose::Listen).count();
    let cursors: Vec<_> = told.gets().iter().map(|seen| seen.cursor.as_deref()).collect();
    assert_eq!((listens, cursors), (2, vec![None, Some("7")]));
}

#[test]
fn a_stream_that_ends_without_ids_and_without_a_response_fails_its_call_in_the_sdk_s_words() {
    let told = Setup::new().run(|seen| is_call(seen).then(|| Reply::says(": nothing\n", End::Clean)).flatten());
    assert_eq!(told.reports(), [CallReport::Error { reason: "Transport closed".to_owned() }]);
    assert!(told.losses().is_empty());
}

#[test]
fn a_call_that_times_out_is_cancelled_by_its_id() {
    let told = Setup::new().run(|seen| is_call(seen).then(|| Reply::Stream(Vec::new(), End::Open)));
    assert_eq!(told.reports(), [CallReport::TimedOut]);
    assert_eq!(told.purposes().last(), Some(&Purpose::Cancel { call: 0 }));
    let (call, cancelled) = (told.posted("tools/call")[0], told.posted("notifications/cancelled")[0]);
    assert_eq!(cancelled.body["params"]["requestId"], call.body["id"]);
    assert_eq!((cancelled.at.as_secs_f64() - call.at.as_secs_f64()).round(), 50.0);
}

#[test]
fn errors_fail_the_call_in_the_sdk_s_words() {
    for (reply, words) in [
        (Reply::Status(503), "HTTP 503"),
        (Reply::Status(400), "unexpected server response: HTTP 400 Bad Request: "),
        (Reply::Json("{".to_owned()), "could not parse JSON response as ServerJsonRpcMessage"),
        (
            Reply::Json(r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"no such tool"}}"#.to_owned()),
            "no such tool",
        ),
    ] {
        let mut reply = Some(reply);
        let told = Setup::new().run(move |seen| is_call(seen).then(|| reply.take()).flatten());
        let [CallReport::Error { reason }] = &told.reports()[..] else { panic!("{words}: {:?}", told.reports()) };
        assert!(reason.contains(words), "{reason}");
    }
}

#[test]
fn a_response_that_is_plain_json_is_one() {
    let told = Setup::new().run(|seen| {
        let data = is_call(seen).then(|| seen.response("1"))?;
        data.lines().find_map(|line| line.strip_prefix("data: ")).map(|json| Reply::Json(json.to_owned()))
    });
    assert_eq!(told.reports(), [success(&[])]);
}

#[test]
fn a_response_on_the_standing_stream_is_one() {
    let told = Setup::new().run(|seen| {
        let is_listening = seen.method == "GET";
        let wait = Piece::Wait(Duration::from_secs(70));
        // The SDK counts its requests from 0: `initialize`, `tools/list`, the call.
        let response = r#"{"jsonrpc":"2.0","id":2,"result":{"content":[],"isError":false}}"#;
        let text = Piece::Text(format!("id: 5\ndata: {response}\n\n"));
        is_listening.then(|| Reply::Stream(vec![wait, text], End::Open))
    });
    assert_eq!(told.reports(), [success(&[])]);
}
