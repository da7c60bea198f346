//! Writes a result folder run by run.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, IntervalLogWriterError, Tag};
use serde::Serialize;

use super::error::ResultError;
use super::folder::{Staging, write_file};
use super::manifest::{Manifest, RunsDigest};
use super::rows::{CallRow, DesyncRow, FaultRow, RestartRow, RunRow};
use super::run::RunResult;
use super::tables::Table;
use super::{MANIFEST, SCHEDULES, TIMING};
use crate::mcp::client::settings::Arm;
use crate::observe::measure::Measures;

/// A result folder that is being written, hidden beside its final place until [`Finished::commit`].
///
/// Rows go to disk as they come. What stays in memory does not grow with the number of runs: one set of
/// histograms for each arm. Dropped before the commit, it leaves nothing behind.
pub struct ResultWriter {
    staging: Staging,
    manifest: Manifest,
    digest: RunsDigest,
    runs: Table<RunRow>,
    calls: Table<CallRow>,
    desyncs: Table<DesyncRow>,
    restarts: Table<RestartRow>,
    faults: Table<FaultRow>,
    measures: BTreeMap<Arm, Measures>,
}

impl ResultWriter {
    /// Starts a folder that will stand at `destination`, described by a manifest that holds no run yet.
    ///
    /// # Errors
    /// Where `destination` is neither new, nor empty, nor an earlier result; or cannot be written.
    pub fn create(destination: &Path, manifest: Manifest) -> Result<ResultWriter, ResultError> {
        let staging = Staging::create(destination)?;
        let dir = staging.path();
        let schedules = dir.join(SCHEDULES);
        fs::create_dir(&schedules).map_err(|e| ResultError::write(&schedules, e))?;
        let arms = manifest.experiment.arms.iter();
        Ok(ResultWriter {
            digest: RunsDigest::default(),
            runs: Table::create(dir)?,
            calls: Table::create(dir)?,
            desyncs: Table::create(dir)?,
            restarts: Table::create(dir)?,
            faults: Table::create(dir)?,
            measures: arms.map(|arm| (*arm, Measures::default())).collect(),
            manifest,
            staging,
        })
    }

    /// Takes the next run. The order is by point, then seed, then arm: the folder's bytes depend on it.
    pub fn push(&mut self, result: &RunResult) -> Result<(), ResultError> {
        self.write_schedule(result)?;
        self.runs.push_all([&result.run])?;
        self.calls.push_all(&result.calls)?;
        self.desyncs.push_all(&result.desyncs)?;
        self.restarts.push_all(&result.restarts)?;
        self.faults.push_all(&result.faults)?;
        self.measures.entry(result.arm).or_default().add(&result.measures);
        self.digest.push(&result.run.digest);
        self.manifest.runs += 1;
        Ok(())
    }

    /// Notes that the sweep was stopped before its end.
    pub fn mark_interrupted(&mut self) {
        self.manifest.interrupted = true;
    }

    /// Writes what is known only at the end. `wall` and `jobs` go to `timing.json` and nowhere else.
    pub fn finish(mut self, wall: Duration, jobs: usize) -> Result<Finished, ResultError> {
        self.runs.finish()?;
        self.calls.finish()?;
        self.desyncs.finish()?;
        self.restarts.finish()?;
        self.faults.finish()?;
        let dir = self.staging.path();
        for (arm, measures) in &self.measures {
            for (name, histogram) in logs(measures) {
                let path = dir.join(format!("{arm}.{name}.hlog"));
                write_log(&path, name, histogram).map_err(|e| ResultError::write(&path, e))?;
            }
        }
        self.manifest.digest = self.digest.finish();
        write_json(&dir.join(MANIFEST), &self.manifest)?;
        write_json(&dir.join(TIMING), &Timing::new(wall, jobs, self.manifest.runs))?;
        Ok(Finished { staging: self.staging })
    }

    fn write_schedule(&self, result: &RunResult) -> Result<(), ResultError> {
        let name = format!("{}-{}.toml", result.point, result.seed);
        let path = self.staging.path().join(SCHEDULES).join(name);
        let written = match File::create_new(&path) {
            Ok(mut file) => file.write_all(result.schedule.as_bytes()),
            // Another arm of this seed has written it: a schedule is the same for every arm.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(e) => Err(e),
        };
        written.map_err(|e| ResultError::write(&path, e))
    }
}

/// A folder with every result in it, still hidden: what is derived from results can be added.
pub struct Finished {
    staging: Staging,
}

impl Finished {
    /// Where the files are until the commit.
    pub fn path(&self) -> &Path {
        self.staging.path()
    }

    /// Moves the folder to its final place in one step, in place of an earlier result. Returns that place.
    pub fn commit(self) -> Result<PathBuf, ResultError> {
        self.staging.commit()
    }
}

/// `timing.json`.
#[derive(Serialize)]
struct Timing {
    wall_s: f64,
    jobs: usize,
    runs: u64,
    runs_per_s: f64,
}

impl Timing {
    fn new(wall: Duration, jobs: usize, runs: u64) -> Timing {
        let wall_s = wall.as_secs_f64();
        Timing { wall_s, jobs, runs, runs_per_s: if wall_s > 0.0 { runs as f64 / wall_s } else { 0.0 } }
    }
}

fn write_json(path: &Path, value: &impl Serialize) -> Result<(), ResultError> {
    let mut text = serde_json::to_vec_pretty(value).map_err(|e| ResultError::write(path, e))?;
    text.push(b'\n');
    write_file(path, text)
}

/// The names of the distributions in file names and log tags.
fn logs(measures: &Measures) -> [(&'static str, &Histogram<u64>); 4] {
    [
        ("completion", &measures.completion),
        ("detection", &measures.detection_from_exposure),
        ("detection-from-loss", &measures.detection_from_loss),
        ("restart", &measures.restart),
    ]
}

/// One histogram over all runs as an interval log: it starts at 0 and has no length, for the runs' simulated
/// times overlap. The log's maximum is in seconds, the histogram's values in microseconds.
fn write_log(path: &Path, name: &str, histogram: &Histogram<u64>) -> io::Result<()> {
    let mut bytes = Vec::new();
    let mut serializer = V2DeflateSerializer::new();
    let mut log = IntervalLogWriterBuilder::new()
        .add_comment("[desync-sim, microseconds of simulated time]")
        .with_start_time(SystemTime::UNIX_EPOCH)
        .with_base_time(SystemTime::UNIX_EPOCH)
        .with_max_value_divisor(1e6)
        .begin_log_with(&mut bytes, &mut serializer)?;
    log.write_histogram(histogram, Duration::ZERO, Duration::ZERO, Tag::new(name)).map_err(|error| match error {
        IntervalLogWriterError::SerializeError(e) => io::Error::other(e.to_string()),
        IntervalLogWriterError::IoError(e) => e,
    })?;
    fs::write(path, bytes)
}
