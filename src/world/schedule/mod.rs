//! The fault schedule: a value, generated before the run, stored, editable, replayable without the seed.

mod file;
mod generate;
mod kind;
pub mod settings;

#[cfg(test)]
mod tests;

use serde::Serialize;

use super::fault::Fault;
use super::time::Seconds;

pub use file::ScheduleError;
pub use kind::{Kind, UnknownKind};

/// The version of the schedule file format that this build reads and writes.
pub const FORMAT: u32 = 1;

/// Every scheduled fault of one run, in the order of its instants.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Schedule {
    /// The file format's version.
    pub format: u32,
    /// The faults, earliest first.
    #[serde(rename = "fault")]
    pub faults: Vec<ScheduledFault>,
}

/// One fault and its instant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ScheduledFault {
    /// When it strikes, in seconds of simulated time.
    pub at_s: Seconds,
    /// What strikes whom.
    #[serde(flatten)]
    pub fault: Fault,
}

/// Whom and when a schedule can hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Clients, numbered from 0.
    pub clients: u32,
    /// Servers, numbered from 0.
    pub servers: u32,
    /// The end of the run: every fault strikes before it.
    pub horizon: Seconds,
}

impl Schedule {
    /// A schedule of `faults`, put in order.
    pub fn new(mut faults: Vec<ScheduledFault>) -> Schedule {
        faults.sort_by_key(ScheduledFault::order);
        Schedule { format: FORMAT, faults }
    }
}

impl ScheduledFault {
    /// Its place in a schedule: by time, kind, and the client or server that it hits. Faults that agree in all
    /// three stay in the order in which they were given.
    fn order(&self) -> (Seconds, Kind, u32) {
        let target = match self.fault {
            Fault::ServerShutdown { server, .. } => server,
            ref other => other.client().unwrap_or(0),
        };
        (self.at_s, Kind::of(&self.fault), target)
    }
}
