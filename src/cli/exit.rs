//! Exit codes, and errors that know theirs.

use std::fmt;
use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 0: all well.
    Well,
    /// 1: a threshold or invariant of the scenario was violated, or two executions differ.
    Violated,
    /// 3: no fault took effect in any run.
    Vacuous,
    /// 64: the command line cannot be carried out.
    Usage,
    /// 65: a scenario, schedule or result file is bad.
    BadInput,
    /// 70: an internal error, a run that panicked among them.
    Internal,
    /// 74: a file or folder cannot be read or written.
    Io,
    /// 130: interrupted.
    Interrupted,
}

impl Exit {
    /// The process's exit code.
    pub const fn code(self) -> u8 {
        match self {
            Exit::Well => 0,
            Exit::Violated => 1,
            Exit::Vacuous => 3,
            Exit::Usage => 64,
            Exit::BadInput => 65,
            Exit::Internal => 70,
            Exit::Io => 74,
            Exit::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// An error and the exit code that it asks for.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// What happened.
    pub error: anyhow::Error,
}

impl Failure {
    /// An error that ends the command with `exit`.
    pub fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Failure {
        Failure { exit, error: error.into() }
    }

    /// A sentence that ends the command with `exit`.
    pub fn say(exit: Exit, sentence: impl fmt::Display) -> Failure {
        Failure { exit, error: anyhow::anyhow!("{sentence}") }
    }
}

/// What a command returns.
pub type Outcome = Result<Exit, Failure>;

/// Gives an error its exit code.
pub trait OrExit<T> {
    /// The value, or a failure with `exit`.
    fn or_exit(self, exit: Exit) -> Result<T, Failure>;
}

impl<T, E: Into<anyhow::Error>> OrExit<T> for Result<T, E> {
    fn or_exit(self, exit: Exit) -> Result<T, Failure> {
        self.map_err(|error| Failure::new(exit, error))
    }
}
