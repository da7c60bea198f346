//! The SDK's client over in-memory pipes in paused time, against peers that answer as each test says.

mod answers;
mod calls;
mod garbage;
mod local;
mod raw;
mod sessions;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use tokio::runtime::{Builder, UnhandledPanic};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{Instant, sleep};

use self::local::Local;
use super::SdkClient;
use crate::mcp::client::Agent;
use crate::mcp::client::settings::ClientSettings;
use crate::mcp::client::tests::peer::{End, Peer, Piece, Reply, Seen};
use crate::mcp::client::tests::{Log, START, clock, notification, seconds};
use crate::mcp::client::workload::Workload;
use crate::mcp::net::Dial;
use crate::observe::event::{CallReport, DetectedBy, Event, Purpose};
use crate::observe::witness::{Sink, Witness};
use crate::world::draw::Draws;
use crate::world::time::{Seconds, SimTime};

/// A client, what it is asked to do, and for how long.
struct Setup {
    settings: ClientSettings,
    horizon_s: u64,
}

impl Setup {
    /// One call a minute, started after 60, 120, … seconds.
    fn new() -> Setup {
        let settings = ClientSettings {
            call_timeout_s: Seconds::new(50),
            ramp_up_s: Seconds::new(0),
            drain_s: Some(Seconds::new(0)),
            ..ClientSettings::default()
        };
        Setup { settings, horizon_s: 119 }
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
        let peer = Peer::new(answer);
        let log = Rc::new(RefCell::new(Log::default()));
        self.run_against(peer.clone(), log.clone());
        Told { events: log.take().0, seen: peer.seen() }
    }

    /// Runs the client to the horizon against whatever `peer` is. A panic in any task is a panic here.
    fn run_against(self, peer: impl Dial, log: Rc<RefCell<dyn Sink>>) {
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .unhandled_panic(UnhandledPanic::ShutdownRuntime)
            .build()
            .expect("a runtime");
        let mut hosts = LocalSet::new();
        hosts.unhandled_panic(UnhandledPanic::ShutdownRuntime);
        hosts.block_on(&runtime, async {
            START.set(Some(Instant::now()));
            let draws = Draws::new("client-tests", 1);
            let horizon = Duration::from_secs(self.horizon_s);
            let drain = self.settings.drain_s.expect("tests set it").get();
            let workload = Workload::draw(0, &self.settings, horizon, drain, &draws);
            let witness = Witness::new("site", clock, log);
            let traffic = Rc::new(Cell::new(0));
            let client = SdkClient::new(0, None, Rc::new(self.settings), Local::new(peer), traffic, witness);
            // The world holds on to its clients until the horizon, past the last of their calls.
            spawn_local(client.clone().run(workload));
            sleep(horizon).await;
            drop(client);
        });
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
        self.pick(|event| match event {
            Event::CallEnded { report, .. } => Some(report.clone()),
            _ => None,
        })
    }

    /// What requests were for, in their order.
    fn purposes(&self) -> Vec<Purpose> {
        self.pick(|event| match event {
            Event::RequestSent { purpose, .. } => Some(*purpose),
            _ => None,
        })
    }

    /// The decisions that a session is lost: (by, calls in flight).
    fn losses(&self) -> Vec<(DetectedBy, u32)> {
        self.pick(|event| match event {
            Event::SessionLost { by, in_flight, .. } => Some((*by, *in_flight)),
            _ => None,
        })
    }

    /// The calls sent again: (call, first part asked for, parts held).
    fn replays(&self) -> Vec<(u32, u32, u32)> {
        self.pick(|event| match event {
            Event::CallReplayed { call, from_part, held, .. } => Some((*call, *from_part, *held)),
            _ => None,
        })
    }

    /// The messages of `method` that were posted.
    fn posted(&self, method: &str) -> Vec<&Seen> {
        self.seen.iter().filter(|seen| seen.rpc() == method).collect()
    }

    fn gets(&self) -> Vec<&Seen> {
        self.seen.iter().filter(|seen| seen.method == "GET").collect()
    }

    fn pick<T>(&self, wanted: impl Fn(&Event) -> Option<T>) -> Vec<T> {
        self.events.iter().filter_map(|(_, event)| wanted(event)).collect()
    }
}

fn success(checks: &[u32]) -> CallReport {
    CallReport::Success { checks: checks.to_vec() }
}

/// Whether the peer is asked for a tool call.
fn is_call(seen: &Seen) -> bool {
    seen.rpc() == "tools/call"
}
