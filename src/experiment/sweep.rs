//! A sweep: every seed with every arm, in parallel, into a result folder.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use super::pool::{self, Ended};
use super::results::error::ResultError;
use super::results::run::RunResult;
use super::results::writer::ResultWriter;
use super::run::{Run, RunFailed};
use super::scenario::{Scenario, SeedRange};
use crate::mcp::client::settings::Arm;
use crate::observe::recorder::Recorder;

/// Which runs a sweep consists of.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The seeds.
    pub seeds: SeedRange,
    /// The arms, in the order of tables and plots.
    pub arms: Vec<Arm>,
    /// Runs at a time.
    pub jobs: usize,
}

/// What a sweep came to.
#[derive(Debug, Default)]
pub struct Swept {
    /// Runs with a result.
    pub finished: u64,
    /// Runs without one, and why.
    pub failed: Vec<(Run, RunFailed)>,
    /// Whether it was stopped before its end.
    pub stopped: bool,
}

/// What carrying one run out comes to: none where it was stopped before its end.
pub type CarriedOut = Result<Option<RunResult>, RunFailed>;

/// Carries out one run of `scenario`, as a sweep does.
pub fn carry_out(scenario: &Scenario, run: Run, stop: &AtomicBool) -> CarriedOut {
    run.of(scenario).carry_out(Recorder::new(), stop)
}

/// Carries out each run of `plan` and pushes its result to `writer`, in the order of the seeds and, within a seed, of
/// the arms.
///
/// `ended` is told of each run as its turn comes. A run that fails is kept in what is returned and harms no other.
///
/// # Errors
/// Where a result cannot be written: no further run is started then.
pub fn sweep(
    plan: &Plan,
    stop: &AtomicBool,
    writer: &mut ResultWriter,
    carry_out: impl Fn(Run) -> CarriedOut + Sync,
    mut ended: impl FnMut(Run, Result<&RunResult, &RunFailed>),
) -> Result<Swept, ResultError> {
    let runs: Vec<Run> =
        plan.seeds.iter().flat_map(|seed| plan.arms.iter().map(move |&arm| Run { seed, arm })).collect();
    let mut swept = Swept::default();
    let mut unwritten = None;
    pool::run_in_order(
        &runs,
        plan.jobs,
        stop,
        |run| format!("seed {} arm {}", run.seed, run.arm),
        |run| carry_out(*run),
        |run, result: Ended<CarriedOut>| {
            match result.map_err(RunFailed::from).and_then(|result| result) {
                Ok(Some(result)) => {
                    ended(*run, Ok(&result));
                    if let Err(error) = writer.push(&result) {
                        unwritten = Some(error);
                        return ControlFlow::Break(());
                    }
                    swept.finished += 1;
                }
                Ok(None) => {
                    swept.stopped = true;
                    return ControlFlow::Break(());
                }
                Err(failed) => {
                    ended(*run, Err(&failed));
                    swept.failed.push((*run, failed));
                }
            }
            ControlFlow::Continue(())
        },
    );
    swept.stopped |= swept.finished + (swept.failed.len() as u64) < runs.len() as u64;
    unwritten.map_or(Ok(swept), Err)
}
