//! The gateway over the simulated network, between a hyper client and a small hyper server.

mod rig;

use std::time::Duration;

use self::rig::{End, Log, Seen, get, is_answered, rig, secs};
use super::settings::{GatewayCut, GatewaySettings};
use crate::observe::event::{Cause, Event};
use crate::world::fault::{DisconnectMode, Fault};
use crate::world::schedule::ScheduledFault;
use crate::world::time::Seconds;

fn no_timeouts() -> GatewaySettings {
    GatewaySettings::default()
}

fn idle(seconds: u64) -> GatewaySettings {
    GatewaySettings { idle_timeout_s: Some(Seconds::new(seconds)), ..no_timeouts() }
}

fn disconnect(at_ms: u64, client: u32, mode: DisconnectMode) -> ScheduledFault {
    ScheduledFault { at_s: Seconds::from_millis(at_ms), fault: Fault::Disconnect { client, mode } }
}

/// Client 0 reads one path to its end.
fn read(settings: GatewaySettings, faults: Vec<ScheduledFault>, path: &'static str) -> (Seen, Log) {
    rig(settings, 1, faults, async move { get(path, "c0-r0").await.read().await })
}

/// What the gateway reported: (second, cause, mode) of each cut.
fn cuts(log: &Log) -> Vec<(f64, Cause, DisconnectMode)> {
    log.iter()
        .filter_map(|entry| match entry.event {
            Event::LegCut { cause, mode, .. } => Some((entry.t_us.as_secs_f64(), cause, mode)),
            _ => None,
        })
        .collect()
}

/// Whether each scheduled fault took effect.
fn effects(log: &Log) -> Vec<bool> {
    log.iter()
        .filter_map(|entry| match entry.event {
            Event::FaultStruck { took_effect, .. } => Some(took_effect),
            _ => None,
        })
        .collect()
}

#[test]
fn a_stream_passes_whole_and_as_it_comes() {
    let (seen, log) = read(no_timeouts(), vec![], "/events/every/1000/count/3");
    assert_eq!(seen.status, 200);
    assert_eq!(seen.events(), ["0", "1", "2"]);
    assert_eq!(seen.end, End::Clean);
    let gaps: Vec<_> = seen.arrivals.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(gaps, [Duration::from_secs(1); 2], "no event waits for the next");
    assert!(log.is_empty(), "{log:?}");
}

#[test]
fn other_responses_pass_untouched() {
    let (seen, log) = read(no_timeouts(), vec![], "/json");
    assert_eq!((seen.status, &*seen.text), (200, "{\"server\":0}"));
    assert_eq!(seen.header("content-length"), Some("12"));
    assert!(log.is_empty(), "{log:?}");

    let faults = vec![disconnect(2_500, 0, DisconnectMode::Reset)];
    let (seen, log) = read(no_timeouts(), faults, "/bytes/every/1000/count/5");
    assert_eq!((seen.end, seen.events().len()), (End::Clean, 5));
    assert_eq!(effects(&log), [false], "a body that is no event stream is no leg");
}

#[test]
fn a_clean_end_ends_the_body_and_keeps_the_connection() {
    let faults = vec![disconnect(3_500, 0, DisconnectMode::CleanEnd)];
    let ((seen, again), log) = rig(no_timeouts(), 1, faults, async {
        let answer = get("/events/every/1000/count/100", "c0-r0").await;
        let (seen, connection) = answer.read_and_keep().await;
        let again = connection.get("/json", "c0-r1").await.read().await;
        (seen, again)
    });
    assert_eq!(seen.end, End::Clean);
    assert_eq!(seen.events(), ["0", "1", "2", "3"]);
    assert_eq!(again.status, 200, "the next request reaches the server on a new connection");
    assert_eq!(cuts(&log), [(3.5, Cause::Disconnect, DisconnectMode::CleanEnd)]);
    assert_eq!(effects(&log), [true]);
}

#[test]
fn a_reset_breaks_the_connection_without_the_end_of_the_body() {
    let faults = vec![disconnect(3_500, 0, DisconnectMode::Reset)];
    let (seen, log) = read(no_timeouts(), faults, "/events/every/1000/count/100");
    assert_eq!(seen.end, End::Broken);
    assert_eq!(seen.events(), ["0", "1", "2", "3"]);
    assert_eq!(cuts(&log), [(3.5, Cause::Disconnect, DisconnectMode::Reset)]);
}

#[test]
fn a_truncated_event_is_cut_in_its_middle_and_the_body_ends_cleanly() {
    let faults = vec![disconnect(2_500, 0, DisconnectMode::TruncatedEvent)];
    let (seen, log) = read(no_timeouts(), faults, "/events/every/1000/count/100");
    assert_eq!(seen.end, End::Clean);
    assert!(seen.text.ends_with("id: 2\ndata: part\n\nid: 3\ndat"), "{:?}", seen.text);
    let [(at, Cause::Disconnect, DisconnectMode::TruncatedEvent)] = cuts(&log)[..] else {
        panic!("{log:?}");
    };
    assert!((3.0..3.1).contains(&at), "it bites when the event comes: {at}");
    assert_eq!(effects(&log), [true]);
}

#[test]
fn a_truncation_that_finds_no_event_is_a_clean_end_after_half_a_minute() {
    let faults = vec![disconnect(2_000, 0, DisconnectMode::TruncatedEvent)];
    let (seen, log) = read(no_timeouts(), faults, "/comments/every/7000/count/100");
    assert_eq!(seen.end, End::Clean);
    assert!(!seen.text.contains("data"), "comments pass: {:?}", seen.text);
    assert_eq!(cuts(&log), [(32.0, Cause::Disconnect, DisconnectMode::CleanEnd)]);
}

#[test]
fn a_half_open_leg_carries_nothing_and_nobody_is_told() {
    let faults = vec![disconnect(2_500, 0, DisconnectMode::HalfOpen)];
    let (seen, log) = read(no_timeouts(), faults, "/events/every/1000/count/5");
    assert_eq!(seen.end, End::Silent, "not even the server's end of the body passes");
    assert_eq!(seen.events(), ["0", "1", "2"]);
    assert_eq!(cuts(&log), [(2.5, Cause::Disconnect, DisconnectMode::HalfOpen)]);
}

#[test]
fn a_half_open_leg_ends_by_the_gateways_own_timeouts() {
    let half_open = || vec![disconnect(2_500, 0, DisconnectMode::HalfOpen)];
    let path = "/events/every/1000/count/100";
    let (seen, log) = read(idle(10), half_open(), path);
    assert_eq!(seen.end, End::Broken);
    let [_, (at, Cause::IdleTimeout, DisconnectMode::Reset)] = cuts(&log)[..] else {
        panic!("{log:?}");
    };
    assert!((12.0..12.1).contains(&at), "ten seconds after the last byte that passed: {at}");

    let settings = GatewaySettings { max_life_s: Some(Seconds::new(20)), ..no_timeouts() };
    let (seen, log) = read(settings, half_open(), path);
    assert_eq!(seen.end, End::Broken);
    assert!(matches!(cuts(&log)[..], [_, (_, Cause::MaxLife, DisconnectMode::Reset)]));
}

#[test]
fn a_half_open_leg_can_still_be_cut() {
    let faults = vec![
        disconnect(2_500, 0, DisconnectMode::HalfOpen),
        disconnect(3_500, 0, DisconnectMode::HalfOpen),
        disconnect(3_600, 0, DisconnectMode::TruncatedEvent),
        disconnect(4_500, 0, DisconnectMode::CleanEnd),
    ];
    let (seen, log) = read(no_timeouts(), faults, "/events/every/1000/count/100");
    assert_eq!(seen.end, End::Clean);
    assert_eq!(effects(&log), [true, false, false, true]);
    assert_eq!(cuts(&log).len(), 2);
}

#[test]
fn a_disconnect_strikes_every_leg_of_its_client_and_no_other() {
    let faults = vec![
        disconnect(2_500, 1, DisconnectMode::Reset),
        disconnect(2_600, 1, DisconnectMode::Reset),
        disconnect(2_700, 2, DisconnectMode::Reset),
    ];
    let (ends, log) = rig(no_timeouts(), 1, faults, async {
        let path = "/events/every/1000/count/5";
        let mut reading = Vec::new();
        for tag in ["c0-r0", "c1-r0", "c1-r1"] {
            let answer = get(path, tag).await;
            reading.push(tokio::task::spawn_local(answer.read()));
        }
        let mut ends = Vec::new();
        for task in reading {
            ends.push(task.await.unwrap().end);
        }
        ends
    });
    assert_eq!(ends, [End::Clean, End::Broken, End::Broken]);
    assert_eq!(effects(&log), [true, false, false], "once without a leg, nothing happens");
    assert_eq!(cuts(&log).len(), 2);
}

#[test]
fn an_outage_breaks_what_its_client_has_open_and_answers_it_nothing_until_it_is_over() {
    let outage = Fault::Outage { client: 1, duration_s: Seconds::new(3) };
    let faults = vec![ScheduledFault { at_s: Seconds::from_millis(2_500), fault: outage.clone() }];
    let ((broken, answered), log) = rig(no_timeouts(), 1, faults, async {
        let broken = get("/events/every/1000/count/9", "c1-r0").await.read().await;
        let mut answered = Vec::new();
        for wait in [0, 2, 1] {
            tokio::time::sleep(secs(wait)).await;
            answered.push((is_answered("c1-r1").await, is_answered("c0-r0").await));
        }
        (broken, answered)
    });
    assert_eq!((broken.end, broken.at.as_millis() / 100), (End::Broken, 25));
    assert_eq!(answered, [(false, true), (false, true), (true, true)]);
    let over: Vec<_> = log.iter().filter(|entry| entry.event == Event::FaultOver { fault: outage.clone() }).collect();
    assert_eq!(over.iter().map(|entry| entry.t_us.as_secs_f64()).collect::<Vec<_>>(), [5.5]);
    assert_eq!(effects(&log), [true]);
}

#[test]
fn the_idle_timeout_bites_exactly_when_nothing_passes_for_that_long() {
    for (settings, path, cut) in [
        (idle(5), "/events/every/4000/count/5", None),
        (idle(5), "/comments/every/4000/count/5", None),
        (idle(5), "/events/every/6000/count/5", Some((DisconnectMode::Reset, End::Broken))),
        (
            GatewaySettings { cut: GatewayCut::CleanEnd, ..idle(5) },
            "/comments/every/6000/count/5",
            Some((DisconnectMode::CleanEnd, End::Clean)),
        ),
    ] {
        let (seen, log) = read(settings, vec![], path);
        match cut {
            None => {
                assert_eq!(seen.end, End::Clean, "{path}");
                assert!(log.is_empty(), "{path}: {log:?}");
            }
            Some((mode, end)) => {
                assert_eq!(seen.end, end, "{path}");
                let [(at, Cause::IdleTimeout, how)] = cuts(&log)[..] else {
                    panic!("{path}: {log:?}");
                };
                assert_eq!(how, mode);
                assert!((5.0..5.1).contains(&at), "{path}: {at}");
            }
        }
    }
}

#[test]
fn the_maximum_life_bites_however_busy_the_response_is() {
    let settings = GatewaySettings { max_life_s: Some(Seconds::new(10)), cut: GatewayCut::CleanEnd, ..idle(5) };
    let (seen, log) = read(settings, vec![], "/events/every/100/count/1000");
    assert_eq!(seen.end, End::Clean);
    let [(at, Cause::MaxLife, DisconnectMode::CleanEnd)] = cuts(&log)[..] else {
        panic!("{log:?}");
    };
    assert!((10.0..10.1).contains(&at), "{at}");
}

#[test]
fn an_answer_that_does_not_begin_within_the_idle_timeout_is_504() {
    let (seen, log) = read(idle(5), vec![], "/never");
    assert_eq!(seen.status, 504);
    assert_eq!(seen.text, "the server did not begin to answer within the idle timeout\n");
    assert!(seen.at.abs_diff(secs(5)) < Duration::from_millis(100), "{:?}", seen.at);
    assert!(log.is_empty(), "{log:?}");
}

#[test]
fn a_server_that_refuses_is_502_and_one_that_does_not_answer_504() {
    // The rig's server-9 has no listener; server-8's host is down.
    for (server, status) in [("server-9", 502), ("server-8", 504)] {
        let (seen, _) =
            rig::rig_with(no_timeouts(), &[server], vec![], async { get("/json", "c0-r0").await.read().await });
        assert_eq!(seen.status, status, "{server}: {}", seen.text);
    }
}

#[test]
fn a_server_that_breaks_the_connection_is_502_and_a_broken_body_stays_broken() {
    let (seen, _) = read(no_timeouts(), vec![], "/break");
    assert_eq!(seen.status, 502, "{}", seen.text);
    let (seen, log) = read(no_timeouts(), vec![], "/events/every/100/count/3/break");
    assert_eq!((seen.status, seen.end), (200, End::Broken));
    assert!(cuts(&log).is_empty(), "it is not the gateway's cut");
}

#[test]
fn a_request_body_above_the_limit_is_413() {
    let (statuses, _) = rig(no_timeouts(), 1, vec![], async {
        let mut statuses = Vec::new();
        for size in [4 << 20, (4 << 20) + 1] {
            statuses.push(rig::post("/json", "c0-r0", vec![b'x'; size]).await.status());
        }
        statuses
    });
    assert_eq!(statuses, [200, 413]);
}

#[test]
fn a_client_that_leaves_takes_the_servers_connection_with_it() {
    let (open, _) = rig(no_timeouts(), 1, vec![], async {
        let answer = get("/events/every/1000/count/1000", "c0-r0").await;
        let busy: u32 = get("/open", "c0-r1").await.read().await.text.parse().unwrap();
        drop(answer);
        tokio::time::sleep(secs(1)).await;
        let after: u32 = get("/open", "c0-r2").await.read().await.text.parse().unwrap();
        (busy, after)
    });
    assert_eq!(open, (1, 0), "streams open at the server");
}

#[test]
fn one_connection_to_the_server_serves_all_requests_of_a_client_connection() {
    let (peers, _) = rig(no_timeouts(), 1, vec![], async {
        let mut connection = rig::connect().await;
        let mut peers = Vec::new();
        for tag in ["c0-r0", "c0-r1", "c0-r2"] {
            let (seen, kept) = connection.get("/peer", tag).await.read_and_keep().await;
            peers.push(seen.text);
            connection = kept;
        }
        peers
    });
    assert_eq!(peers, vec![peers[0].clone(); 3]);
}

#[test]
fn a_session_stays_with_its_server() {
    let (servers, _) = rig(no_timeouts(), 2, vec![], async {
        let mut servers = Vec::new();
        let mut connection = rig::connect().await;
        for path in ["/initialize/a", "/initialize/b", "/a", "/b", "/b", "/a"] {
            let (seen, kept) = connection.get(path, "c0-r0").await.read_and_keep().await;
            servers.push(seen.text);
            connection = kept;
        }
        servers
    });
    assert_eq!(servers, ["0", "1", "0", "1", "1", "0"]);
}

#[test]
fn the_same_run_gives_the_same_events() {
    let run = || {
        let faults = vec![
            disconnect(1_500, 3, DisconnectMode::Reset),
            disconnect(1_500, 4, DisconnectMode::CleanEnd),
            disconnect(1_700, 5, DisconnectMode::TruncatedEvent),
            disconnect(1_900, 6, DisconnectMode::HalfOpen),
        ];
        rig(idle(5), 2, faults, async {
            let mut reading = Vec::new();
            for client in 0..20 {
                reading.push(tokio::task::spawn_local(async move {
                    let path = format!("/events/every/{}/count/20", 100 + 300 * client);
                    get(&path, &format!("c{client}-r0")).await.read().await
                }));
            }
            let mut seen = Vec::new();
            for task in reading {
                seen.push(task.await.unwrap());
            }
            seen
        })
    };
    let (once, twice) = (run(), run());
    assert_eq!(once, twice);
    assert!(cuts(&once.1).len() >= 6, "{:?}", once.1);
}
