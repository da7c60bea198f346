//! Analysis of stored results. Files only: nothing here simulates.
//!
//! [`analyse`] reads the tables once, row by row. What it keeps does not grow with the number of runs or calls:
//! counts, histograms, and a bounded list of runs to look at.

pub(crate) mod arm;
pub(crate) mod comparison;
pub(crate) mod completion;
pub(crate) mod csv;
pub(crate) mod number;
pub(crate) mod runs;
pub(crate) mod spectrum;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::experiment::results::error::ResultError;
use crate::experiment::results::fields::FieldError;
use crate::experiment::results::manifest::Manifest;
use crate::experiment::results::reader::ResultFolder;
use crate::experiment::results::rows::{CallRow, DesyncRow, RestartRow, RunRow};
use crate::experiment::results::tables::Row;
use crate::mcp::client::settings::Arm;
use crate::observe::measure::record;
use crate::observe::verdict::Outcome;

use arm::ArmSummary;
use comparison::{Comparison, Comparisons};
use runs::Notable;

/// Everything that tables, plots and the page say about a result folder.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// What was run.
    pub manifest: Manifest,
    /// One summary for each arm, in the manifest's order.
    pub arms: Vec<ArmSummary>,
    /// The arms compared with the first one, paired by seed.
    pub comparisons: Vec<Comparison>,
    /// Desyncs by signature, each with one count for each arm.
    pub signatures: BTreeMap<String, Vec<u64>>,
    /// Runs to look at.
    pub notable: Notable,
}

impl Analysis {
    /// The summary of one arm.
    pub fn arm(&self, arm: Arm) -> Option<&ArmSummary> {
        self.arms.iter().find(|summary| summary.arm == arm)
    }
}

/// Reads a folder and counts.
///
/// # Errors
/// Where a file is missing, malformed, cut off, or speaks of runs that the others do not have.
pub fn analyse(folder: &ResultFolder) -> Result<Analysis, ResultError> {
    let manifest = folder.manifest().clone();
    let arms = &manifest.experiment.arms;
    let mut analysis = Analysis {
        arms: arms.iter().map(|arm| ArmSummary::new(*arm)).collect(),
        comparisons: Vec::new(),
        signatures: BTreeMap::new(),
        notable: Notable::default(),
        manifest,
    };
    read_runs(folder, &mut analysis)?;
    read_calls(folder, &mut analysis)?;
    read_desyncs(folder, &mut analysis)?;
    read_restarts(folder, &mut analysis)?;
    Ok(analysis)
}

fn read_runs(folder: &ResultFolder, analysis: &mut Analysis) -> Result<(), ResultError> {
    let mut comparisons = Comparisons::new(&analysis.manifest.experiment.arms);
    let mut rows = folder.rows::<RunRow>()?;
    let mut count = 0;
    while let Some(row) = rows.next().transpose()? {
        let place = index_of(analysis, &row.arm).map_err(|e| rows.locate(e))?;
        let arm = &mut analysis.arms[place];
        arm.add_run(&row);
        analysis.notable.add(arm.arm, &row);
        comparisons.add(place, &row);
        count += 1;
    }
    if count != analysis.manifest.runs {
        return Err(incomplete::<RunRow>(folder, count, analysis.manifest.runs, "runs", "the manifest"));
    }
    analysis.comparisons = comparisons.finish();
    Ok(())
}

fn read_calls(folder: &ResultFolder, analysis: &mut Analysis) -> Result<(), ResultError> {
    let mut rows = folder.rows::<CallRow>()?;
    let mut counts = vec![[0; Outcome::ALL.len()]; analysis.arms.len()];
    while let Some(row) = rows.next().transpose()? {
        let mut count = || {
            let place = index_of(analysis, &row.arm)?;
            let outcome = row.outcome()?;
            let (started, ended) = row.span()?;
            counts[place][outcome as usize] += 1;
            analysis.arms[place].add_call(outcome, ended.since(started));
            Ok(())
        };
        count().map_err(|e| rows.locate(e))?;
    }
    for (arm, counted) in analysis.arms.iter().zip(counts) {
        for outcome in Outcome::ALL {
            let (found, expected) = (counted[outcome as usize], arm.outcome(outcome));
            if found != expected {
                let of = format!("{} calls of {}", outcome.name(), arm.arm);
                return Err(incomplete::<CallRow>(folder, found, expected, &of, "runs.csv"));
            }
        }
    }
    Ok(())
}

fn read_desyncs(folder: &ResultFolder, analysis: &mut Analysis) -> Result<(), ResultError> {
    let mut rows = folder.rows::<DesyncRow>()?;
    let arms = analysis.arms.len();
    while let Some(row) = rows.next().transpose()? {
        let mut count = || {
            let place = index_of(analysis, &row.arm)?;
            let exposed = row.exposed_at()?;
            let lost = row.lost_at()?;
            let arm = &mut analysis.arms[place];
            match (lost, row.detected_at()?) {
                (None, _) => arm.harmless += 1,
                (Some(_), None) => arm.undetected += 1,
                (Some(lost), Some(detected)) => {
                    record(&mut arm.detection, micros(detected.since(exposed)));
                    record(&mut arm.detection_from_loss, micros(detected.since(lost)));
                }
            }
            let counts = analysis.signatures.entry(row.signature.clone());
            counts.or_insert_with(|| vec![0; arms])[place] += 1;
            Ok(())
        };
        count().map_err(|e| rows.locate(e))?;
    }
    Ok(())
}

fn read_restarts(folder: &ResultFolder, analysis: &mut Analysis) -> Result<(), ResultError> {
    let mut rows = folder.rows::<RestartRow>()?;
    while let Some(row) = rows.next().transpose()? {
        let mut count = || {
            let place = index_of(analysis, &row.arm)?;
            let alarm = row.alarm_at()?;
            let response = row.response_at()?;
            let cost = &mut analysis.arms[place].restart_cost;
            cost.add(&row, response.map(|at| micros(at.since(alarm))));
            Ok(())
        };
        count().map_err(|e| rows.locate(e))?;
    }
    Ok(())
}

fn micros(duration: std::time::Duration) -> u64 {
    crate::world::time::SimTime::from(duration).as_micros()
}

/// The place of an arm in the manifest's order.
fn index_of(analysis: &Analysis, name: &str) -> Result<usize, FieldError> {
    let found = analysis.arms.iter().position(|summary| summary.arm.name() == name);
    found.ok_or_else(|| FieldError {
        column: "arm",
        what: format!(
            "`{name}` is no arm of the manifest: expected one of {}",
            analysis.arms.iter().map(|a| a.arm.name()).collect::<Vec<_>>().join(", ")
        ),
    })
}

fn incomplete<R: Row>(folder: &ResultFolder, found: u64, expected: u64, of: &str, by: &str) -> ResultError {
    ResultError::Incomplete {
        path: folder.dir().join(R::FILE),
        what: format!("has {found} {of}, but {by} says {expected}: rows are missing or not of this result"),
    }
}
