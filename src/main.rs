//! The command line tool: see the README.

use std::process::ExitCode;

fn main() -> ExitCode {
    desync_sim::cli::main()
}
