//! Much at once: what is taken, and what is held, is bounded.

use std::time::Duration;

use desync_sim::mcp::sdk::server::Limits;
use tokio::time::sleep;

use crate::allocated::{alone, beside, live_bytes};
use crate::raw::{After, INITIALIZE, INITIALIZED, LIST, call, get, head, lasting_post, post};
use crate::world::{run, run_limited};

const MIB: i64 = 1 << 20;

#[test]
fn a_header_that_never_ends_is_hung_up_on() {
    let _beside = beside();
    run(&[], async |world| {
        for line in ["x: ", "last-event-id: 1", "mcp-session-id: "] {
            let first = format!("{}{line}", head("GET", None));
            let told = world.tell(first.as_bytes(), After::Repeat(vec![b'7'; 4096])).await;
            assert!(told.closed && told.taken < 1 << 20, "{line}: {told:?}");
            assert!(matches!(told.statuses[..], [] | [431]), "{line}: {told:?}");
        }
        let told = world.tell(b"GET /", After::Repeat(vec![b'7'; 4096])).await;
        assert!(told.closed && told.taken < 1 << 20, "{told:?}");
        let told = world.tell(b"GET / HTTP/1.1\r\n", After::Repeat(b"x: y\r\n".repeat(100))).await;
        assert!(told.closed && told.taken < 1 << 20, "{told:?}");
        world.serves().await;
    });
}

#[test]
fn a_body_that_never_ends_is_hung_up_on() {
    let _alone = alone();
    run(&[], async |world| {
        let before = live_bytes();
        for lines in ["content-length: 1099511627776\r\n\r\n", "transfer-encoding: chunked\r\n\r\n"] {
            let first = format!("{}content-type: application/json\r\n{lines}", head("POST", None));
            let chunk = [&b"1000\r\n"[..], &[b' '; 4096], b"\r\n"].concat();
            let told = world.tell(first.as_bytes(), After::Repeat(chunk)).await;
            assert!(told.closed && told.taken < 6 << 20, "{lines}: {told:?}");
            assert_eq!(told.statuses, [413], "{lines}: {told:?}");
        }
        // Announced, and never sent: it holds its connection for as long as its peer does, and nothing else.
        for _ in 0..100 {
            let first =
                format!("{}content-type: application/json\r\ncontent-length: 4194304\r\n\r\n{{", head("POST", None));
            world.throw(first.as_bytes(), 1).await;
        }
        world.serves().await;
        assert!(live_bytes() - before < 4 * MIB, "{} bytes are held", live_bytes() - before);
    });
}

#[test]
fn a_hundred_thousand_notifications_on_one_connection_are_taken_one_by_one() {
    let _alone = alone();
    run(&[], async |world| {
        let key = world.session(1).await;
        world.serves().await;
        let before = live_bytes();
        let all = lasting_post(Some(&key), 1, INITIALIZED).repeat(100_000);
        let sent = all.len() as i64;
        let told = world.tell(&all, After::Silence(1000)).await;
        assert_eq!((told.answers, told.taken as i64), (100_000, sent));
        // Whoever does not read is not read.
        let taken = world.throw(&all, 1000).await;
        assert!(taken < 4 << 20, "{taken} bytes were taken from a peer that does not read");
        drop(all);
        world.serves().await;
        assert!(live_bytes() - before < 4 * MIB, "{} bytes are held", live_bytes() - before);
    });
}

#[test]
fn ten_thousand_requests_on_one_connection_are_answered_one_by_one() {
    let _alone = alone();
    run(&[], async |world| {
        let key = world.session(1).await;
        world.serves().await;
        let before = live_bytes();
        let told = world.tell(&lasting_post(Some(&key), 1, LIST).repeat(10_000), After::Silence(1000)).await;
        assert_eq!(told.answers, 10_000);
        world.serves().await;
        assert!(live_bytes() - before < 4 * MIB, "{} bytes are held", live_bytes() - before);
    });
}

/// What is held, in bytes beyond what was held before: when `peers` peers have each sent a request on a connection of
/// its own, all at once; some time after they have hung up; after as many more; when their sessions are over.
fn held(peers: u32, limits: Limits, request: impl Fn(&str, u32) -> Vec<u8>) -> [i64; 4] {
    let held = std::cell::Cell::new([0; 4]);
    run_limited(&[], limits, async |world| {
        let key = world.session(1).await;
        world.serves().await;
        let before = live_bytes();
        let mut told = [0; 4];
        for round in 0..2 {
            let requests: Vec<Vec<u8>> = (0..peers).map(|peer| request(&key, round * peers + peer)).collect();
            let all = futures::future::join_all(requests.iter().map(|request| world.throw(request, 1)));
            let during = async {
                sleep(Duration::from_millis(500)).await;
                live_bytes() - before
            };
            let (_, most) = tokio::join!(all, during);
            told[0] = told[0].max(most);
            drop(requests);
            sleep(Duration::from_secs(100)).await;
            // The sessions' own time goes on with whatever happens in them.
            world.ask(&post(Some(&key), 1, INITIALIZED)).await;
            told[1 + round as usize] = live_bytes() - before;
        }
        sleep(Duration::from_secs(400)).await;
        world.serves().await;
        told[3] = live_bytes() - before;
        held.set(told);
    });
    held.get()
}

/// A call, or the cancellation of the one before.
fn cancelled_call(number: u32) -> String {
    if number.is_multiple_of(2) {
        return call(number + 10, &number.to_string(), number);
    }
    let id = number + 9;
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
}

/// 500 peers and then 500 more: the second half leaves no more behind than the first one did.
#[test]
fn what_a_flood_holds_is_let_go() {
    let _alone = alone();
    let limits = Limits::default();
    let floods = [
        ("connections", held(500, limits, |_, _| b"GET / HTTP/1.1\r\n".to_vec())),
        ("notifications", held(500, limits, |key, peer| post(Some(key), peer, INITIALIZED))),
        ("legs", held(500, limits, |key, _| get(Some(key), b""))),
        ("cancelled calls", held(500, limits, |key, peer| post(Some(key), 1, &cancelled_call(peer)))),
        ("calls", held(500, limits, |key, peer| post(Some(key), 1, &call(peer + 10, &peer.to_string(), peer)))),
    ];
    for (name, [during, first, second, end]) in floods {
        println!("{name}: {during} {first} {second} {end}");
        assert!(second - first < 40_000, "{name}: {first} bytes are left by 500, {second} by 1000");
        assert!(end < MIB / 2, "{name}: {end} bytes are left");
        assert!(during < 30 * MIB, "{name}: {during} bytes at once");
    }
}

/// A session is kept for as long as the SDK keeps it; so is a stream whose request has the id of one in flight, because
/// its response goes to another. Both are bounded by what a process takes on.
#[test]
fn what_is_kept_is_limited() {
    let _alone = alone();
    let limits = Limits { connections: 100, sessions: 40, streams: 60 };
    let [during, _, second, end] = held(500, limits, |_, peer| post(None, peer, INITIALIZE));
    assert!(during < 20 * MIB && second < 6 * MIB && end < MIB / 2, "sessions: {during}, {second}, {end}");
    let [during, _, second, end] = held(500, limits, |key, peer| post(Some(key), 1, &call(10, "t", peer)));
    assert!(during < 20 * MIB && second < MIB && end < MIB / 2, "streams: {during}, {second}, {end}");
    let [during, _, second, end] = held(500, limits, |_, _| b"GET / HTTP/1.1\r\n".to_vec());
    assert!(during < 20 * MIB && second < MIB / 2 && end < MIB / 2, "connections: {during}, {second}, {end}");
}

#[test]
fn what_is_too_much_is_refused_in_words() {
    let _beside = beside();
    run_limited(&[], Limits { connections: 3, sessions: 2, streams: 2 }, async |world| {
        let key = world.session(1).await;
        world.session(2).await;
        let told = world.ask(&post(None, 3, INITIALIZE)).await;
        assert_eq!(told.statuses, [500], "{told:?}");
        assert!(told.text.contains("this server has 2 sessions, and takes no more"), "{told:?}");
        for id in 1..=2 {
            world.throw(&post(Some(&key), 1, &call(id, "t", id)), 1).await;
        }
        let told = world.ask(&post(Some(&key), 1, LIST)).await;
        assert_eq!(told.statuses, [500], "{told:?}");
        assert!(told.text.contains("this server has 2 streams, and takes no more"), "{told:?}");
        // The calls end, and there is room again.
        sleep(Duration::from_secs(5)).await;
        assert_eq!(world.ask(&post(Some(&key), 1, LIST)).await.statuses, [200]);

        let open: Vec<_> = (0..3).map(|_| world.pipe.dial(100)).collect();
        let told = world.tell(&post(Some(&key), 1, LIST), After::Silence(5)).await;
        assert!(told.closed && told.statuses.is_empty(), "{told:?}");
        drop(open);
        sleep(Duration::from_secs(1)).await;
        assert_eq!(world.ask(&post(Some(&key), 1, LIST)).await.statuses, [200]);
    });
}
