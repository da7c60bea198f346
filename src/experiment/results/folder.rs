//! A folder that appears whole or not at all, and files that do.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::MANIFEST;
use super::error::ResultError;

/// A hidden folder beside its final place. Dropped without [`Staging::commit`] it is removed.
pub(super) struct Staging {
    temporary: TempDir,
    destination: PathBuf,
}

impl Staging {
    /// A staging folder for `destination`, whose parents are made where they are missing.
    ///
    /// # Errors
    /// Where the destination is taken by something that is not a result folder, or the place cannot be written.
    pub(super) fn create(destination: &Path) -> Result<Staging, ResultError> {
        refuse_foreign(destination)?;
        // Through a link the folder that it names is replaced, not the link.
        let destination = fs::canonicalize(destination).unwrap_or_else(|_| destination.to_owned());
        let parent = parent_of(&destination);
        fs::create_dir_all(parent).map_err(|e| ResultError::write(parent, e))?;
        Ok(Staging { temporary: hidden(&destination, "partial")?, destination })
    }

    /// Where the files are written.
    pub(super) fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Moves the folder to its final place; an earlier result there is removed, and comes back if the move fails.
    pub(super) fn commit(self) -> Result<PathBuf, ResultError> {
        let Staging { temporary, destination } = self;
        refuse_foreign(&destination)?;
        let failed = |e| ResultError::write(&destination, e);
        let earlier = destination.exists().then(|| hidden(&destination, "replaced")).transpose()?;
        // A folder can be renamed onto an empty one, so the hidden folder itself is the earlier result's new name.
        if let Some(aside) = &earlier {
            fs::rename(&destination, aside.path()).map_err(failed)?;
        }
        match fs::rename(temporary.path(), &destination) {
            Ok(()) => {
                let _ = temporary.keep();
                Ok(destination)
            }
            Err(error) => {
                if let Some(aside) = earlier {
                    let kept = aside.keep();
                    fs::rename(&kept, &destination).map_err(|e| ResultError::write(&kept, e))?;
                }
                Err(failed(error))
            }
        }
    }
}

/// Refuses a destination that holds anything but an earlier result.
fn refuse_foreign(destination: &Path) -> Result<(), ResultError> {
    let foreign = || ResultError::Foreign { path: destination.to_owned() };
    match fs::read_dir(destination) {
        Ok(_) if has_our_manifest(destination) => Ok(()),
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => Err(foreign()),
        },
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::NotADirectory => {
            if destination.exists() {
                Err(foreign())
            } else {
                Err(ResultError::write(destination, e))
            }
        }
        Err(e) => Err(ResultError::read(destination, e)),
    }
}

/// Whether the folder's manifest is one of this program, of whatever version: other programs call files so too.
fn has_our_manifest(folder: &Path) -> bool {
    let manifest = fs::read(folder.join(MANIFEST)).ok();
    let manifest = manifest.and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
    manifest.is_some_and(|manifest| {
        manifest["format"].is_u64() && manifest["build"].is_object() && manifest["experiment"]["scenario"].is_object()
    })
}

fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// A hidden folder beside `path`, with the permissions that any new folder would have.
fn hidden(path: &Path, purpose: &str) -> Result<TempDir, ResultError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!(".{name}.{purpose}-");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
    let parent = parent_of(path);
    builder.tempdir_in(parent).map_err(|e| ResultError::write(parent, e))
}

/// Writes a file that appears whole or not at all under its name.
///
/// # Errors
/// Where the folder cannot be written or the disk is full; the file then stays as it was.
pub fn write_file(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), ResultError> {
    write_from(path, |file| file.write_all(bytes.as_ref()))
}

/// The same for what `write` writes. Where `path` is no file but a device or a pipe, it is written into: to move a file
/// to its place would destroy it.
///
/// # Errors
/// As [`write_file`].
pub fn write_from(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), ResultError> {
    let failed = |e| ResultError::write(path, e);
    if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return File::options().write(true).open(path).and_then(|mut device| write(&mut device)).map_err(failed);
    }
    // A link stays a link: what it leads to is replaced.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut builder = tempfile::Builder::new();
    builder.prefix(".partial-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(parent_of(path)).map_err(failed)?;
    write(file.as_file_mut()).map_err(failed)?;
    file.persist(path).map_err(|e| failed(e.error))?;
    Ok(())
}
