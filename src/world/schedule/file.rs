//! Schedule files.

use std::io;
use std::path::{Path, PathBuf};

use super::{Extent, FORMAT, Kind, Schedule, ScheduledFault};
use crate::document::{Document, Problems, Section};
use crate::world::fault::Fault;
use crate::world::time::Seconds;

/// Why there is no schedule to follow.
#[derive(Debug, thiserror::Error)]
pub enum ScheduleError {
    /// A file that cannot be read.
    #[error("cannot read the schedule {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file that is no schedule of this scenario: one line a problem.
    #[error("{0}")]
    Invalid(Problems),
}

impl Schedule {
    /// Reads a schedule file and checks that it fits a run of `extent`.
    ///
    /// # Errors
    /// Where it cannot be read, or is not a schedule for such a run.
    pub fn load(path: &Path, extent: Extent) -> Result<Schedule, ScheduleError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| ScheduleError::Unreadable { path: path.to_owned(), source })?;
        Schedule::parse(&text, &path.display().to_string(), extent).map_err(ScheduleError::Invalid)
    }

    /// Reads the text of a schedule file called `file`. The faults may come in any order.
    ///
    /// # Errors
    /// Everything that is wrong with it, each with its line and key.
    pub fn parse(text: &str, file: &str, extent: Extent) -> Result<Schedule, Problems> {
        let Document { mut root, mut problems } = Document::parse(file, text, &[])?;
        let format: Option<u32> = root.require("format", &mut problems);
        if format.is_some_and(|format| format != FORMAT) {
            let what = format!("this build reads schedule files of format {FORMAT} only");
            problems.note("format", what);
            return Err(problems);
        }
        let mut faults = Vec::new();
        for section in root.tables("fault", &mut problems) {
            faults.extend(scheduled_fault(section, extent, &mut problems));
        }
        root.finish(&mut problems);
        if problems.is_empty() { Ok(Schedule::new(faults)) } else { Err(problems) }
    }

    /// The text of a schedule file.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a schedule consists of tables, numbers and names")
    }
}

fn scheduled_fault(mut section: Section<'_>, extent: Extent, problems: &mut Problems) -> Option<ScheduledFault> {
    let at_s: Option<Seconds> = section.require("at_s", problems);
    if let Some(at_s) = at_s.filter(|&at_s| at_s >= extent.horizon) {
        problems.note(
            &section.path_of("at_s"),
            format!("{at_s} is not before the horizon, {} s: the fault would never strike", extent.horizon),
        );
    }
    let name: String = section.require("kind", problems)?;
    let kind = match name.parse::<Kind>() {
        Ok(kind) => kind,
        Err(unknown) => {
            // The other keys depend on the kind: nothing can be said about them.
            problems.note(&section.path_of("kind"), unknown.to_string());
            return None;
        }
    };
    let fault = fault(kind, &mut section, extent, problems);
    section.finish(problems);
    Some(ScheduledFault { at_s: at_s?, fault: fault? })
}

/// The fault itself. Every key is asked for before the first missing one ends it, so that all problems are noted.
fn fault(kind: Kind, section: &mut Section<'_>, extent: Extent, problems: &mut Problems) -> Option<Fault> {
    let p = problems;
    match kind {
        Kind::Disconnect => {
            let (client, mode) = (client(section, extent, p), section.require("mode", p));
            Some(Fault::Disconnect { client: client?, mode: mode? })
        }
        Kind::Outage => {
            let (client, duration_s) = (client(section, extent, p), section.require("duration_s", p));
            Some(Fault::Outage { client: client?, duration_s: duration_s? })
        }
        Kind::Stall => {
            let (link, duration_s) = (section.require("link", p), section.require("duration_s", p));
            Some(Fault::Stall { link: link?, duration_s: duration_s? })
        }
        Kind::SessionRecycle => {
            let (client, to) = (client(section, extent, p), section.require("to", p));
            Some(Fault::SessionRecycle { client: client?, to: to? })
        }
        Kind::BufferTruncate => {
            let (client, keep_events) = (client(section, extent, p), section.require("keep_events", p));
            Some(Fault::BufferTruncate { client: client?, keep_events: keep_events? })
        }
        Kind::CounterWrap => Some(Fault::CounterWrap { client: client(section, extent, p)? }),
        Kind::ServerShutdown => {
            let server = target(section, "server", extent.servers, p);
            let (down_s, keep) = (section.require("down_s", p), section.take("keep", p));
            Some(Fault::ServerShutdown { server: server?, down_s: down_s?, keep: keep.unwrap_or_default() })
        }
    }
}

fn client(section: &mut Section<'_>, extent: Extent, problems: &mut Problems) -> Option<u32> {
    target(section, "client", extent.clients, problems)
}

/// The number of whom the fault hits, one of `count`.
fn target(section: &mut Section<'_>, key: &'static str, count: u32, problems: &mut Problems) -> Option<u32> {
    let number: u32 = section.require(key, problems)?;
    if number >= count {
        problems.note(
            &section.path_of(key),
            match count {
                1 => format!("there is no {key} {number}: the scenario has one {key}, number 0"),
                _ => format!(
                    "there is no {key} {number}: the scenario has {count} {key}s, numbered 0 to {}",
                    count.saturating_sub(1)
                ),
            },
        );
        return None;
    }
    Some(number)
}
