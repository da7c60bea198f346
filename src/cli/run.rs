//! `run`: a seeded experiment into a result folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use super::args::RunArguments;
use super::exit::{Exit, Failure, OrExit, Outcome};
use super::report::results_exit;
use super::{interrupt, out, select};
use crate::experiment::build::this_build;
use crate::experiment::results::error::ResultError;
use crate::experiment::results::manifest::{Experiment, Manifest, ScenarioText};
use crate::experiment::results::run::RunResult;
use crate::experiment::results::writer::ResultWriter;
use crate::experiment::run::{Run, RunFailed};
use crate::experiment::scenario::{self, LoadedScenario, Scenario, Threshold, Totals};
use crate::experiment::sweep::{self, CarriedOut, Plan, sweep};
use crate::mcp::client::settings::Arm;
use crate::report;

/// Carries the command out.
pub fn run(arguments: &RunArguments) -> Outcome {
    run_by(arguments, sweep::carry_out)
}

/// The same, with the runs carried out by `carry_out`: how the command meets a run that fails can so be seen without
/// a fault in the simulation.
fn run_by(arguments: &RunArguments, carry_out: fn(&Scenario, Run, &AtomicBool) -> CarriedOut) -> Outcome {
    let loaded = select::scenario(&arguments.scenario)?;
    let plan = Plan {
        seeds: arguments.seeds.clone().unwrap_or_else(|| loaded.scenario.seeds.clone()),
        arms: select::arms(&arguments.arms, &loaded)?,
        jobs: select::jobs(arguments.jobs),
    };
    warn_of_unheard_keys(&loaded);
    let destination = arguments.out.clone().unwrap_or_else(|| default_folder(&loaded));
    // Before the first file: an interrupted command must find its handler, or it leaves the hidden folder behind.
    let stop = interrupt::stop_flag();
    let mut writer = ResultWriter::create(&destination, manifest(arguments, &loaded, &plan)).map_err(from_results)?;

    let total = plan.seeds.len() * plan.arms.len() as u64;
    let mut watch = Watch::new(arguments, &loaded.scenario.thresholds, total);
    #[expect(clippy::disallowed_methods, reason = "wall time of the sweep, for timing.json")]
    let started = Instant::now();
    let carry_out = |run| carry_out(&loaded.scenario, run, stop);
    let swept =
        sweep(&plan, stop, &mut writer, carry_out, |run, result| watch.ended(run, result)).map_err(from_results)?;
    watch.finish();

    if swept.stopped {
        return Err(Failure::say(
            Exit::Interrupted,
            format_args!(
                "interrupted after {} of {total} runs: nothing was written to {}",
                swept.finished,
                destination.display()
            ),
        ));
    }
    if swept.finished == 0 {
        return Err(Failure::say(Exit::Internal, "no run came to its end: nothing was written"));
    }
    let finished = writer.finish(started.elapsed(), plan.jobs).map_err(from_results)?;
    report::render(finished.path()).or_exit(Exit::Internal)?;
    let table = report::table_of(finished.path()).or_exit(Exit::Internal)?;
    finished.commit().map_err(from_results)?;

    out::line(table)?;
    out::line(format_args!(
        "{} runs in {:.1} s; results, figures and page: {}",
        swept.finished,
        started.elapsed().as_secs_f64(),
        destination.join(report::PAGE).display()
    ))?;
    if !swept.failed.is_empty() {
        let missing = swept.failed.len();
        return Err(Failure::say(
            Exit::Internal,
            format_args!("{missing} of {total} runs brought no result: see above"),
        ));
    }
    Ok(judge(&watch, &loaded))
}

/// The exit code, and what it is about.
fn judge(watch: &Watch<'_>, loaded: &LoadedScenario) -> Exit {
    let violations = scenario::check(&loaded.scenario.thresholds, &watch.totals);
    if !violations.is_empty() {
        for violation in &violations {
            eprintln!("violated: {violation}");
            if let Some(run) = watch.farthest(&violation.threshold) {
                let again = select::replay_command(&watch.arguments.scenario, run.seed, run.arm);
                eprintln!("  its farthest run: {again}");
            }
        }
        return Exit::Violated;
    }
    if watch.all_vacuous {
        eprintln!("no fault took effect in any run: these results compare nothing");
        return Exit::Vacuous;
    }
    Exit::Well
}

/// Says which keys of the scenario say nothing to the server that it names. A server that stands for the SDK may well
/// have them: what the SDK really does can then be seen with one flag.
fn warn_of_unheard_keys(loaded: &LoadedScenario) {
    let server = &loaded.scenario.settings.server;
    // A profile describes the server that is really there.
    let unheard = if server.profile.is_some() { Vec::new() } else { server.unheard() };
    if !unheard.is_empty() {
        let keys: Vec<String> = unheard.iter().map(|key| format!("`server.{key}`")).collect();
        eprintln!(
            "note: the server is the official Rust SDK's, to which {} say nothing: its settings are `server.rmcp`",
            keys.join(", ")
        );
    }
}

fn default_folder(loaded: &LoadedScenario) -> PathBuf {
    Path::new("results/runs").join(&loaded.scenario.name)
}

fn manifest(arguments: &RunArguments, loaded: &LoadedScenario, plan: &Plan) -> Manifest {
    let mut words = vec!["run".to_owned(), arguments.scenario.scenario.clone()];
    for change in &arguments.scenario.set {
        words.extend(["--set".to_owned(), change.clone()]);
    }
    words.extend(["--seeds".to_owned(), plan.seeds.to_string()]);
    if !arguments.arms.is_empty() {
        let names: Vec<&str> = plan.arms.iter().map(|arm| arm.name()).collect();
        words.extend(["--arms".to_owned(), names.join(",")]);
    }
    Manifest::new(
        this_build(),
        Experiment {
            scenario: ScenarioText::new(loaded.scenario.name.clone(), loaded.text.clone()),
            server_profile: loaded.profile.as_ref().map(|profile| ScenarioText::new(&profile.name, &profile.text)),
            arguments: words,
            seeds: plan.seeds.clone(),
            points: 1,
            arms: plan.arms.clone(),
        },
    )
}

/// What is said of a run that brought no result: which one, why, and how to see it again.
fn told(arguments: &RunArguments, run: Run, failed: &RunFailed) -> String {
    let Run { seed, arm } = run;
    let again = select::replay_command(&arguments.scenario, seed, arm);
    format!("error: seed {seed}, arm {arm}: {failed}\n  again: {again}")
}

fn from_results(error: ResultError) -> Failure {
    Failure::new(results_exit(&error), error)
}

/// Watches the runs end: the progress bar, the totals that the thresholds bound, the runs that failed.
struct Watch<'a> {
    arguments: &'a RunArguments,
    bar: ProgressBar,
    totals: BTreeMap<Arm, Totals>,
    all_vacuous: bool,
    /// Of each threshold, the run that lies farthest on the side that it forbids, and the measure's value there.
    farthest: Vec<(Threshold, Option<(f64, Run)>)>,
}

impl<'a> Watch<'a> {
    fn new(arguments: &'a RunArguments, thresholds: &[Threshold], total: u64) -> Watch<'a> {
        // Draws on stderr, and on nothing where that is no terminal.
        let bar = ProgressBar::new(total);
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len} runs, {elapsed} elapsed, {eta} to go  {msg}");
        bar.set_style(style.expect("the template is a constant"));
        let farthest = thresholds.iter().map(|threshold| (threshold.clone(), None)).collect();
        Watch { arguments, bar, totals: BTreeMap::new(), all_vacuous: true, farthest }
    }

    fn ended(&mut self, run: Run, result: Result<&RunResult, &RunFailed>) {
        self.bar.inc(1);
        match result {
            Ok(result) => {
                self.totals.entry(run.arm).or_default().add(&result.run);
                self.all_vacuous &= result.run.vacuous;
                self.compare(run, result);
            }
            Err(failed) => self.bar.suspend(|| eprintln!("{}", told(self.arguments, run, failed))),
        }
    }

    fn compare(&mut self, run: Run, result: &RunResult) {
        let mut alone = Totals::default();
        alone.add(&result.run);
        for (threshold, farthest) in self.farthest.iter_mut().filter(|(threshold, _)| threshold.arm == run.arm) {
            let Some(value) = threshold.measure.of(&alone) else { continue };
            let farther = farthest.is_none_or(|(before, _)| match threshold.at_most {
                Some(_) => value > before,
                None => value < before,
            });
            if farther {
                *farthest = Some((value, run));
            }
        }
    }

    fn farthest(&self, threshold: &Threshold) -> Option<Run> {
        let (_, farthest) = self.farthest.iter().find(|(of, _)| of == threshold)?;
        farthest.map(|(_, run)| run)
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::{Arguments, Command};
    use crate::experiment::pool::Panicked;
    use crate::experiment::results::reader::ResultFolder;
    use crate::experiment::results::rows::RunRow;

    fn arguments(out: &Path) -> RunArguments {
        let small = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/data/small.toml");
        let words = ["desync-sim", "run", small, "--set", "horizon_s=60", "--set", "client.drain_s=30", "--seeds=0..2"];
        let out = out.to_str().unwrap();
        match Arguments::parse_from(words.into_iter().chain(["--out", out])).command {
            Command::Run(arguments) => arguments,
            other => panic!("{other:?}"),
        }
    }

    fn panics_once(scenario: &Scenario, run: Run, stop: &AtomicBool) -> CarriedOut {
        assert!(run != Run { seed: 1, arm: Arm::Trusting }, "the oracle lost count");
        sweep::carry_out(scenario, run, stop)
    }

    fn rows(folder: &Path) -> Vec<RunRow> {
        ResultFolder::open(folder).unwrap().rows().unwrap().collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn a_run_that_panics_harms_no_other_run_and_ends_the_command_as_an_internal_error() {
        let place = tempfile::tempdir().unwrap();
        let (whole, with_panic) = (place.path().join("whole"), place.path().join("with-panic"));
        run(&arguments(&whole)).unwrap();
        let failure = run_by(&arguments(&with_panic), panics_once).unwrap_err();
        assert_eq!(failure.exit, Exit::Internal);
        assert_eq!(failure.error.to_string(), "1 of 4 runs brought no result: see above");

        let mut expected = rows(&whole);
        expected.retain(|row| (row.seed, row.arm.as_str()) != (1, "trusting"));
        assert_eq!(expected.len(), 3);
        assert_eq!(rows(&with_panic), expected);
    }

    #[test]
    fn where_every_run_panics_nothing_is_written() {
        let place = tempfile::tempdir().unwrap();
        let failure = run_by(&arguments(&place.path().join("all")), |_, _, _| panic!("always")).unwrap_err();
        assert_eq!(failure.exit, Exit::Internal);
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_run_that_failed_is_named_with_its_seed_its_arm_and_the_command_that_shows_it() {
        let mut arguments = arguments(Path::new("anywhere"));
        arguments.scenario.scenario = "incident".to_owned();
        let failed = RunFailed::Panicked(Panicked { message: "the oracle lost count".to_owned() });
        assert_eq!(
            told(&arguments, Run { seed: 1, arm: Arm::Trusting }, &failed),
            "error: seed 1, arm trusting: the run panicked: the oracle lost count\n  \
             again: desync-sim replay incident --set horizon_s=60 --set client.drain_s=30 --seed 1 --arm trusting"
        );
    }
}
