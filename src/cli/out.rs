//! The standard output. That it takes no more is an error like any other, where `println!` would panic.

use std::fmt::Display;
use std::io::{self, Write as _};

use anyhow::Context as _;

use super::exit::{Exit, Failure, OrExit as _};

/// Writes one line.
pub fn line(text: impl Display) -> Result<(), Failure> {
    writeln!(io::stdout().lock(), "{text}").context("the standard output cannot be written").or_exit(Exit::Io)
}

/// Whether a command failed because its reader has gone, as in `desync-sim replay … | head`: nobody needs to be told.
pub fn reader_has_gone(failure: &Failure) -> bool {
    let causes = failure.error.chain();
    causes.filter_map(|cause| cause.downcast_ref::<io::Error>()).any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
