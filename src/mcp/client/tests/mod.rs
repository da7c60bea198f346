//! The client over in-memory pipes in paused time, against a peer that answers as each test says.

mod calls;
pub(in super::super) mod peer;
mod sessions;
mod streams;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use tokio::task::{LocalSet, spawn_local};
use tokio::time::{Instant, sleep};

use self::peer::{Peer, Reply, Seen};
use super::policy::Policy;
use super::settings::{Arm, ClientSettings};
use super::workload::Workload;
use super::{Agent, Client};
use crate::cursor::Grammar;
use crate::observe::event::{CallReport, Event};
use crate::observe::witness::{Sink, Witness};
use crate::world::draw::{Draws, Purpose, Span};
use crate::world::time::{Seconds, SimTime};

/// A client, what it is asked to do, and for how long.
struct Setup {
    arm: Arm,
    grammar: Grammar,
    settings: ClientSettings,
    horizon_s: u64,
}

impl Setup {
    /// One call a minute, started after 60, 120, … seconds.
    fn arm(arm: Arm) -> Setup {
        let settings = ClientSettings {
            call_timeout_s: Seconds::new(50),
            ramp_up_s: Seconds::new(0),
            drain_s: Some(Seconds::new(0)),
            ..ClientSettings::default()
        };
        Setup { arm, grammar: Grammar::Integer, settings, horizon_s: 119 }
    }

    fn with(mut self, change: impl FnOnce(&mut ClientSettings)) -> Setup {
        change(&mut self.settings);
        self
    }

    fn until(mut self, horizon_s: u64) -> Setup {
        self.horizon_s = horizon_s;
        self
    }

    /// Runs the client to the horizon against `answer`; where that gives nothing, the peer is an ordinary one.
    fn run(self, answer: impl FnMut(&Seen) -> Option<Reply> + 'static) -> Told {
        let log = Rc::new(RefCell::new(Log::default()));
        let peer = Peer::new(answer);
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
        LocalSet::new().block_on(&runtime, async {
            START.set(Some(Instant::now()));
            let draws = Draws::new("client-tests", 1);
            let horizon = Duration::from_secs(self.horizon_s);
            let drain = self.settings.drain_s.expect("tests set it").get();
            let workload = Workload::draw(0, &self.settings, horizon, drain, &draws);
            let client = Client::new(
                0,
                Policy::new(self.arm, &self.settings, self.grammar),
                Rc::new(self.settings),
                peer.clone(),
                Rc::new(Cell::new(0)),
                draws.stream(Purpose::RetryJitter, 0),
                Witness::new("site", clock, log.clone()),
            );
            spawn_local(client.run(workload));
            sleep(horizon).await;
        });
        Told { events: log.take().0, seen: peer.seen() }
    }
}

/// What a run left behind.
struct Told {
    events: Vec<(SimTime, Event)>,
    seen: Vec<Seen>,
}

impl Told {
    /// What the application was told of its calls.
    fn reports(&self) -> Vec<CallReport> {
        let reports = self.events.iter().filter_map(|(_, event)| match event {
            Event::CallEnded { report, .. } => Some(report.clone()),
            _ => None,
        });
        reports.collect()
    }

    /// The cursors of the GETs, in their order.
    fn cursors(&self) -> Vec<Option<&str>> {
        self.gets().map(|seen| seen.cursor.as_deref()).collect()
    }

    fn gets(&self) -> impl Iterator<Item = &Seen> {
        self.seen.iter().filter(|seen| seen.method == "GET")
    }

    /// The messages of `method` that were posted.
    fn posted(&self, method: &str) -> Vec<&Seen> {
        self.seen.iter().filter(|seen| seen.rpc() == method).collect()
    }

    /// The decisions that a session is lost: (by, calls in flight).
    fn losses(&self) -> Vec<(crate::observe::event::DetectedBy, u32)> {
        let losses = self.events.iter().filter_map(|(_, event)| match event {
            Event::SessionLost { by, in_flight, .. } => Some((*by, *in_flight)),
            _ => None,
        });
        losses.collect()
    }
}

thread_local! {
    pub(in super::super) static START: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// The time since [`START`].
pub(in super::super) fn clock() -> SimTime {
    START.get().map_or(SimTime::ZERO, |start| SimTime::from(Instant::now() - start))
}

#[derive(Default)]
pub(in super::super) struct Log(pub(in super::super) Vec<(SimTime, Event)>);

impl Sink for Log {
    fn record(&mut self, at: SimTime, _host: &str, event: Event) {
        self.0.push((at, event));
    }
}

/// An event as it stands on the wire.
fn event(id: &str, data: &str) -> String {
    format!("id: {id}\ndata: {data}\n\n")
}

/// A log message with an id.
pub(in super::super) fn notification(id: &str) -> String {
    event(id, r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}"#)
}

pub(in super::super) fn seconds(span: (u64, u64)) -> Span<Seconds> {
    Span::new(Seconds::new(span.0), Seconds::new(span.1)).expect("a span in order")
}
