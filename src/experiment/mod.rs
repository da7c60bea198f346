//! Experiments: scenario files, one run, sweeps over seeds and arms, result files.

pub mod available;
pub mod build;
pub mod command_line;
pub mod pool;
mod result;
pub mod results;
pub mod run;
pub mod scenario;
pub mod simulation;
pub mod sweep;
