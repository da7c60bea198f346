//! Whole runs, with every event of the log.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use desync_sim::experiment::run::Run;
use desync_sim::experiment::scenario::{Override, Scenario};
use desync_sim::mcp::client::settings::Arm;
use desync_sim::observe::event::Event;
use desync_sim::observe::recorder::Recorder;
use desync_sim::observe::verdict::Verdicts;
use desync_sim::observe::witness::Sink;
use desync_sim::world::time::SimTime;

/// What one run came to.
pub struct Ran {
    pub verdicts: Verdicts,
    pub events: Vec<Event>,
}

/// A recorder that keeps the events too.
struct Keeping {
    recorder: Recorder,
    events: Vec<Event>,
}

impl Sink for Keeping {
    fn record(&mut self, at: SimTime, host: &str, event: Event) {
        self.events.push(event.clone());
        self.recorder.record(at, host, event);
    }
}

/// The scenario `name` that `text` is, with these changes.
pub fn scenario(name: &str, text: &str, changes: &[&str]) -> Scenario {
    let changes: Vec<Override> = changes.iter().map(|change| change.parse().unwrap()).collect();
    Scenario::parse(&format!("{name}.toml"), text, &changes).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Simulates a run into `sink`.
pub fn run_into(scenario: &Scenario, seed: u64, arm: Arm, sink: Rc<RefCell<dyn Sink>>) {
    Run { seed, arm }.of(scenario).simulate(sink, &AtomicBool::new(false)).expect("a network");
}

/// Simulates a run on a thread of its own, as every run of a sweep has.
pub fn run(scenario: &Scenario, seed: u64, arm: Arm) -> Ran {
    let run = || {
        let sink = Rc::new(RefCell::new(Keeping { recorder: Recorder::new(), events: Vec::new() }));
        run_into(scenario, seed, arm, sink.clone());
        let mut sink = sink.borrow_mut();
        let verdicts = sink.recorder.finish(scenario.settings.horizon_s.get().into()).verdicts;
        Ran { verdicts, events: std::mem::take(&mut sink.events) }
    };
    std::thread::scope(|scope| scope.spawn(run).join().unwrap())
}
