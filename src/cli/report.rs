//! `report`: tables, plots and the page again from stored results.

use super::args::ReportArguments;
use super::exit::{Exit, OrExit, Outcome};

/// Carries the command out.
pub fn report(arguments: &ReportArguments) -> Outcome {
    crate::report::render(&arguments.dir).or_exit(Exit::BadInput)?;
    let table = crate::report::table(&arguments.dir).or_exit(Exit::BadInput)?;
    println!("{table}");
    println!("{}", arguments.dir.join("report.html").display());
    Ok(Exit::Well)
}
