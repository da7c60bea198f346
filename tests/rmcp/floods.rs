//! Much at once: what is taken, and what is held, is bounded.

use crate::allocated::{alone, beside, live_bytes};
use crate::raw::{After, INITIALIZE, INITIALIZED, LIST, call, head, lasting_post, post};
use crate::world::run;

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
            let first = format!("{}content-type: application/json\r\ncontent-length: 4194304\r\n\r\n{{", head("POST", None));
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

/// What `peers` peers leave behind, in bytes, when each has sent `request` on a connection of its own, all at once.
fn left_by(peers: u32, changes: &[&str], request: impl Fn(&str, u32) -> Vec<u8>) -> (i64, i64) {
    let held = std::cell::Cell::new((0, 0));
    run(changes, async |world| {
        let key = world.session(1).await;
        world.serves().await;
        let before = live_bytes();
        let requests: Vec<Vec<u8>> = (0..peers).map(|peer| request(&key, peer)).collect();
        let all = futures::future::join_all(requests.iter().map(|request| world.throw(request, 1)));
        let most = async {
            tokio::time::sleep(std::time::Duration::from_millis(500)).await;
            live_bytes() - before
        };
        let (_, most) = tokio::join!(all, most);
        drop(requests);
        world.serves().await;
        tokio::time::sleep(std::time::Duration::from_secs(100)).await;
        world.serves().await;
        held.set((most, live_bytes() - before));
    });
    held.get()
}

#[test]
fn measure() {
    let _alone = alone();
    for peers in [1000, 4000] {
        println!("sessions {peers}: {:?}", left_by(peers, &[], |_, peer| post(None, peer, INITIALIZE)));
        println!("initialized {peers}: {:?}", left_by(peers, &[], |key, peer| post(Some(key), peer, INITIALIZED)));
        println!("calls {peers}: {:?}", left_by(peers, &[], |key, peer| post(Some(key), 1, &call(peer + 10, &format!("t{peer}"), peer))));
        println!("same id {peers}: {:?}", left_by(peers, &[], |key, peer| post(Some(key), 1, &call(10, "t", peer))));
        println!("open {peers}: {:?}", left_by(peers, &[], |_, _| b"GET / HTTP/1.1\r\n".to_vec()));
        println!("gets {peers}: {:?}", left_by(peers, &[], |key, _| crate::raw::get(Some(key), b"")));
    }
}
