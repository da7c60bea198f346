//! Reads a result folder.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::error::ResultError;
use super::fields::FieldError;
use super::manifest::Manifest;
use super::tables::Row;
use super::{FORMAT, MANIFEST};

/// A result folder on disk.
pub struct ResultFolder {
    dir: PathBuf,
    manifest: Manifest,
}

impl ResultFolder {
    /// Opens a folder and reads its manifest.
    ///
    /// # Errors
    /// Where it has no manifest, or one of another version, or one that does not parse.
    pub fn open(dir: &Path) -> Result<ResultFolder, ResultError> {
        let path = dir.join(MANIFEST);
        let text = std::fs::read_to_string(&path).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound if dir.is_dir() => ResultError::NotResults { path: dir.to_owned() },
            io::ErrorKind::NotFound => ResultError::read(dir, e),
            _ => ResultError::read(&path, e),
        })?;
        // The version first: another version's manifest need not look like this one's.
        let Version { format } = parse(&path, &text)?;
        if format != u64::from(FORMAT) {
            return Err(ResultError::Version { path, found: format });
        }
        Ok(ResultFolder { dir: dir.to_owned(), manifest: parse(&path, &text)? })
    }

    /// What was run.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Where it lies.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The rows of one table, read one by one.
    ///
    /// # Errors
    /// Where the file is missing, cut off in its last line, or has other columns.
    pub fn rows<R: Row>(&self) -> Result<Rows<R>, ResultError> {
        let path = self.dir.join(R::FILE);
        let mut file = File::open(&path).map_err(|e| ResultError::read(&path, e))?;
        if !ends_with_line_feed(&mut file).map_err(|e| ResultError::read(&path, e))? {
            return Err(ResultError::Incomplete { path, what: "is cut off: its last line has no end".to_owned() });
        }
        let mut reader = csv::Reader::from_reader(file);
        let header = reader.headers().map_err(|e| malformed(&path, R::COLUMNS, &e))?;
        if header != R::COLUMNS {
            return Err(ResultError::Malformed {
                line: 1,
                column: "1".to_owned(),
                what: format!(
                    "has the columns `{}`: expected `{}`",
                    header.iter().collect::<Vec<_>>().join(","),
                    R::COLUMNS.join(",")
                ),
                path,
            });
        }
        Ok(Rows { path, reader, record: csv::StringRecord::new(), row: PhantomData })
    }
}

/// The rows of one table.
pub struct Rows<R> {
    path: PathBuf,
    reader: csv::Reader<File>,
    record: csv::StringRecord,
    row: PhantomData<R>,
}

impl<R: Row> Iterator for Rows<R> {
    type Item = Result<R, ResultError>;

    fn next(&mut self) -> Option<Result<R, ResultError>> {
        match self.reader.read_record(&mut self.record) {
            Ok(false) => None,
            Ok(true) => Some(
                self.record
                    .deserialize(Some(&csv::StringRecord::from(R::COLUMNS)))
                    .map_err(|e| malformed(&self.path, R::COLUMNS, &e)),
            ),
            Err(error) => Some(Err(malformed(&self.path, R::COLUMNS, &error))),
        }
    }
}

impl<R: Row> Rows<R> {
    /// Places a field's error in the file, at the row that was read last.
    pub fn locate(&self, error: FieldError) -> ResultError {
        ResultError::Malformed {
            path: self.path.clone(),
            line: self.record.position().map_or(0, csv::Position::line),
            column: error.column.to_owned(),
            what: error.what,
        }
    }
}

#[derive(Deserialize)]
struct Version {
    format: u64,
}

fn parse<'de, T: Deserialize<'de>>(path: &Path, text: &'de str) -> Result<T, ResultError> {
    serde_json::from_str(text).map_err(|error| ResultError::Malformed {
        path: path.to_owned(),
        line: error.line() as u64,
        column: error.column().to_string(),
        what: without_place(&error),
    })
}

/// The text of a JSON error without the place, which the sentence around it already names.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

fn malformed(path: &Path, columns: &[&str], error: &csv::Error) -> ResultError {
    let line = error.position().map_or(0, csv::Position::line);
    let (column, what) = match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => {
            let field = err.field().and_then(|field| columns.get(field as usize));
            (field.copied().unwrap_or("?"), err.kind().to_string())
        }
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => (
            columns.get(*len as usize).copied().unwrap_or("?"),
            format!("the row has {len} fields: expected {expected_len}"),
        ),
        csv::ErrorKind::Utf8 { err, .. } => {
            (columns.get(err.field()).copied().unwrap_or("?"), "is not UTF-8 text".to_owned())
        }
        _ => ("?", error.to_string()),
    };
    ResultError::Malformed { path: path.to_owned(), line, column: column.to_owned(), what }
}

fn ends_with_line_feed(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(last == *b"\n")
}
