//! The integration tests: the program from outside, and the rules that its sources keep.

mod answers;
mod availability;
mod bad_input;
mod cli;
#[cfg(feature = "rmcp")]
mod combinations;
mod determinism;
#[cfg(feature = "rmcp")]
mod findings;
mod golden;
mod program;
mod readme;
mod scenarios;
mod tidy;
#[cfg(feature = "rmcp")]
mod twins;
