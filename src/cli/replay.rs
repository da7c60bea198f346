//! `replay`: one run again, told as a story, written as an event log, drawn as a timeline.

use std::fs::File;
use std::io::{self, BufWriter, Seek as _, Write as _};
use std::path::Path;

use anyhow::Context;

use super::args::ReplayArguments;
use super::exit::{Exit, Failure, OrExit, Outcome};
use super::{interrupt, select};
use crate::experiment::command_line::quoted;
use crate::experiment::results::folder::write_from;
use crate::experiment::run::{PreparedRun, Run};
use crate::experiment::scenario::LoadedScenario;
use crate::observe::recorder::{Recorder, RunRecord};
use crate::observe::story::{Focus, Story};
use crate::observe::trace::{TraceHeader, read_trace};
use crate::report;
use crate::world::schedule::{Schedule, ScheduleError};
use crate::world::time::SimTime;

/// Carries the command out.
pub fn replay(arguments: &ReplayArguments) -> Outcome {
    let loaded = select::scenario(&arguments.scenario)?;
    let clients = loaded.scenario.settings.topology.clients;
    if let Some(client) = arguments.client.filter(|client| *client >= clients) {
        let sentence = format!("--client {client}: the scenario has {clients} clients, numbered from 0");
        return Err(Failure::say(Exit::Usage, sentence));
    }
    let run = Run { seed: arguments.seed, arm: select::can_run(arguments.arm, &loaded)? };
    let prepared = match &arguments.schedule {
        None => run.of(&loaded.scenario),
        Some(file) => {
            let schedule = Schedule::load(file, loaded.scenario.settings.extent()).map_err(|error| {
                let exit = match error {
                    ScheduleError::Unreadable { .. } => Exit::Io,
                    ScheduleError::Invalid(_) => Exit::BadInput,
                };
                Failure::new(exit, error)
            })?;
            run.with_schedule(&loaded.scenario, schedule)
        }
    };
    let header = TraceHeader::new(&loaded.scenario.name, arguments.seed, arguments.arm.name());

    if arguments.trace.as_deref() == Some(Path::new("-")) {
        let record = carry_out(&prepared, Recorder::with_trace(&header, Box::new(BufWriter::new(io::stdout()))))?;
        record.trace.context("the event log cannot be written to the standard output").or_exit(Exit::Io)?;
        return Ok(Exit::Well);
    }

    // The story is about the clients that something happened to: who they are is known at the end only. So the log is
    // kept in a file while the run lasts, and told from there.
    let mut log = tempfile::tempfile().context("no temporary file can be made").or_exit(Exit::Io)?;
    let kept = log.try_clone().context("the temporary file cannot be used").or_exit(Exit::Io)?;
    let record = carry_out(&prepared, Recorder::with_trace(&header, Box::new(BufWriter::new(kept))))?;
    if let Err(error) = &record.trace {
        return Err(Failure::say(Exit::Io, format_args!("the event log cannot be kept in a temporary file: {error}")));
    }
    if let Some(path) = &arguments.trace {
        log.rewind().context("the temporary file cannot be read again").or_exit(Exit::Io)?;
        write_from(path, |file| io::copy(&mut log, file).map(drop)).or_exit(Exit::Io)?;
    }
    let horizon = loaded.scenario.settings.horizon_s.get().into();
    tell(&mut log, arguments, &record, horizon).context("the story cannot be told").or_exit(Exit::Io)?;
    if let Some(path) = &arguments.timeline {
        draw(&prepared, arguments, &loaded, record, path).or_exit(Exit::Io)?;
    }
    Ok(Exit::Well)
}

fn carry_out(prepared: &PreparedRun<'_>, recorder: Recorder) -> Result<RunRecord, Failure> {
    prepared
        .record(recorder, interrupt::stop_flag())
        .or_exit(Exit::Internal)?
        .ok_or_else(|| Failure::say(Exit::Interrupted, "interrupted"))
}

fn tell(log: &mut File, arguments: &ReplayArguments, record: &RunRecord, horizon: SimTime) -> anyhow::Result<()> {
    log.rewind()?;
    let focus = match arguments.client {
        Some(client) => Focus::client(client),
        None => Focus::affected(&record.verdicts),
    };
    let mut story = Story::new(io::stdout().lock(), focus);
    for entry in read_trace(io::BufReader::new(log))? {
        let entry = entry?;
        story.tell(entry.t_us, &entry.host, &entry.event)?;
    }
    story.finish(horizon)?;
    if arguments.client.is_none() && record.verdicts.affected_clients().is_empty() {
        let calls = record.verdicts.run.calls;
        writeln!(
            io::stdout(),
            "Nothing went wrong: {calls} calls completed. `--client N` tells of one client all the same."
        )?;
    }
    writeln!(io::stdout(), "\ndigest of the event log: {}", record.digest)?;
    Ok(())
}

fn draw(
    prepared: &PreparedRun<'_>,
    arguments: &ReplayArguments,
    loaded: &LoadedScenario,
    record: RunRecord,
    path: &Path,
) -> anyhow::Result<()> {
    let mut command = select::replay_command(&arguments.scenario, arguments.seed, arguments.arm);
    for (flag, file) in [("--schedule", arguments.schedule.as_deref()), ("--timeline", Some(path))] {
        if let Some(file) = file {
            command.push_str(&format!(" {flag} {}", quoted(&file.to_string_lossy())));
        }
    }
    let title = format!("{}, seed {}, arm {}", loaded.scenario.name, arguments.seed, arguments.arm);
    report::write_timeline(path, &prepared.result(record), &title, &command)?;
    eprintln!("timeline: {}", path.display());
    Ok(())
}
