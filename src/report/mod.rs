//! Tables, plots and the report page, from stored results only.
//!
//! Figures are drawn as SVG; each PNG is rasterised from the very same SVG with a font that comes with the
//! program, so the same results give the same bytes on every machine.

mod axis;
mod canvas;
mod figure;
mod page;
mod plots;
mod png;
mod sentence;
mod style;
mod table;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use plots::timeline::timeline;
use table::table;

use crate::experiment::results::error::ResultError;
use crate::experiment::results::folder::write_file;
use crate::experiment::results::reader::ResultFolder;
use crate::experiment::results::rows::{CallRow, DesyncRow, FaultRow};
use crate::experiment::results::run::RunResult;
use crate::experiment::results::tables::Row;
use crate::mcp::client::settings::ClientSettings;
use crate::stats::runs::RunKey;
use crate::stats::{self, Analysis};

/// The folder with the figures.
const PLOTS: &str = "plots";
/// The page.
pub const PAGE: &str = "report.html";

/// A report cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The results cannot be read, or the report not written.
    #[error(transparent)]
    Results(#[from] ResultError),
    /// A figure cannot be rasterised.
    #[error("cannot draw {}: {reason}", path.display())]
    Raster {
        /// The picture.
        path: PathBuf,
        /// The rasteriser's words.
        reason: String,
    },
}

/// A figure of the report.
struct Figure {
    /// The file's name without its ending.
    name: &'static str,
    /// What it shows, for the page.
    caption: String,
    /// How to read it.
    reading: &'static str,
    /// The command that draws it again.
    command: String,
    svg: String,
}

/// Reads the results in `dir` and writes everything derived from them beside them: `summary.csv`,
/// `comparison.csv`, `plots/*.svg`, `plots/*.png` and `report.html`.
///
/// # Errors
/// Where a file of the results is missing or malformed, or the folder cannot be written.
pub fn render(dir: &Path) -> Result<(), ReportError> {
    render_with(dir, png::rasterise)
}

/// The same with another rasteriser: tests of the texts need no pictures.
fn render_with(dir: &Path, rasterise: fn(&str) -> Result<Vec<u8>, String>) -> Result<(), ReportError> {
    let folder = ResultFolder::open(dir)?;
    let analysis = stats::analyse(&folder)?;
    write_file(&dir.join("summary.csv"), stats::csv::summary(&analysis))?;
    write_file(&dir.join("comparison.csv"), stats::csv::comparison(&analysis))?;
    let figures = figures(&folder, &analysis)?;
    let plots = dir.join(PLOTS);
    fs::create_dir_all(&plots).map_err(|e| ResultError::write(&plots, e))?;
    for figure in &figures {
        write_picture(&plots.join(figure.name), &figure.svg, rasterise)?;
    }
    write_file(&dir.join(PAGE), page::page(&analysis, &figures))?;
    Ok(())
}

/// Reads the results in `dir` and returns the comparison table.
///
/// # Errors
/// Where a file of the results is missing or malformed.
pub fn table_of(dir: &Path) -> Result<String, ReportError> {
    Ok(table(&stats::analyse(&ResultFolder::open(dir)?)?))
}

/// Draws the timeline of one run to `path` with the ending `svg`, and with the ending `png`.
///
/// # Errors
/// Where a picture cannot be drawn or written.
pub fn write_timeline(path: &Path, run: &RunResult, title: &str, command: &str) -> Result<(), ReportError> {
    let svg = timeline(&run.calls, &run.faults, &run.desyncs, title, command);
    write_picture(path, &svg, png::rasterise)
}

fn write_picture(path: &Path, svg: &str, rasterise: fn(&str) -> Result<Vec<u8>, String>) -> Result<(), ReportError> {
    let path = path.with_extension("png");
    let png = rasterise(svg).map_err(|reason| ReportError::Raster { path: path.clone(), reason })?;
    write_file(&path.with_extension("svg"), svg)?;
    write_file(&path, png)?;
    Ok(())
}

fn figures(folder: &ResultFolder, analysis: &Analysis) -> Result<Vec<Figure>, ReportError> {
    let experiment = &analysis.manifest.experiment;
    let command = experiment.command();
    let figure = |name, caption: &str, reading, svg| Figure {
        name,
        caption: caption.to_owned(),
        reading,
        command: command.clone(),
        svg,
    };
    let mut figures = vec![
        figure(
            "hung",
            "Share of tool calls that hung, per arm.",
            "The bar is the share over all runs, each dot the share in one run or a few. Where the dots of two arms do \
             not mix, the difference does not hang on one seed.",
            plots::hung::draw(analysis, &command),
        ),
        figure(
            "completion",
            "Share of calls that had ended, by time since their start.",
            "What a curve lacks to 100 % at its right end never succeeded. Hung calls stay pending for ever: the \
             application's timeout does not end them.",
            plots::completion::draw(analysis, call_timeout_s(analysis), &command),
        ),
        figure(
            "detection",
            "How long clients took to notice a desync, by percentile.",
            "At 90 % the curve gives the time within which nine of ten detections came; a detection in the instant of the \
             answer takes 0 s. Desyncs that were never \
             detected are not on the curve: the sentence above it counts them. Desyncs that lost nothing are left out.",
            plots::detection::draw(analysis, &command),
        ),
        figure(
            "restart",
            "What one restart of a session costs.",
            "Farther right is dearer. The last panel counts the side effects that were done twice.",
            plots::restart::draw(analysis, &command),
        ),
    ];
    if let Some(key) = analysis.notable.example() {
        figures.push(example(folder, analysis, key)?);
    }
    Ok(figures)
}

/// The timeline of the seed that is worth looking at.
fn example(folder: &ResultFolder, analysis: &Analysis, key: RunKey) -> Result<Figure, ReportError> {
    let calls = rows_of(folder, |row: &CallRow| (row.point, row.seed) == (key.point, key.seed))?;
    let faults = rows_of(folder, |row: &FaultRow| (row.point, row.seed) == (key.point, key.seed))?;
    let desyncs = rows_of(folder, |row: &DesyncRow| (row.point, row.seed) == (key.point, key.seed))?;
    let experiment = &analysis.manifest.experiment;
    let title = format!("{}, seed {}, call by call", experiment.scenario.name, key.seed);
    let command = experiment.command_of_seed(key.seed);
    Ok(Figure {
        name: "timeline",
        caption: format!("Seed {} in full, one panel for each arm.", key.seed),
        reading: "One lane is one client, one bar one call, from its start to its end. A mark above the bars is a resume \
                  that was out of step, a mark below them the client's decision that its session is lost. The scheduled \
                  faults are the same in every panel: compare what became of the calls that a mark meets.",
        svg: timeline(&calls, &faults, &desyncs, &title, &command),
        command,
    })
}

fn rows_of<R: Row>(folder: &ResultFolder, wanted: impl Fn(&R) -> bool) -> Result<Vec<R>, ResultError> {
    folder.rows::<R>()?.filter(|row| row.as_ref().map_or(true, &wanted)).collect()
}

/// The application's call timeout: what the scenario says, or else its default; none where that is no number.
fn call_timeout_s(analysis: &Analysis) -> Option<f64> {
    match analysis.manifest.experiment.setting("client.call_timeout_s") {
        None => Some(ClientSettings::default().call_timeout_s.get().as_secs_f64()),
        Some(toml::Value::Integer(seconds)) => Some(seconds as f64),
        Some(toml::Value::Float(seconds)) => Some(seconds),
        Some(_) => None,
    }
}
