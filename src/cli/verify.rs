//! `verify`: each run twice, in separate processes, event log against event log.

use std::io::{self, BufRead, BufReader, Lines};
use std::ops::ControlFlow;
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context, bail};

use super::args::{ScenarioArguments, VerifyArguments};
use super::exit::{Exit, Failure, Outcome};
use super::{interrupt, out, select};
use crate::experiment::pool;
use crate::mcp::client::settings::Arm;

/// What came of running one seed of one arm twice.
#[derive(Debug, PartialEq, Eq)]
enum Comparison {
    /// All lines are equal.
    Same { lines: u64 },
    /// The first line that differs, as each process wrote it; none where that process wrote fewer lines.
    Differs { line: u64, first: Option<String>, second: Option<String> },
}

/// Carries the command out.
pub fn verify(arguments: &VerifyArguments) -> Outcome {
    let loaded = select::scenario(&arguments.scenario)?;
    let arms = select::arms(&arguments.arms, &loaded)?;
    let runs: Vec<(u64, Arm)> =
        arguments.seeds.iter().flat_map(|seed| arms.iter().map(move |arm| (seed, *arm))).collect();
    let stop = interrupt::stop_flag();

    let mut differing = 0;
    let mut total_lines = 0;
    let mut failure = None;
    let mut checked = 0;
    pool::run_in_order(
        &runs,
        select::jobs(arguments.jobs),
        stop,
        |(seed, arm)| format!("verify seed {seed} arm {arm}"),
        |(seed, arm)| compare(&arguments.scenario, *seed, *arm),
        |(seed, arm), compared| {
            checked += 1;
            let told = match compared.map_err(anyhow::Error::new).and_then(|compared| compared) {
                Ok(Comparison::Same { lines }) => {
                    total_lines += lines;
                    Ok(())
                }
                Ok(Comparison::Differs { line, first, second }) => {
                    differing += 1;
                    let none = "(no more lines)";
                    out::line(format_args!(
                        "seed {seed}, arm {arm}: the event logs differ at line {line}\n  first process:  {}\n  \
                         second process: {}\n  again: {} --trace -",
                        first.as_deref().unwrap_or(none),
                        second.as_deref().unwrap_or(none),
                        select::replay_command(&arguments.scenario, *seed, *arm)
                    ))
                }
                Err(error) => Err(Failure::new(Exit::Internal, error.context(format!("seed {seed}, arm {arm}")))),
            };
            match told {
                Ok(()) => ControlFlow::Continue(()),
                Err(failed) => {
                    failure = Some(failed);
                    ControlFlow::Break(())
                }
            }
        },
    );
    if let Some(failure) = failure {
        return Err(failure);
    }
    if checked < runs.len() {
        return Ok(Exit::Interrupted);
    }
    if differing > 0 {
        out::line(format_args!("{differing} of {} runs differ between two processes", runs.len()))?;
        return Ok(Exit::Violated);
    }
    out::line(format_args!(
        "{} runs ({} seeds, {} arms), each in two processes: all {total_lines} lines of the event logs are equal",
        runs.len(),
        arguments.seeds.len(),
        arms.len()
    ))?;
    Ok(Exit::Well)
}

fn compare(scenario: &ScenarioArguments, seed: u64, arm: Arm) -> anyhow::Result<Comparison> {
    let mut first = Replayed::start(scenario, seed, arm)?;
    let mut second = Replayed::start(scenario, seed, arm)?;
    let compared = first_difference(&mut first.lines, &mut second.lines)
        .context("the event log of a second process cannot be read")?;
    if let Comparison::Same { .. } = compared {
        first.end()?;
        second.end()?;
    }
    Ok(compared)
}

/// Reads two event logs side by side, as far as the first line that is not the same in both.
fn first_difference(
    mut first: impl Iterator<Item = io::Result<String>>,
    mut second: impl Iterator<Item = io::Result<String>>,
) -> io::Result<Comparison> {
    let mut lines = 0;
    loop {
        match (first.next().transpose()?, second.next().transpose()?) {
            (None, None) => return Ok(Comparison::Same { lines }),
            (a, b) if a == b => lines += 1,
            (first, second) => return Ok(Comparison::Differs { line: lines + 1, first, second }),
        }
    }
}

/// A process of this program that replays one run and writes its event log to a pipe.
struct Replayed {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Replayed {
    fn start(scenario: &ScenarioArguments, seed: u64, arm: Arm) -> anyhow::Result<Replayed> {
        let program = std::env::current_exe().context("this program's own file cannot be found")?;
        let mut command = Command::new(program);
        command.arg("replay").arg(&scenario.scenario);
        for change in &scenario.set {
            command.args(["--set", change]);
        }
        command.args(["--seed", &seed.to_string(), "--arm", arm.name(), "--trace", "-"]);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .context("a second process of this program cannot be started")?;
        let stdout = child.stdout.take().context("the second process has no output")?;
        Ok(Replayed { child, lines: BufReader::new(stdout).lines() })
    }

    fn end(&mut self) -> anyhow::Result<()> {
        let status = self.child.wait()?;
        // The replayed run's own verdict is no matter here, only whether it came to its end.
        if !status.success() && status.code() != Some(i32::from(Exit::Vacuous.code())) {
            bail!("a replaying process ended with {status}");
        }
        Ok(())
    }
}

impl Drop for Replayed {
    fn drop(&mut self) {
        // Already ended in the ordinary course; after a difference it is of no more use.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(first: &str, second: &str) -> Comparison {
        first_difference(first.as_bytes().lines(), second.as_bytes().lines()).unwrap()
    }

    fn differs(line: u64, first: Option<&str>, second: Option<&str>) -> Comparison {
        Comparison::Differs { line, first: first.map(str::to_owned), second: second.map(str::to_owned) }
    }

    #[test]
    fn equal_logs_are_the_same() {
        assert_eq!(difference("header\na\nb\n", "header\na\nb\n"), Comparison::Same { lines: 3 });
    }

    #[test]
    fn the_first_line_that_differs_is_named_and_not_a_later_one() {
        assert_eq!(difference("header\na\nb\nc\n", "header\na\nB\nC\n"), differs(3, Some("b"), Some("B")));
    }

    #[test]
    fn a_log_that_ends_sooner_differs_at_its_end() {
        assert_eq!(difference("header\na\n", "header\n"), differs(2, Some("a"), None));
        assert_eq!(difference("", "header\n"), differs(1, None, Some("header")));
    }

    #[test]
    fn a_log_that_cannot_be_read_is_no_difference() {
        let broken = std::iter::once(Err(io::Error::other("the pipe broke")));
        let error = first_difference("a\n".as_bytes().lines(), broken).unwrap_err();
        assert_eq!(error.to_string(), "the pipe broke");
    }
}
