//! `run`: a seeded experiment into a result folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use super::args::RunArguments;
use super::exit::{Exit, Failure, OrExit, Outcome};
use super::report::results_exit;
use super::{interrupt, select};
use crate::experiment::build::this_build;
use crate::experiment::results::error::ResultError;
use crate::experiment::results::manifest::{Experiment, Manifest, ScenarioText};
use crate::experiment::results::run::RunResult;
use crate::experiment::results::writer::ResultWriter;
use crate::experiment::run::{Run, RunFailed};
use crate::experiment::scenario::{self, LoadedScenario, Totals};
use crate::experiment::sweep::{Plan, sweep};
use crate::mcp::client::settings::Arm;
use crate::report;

/// Carries the command out.
pub fn run(arguments: &RunArguments) -> Outcome {
    let loaded = select::scenario(&arguments.scenario)?;
    let plan = Plan {
        seeds: arguments.seeds.clone().unwrap_or_else(|| loaded.scenario.seeds.clone()),
        arms: select::arms(&arguments.arms, &loaded),
        jobs: select::jobs(arguments.jobs),
    };
    let destination = arguments.out.clone().unwrap_or_else(|| default_folder(&loaded));
    let mut writer = ResultWriter::create(&destination, manifest(arguments, &loaded, &plan)).map_err(from_results)?;

    let total = plan.seeds.len() * plan.arms.len() as u64;
    let mut watch = Watch::new(arguments, total);
    #[expect(clippy::disallowed_methods, reason = "wall time of the sweep, for timing.json")]
    let started = Instant::now();
    let swept = sweep(&loaded.scenario, &plan, interrupt::stop_flag(), &mut writer, |run, result| {
        watch.ended(run, result);
    })
    .map_err(from_results)?;
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
    let folder = finished.commit().map_err(from_results)?;

    println!("{table}");
    println!(
        "{} runs in {:.1} s; results, figures and page: {}",
        swept.finished,
        started.elapsed().as_secs_f64(),
        folder.join(report::PAGE).display()
    );
    judge(&watch, &loaded, swept.failed.len())
}

/// The exit code, and what it is about.
fn judge(watch: &Watch<'_>, loaded: &LoadedScenario, failed: usize) -> Outcome {
    if failed > 0 {
        return Err(Failure::say(Exit::Internal, format_args!("{failed} runs brought no result: see above")));
    }
    let violations = scenario::check(&loaded.scenario.thresholds, &watch.totals);
    if !violations.is_empty() {
        for violation in &violations {
            eprintln!("violated: {violation}");
        }
        if let Some((run, _)) = watch.hung {
            eprintln!(
                "a run with hung calls: {}",
                select::replay_command(&watch.arguments.scenario, run.seed, run.arm)
            );
        }
        return Ok(Exit::Violated);
    }
    if watch.all_vacuous {
        eprintln!("no fault took effect in any run: these results compare nothing");
        return Ok(Exit::Vacuous);
    }
    Ok(Exit::Well)
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
            arguments: words,
            seeds: plan.seeds.clone(),
            points: 1,
            arms: plan.arms.clone(),
        },
    )
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
    hung: Option<(Run, u32)>,
}

impl<'a> Watch<'a> {
    fn new(arguments: &'a RunArguments, total: u64) -> Watch<'a> {
        // Draws on stderr, and on nothing where that is no terminal.
        let bar = ProgressBar::new(total);
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len} runs, {elapsed} elapsed, {eta} to go  {msg}");
        bar.set_style(style.expect("the template is a constant"));
        Watch { arguments, bar, totals: BTreeMap::new(), all_vacuous: true, hung: None }
    }

    fn ended(&mut self, run: Run, result: Result<&RunResult, &RunFailed>) {
        self.bar.inc(1);
        match result {
            Ok(result) => {
                self.totals.entry(run.arm).or_default().add(&result.run);
                self.all_vacuous &= result.run.vacuous;
                if result.run.hung > 0 && self.hung.is_none() {
                    self.hung = Some((run, result.run.hung));
                }
            }
            Err(failed) => self.bar.suspend(|| {
                eprintln!("error: seed {}, arm {}: {failed}", run.seed, run.arm);
                eprintln!("  again: {}", select::replay_command(&self.arguments.scenario, run.seed, run.arm));
            }),
        }
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
