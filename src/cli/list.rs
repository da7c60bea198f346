//! `list`: what there is, one line each.

use anyhow::Context;

use super::args::{ListArguments, Listed};
use super::exit::{Exit, OrExit, Outcome};
use super::out;
use crate::experiment::scenario::{self, Library, Listed as Scenario, ListedProfile};
use crate::mcp::client::settings::Arm;
use crate::world::fault::EMERGENT;
use crate::world::schedule::Kind;

/// Carries the command out.
pub fn list(arguments: &ListArguments) -> Outcome {
    let folder = scenario::folder();
    let rows: Vec<(String, String)> = match arguments.what {
        Listed::Scenarios => scenario::list(&folder)
            .with_context(|| format!("the scenarios in {} cannot be listed", folder.display()))
            .or_exit(Exit::Io)?
            .into_iter()
            .map(|Scenario { name, summary }| (name, summary.unwrap_or_else(|error| format!("does not load: {error}"))))
            .collect(),
        Listed::Arms => Arm::ALL.iter().map(|arm| (arm.name().to_owned(), arm.summary().to_owned())).collect(),
        Listed::Profiles => {
            let folder = Library::SERVER_PROFILES.folder();
            scenario::list_profiles(&folder)
                .with_context(|| format!("the profiles in {} cannot be listed", folder.display()))
                .or_exit(Exit::Io)?
                .into_iter()
                .map(|ListedProfile { name, file }| match file {
                    Ok(file) => (name, format!("{} ({})", file.summary, file.stands_for)),
                    Err(error) => (name, format!("does not load: {error}")),
                })
                .collect()
        }
        Listed::Faults => {
            let scheduled = Kind::ALL.into_iter().map(|kind| (kind.name(), kind.summary().to_owned()));
            let emergent = EMERGENT.into_iter().map(|(name, summary)| (name, format!("emergent: {summary}")));
            scheduled.chain(emergent).map(|(name, summary)| (name.to_owned(), summary)).collect()
        }
    };
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, summary) in rows {
        out::line(format_args!("{name:width$}  {summary}"))?;
    }
    Ok(Exit::Well)
}
