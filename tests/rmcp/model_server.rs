//! Whole runs of the official SDK's client against the server model, whose ids and streams are told to be the SDK's.

use std::sync::atomic::AtomicBool;
use std::thread;

use desync_sim::experiment::run::Run;
use desync_sim::experiment::scenario::Scenario;
use desync_sim::mcp::client::settings::Arm;
use desync_sim::observe::event::{CallNo, ClientNo, DetectedBy, Event, Purpose};
use desync_sim::observe::recorder::Recorder;
use desync_sim::observe::verdict::Outcome;

use crate::allocated::beside;
use crate::runs::{self, Ran};

const SCENARIO: &str = r#"format = 1
name = "sdk-client"
summary = "the SDK's client against the server model"
seeds = "0..1"
arms = ["trusting", "rmcp"]
horizon_s = 300

[topology]
clients = 4
sites = 2

[server]
id_grammar = "seq/stream"
counter_scope = "stream"
delivery = "post-stream"
priming = true
retry_s = 1

[tool]
parts = [4, 12]
interval_s = [1, 5]

[client]
call_interval_s = [10, 40]
call_timeout_s = 100
"#;

const CUTS: &str = r#"
[faults.disconnect]
per_client_per_hour = 120
modes = ["clean-end", "reset", "truncated-event"]
"#;

const SHUTDOWNS: &str = r#"
[faults.server-shutdown]
per_hour = 60
down_s = [2, 4]
keep = { sessions = false, store = false, counters = false }
"#;

#[test]
fn without_faults_every_call_completes_as_it_does_for_the_model() {
    let _beside = beside();
    let (model, sdk) = (run("", Arm::Trusting), run("", Arm::Rmcp));
    assert!(sdk.verdicts.run.calls > 20);
    assert_eq!(outcomes(&sdk), outcomes(&model));
    assert!(outcomes(&sdk).iter().all(|(_, outcome)| *outcome == Outcome::Completed));
    assert_eq!(sdk.verdicts.run.resumes, 0);
}

#[test]
fn streams_that_are_cut_are_resumed_and_every_call_completes() {
    let _beside = beside();
    let sdk = run(CUTS, Arm::Rmcp);
    assert!(sdk.verdicts.run.resumes > 20, "{:?}", sdk.verdicts.run);
    assert_eq!(sdk.verdicts.run.desyncs, 0);
    assert!(outcomes(&sdk).iter().all(|(_, outcome)| *outcome == Outcome::Completed), "{:?}", outcomes(&sdk));
    let purposes: Vec<Purpose> = sdk
        .events
        .iter()
        .filter_map(|event| match event {
            Event::RequestSent { purpose, cursor: Some(_), .. } => Some(*purpose),
            _ => None,
        })
        .collect();
    assert!(purposes.iter().any(|purpose| matches!(purpose, Purpose::Resume { .. })));
    assert!(purposes.contains(&Purpose::Listen));
}

#[test]
fn a_server_that_has_forgotten_its_sessions_is_noticed_and_calls_are_sent_again() {
    let _beside = beside();
    let sdk = run(SHUTDOWNS, Arm::Rmcp);
    assert!(outcomes(&sdk).iter().any(|(_, outcome)| *outcome == Outcome::Recovered), "{:?}", outcomes(&sdk));
    assert!(!sdk.verdicts.restarts.is_empty());
    assert!(sdk.verdicts.restarts.iter().all(|restart| restart.by == DetectedBy::NotFound));
    assert!(sdk.verdicts.restarts.iter().any(|restart| restart.restored_at.is_some() && restart.requests >= 2));
}

#[test]
fn a_run_is_the_same_the_second_time() {
    let _beside = beside();
    let again = || {
        let scenario = scenario(CUTS);
        let run = Run { seed: 3, arm: Arm::Rmcp }.of(&scenario);
        // A thread of its own, as every run of a sweep has.
        thread::scope(|scope| {
            let record = || run.record(Recorder::new(), &AtomicBool::new(false)).unwrap().unwrap().digest;
            scope.spawn(record).join().unwrap()
        })
    };
    assert_eq!(again(), again());
}

fn scenario(faults: &str) -> Scenario {
    runs::scenario("sdk-client", &format!("{SCENARIO}{faults}"), &[])
}

fn run(faults: &str, arm: Arm) -> Ran {
    runs::run(&scenario(faults), 0, arm)
}

fn outcomes(ran: &Ran) -> Vec<((ClientNo, CallNo), Outcome)> {
    let mut outcomes: Vec<_> = ran.verdicts.calls.iter().map(|call| ((call.client, call.call), call.outcome)).collect();
    outcomes.sort_by_key(|(call, _)| *call);
    outcomes
}
