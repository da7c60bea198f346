//! What a run holds does not grow with its length.

use std::cell::RefCell;
use std::rc::Rc;

use desync_sim::mcp::client::settings::Arm;
use desync_sim::observe::event::Event;
use desync_sim::observe::witness::Sink;
use desync_sim::world::time::SimTime;

use crate::allocated::{alone, live_bytes};
use crate::runs::{run_into, scenario};

const SCENARIO: &str = r#"format = 1
name = "rmcp"
summary = "the SDK against itself, for long"
seeds = "0..1"
arms = ["rmcp"]
horizon_s = 1200

[topology]
clients = 10
sites = 2

[server]
implementation = "rmcp"

[server.churn]
interval_s = [5, 20]
burst_events = [1, 12]

[tool]
parts = [2, 8]
interval_s = [0.5, 2]

[client]
call_interval_s = [10, 40]
call_timeout_s = 40

[faults.disconnect]
per_client_per_hour = 60
modes = ["clean-end", "reset", "truncated-event"]
"#;

/// Keeps of a run only what it holds at some instants.
struct Held {
    at: Vec<(u64, i64)>,
    every_s: u64,
    before: i64,
    calls: u32,
}

impl Sink for Held {
    fn record(&mut self, at: SimTime, _host: &str, event: Event) {
        self.calls += u32::from(matches!(event, Event::CallEnded { .. }));
        let s = at.as_micros() / 1_000_000;
        if s / self.every_s >= self.at.len() as u64 {
            self.at.push((s, live_bytes() - self.before));
        }
    }
}

/// What a run holds, every 50 seconds.
fn held(changes: &[&str], arm: Arm) -> Vec<(u64, i64)> {
    let scenario = scenario("rmcp", SCENARIO, changes);
    let run = || {
        let held = Held { at: Vec::with_capacity(1000), every_s: 50, before: live_bytes(), calls: 0 };
        let held = Rc::new(RefCell::new(held));
        run_into(&scenario, 0, arm, held.clone());
        let held = held.borrow();
        assert!(held.calls > 300, "{} calls", held.calls);
        held.at.clone()
    };
    std::thread::scope(|scope| scope.spawn(run).join().unwrap())
}

#[test]
fn a_long_run_holds_no_more_than_a_short_one() {
    let _alone = alone();
    for (changes, arm) in [
        (&[][..], Arm::Rmcp),
        (&["server.rmcp.session_store=true", "faults.server-shutdown={per_hour=20, down_s=[1, 5]}"], Arm::Rmcp),
        (&["client.session_duration_s=[100, 200]"], Arm::Rmcp),
    ] {
        let told = held(changes, arm);
        let most = |from: u64, to: u64| {
            let within = told.iter().filter(|(s, _)| (from..to).contains(s));
            within.map(|(_, bytes)| *bytes).max().expect("a sample")
        };
        println!("{changes:?} {arm}: {told:?}");
        let (early, late) = (most(100, 400), most(900, 1200));
        assert!(late < early * 5 / 4, "{changes:?} {arm}: {early} bytes up to 400 s, {late} up to 1200 s: {told:?}");
    }
}
