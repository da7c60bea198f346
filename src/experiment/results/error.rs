//! What can go wrong with a result folder.

use std::io;
use std::path::{Path, PathBuf};

use super::FORMAT;

/// A result folder cannot be written or read. Every text names the path, and a refusal of the operating system is told
/// in the text itself: no error has a source that would tell it once more.
#[derive(Debug, thiserror::Error)]
pub enum ResultError {
    /// The operating system refused to write.
    #[error("cannot write {}: {}", path.display(), explain(refusal))]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// The refusal.
        refusal: io::Error,
    },
    /// The operating system refused to read.
    #[error("cannot read {}: {refusal}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The refusal.
        refusal: io::Error,
    },
    /// A place for results is taken by something else.
    #[error(
        "{} is not empty and is not a result folder (it has no manifest.json): nothing in it was touched; \
         give a folder that is empty, new or an earlier result",
        path.display()
    )]
    Foreign {
        /// The folder, or the file in its place.
        path: PathBuf,
    },
    /// A folder to be read has no manifest.
    #[error("{} is not a result folder: it has no manifest.json", path.display())]
    NotResults {
        /// The folder.
        path: PathBuf,
    },
    /// A folder of another version.
    #[error(
        "{} has result format version {found}: this build reads version {FORMAT}",
        path.display()
    )]
    Version {
        /// The manifest.
        path: PathBuf,
        /// Its version.
        found: u64,
    },
    /// A file that does not say what it should.
    #[error("{}, line {line}, column {column}: {what}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// The column: a number in a JSON file, a name in a table.
        column: String,
        /// What is wrong, and what would be right.
        what: String,
    },
    /// A file that ends too early, or that does not belong to the others.
    #[error("{}: {what}", path.display())]
    Incomplete {
        /// The file.
        path: PathBuf,
        /// What is missing.
        what: String,
    },
}

impl ResultError {
    /// Says that the operating system refused while writing `path`.
    pub fn write(path: &Path, refusal: impl Into<io::Error>) -> ResultError {
        ResultError::Write { path: path.to_owned(), refusal: refusal.into() }
    }

    /// Says that the operating system refused while reading `path`.
    pub fn read(path: &Path, refusal: impl Into<io::Error>) -> ResultError {
        ResultError::Read { path: path.to_owned(), refusal: refusal.into() }
    }
}

/// Adds what a person can do about the refusals that people meet.
fn explain(error: &io::Error) -> String {
    let advice = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space or give another folder; nothing was left under the final name"
        }
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => "give a folder that may be written",
        _ => return error.to_string(),
    };
    format!("{error} ({advice})")
}
