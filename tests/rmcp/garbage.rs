//! Garbage ends the connection that it came on, with an error or without an answer, and harms nobody else.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::allocated::beside;
use crate::raw::{After, INITIALIZE, INITIALIZED, LIST, call, call_with, get, head, lasting_post, post};
use crate::world::run;

/// A request that is answered with one status, or with none.
async fn answers(world: &crate::world::World, cases: &[(&str, Vec<u8>, &[u16])]) {
    for (name, bytes, statuses) in cases {
        let told = world.ask(bytes).await;
        assert_eq!(told.statuses, *statuses, "{name}: {told:?}");
    }
    world.serves().await;
}

#[test]
fn what_is_no_request_is_refused() {
    let _beside = beside();
    run(&[], async |world| {
        let chunked = |body: &str| {
            let head = head("POST", None);
            format!("{head}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n{body}").into_bytes()
        };
        let length = |length: &str| format!("{}content-length: {length}\r\n\r\n", head("POST", None)).into_bytes();
        answers(
            &world,
            &[
                ("a TLS hello", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n".to_vec(), &[400]),
                ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), &[]),
                ("no target", b"GET\r\n\r\n".to_vec(), &[400]),
                ("a NUL in the target", b"GET /\0 HTTP/1.1\r\n\r\n".to_vec(), &[400]),
                ("a NUL in a header's name", b"GET / HTTP/1.1\r\na\0b: c\r\n\r\n".to_vec(), &[400]),
                ("an answer", b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), &[400]),
                ("a negative length", length("-1"), &[400]),
                ("a length that no number holds", length("99999999999999999999"), &[400]),
                ("two lengths", length("1\r\ncontent-length: 2"), &[400]),
                ("200 headers", format!("GET / HTTP/1.1\r\n{}\r\n", "x: y\r\n".repeat(200)).into_bytes(), &[431]),
                ("a chunk whose size is no number", chunked("zz\r\n"), &[500]),
                ("a chunk whose size no number holds", chunked("fffffffffffffffff\r\n"), &[500]),
            ],
        )
        .await;
    });
}

#[test]
fn what_is_no_message_is_refused() {
    let _beside = beside();
    run(&[], async |world| {
        let key = world.session(1).await;
        let post = |body: &str| post(Some(&key), 1, body);
        let typed = |name: &str| {
            let head = head("POST", Some(&key));
            format!("{head}content-type: {name}\r\ncontent-length: {}\r\n\r\n{LIST}", LIST.len()).into_bytes()
        };
        let accepting = |accept: &str| {
            String::from_utf8(post(LIST)).unwrap().replace("application/json, text/event-stream", accept).into_bytes()
        };
        let nested = |depth: usize| {
            let (open, close) = ("[".repeat(depth), "]".repeat(depth));
            post(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"x":{open}{close}}}}}"#))
        };
        answers(
            &world,
            &[
                ("nothing", post(""), &[415]),
                ("truncated JSON", post(&LIST[..LIST.len() - 2]), &[415]),
                ("half a call", post(&call(1, "t", 0)[..80]), &[415]),
                ("not JSON", post("\0\u{1}\u{7f}"), &[415]),
                ("not UTF-8", [post("\"\""), vec![0xff]].concat(), &[415]),
                ("JSON that is no message", post("{}"), &[415]),
                ("a number", post("1e999"), &[415]),
                ("a batch", post(&format!("[{LIST},{LIST}]")), &[415]),
                ("an empty batch", post("[]"), &[415]),
                ("100,000 open brackets", post(&"[".repeat(100_000)), &[415]),
                ("nesting beyond what a reader takes", nested(10_000), &[415]),
                ("4 MiB and a byte", post(&" ".repeat((4 << 20) + 1)), &[413]),
                ("another media type", typed("text/plain"), &[415]),
                ("no media type", typed(""), &[415]),
                ("a media type that is no text", typed("application/json\u{e4}"), &[415]),
                ("accepting nothing", accepting("text/html"), &[406]),
                ("accepting half", accepting("application/json"), &[406]),
            ],
        )
        .await;
    });
}

#[test]
fn what_is_no_use_in_a_session_is_refused() {
    let _beside = beside();
    run(&[], async |world| {
        let key = world.session(1).await;
        let long = "7".repeat(300);
        let revision = |revision: &str| {
            let request = String::from_utf8(get(Some(&key), b"")).unwrap();
            request.replace("2025-11-25", revision).into_bytes()
        };
        let method = |name: &str| [head(name, Some(&key)).as_bytes(), b"\r\n"].concat();
        answers(
            &world,
            &[
                ("PUT", method("PUT"), &[405]),
                ("PATCH", method("PATCH"), &[405]),
                ("a method of 300 letters", method(&"X".repeat(300)), &[405]),
                ("a call outside every session", post(None, 1, &call(1, "t", 0)), &[400]),
                ("a notification outside every session", post(None, 1, INITIALIZED), &[400]),
                ("a GET outside every session", get(None, b""), &[400]),
                ("a session key of 300 bytes", post(Some(&long), 1, LIST), &[404]),
                ("a session key of 300 bytes, GET", get(Some(&long), b""), &[404]),
                ("a session key with a NUL", get(None, b"mcp-session-id: a\0b\r\n"), &[400]),
                ("a session key with a line feed", get(None, b"mcp-session-id: a\nb\r\n"), &[400]),
                ("a session key that is no ASCII", get(None, "mcp-session-id: ä\r\n".as_bytes()), &[400]),
                ("a session key that is empty", get(None, b"mcp-session-id:\r\n"), &[404]),
                ("a cursor with a NUL", get(Some(&key), b"last-event-id: 0\0/0\r\n"), &[400]),
                ("a cursor with a carriage return", get(Some(&key), b"last-event-id: 0\r/0\r\n"), &[400]),
                ("a cursor of 300 digits", get(Some(&key), format!("last-event-id: {long}\r\n").as_bytes()), &[200]),
                (
                    "a cursor of a stream with 300 digits",
                    get(Some(&key), format!("last-event-id: 1/{long}\r\n").as_bytes()),
                    &[200],
                ),
                (
                    "the largest cursor",
                    get(Some(&key), b"last-event-id: 18446744073709551615/18446744073709551615\r\n"),
                    &[200],
                ),
                ("an unknown revision", revision("1999-01-01"), &[400]),
                ("a revision of 300 digits", revision(&long), &[400]),
            ],
        )
        .await;
        // Text that is no ASCII is taken for no cursor: the standalone stream, which does not end.
        let told = world.tell(&get(Some(&key), "last-event-id: ä\r\n".as_bytes()), After::Silence(5)).await;
        assert_eq!((told.statuses, told.closed), (vec![200], false));
    });
}

/// What JSON can say, an answer can say: on one line, under the same id.
#[test]
fn ids_that_are_odd_are_answered_under_their_name() {
    let _beside = beside();
    run(&[], async |world| {
        let key = world.session(1).await;
        let long = format!("{:?}", "7".repeat(300));
        for id in [&long, r#""a\nb""#, r#""a\u0000b""#, "\"ä\"", r#""""#, "-1", "9223372036854775807"] {
            let told = world.ask(&post(Some(&key), 1, &call_with(id, id, 0))).await;
            assert_eq!(told.statuses, [200], "{id}: {told:?}");
            assert!(told.text.contains(&format!(r#""id":{id},"result""#)), "{id}: {told:?}");
            assert!(told.text.contains(&format!(r#""progressToken":{id},"#)), "{id}: {told:?}");
        }
        for id in ["null", "1.5", "[]", "9223372036854775808", "1e400", "true"] {
            let told = world.ask(&post(Some(&key), 1, &call_with(id, "1", 0))).await;
            assert!(matches!(told.statuses[..], [400..=499] | [202]), "{id}: {told:?}");
        }
        world.serves().await;
    });
}

#[test]
fn calls_with_wrong_parameters_are_refused_in_words() {
    let _beside = beside();
    run(&[], async |world| {
        let key = world.session(1).await;
        let with = |from: &str, to: &str| post(Some(&key), 1, &call(1, "t", 0).replace(from, to));
        for request in [
            with(r#""name":"report""#, r#""name":"another""#),
            with(r#""client":0"#, r#""client":-1"#),
            with(r#""client":0"#, r#""client":16777216"#),
            with(r#""call":0"#, r#""call":4294967295"#),
            with(r#""from_part":0"#, r#""from_part":3"#),
            with(r#""from_part":0"#, r#""from_part":4294967295"#),
            with(r#""from_part":0"#, r#""from_part":"0""#),
            with(r#","from_part":0"#, ""),
        ] {
            let told = world.ask(&request).await;
            assert!(told.text.contains(r#""code":-32602"#), "{}: {told:?}", String::from_utf8_lossy(&request));
        }
        world.serves().await;
    });
}

#[test]
fn what_comes_too_often_or_too_late_harms_its_own_session_at_most() {
    let _beside = beside();
    run(&[], async |world| {
        let key = world.session(1).await;
        // A second `initialize`, and a third, in a session that stands.
        for _ in 0..2 {
            let told = world.tell(&post(Some(&key), 1, INITIALIZE), After::Silence(60)).await;
            assert_eq!(told.statuses.len(), 1, "{told:?}");
        }
        // DELETE while a call is in flight: the call's stream ends without a response.
        let call = post(Some(&key), 1, &call(9, "t", 0));
        let delete = [head("DELETE", Some(&key)).as_bytes(), b"\r\n"].concat();
        let (call, deleted) = tokio::join!(world.ask(&call), async {
            tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
            world.ask(&delete).await
        });
        assert_eq!((call.statuses, deleted.statuses), (vec![200], vec![202]));
        assert!(!call.text.contains("result"), "{}", call.text);
        assert_eq!(world.ask(&delete).await.statuses, [202]);
        assert_eq!(world.ask(&post(Some(&key), 1, LIST)).await.statuses, [404]);
        // Half an `initialize`, one that is deaf, and garbage behind one.
        world.tell(&post(None, 1, INITIALIZE)[..200], After::Close).await;
        world.throw(&post(None, 1, INITIALIZE), 1).await;
        let told =
            world.tell(&[&lasting_post(None, 1, INITIALIZE)[..], b"\0\0\r\n\r\n"].concat(), After::Silence(60)).await;
        assert!(told.closed && told.statuses.first() == Some(&200), "{told:?}");
        world.serves().await;
    });
}

/// Bytes that are told as text.
struct Bytes(Vec<u8>);

impl std::fmt::Debug for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

/// What stands for the session's key, as long as one.
const KEY: &str = "kkkkkkkk-kkkk-kkkk-kkkk-kkkkkkkkkkkk";

impl Bytes {
    fn with(&self, key: &str) -> Vec<u8> {
        let mut bytes = self.0.clone();
        let places: Vec<usize> = memchr::memmem::find_iter(&self.0, KEY).collect();
        for place in places {
            bytes[place..place + KEY.len()].copy_from_slice(key.as_bytes());
        }
        bytes
    }
}

/// Bytes in some order, some of them a sound request.
fn any_bytes() -> impl Strategy<Value = Bytes> {
    let key = KEY;
    let sound = [
        lasting_post(Some(key), 1, LIST),
        lasting_post(Some(key), 1, &call(1, "t", 0)),
        lasting_post(Some(key), 1, INITIALIZED),
        lasting_post(Some(key), 1, INITIALIZE),
        lasting_post(None, 1, INITIALIZE),
        get(Some(key), b"last-event-id: 0/0\r\n"),
        [head("DELETE", Some(key)).as_bytes(), b"\r\n"].concat(),
        lasting_post(Some(key), 1, r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#),
        lasting_post(Some(key), 1, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
    ];
    let sound = prop::sample::select(sound.to_vec());
    let cut =
        (sound.clone(), any::<prop::sample::Index>()).prop_map(|(bytes, at)| bytes[..at.index(bytes.len())].to_vec());
    let bent = (sound.clone(), any::<prop::sample::Index>(), any::<u8>()).prop_map(|(mut bytes, at, byte)| {
        let at = at.index(bytes.len());
        bytes[at] = byte;
        bytes
    });
    let noise = prop::collection::vec(any::<u8>(), 0..40);
    let piece = prop_oneof![3 => sound, 2 => cut, 3 => bent, 1 => noise];
    prop::collection::vec(piece, 1..5).prop_map(|pieces| Bytes(pieces.concat()))
}

/// Five peers beside each other in one session.
#[test]
fn whatever_peers_send_others_are_served() {
    let _beside = beside();
    let peers = prop::collection::vec((any_bytes(), 0_u64..20), 5);
    let (answers, refusals) = (Cell::new(0), Cell::new(0));
    let mut runner = TestRunner::new(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() });
    let outcome = runner.run(&peers, |peers| {
        run(&[], async |world| {
            let key = world.session(1).await;
            futures::future::join_all(peers.iter().map(async |(bytes, patience)| {
                let told = match patience {
                    0 => world.tell(&bytes.with(&key), After::Close).await,
                    seconds => world.tell(&bytes.with(&key), After::Silence(*seconds)).await,
                };
                assert!(told.closed || *patience > 0, "a connection outlives its peer: {told:?}");
                answers.set(answers.get() + told.answers);
                let refused = told.statuses.iter().filter(|status| **status >= 400).count();
                refusals.set(refusals.get() + refused);
            }))
            .await;
            world.serves().await;
        });
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    assert!(answers.get() > 1000 && refusals.get() > 300, "{answers:?} {refusals:?}");
}
