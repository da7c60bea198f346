use std::cell::RefCell;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;
use crate::mcp::net::{Accept, Bind, Dial};
use crate::observe::event::Entry;
use crate::world::net::{TurmoilBind, TurmoilDial, network, sim_now};

#[derive(Default)]
struct Log(Vec<Entry>);

impl Sink for Log {
    fn record(&mut self, at: SimTime, host: &str, event: Event) {
        self.0.push(Entry { t_us: at, host: host.to_owned(), event });
    }
}

const TICK: Seconds = Seconds::from_millis(10);

fn millis(low: u64, high: u64) -> Span<Seconds> {
    Span::new(Seconds::from_millis(low), Seconds::from_millis(high)).unwrap()
}

fn latencies(span: Span<Seconds>, epoch: Seconds) -> Latencies {
    let stream = Draws::new("links", 7).stream(Purpose::LinkLatency, 0);
    Latencies::new(stream, span, epoch)
}

fn stall(at_ms: u64, link: StallLink, duration_ms: u64) -> ScheduledFault {
    ScheduledFault {
        at_s: Seconds::from_millis(at_ms),
        fault: Fault::Stall { link, duration_s: Seconds::from_millis(duration_ms) },
    }
}

/// A server sends its clock every 50 ms to a site over the gateway's place; the site notes when each message came.
/// Returns (sent, received) pairs and the world's log.
fn stamps(latency: Span<Seconds>, faults: &[ScheduledFault]) -> (Vec<(SimTime, SimTime)>, Vec<Entry>) {
    let draws = Draws::new("links", 7);
    let mut sim = network(TICK, Seconds::new(20), &draws).build();
    sim.host("server-1", std::future::pending);
    sim.host("gateway", || async {
        let mut listener = TurmoilBind::new(80).bind().await?;
        let mut io = listener.accept().await?;
        loop {
            io.write_u64(sim_now().as_micros()).await?;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    let seen = Rc::new(RefCell::new(Vec::new()));
    let sees = seen.clone();
    sim.client("site-1", async move {
        let mut io = TurmoilDial::new("gateway", 80).dial().await?;
        while sim_now() < SimTime::from_micros(10_000_000) {
            let sent = SimTime::from_micros(io.read_u64().await?);
            sees.borrow_mut().push((sent, sim_now()));
        }
        Ok(())
    });
    let log = Rc::new(RefCell::new(Log::default()));
    let mut links = Links::new(Hosts::new(1, 1), latency, Seconds::new(1), &draws, faults, log.clone());
    loop {
        links.apply(&sim);
        if sim.step().unwrap() {
            break;
        }
    }
    let events = std::mem::take(&mut log.borrow_mut().0);
    (seen.take(), events)
}

#[test]
fn a_latency_is_drawn_for_each_epoch_in_whole_milliseconds() {
    let drawn: Vec<_> = latencies(millis(20, 80), Seconds::new(30)).take(100).collect();
    assert_eq!(drawn[0].0, SimTime::ZERO);
    assert!(drawn.iter().all(|(at, latency)| {
        at.as_micros() % 30_000_000 == 0
            && latency.subsec_nanos() % 1_000_000 == 0
            && (20..=80).contains(&latency.as_millis())
    }));
    assert!(drawn.iter().any(|(_, latency)| *latency != drawn[0].1), "latencies vary");
}

#[test]
fn a_latency_that_cannot_vary_is_set_once() {
    for (span, epoch, expected_ms) in
        [(millis(20, 20), Seconds::new(30), 20), (Span::exactly(Seconds::from_micros(400)), Seconds::new(30), 1)]
    {
        let all: Vec<_> = latencies(span, epoch).collect();
        assert_eq!(all, [(SimTime::ZERO, Duration::from_millis(expected_ms))], "{span:?}");
    }
    assert_eq!(latencies(millis(20, 80), Seconds::new(0)).count(), 1);
}

#[test]
fn a_changing_latency_reorders_no_bytes() {
    let (stamps, _) = stamps(millis(1, 300), &[]);
    let delays: Vec<_> = stamps.iter().map(|(sent, got)| got.since(*sent).as_millis()).collect();
    assert!(stamps.is_sorted(), "sent in order, received in order: {stamps:?}");
    assert!(delays.iter().min() < delays.iter().max(), "the latency changed: {delays:?}");
    // The server sends a message every 50 ms: a drop by more than that makes later ones overtake on the wire.
    let overtaken = stamps.windows(2).any(|pair| pair[0].1 == pair[1].1);
    assert!(overtaken, "no message was overtaken: {delays:?}");
    let lost = stamps.windows(2).find(|pair| pair[1].0.since(pair[0].0) != Duration::from_millis(50));
    assert_eq!(lost, None, "a message was lost");
}

#[test]
fn a_stall_holds_every_message_and_loses_none() {
    let (stamps, log) = stamps(millis(20, 20), &[stall(1_000, StallLink::Sites, 2_000)]);
    let (begin, end) = (SimTime::from_micros(1_000_000), SimTime::from_micros(3_000_000));
    assert!(!stamps.iter().any(|(_, got)| (begin..end).contains(got)), "nothing comes during the stall");
    let held = stamps.iter().filter(|(sent, got)| *sent < end && *got >= end);
    assert!(held.count() >= 39, "what was sent meanwhile comes after it");
    assert!(stamps.is_sorted());
    let told: Vec<_> = log.iter().map(|entry| (entry.t_us, &*entry.host, &entry.event)).collect();
    assert!(
        matches!(
            told[..],
            [
                (
                    struck,
                    "world",
                    Event::FaultStruck {
                        took_effect: true,
                        ..
                    }
                ),
                (over, "world", Event::FaultOver { .. }),
            ] if struck == begin && over == end
        ),
        "{told:?}"
    );
}

#[test]
fn overlapping_stalls_release_at_the_last_end() {
    let (stamps, log) = stamps(
        millis(20, 20),
        &[
            stall(1_000, StallLink::Sites, 1_000),
            stall(1_500, StallLink::Sites, 1_500),
            stall(1_600, StallLink::Sites, 100),
            stall(1_000, StallLink::Servers, 5_000),
        ],
    );
    let first_after = stamps.iter().map(|(_, got)| got.as_micros()).find(|got| *got >= 1_000_000);
    assert_eq!(first_after, Some(3_000_000));
    let effects: Vec<_> = log
        .iter()
        .filter_map(|entry| match entry.event {
            Event::FaultStruck { took_effect, .. } => Some((entry.t_us.as_micros(), took_effect)),
            _ => None,
        })
        .collect();
    assert_eq!(
        effects,
        [(1_000_000, true), (1_000_000, true), (1_500_000, true), (1_600_000, false)],
        "a stall within another changes nothing"
    );
    let overs = log.iter().filter(|entry| matches!(entry.event, Event::FaultOver { .. }));
    assert_eq!(overs.count(), 4);
}

#[test]
fn a_connection_made_during_a_stall_pends_until_its_end() {
    let draws = Draws::new("links", 7);
    let mut sim = network(TICK, Seconds::new(20), &draws).build();
    sim.host("gateway", || async {
        let mut listener = TurmoilBind::new(80).bind().await?;
        loop {
            drop(listener.accept().await?);
        }
    });
    sim.client("site-1", async {
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        TurmoilDial::new("gateway", 80).dial().await?;
        assert!((2_000_000..2_020_000).contains(&sim_now().as_micros()));
        Ok(())
    });
    let mut links = Links::new(
        Hosts::new(1, 0),
        millis(1, 1),
        Seconds::new(1),
        &draws,
        &[stall(1_000, StallLink::Sites, 1_000)],
        Rc::new(RefCell::new(Log::default())),
    );
    loop {
        links.apply(&sim);
        if sim.step().unwrap() {
            break;
        }
    }
}
