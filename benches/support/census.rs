//! What a run moves, counted from its event log: the load that the yardstick is then given.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use desync_sim::experiment::run::Run;
use desync_sim::experiment::scenario::Scenario;
use desync_sim::mcp::client::settings::Arm;
use desync_sim::observe::event::{ClientNo, Event};
use desync_sim::observe::witness::Sink;
use desync_sim::world::time::SimTime;

/// What crossed the clients' connections in one run.
#[derive(Clone, Debug, Default)]
pub struct Census {
    /// Requests.
    pub requests: u64,
    /// Responses whose head arrived.
    pub answers: u64,
    /// Arrivals of events: those that one client got at one instant came as one message.
    pub arrivals: u64,
    /// Bytes, both ways, HTTP included.
    pub bytes: u64,
    /// Who has got something at the present instant.
    present: (SimTime, BTreeSet<ClientNo>),
}

impl Census {
    /// Counts what the run of `scenario` with `seed` and `arm` moves.
    pub fn take(scenario: &Scenario, seed: u64, arm: Arm) -> Census {
        let census = Rc::new(RefCell::new(Census::default()));
        let run = Run { seed, arm }.of(scenario);
        run.simulate(census.clone(), &AtomicBool::new(false)).expect("the network of a benchmark does not fail");
        census.take()
    }
}

impl Sink for Census {
    fn record(&mut self, at: SimTime, _host: &str, event: Event) {
        match event {
            Event::RequestSent { .. } => self.requests += 1,
            Event::Answered { .. } => self.answers += 1,
            Event::FrameReceived { client, .. } => {
                if self.present.0 != at {
                    self.present = (at, BTreeSet::new());
                }
                self.arrivals += u64::from(self.present.1.insert(client));
            }
            Event::ClientDone { bytes, .. } => self.bytes += bytes,
            _ => {}
        }
    }
}
