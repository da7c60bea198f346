//! The result folder: its files, and how they are written and read.
//!
//! | file | content | written by |
//! |---|---|---|
//! | `manifest.json` | what was run, on which build, and a digest over all runs | [`writer`] |
//! | `runs.csv`, `calls.csv`, `desyncs.csv`, `restarts.csv`, `faults.csv` | the rows of [`rows`] | [`writer`] |
//! | `schedules/<point>-<seed>.toml` | the faults that were scheduled, the same for every arm | [`writer`] |
//! | `<arm>.<measure>.hlog` | HdrHistogram logs, for other tools | [`writer`] |
//! | `timing.json` | facts about this execution: the only file that may differ between two | [`writer`] |
//! | `summary.csv`, `comparison.csv`, `plots/`, `report.html` | derived from the above | [`crate::report`] |

pub mod error;
pub(crate) mod fields;
pub(crate) mod folder;
pub mod manifest;
pub(crate) mod reader;
pub mod rows;
pub mod run;
pub(crate) mod tables;
pub mod writer;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;

/// The version of the result folder's format that this build writes and reads.
pub const FORMAT: u32 = 1;
/// The file that makes a folder a result folder.
pub const MANIFEST: &str = "manifest.json";
/// The file with wall-clock facts.
pub const TIMING: &str = "timing.json";
/// The folder with the fault schedules.
pub const SCHEDULES: &str = "schedules";
