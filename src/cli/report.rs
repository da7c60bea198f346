//! `report`: tables, plots and the page again from stored results.

use super::args::ReportArguments;
use super::exit::{Exit, Failure, Outcome};
use super::out;
use crate::experiment::results::error::ResultError;
use crate::report::ReportError;

/// Carries the command out.
pub fn report(arguments: &ReportArguments) -> Outcome {
    let from_report = |error: ReportError| Failure::new(exit_of(&error), error);
    crate::report::render(&arguments.dir).map_err(from_report)?;
    let table = crate::report::table_of(&arguments.dir).map_err(from_report)?;
    out::line(table)?;
    out::line(arguments.dir.join("report.html").display())?;
    Ok(Exit::Well)
}

fn exit_of(error: &ReportError) -> Exit {
    match error {
        ReportError::Results(error) => results_exit(error),
        ReportError::Raster { .. } => Exit::Internal,
    }
}

/// The exit code for a result folder that cannot be used.
pub fn results_exit(error: &ResultError) -> Exit {
    match error {
        ResultError::Write { .. } | ResultError::Read { .. } => Exit::Io,
        ResultError::Foreign { .. } | ResultError::NotResults { .. } => Exit::Usage,
        ResultError::Version { .. } | ResultError::Malformed { .. } | ResultError::Incomplete { .. } => Exit::BadInput,
    }
}
