//! Finding, reading and listing scenario files.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::library::{self, Library, NoSuchName};
use super::profile::{self, Profile};
use super::{FORMAT, Scenario, Settings, default_tick, validate};
use crate::document::{Document, Override, Problems, Shorthand};
use crate::mcp::client::settings::Arm;

/// A scenario, and the file that it was read from.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedScenario {
    /// The scenario, overrides included.
    pub scenario: Scenario,
    /// The file's text, without the overrides.
    pub text: String,
    /// The file.
    pub path: PathBuf,
    /// SHA-256 of the file's text, in hexadecimal.
    pub digest: String,
    /// The profile that its servers start from.
    pub profile: Option<Profile>,
    /// What replaced parts of the file.
    pub overrides: Vec<Override>,
}

/// Why there is no scenario to run.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// Neither a file nor a name of one.
    #[error("there is no scenario `{name}` in {folder}: {suggestion}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// Where it was looked for.
        folder: String,
        /// What there is.
        suggestion: String,
    },
    /// A file that cannot be read.
    #[error("cannot read the scenario {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file that is no scenario: one line a problem.
    #[error("{0}")]
    Invalid(Problems),
}

/// `server = "rmcp"` and `client = "rmcp"` name an implementation and leave the rest of the table as it is.
const SHORTHANDS: [Shorthand; 2] =
    [Shorthand { table: "server", key: "implementation" }, Shorthand { table: "client", key: "implementation" }];

impl Scenario {
    /// Reads and checks a scenario: a path (with a slash, or ending in `.toml`), or a name looked up as
    /// `sims/NAME.toml` below the current directory, then in the source tree that this binary was built from.
    ///
    /// # Errors
    /// Where there is no such file, it cannot be read, or it is not a valid scenario with these overrides.
    pub fn load(name_or_path: &str, overrides: &[Override]) -> Result<LoadedScenario, ScenarioError> {
        let path = find(name_or_path)?;
        let text = std::fs::read_to_string(&path)
            .map_err(|source| ScenarioError::Unreadable { path: path.clone(), source })?;
        let file = path.display().to_string();
        let (scenario, profile) = Scenario::read(&file, &text, overrides).map_err(ScenarioError::Invalid)?;
        Ok(LoadedScenario { scenario, digest: sha256(&text), text, path, profile, overrides: overrides.to_vec() })
    }

    /// Reads and checks the text of a scenario file called `file`.
    ///
    /// # Errors
    /// Everything that is wrong with it: first what cannot be read, and where all can, what makes no sense.
    pub fn parse(file: &str, text: &str, overrides: &[Override]) -> Result<Scenario, Problems> {
        Scenario::read(file, text, overrides).map(|(scenario, _)| scenario)
    }

    /// The same, with the profile that it names.
    fn read(file: &str, text: &str, overrides: &[Override]) -> Result<(Scenario, Option<Profile>), Problems> {
        let Document { mut root, mut problems } = Document::parse_with(file, text, overrides, &SHORTHANDS)?;
        let p = &mut problems;

        // The version goes first: nothing else can be said about a file of another one.
        let format: Option<u32> = root.require("format", p);
        if format.is_some_and(|format| format != FORMAT) {
            let what = format!("this build reads scenario files of format {FORMAT} only");
            problems.note("format", what);
            return Err(problems);
        }

        let name = root.require("name", p);
        let summary = root.require("summary", p);
        let seeds = root.require("seeds", p);
        // The client that a scenario names has its own arm: the unmodified one.
        let arms = match root.text_in("client", "implementation") {
            Some("rmcp") if !root.has("arms") => Some(vec![Arm::Rmcp]),
            _ => root.require("arms", p),
        };
        let horizon_s = root.require("horizon_s", p);
        let tick_s = root.take("tick_s", p);
        let topology = root.take("topology", p);
        let gateway = root.take("gateway", p);
        let profile = profile::named_by(&root, p);
        if let Some(profile) = &profile {
            root.underlay("server", "profile", &profile.text, p);
        }
        let server = root.take("server", p);
        let tool = root.take("tool", p);
        let client = root.take("client", p);
        let faults = root.take("faults", p);
        let thresholds = root.take("threshold", p);
        root.finish(p);

        let (Some(format), Some(name), Some(summary), Some(seeds), Some(arms), Some(horizon_s)) =
            (format, name, summary, seeds, arms, horizon_s)
        else {
            return Err(problems);
        };
        if !problems.is_empty() {
            return Err(problems);
        }
        let scenario = Scenario {
            format,
            name,
            summary,
            seeds,
            arms,
            settings: Settings {
                horizon_s,
                tick_s: tick_s.unwrap_or_else(default_tick),
                topology: topology.unwrap_or_default(),
                gateway: gateway.unwrap_or_default(),
                server: server.unwrap_or_default(),
                tool: tool.unwrap_or_default(),
                client: client.unwrap_or_default(),
                faults: faults.unwrap_or_default(),
            },
            thresholds: thresholds.unwrap_or_default(),
        };
        validate::scenario(&scenario, file, &mut problems);
        if problems.is_empty() { Ok((scenario, profile)) } else { Err(problems) }
    }
}

/// One file of a folder of scenarios.
#[derive(Debug)]
pub struct Listed {
    /// The file's name without its ending, by which it can be run.
    pub name: String,
    /// The scenario's summary, or why it cannot be loaded.
    pub summary: Result<String, ScenarioError>,
}

/// The scenarios in `folder`, by name.
///
/// # Errors
/// Where the folder cannot be read.
pub fn list(folder: &Path) -> io::Result<Vec<Listed>> {
    let names = library::names(folder)?.into_iter();
    let listed = names.map(|name| {
        let path = folder.join(format!("{name}.toml"));
        let loaded = Scenario::load(&path.display().to_string(), &[]);
        Listed { name, summary: loaded.map(|loaded| loaded.scenario.summary) }
    });
    Ok(listed.collect())
}

/// The folder whose scenarios can be run by name: that below the current directory, or else that of the source tree.
pub fn folder() -> PathBuf {
    Library::SCENARIOS.folder()
}

fn find(name_or_path: &str) -> Result<PathBuf, ScenarioError> {
    let path = Path::new(name_or_path);
    if path.extension().is_some_and(|ending| ending == "toml") || path.components().count() > 1 {
        return Ok(path.to_owned());
    }
    Library::SCENARIOS.find(name_or_path).map_err(|NoSuchName { folder, suggestion }| ScenarioError::Unknown {
        name: name_or_path.to_owned(),
        folder,
        suggestion,
    })
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
