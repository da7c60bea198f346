//! Where files are looked up by name: below the current directory, then in the source tree that this binary was
//! built from.

use std::io;
use std::path::{Path, PathBuf};

use crate::document::nearest;

/// A folder of files that can be named without path and ending.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    folder: &'static str,
}

/// No file of a library has this name.
#[derive(Debug)]
pub(super) struct NoSuchName {
    /// Where it was looked for.
    pub(super) folder: String,
    /// What there is.
    pub(super) suggestion: String,
}

impl Library {
    /// The scenarios.
    pub const SCENARIOS: Library = Library { folder: "sims" };
    /// The profiles of servers.
    pub const SERVER_PROFILES: Library = Library { folder: "sims/profiles/server" };

    /// The folder whose files can be named: that below the current directory, or else that of the source tree.
    pub fn folder(self) -> PathBuf {
        let [here, built] = self.folders();
        if here.is_dir() { here } else { built }
    }

    /// The folders in which a name is looked up, in this order.
    fn folders(self) -> [PathBuf; 2] {
        [PathBuf::from(self.folder), Path::new(env!("CARGO_MANIFEST_DIR")).join(self.folder)]
    }

    /// The file called `name`.
    pub(super) fn find(self, name: &str) -> Result<PathBuf, NoSuchName> {
        let folders = self.folders();
        if let Some(found) =
            folders.iter().map(|folder| folder.join(format!("{name}.toml"))).find(|path| path.is_file())
        {
            return Ok(found);
        }
        let mut known: Vec<String> = folders.iter().filter_map(|folder| names(folder).ok()).flatten().collect();
        known.sort();
        known.dedup();
        let list = match known.as_slice() {
            [] => "there are none".to_owned(),
            [only] => format!("there is {only}"),
            known => format!("there are {}", known.join(", ")),
        };
        let near = nearest(name, known.iter().map(String::as_str));
        Err(NoSuchName {
            folder: format!("{}/", self.folder),
            suggestion: match near {
                Some(near) => format!("did you mean `{near}`? ({list})"),
                None => list,
            },
        })
    }
}

/// The names of the `.toml` files in `folder`, in order.
pub(super) fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let is_toml = path.extension().is_some_and(|ending| ending == "toml");
        if let (true, Some(stem)) = (is_toml, path.file_stem().and_then(|stem| stem.to_str())) {
            names.push(stem.to_owned());
        }
    }
    names.sort();
    Ok(names)
}
