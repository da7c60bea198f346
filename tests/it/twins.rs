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

/// Fails where a call, or with `desyncs` a desync, is another one in front of the SDK than in front of the model.
fn come_to_the_same(seeds: u64, changes: &[&str], desyncs: bool) {
    let real: Vec<&str> = changes.iter().copied().chain(["server.implementation=rmcp"]).collect();
    let (model, sdk) = (runs(seeds, changes), runs(seeds, &real));
    let hung: u32 = model.iter().map(|run| run.run.hung).sum();
    assert!(u64::from(hung) > 5 * seeds, "{changes:?}: the scenario has lost its harm");
    for (model, sdk) in model.iter().zip(&sdk) {
        let told = |run: &RunResult| {
            let mut told: Vec<String> = run.calls.iter().map(|row| format!("{:?}", call(row))).collect();
            if desyncs {
                told.extend(run.desyncs.iter().map(|row| format!("{:?}", desync(row))));
            }
            // What happens at one instant to two clients may be told in either order.
            told.sort();
            told
        };
        assert_eq!(told(model), told(sdk), "{changes:?}, seed {}", model.seed);
    }
}

/// Both servers run the same tool at the same instants, and every harm comes from what the server keeps and answers: so
/// not shares are compared but each call and each desync.
#[test]
fn calls_come_to_the_same_with_the_model_and_with_the_sdk() {
    come_to_the_same(4, &[], true);
}

/// The standalone stream's numbers too: the answer to `initialize` once counted as its first event in what is reported of
/// the SDK, and each resume of a full ring looked like a loss.
#[test]
fn churn_beyond_the_ring_comes_to_the_same() {
    come_to_the_same(2, &["server.churn={interval_s=[5, 20], burst_events=[10, 40]}"], true);
}

#[test]
fn restarts_come_to_the_same() {
    let restarts = "faults.server-shutdown={per_hour=12, down_s=[1, 5]}";
    come_to_the_same(2, &[restarts], true);
    // With a store, cursors of dead calls take the legs of living ones. Two legs then end at one instant, and which of
    // them draws its delay first decides which desyncs there are; the calls come to the same.
    let store = ["server.unknown_session=restore", "server.rmcp.session_store=true"];
    come_to_the_same(2, &[restarts, store[0], store[1]], false);
}
