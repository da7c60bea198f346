//! `list`: what there is, one line each.

use super::args::{ListArguments, Listed};
use super::exit::{Exit, Outcome};
use crate::experiment::scenario;
use crate::mcp::client::settings::Arm;
use crate::world::fault;

/// Carries the command out.
pub fn list(arguments: &ListArguments) -> Outcome {
    let rows: Vec<(String, String)> = match arguments.what {
        Listed::Scenarios => scenario::list()
            .into_iter()
            .map(|(name, summary)| (name, summary.unwrap_or_else(|error| format!("(does not load) {error}"))))
            .collect(),
        Listed::Arms => Arm::ALL.iter().map(|arm| (arm.name().to_owned(), arm.summary().to_owned())).collect(),
        Listed::Faults => {
            fault::CATALOGUE.iter().map(|(name, summary)| ((*name).to_owned(), (*summary).to_owned())).collect()
        }
    };
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, summary) in rows {
        println!("{name:width$}  {summary}");
    }
    Ok(Exit::Well)
}
