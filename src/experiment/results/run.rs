//! What one run leaves behind.

use super::rows::{CallRow, DesyncRow, FaultRow, RestartRow, RunRow};
use crate::mcp::client::settings::Arm;
use crate::observe::measure::Measures;

/// One finished run: everything that the result folder keeps of it.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// The point of the scenario's grid; 0 where it has none.
    pub point: u32,
    /// The seed.
    pub seed: u64,
    /// The arm.
    pub arm: Arm,
    /// The fault schedule as TOML. The same for every arm of a point and seed; written once.
    pub schedule: String,
    /// The run's own row.
    pub run: RunRow,
    /// Its calls.
    pub calls: Vec<CallRow>,
    /// Its resumes that were not coherent.
    pub desyncs: Vec<DesyncRow>,
    /// Its sessions declared lost.
    pub restarts: Vec<RestartRow>,
    /// The faults that struck.
    pub faults: Vec<FaultRow>,
    /// Its distributions of times.
    pub measures: Measures,
}
