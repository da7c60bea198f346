//! Experiments: scenario files, one run, sweeps over seeds and arms, result files.

pub mod pool;
pub mod results;
pub mod scenario;
