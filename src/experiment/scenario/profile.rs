//! Profiles: what stands for one server of the field, as a file of its own that scenarios name.
//!
//! `[server] profile = "rmcp"` puts the profile's `[server]` table under the scenario's own: what the scenario says
//! replaces what the profile says, key by key.

use std::io;
use std::path::Path;

use crate::document::{Document, Problems, Section};
use crate::mcp::server::settings::ServerSettings;

use super::library::{self, Library};
use super::validate;

/// The version of the profile file format that this build reads.
const FORMAT: u32 = 1;

/// A profile as a scenario uses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name: the file's without its ending.
    pub name: String,
    /// The file's text.
    pub text: String,
}

/// What a profile file says of itself, and its settings.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileFile {
    /// Its name.
    pub name: String,
    /// One line for `list profiles`.
    pub summary: String,
    /// The implementation, version and configuration that it stands for.
    pub stands_for: String,
    /// Where its values come from.
    pub source: String,
    /// The settings, with defaults filled in.
    pub server: ServerSettings,
}

impl ProfileFile {
    /// Reads and checks the text of a profile file called `file`.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(file: &str, text: &str) -> Result<ProfileFile, Problems> {
        let Document { mut root, mut problems } = Document::parse(file, text, &[])?;
        let p = &mut problems;
        let format: Option<u32> = root.require("format", p);
        if format.is_some_and(|format| format != FORMAT) {
            problems.note("format", format!("this build reads profile files of format {FORMAT} only"));
            return Err(problems);
        }
        let name: Option<String> = root.require("name", p);
        let summary = root.require("summary", p);
        let stands_for = root.require("stands_for", p);
        let source = root.require("source", p);
        let server: Option<ServerSettings> = root.require("server", p);
        root.finish(p);
        if let Some(name) = &name {
            validate::file_name(name, file, p);
        }
        if let Some(server) = &server {
            if server.profile.is_some() {
                p.note("server.profile", "a profile starts from no other profile");
            }
            validate::server(server, p);
        }
        match (name, summary, stands_for, source, server) {
            (Some(name), Some(summary), Some(stands_for), Some(source), Some(server)) if problems.is_empty() => {
                Ok(ProfileFile { name, summary, stands_for, source, server })
            }
            _ => Err(problems),
        }
    }
}

/// The profile that the scenario `root` names, where it names one; what is wrong with it is noted.
pub(super) fn named_by(root: &Section<'_>, problems: &mut Problems) -> Option<Profile> {
    const KEY: &str = "server.profile";
    let name = root.text_in("server", "profile")?;
    let path = match Library::SERVER_PROFILES.find(name) {
        Ok(path) => path,
        Err(unknown) => {
            problems.note(KEY, format!("there is no profile `{name}` in {}: {}", unknown.folder, unknown.suggestion));
            return None;
        }
    };
    let file = path.display().to_string();
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => {
            problems.note(KEY, format!("cannot read {file}: {error}"));
            return None;
        }
    };
    if let Err(wrong) = ProfileFile::parse(&file, &text) {
        problems.note(KEY, format!("this profile is no profile: {wrong}"));
        return None;
    }
    Some(Profile { name: name.to_owned(), text })
}

/// One file of a folder of profiles.
#[derive(Debug)]
pub struct ListedProfile {
    /// The name by which a scenario uses it.
    pub name: String,
    /// What it stands for, or why it cannot be used.
    pub file: Result<ProfileFile, Problems>,
}

/// The profiles of servers in `folder`, by name.
///
/// # Errors
/// Where the folder or a file of it cannot be read.
pub fn list_profiles(folder: &Path) -> io::Result<Vec<ListedProfile>> {
    let names = library::names(folder)?.into_iter();
    names
        .map(|name| {
            let path = folder.join(format!("{name}.toml"));
            let text = std::fs::read_to_string(&path)?;
            Ok(ListedProfile { name, file: ProfileFile::parse(&path.display().to_string(), &text) })
        })
        .collect()
}
