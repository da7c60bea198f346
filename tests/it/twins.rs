//! Model against reality, whole runs: the same clients, gateway, seeds and disconnects, once in front of the server
//! model with the profile `rmcp` and once in front of the official Rust SDK's server. Call by call and desync by desync,
//! both must come to the same.

use std::sync::atomic::AtomicBool;

use desync_sim::experiment::results::rows::{CallRow, DesyncRow};
use desync_sim::experiment::results::run::RunResult;
use desync_sim::experiment::run::Run;
use desync_sim::experiment::scenario::{Override, Scenario};
use desync_sim::experiment::sweep::carry_out;
use desync_sim::mcp::client::settings::Arm;

const SCENARIO: &str = include_str!("data/twins.toml");

/// The runs of the first `seeds` seeds, with these changes to the scenario.
fn runs(seeds: u64, changes: &[&str]) -> Vec<RunResult> {
    let changes: Vec<Override> = changes.iter().map(|change| change.parse().unwrap()).collect();
    let scenario = Scenario::parse("twins.toml", SCENARIO, &changes).unwrap_or_else(|problems| panic!("{problems}"));
    let run = |seed| {
        let run = Run { seed, arm: Arm::Trusting };
        // A fresh thread for each run, as in a sweep: libraries keep state in threads.
        std::thread::scope(|scope| {
            let ran = scope.spawn(|| carry_out(&scenario, run, &AtomicBool::new(false)));
            ran.join().unwrap().unwrap().expect("nobody stops it")
        })
    };
    (0..seeds).map(run).collect()
}

/// What became of a call: its client, number, outcome, parts held, executions.
fn call(row: &CallRow) -> (u32, u32, &str, u32, u32) {
    (row.client, row.call, &row.outcome, row.parts, row.executions)
}

/// What a desync was: its client, what it looked like, what made it possible, whether anything was lost.
fn desync(row: &DesyncRow) -> (u32, &str, &str, bool) {
    (row.client, &row.signature, &row.fault, row.lost_at_s.is_empty())
}

/// Both servers run the same tool at the same instants, and every harm comes from what the server keeps and answers: so
/// not shares are compared but each call and each desync.
#[test]
fn calls_come_to_the_same_with_the_model_and_with_the_sdk() {
    let (model, sdk) = (runs(4, &[]), runs(4, &["server.implementation=rmcp"]));
    let hung: u32 = model.iter().map(|run| run.run.hung).sum();
    assert!(hung > 40, "the scenario has lost its harm");
    for (model, sdk) in model.iter().zip(&sdk) {
        let calls = |run: &RunResult| run.calls.iter().map(call).map(|call| format!("{call:?}")).collect::<Vec<_>>();
        assert_eq!(calls(model), calls(sdk), "seed {}", model.seed);
        let desyncs =
            |run: &RunResult| run.desyncs.iter().map(desync).map(|desync| format!("{desync:?}")).collect::<Vec<_>>();
        assert_eq!(desyncs(model), desyncs(sdk), "seed {}", model.seed);
    }
}
