//! Peers that send anything at all: a call may fail, or hang into its timeout; nothing may panic, spin, or grow without
//! bound.

use proptest::prelude::*;

use super::raw::{After, Asked, RawPeer, http, stream_head};
use super::*;

/// Takes events, and keeps only how many and what the application was told.
#[derive(Default)]
struct Count {
    events: u64,
    reports: Vec<CallReport>,
}

impl Sink for Count {
    fn record(&mut self, _at: SimTime, _host: &str, event: Event) {
        self.events += 1;
        if let Event::CallEnded { report, .. } = event {
            self.reports.push(report);
        }
    }
}

/// One run of 200 seconds with a call every 20, whose timeout is 10 seconds.
fn run(peer: &RawPeer) -> Count {
    let setup = Setup::new()
        .with(|settings| {
            settings.call_interval_s = seconds((20, 20));
            settings.call_timeout_s = Seconds::new(10);
            settings.rmcp.max_sse_event_bytes = 100_000;
        })
        .until(199);
    let count = Rc::new(RefCell::new(Count::default()));
    setup.run_against(peer.clone(), count.clone());
    count.take()
}

/// Every call is told its end, and none that it went well.
fn assert_nothing_works(count: &Count) {
    assert_eq!(count.reports.len(), 9, "{:?}", count.reports);
    assert!(!count.reports.iter().any(|report| matches!(report, CallReport::Success { .. })), "{:?}", count.reports);
}

/// A peer that answers calls with `bytes` and what comes after.
fn at_calls(bytes: Vec<u8>, after: impl Fn() -> After + 'static) -> RawPeer {
    RawPeer::new(move |asked| (asked.rpc() == "tools/call").then(|| (bytes.clone(), after())))
}

#[test]
fn truncated_json_fails_the_call() {
    let whole = r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#;
    let count = run(&at_calls(http("200 OK", "application/json", &whole[..whole.len() - 3]), || After::Close));
    assert_nothing_works(&count);
    assert!(count.reports.iter().all(|report| matches!(report, CallReport::Error { .. })), "{:?}", count.reports);
}

/// An event whose data is no message is passed over by the SDK, and its id is the cursor.
#[test]
fn long_ids_and_ids_that_no_header_can_carry_leave_the_call_hanging() {
    for id in [
        "7".repeat(300),
        "7".repeat(60_000),
        "a\u{1}b".to_owned(),
        "a\0b".to_owned(),
        "\u{7f}".to_owned(),
        "ä".to_owned(),
        String::new(),
    ] {
        let text = format!("id: {id}\ndata: x\n\n");
        let count = run(&at_calls([stream_head(), text.into()].concat(), || After::Close));
        assert_nothing_works(&count);
    }
}

/// In an event, what is no message is passed over; a body that ends in the middle of an event is no event.
#[test]
fn truncated_json_in_an_event_leaves_the_call_without_an_answer() {
    let whole = r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#;
    for (length, end) in [(whole.len() - 3, "\n\n"), (whole.len() - 3, ""), (1, "\n\n"), (whole.len(), "\n")] {
        for id in ["", "id: 1/0\n"] {
            let text = format!("{id}data: {}{end}", &whole[..length]);
            let peer = at_calls([stream_head(), text.into()].concat(), || After::Close);
            assert_nothing_works(&run(&peer));
            assert!(peer.asked() < 250, "{} requests", peer.asked());
        }
    }
}

/// What no header can carry is no session key; what one can, is sent back as it came.
#[test]
fn odd_session_keys_end_in_calls_that_go_well_or_fail() {
    for key in ["k".repeat(300), "k".repeat(30_000), "a\u{1}b".to_owned(), "\u{e4}".to_owned(), String::new()] {
        let peer = RawPeer::new(move |asked| {
            (asked.rpc() == "initialize").then(|| {
                let id = &asked.body["id"];
                let result =
                    r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"}}"#;
                let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
                let answer = String::from_utf8(http("200 OK", "application/json", &body)).expect("text");
                let answer = answer.replacen("content-type", &format!("mcp-session-id: {key}\r\ncontent-type"), 1);
                (answer.into_bytes(), After::Close)
            })
        });
        let count = run(&peer);
        assert!(count.events < 10_000, "{} events", count.events);
        assert!(peer.asked() < 1000, "{} requests", peer.asked());
    }
}

/// A line feed ends the field: what follows it is a field of its own, here an unknown one.
#[test]
fn an_id_with_a_line_feed_is_no_id() {
    let count = run(&at_calls([stream_head(), b"id: 1\n2\ndata: x\n\n".to_vec()].concat(), || After::Close));
    assert_nothing_works(&count);
}

#[test]
fn a_million_events_at_once_are_read() {
    let event = b"id: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n";
    let mut once = Some([stream_head(), event.repeat(1_000_000)].concat());
    let peer = RawPeer::new(move |asked| {
        let bytes = (asked.rpc() == "tools/call").then(|| once.take()).flatten()?;
        Some((bytes, After::Silence))
    });
    let count = run(&peer);
    assert!(count.events > 1_000_000, "{}", count.events);
    assert_nothing_works(&count);
}

#[test]
fn a_header_that_never_ends_is_hung_up_on() {
    let peer = at_calls(b"HTTP/1.1 200 OK\r\nx: ".to_vec(), || After::Repeat(vec![b'y'; 10_000]));
    assert_nothing_works(&run(&peer));
    assert!(peer.written() < 9 * 1_000_000, "{} bytes were taken", peer.written());
}

#[test]
fn an_event_that_never_ends_is_hung_up_on() {
    for beginning in ["data: ", "id: 1\ndata:\n\ndata: ", ": "] {
        let peer = at_calls([stream_head(), beginning.into()].concat(), || After::Repeat(vec![b'y'; 10_000]));
        let count = run(&peer);
        assert_nothing_works(&count);
        assert!(peer.written() < 9 * 300_000, "{beginning}: {} bytes were taken", peer.written());
        // The SDK gives such a stream up: it does not ask for it again, and the call is told at once.
        assert!(peer.asked() < 40, "{beginning}: {} requests", peer.asked());
        assert!(count.reports.iter().all(|report| matches!(report, CallReport::Error { .. })), "{:?}", count.reports);
    }
}

#[test]
fn a_standing_stream_with_an_event_that_never_ends_harms_no_call() {
    let peer = RawPeer::new(|asked| match (asked.method.as_str(), asked.rpc()) {
        ("GET", _) => Some((stream_head(), After::Repeat(vec![b'y'; 10_000]))),
        ("POST", "tools/call") => {
            let id = &asked.body["id"];
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#);
            Some((http("200 OK", "application/json", &body), After::Close))
        }
        _ => None,
    });
    let count = run(&peer);
    assert_eq!(count.reports, vec![success(&[]); 9]);
    assert!(peer.written() < 500_000, "{} bytes were taken", peer.written());
}

#[test]
fn a_body_that_never_ends_is_hung_up_on() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n".to_vec();
    let mut once = Some(head);
    let peer = RawPeer::new(move |asked| {
        let head = (asked.rpc() == "tools/call").then(|| once.take()).flatten()?;
        Some((head, After::Repeat(vec![b'y'; 10_000])))
    });
    let count = run(&peer);
    assert_nothing_works(&count);
    assert!(peer.written() < 18_000_000, "{} bytes were taken", peer.written());
    let told = "HTTP response body exceeded the maximum size of 16777216 bytes";
    assert_eq!(count.reports[0], CallReport::Error { reason: told.to_owned() });
}

#[test]
fn a_refusal_that_never_ends_is_quoted_in_part() {
    let head = b"HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\n\r\n".to_vec();
    let peer = at_calls(head, || After::Repeat(vec![b'y'; 10_000]));
    assert_nothing_works(&run(&peer));
    assert!(peer.written() < 9 * 300_000, "{} bytes were taken", peer.written());
}

/// An answer of some bytes to some of the requests.
fn any_peer() -> impl Strategy<Value = (Vec<u8>, &'static str, bool)> {
    let chunk = prop_oneof![
        Just(stream_head()),
        Just(http("200 OK", "application/json", "{}")),
        Just(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_vec()),
        Just(b"id: 1/0\ndata: \n\n".to_vec()),
        Just(b"retry: 0\n\n".to_vec()),
        Just(b"retry: 99999999999999999999\n\n".to_vec()),
        Just(b"data: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n\n".to_vec()),
        Just(b"data: {\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}\n\n".to_vec()),
        Just(b"event: \xff\n".to_vec()),
        Just(b"\r\n".to_vec()),
        prop::collection::vec(any::<u8>(), 0..40),
    ];
    let bytes = prop::collection::vec(chunk, 0..6).prop_map(|chunks| chunks.concat());
    let asked = prop::sample::select(vec!["initialize", "notifications/initialized", "tools/list", "tools/call", ""]);
    (bytes, asked, any::<bool>())
}

fn is_asked(asked: &Asked, rpc: &str) -> bool {
    asked.rpc() == rpc && asked.method != "DELETE"
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_peer_sends_the_run_ends((bytes, rpc, closes) in any_peer()) {
        let peer = RawPeer::new(move |asked| {
            let after = if closes { After::Close } else { After::Silence };
            is_asked(asked, rpc).then(|| (bytes.clone(), after))
        });
        let count = run(&peer);
        prop_assert!(count.events < 2_000_000);
    }
}
