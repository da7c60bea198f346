//! The commands.

mod args;
mod exit;
mod interrupt;
mod list;
mod out;
mod replay;
mod report;
mod run;
mod select;
mod verify;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

pub use self::args::{Arguments, Command};
pub use self::exit::Exit;

/// Parses the command line, carries the command out and says in the exit code how it ended.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let asked_for = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            // Where even the message cannot be printed there is nobody left to tell.
            let _ = error.print();
            return if asked_for { Exit::Well } else { Exit::Usage }.into();
        }
    };
    let outcome = match &arguments.command {
        Command::Run(arguments) => run::run(arguments),
        Command::Replay(arguments) => replay::replay(arguments),
        Command::Report(arguments) => report::report(arguments),
        Command::Verify(arguments) => verify::verify(arguments),
        Command::List(arguments) => list::list(arguments),
    };
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => {
            if !out::reader_has_gone(&failure) {
                eprintln!("error: {:#}", failure.error);
            }
            failure.exit.into()
        }
    }
}
