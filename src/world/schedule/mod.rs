//! The fault schedule: a value, generated before the run, stored, editable, replayable without the seed.

pub mod settings;

use serde::{Deserialize, Serialize};

use super::fault::Fault;
use super::time::Seconds;

/// The version of the schedule file format that this build reads and writes.
pub const FORMAT: u32 = 1;

/// Every scheduled fault of one run, in the order of its instants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// The file format's version.
    pub format: u32,
    /// The faults, earliest first.
    #[serde(rename = "fault", default)]
    pub faults: Vec<ScheduledFault>,
}

/// One fault and its instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScheduledFault {
    /// When it strikes, in seconds of simulated time.
    pub at_s: Seconds,
    /// What strikes whom.
    #[serde(flatten)]
    pub fault: Fault,
}
