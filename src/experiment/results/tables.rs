//! Which row belongs to which file, and a file that takes them one by one.

use std::fs::File;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::ResultError;
use super::rows::{CallRow, DesyncRow, FaultRow, RestartRow, RunRow};

/// A row of one of the folder's tables.
pub trait Row: Serialize + DeserializeOwned {
    /// The file's name.
    const FILE: &'static str;
    /// The columns, in the order of the row's fields. Written even over an empty table.
    const COLUMNS: &'static [&'static str];
}

macro_rules! table {
    ($row:ty, $file:literal, $($column:ident)+) => {
        impl Row for $row {
            const FILE: &'static str = $file;
            const COLUMNS: &'static [&'static str] = &[$(stringify!($column)),+];
        }
    };
}

table!(RunRow, "runs.csv",
    scenario point seed arm calls completed recovered failed hung wrong censored resumes desyncs true_alarms
    false_alarms missed restarts duplicate_executions requests bytes vacuous digest);
table!(CallRow, "calls.csv",
    point seed arm client call outcome started_s ended_s parts restarts executions reason);
table!(DesyncRow, "desyncs.csv",
    point seed arm client signature fault lost_at_s exposed_at_s detected_at_s detected_by);
table!(RestartRow, "restarts.csv",
    point seed arm client by alarm_at_s restored_at_s response_at_s requests bytes interrupted
    duplicate_executions parts_again);
table!(FaultRow, "faults.csv",
    point seed arm client fault origin from_s to_s took_effect);

/// A table that is being written.
pub(super) struct Table<R> {
    path: PathBuf,
    writer: csv::Writer<File>,
    row: std::marker::PhantomData<R>,
}

impl<R: Row> Table<R> {
    /// A table with its header in the folder `dir`.
    pub(super) fn create(dir: &Path) -> Result<Table<R>, ResultError> {
        let path = dir.join(R::FILE);
        let file = File::create_new(&path).map_err(|e| ResultError::write(&path, e))?;
        let mut writer = csv::WriterBuilder::new().has_headers(false).buffer_capacity(64 * 1024).from_writer(file);
        writer.write_record(R::COLUMNS).map_err(|e| ResultError::write(&path, e))?;
        Ok(Table { path, writer, row: std::marker::PhantomData })
    }

    /// Appends rows.
    pub(super) fn push_all<'a>(&mut self, rows: impl IntoIterator<Item = &'a R>) -> Result<(), ResultError>
    where
        R: 'a,
    {
        for row in rows {
            self.writer.serialize(row).map_err(|e| ResultError::write(&self.path, e))?;
        }
        Ok(())
    }

    /// Sends what is buffered to the file.
    pub(super) fn finish(mut self) -> Result<(), ResultError> {
        self.writer.flush().map_err(|e| ResultError::write(&self.path, e))
    }
}
