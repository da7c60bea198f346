//! `manifest.json`: what was run, and on which build.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::FORMAT;
use crate::experiment::command_line::{command_line, replay_command};
use crate::experiment::scenario::SeedRange;
use crate::mcp::client::settings::Arm;

/// The file. It holds nothing that differs between two executions of the same binary on the same arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The folder format's version.
    pub format: u32,
    /// Who ran it.
    pub build: Build,
    /// What was run.
    pub experiment: Experiment,
    /// The runs that the folder holds: points × seeds × arms, fewer where it was interrupted.
    pub runs: u64,
    /// SHA-256 over the runs' digests in their order, each followed by a line feed; in hexadecimal.
    pub digest: String,
    /// Whether the sweep was stopped before its end.
    pub interrupted: bool,
}

/// The binary. Nothing in it is looked up here: the command line passes what its build recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// The tool's version.
    pub version: String,
    /// The git commit that it was built from, or `unknown`.
    pub git_commit: String,
    /// The compiler that built it.
    pub rustc: String,
    /// SHA-256 of the lock file that it was built with, in hexadecimal.
    pub cargo_lock_sha256: String,
}

/// What was run: with the build, everything that the folder's content depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// The scenario.
    pub scenario: ScenarioText,
    /// The profile that its servers start from.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub server_profile: Option<ScenarioText>,
    /// The command line behind the binary's name, without `--jobs` and `--out`, which change no result. Flags and their
    /// values are separate words.
    pub arguments: Vec<String>,
    /// The seeds, `A..B` without B.
    pub seeds: SeedRange,
    /// The number of points of the scenario's grid; 1 where it has none.
    pub points: u32,
    /// The arms, in the order of tables and plots.
    pub arms: Vec<Arm>,
}

/// A scenario file, or a profile that it names, as it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenarioText {
    /// Its name.
    pub name: String,
    /// SHA-256 of the text, in hexadecimal.
    pub sha256: String,
    /// The file's text.
    pub text: String,
}

impl ScenarioText {
    /// A file's name and text, with the text's digest.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> ScenarioText {
        let text = text.into();
        ScenarioText { name: name.into(), sha256: sha256(&text), text }
    }

    /// What the file says of `key`.
    fn value(&self, key: &str) -> Option<toml::Value> {
        let table: toml::Table = self.text.parse().ok()?;
        let mut value = &toml::Value::Table(table);
        for part in key.split('.') {
            value = value.get(part)?;
        }
        Some(value.clone())
    }
}

impl Manifest {
    /// The manifest of a folder that holds no run yet.
    pub fn new(build: Build, experiment: Experiment) -> Manifest {
        Manifest {
            format: FORMAT,
            build,
            experiment,
            runs: 0,
            digest: RunsDigest::default().finish(),
            interrupted: false,
        }
    }
}

impl Experiment {
    /// The command that produces this folder again.
    pub fn command(&self) -> String {
        self.command_over(&self.seeds.to_string())
    }

    /// The command that produces the part of this folder that belongs to one seed.
    pub fn command_of_seed(&self, seed: u64) -> String {
        self.command_over(&format!("{seed}..{}", seed + 1))
    }

    fn command_over(&self, seeds: &str) -> String {
        let mut words = Vec::new();
        let mut arguments = self.arguments.iter();
        while let Some(word) = arguments.next() {
            match word.as_str() {
                "--seeds" => drop(arguments.next()),
                word => words.push(word),
            }
        }
        words.extend(["--seeds", seeds]);
        command_line(words)
    }

    /// The command that shows one run of this folder again.
    pub fn replay_command(&self, seed: u64, arm: Arm) -> String {
        replay_command(self.named_scenario(), self.overrides(), seed, arm)
    }

    /// The `key=value` pairs given with `--set`, in their order.
    pub fn overrides(&self) -> impl Iterator<Item = &str> {
        let pairs = self.arguments.iter().zip(self.arguments.iter().skip(1));
        pairs.filter(|(flag, _)| *flag == "--set").map(|(_, change)| change.as_str())
    }

    /// The scenario as the command line named it: a name or a path.
    fn named_scenario(&self) -> &str {
        match self.arguments.as_slice() {
            [run, scenario, ..] if run == "run" && !scenario.starts_with('-') => scenario,
            _ => &self.scenario.name,
        }
    }

    /// A setting's value: the last `--set` of its key, or else what the scenario file says, or else what the profile
    /// says that it names.
    pub fn setting(&self, key: &str) -> Option<toml::Value> {
        let overridden =
            self.overrides().filter_map(|pair| pair.split_once('=')).filter(|(name, _)| *name == key).last();
        if let Some((_, value)) = overridden {
            return Some(value.parse().unwrap_or_else(|_| toml::Value::String(value.to_owned())));
        }
        let files = [Some(&self.scenario), self.server_profile.as_ref().filter(|_| key.starts_with("server."))];
        files.into_iter().flatten().find_map(|file| file.value(key))
    }
}

/// A digest over the digests of runs, in their order.
#[derive(Clone, Default)]
pub(super) struct RunsDigest(Sha256);

impl RunsDigest {
    /// Takes the next run's digest.
    pub(super) fn push(&mut self, digest: &str) {
        self.0.update(digest);
        self.0.update(b"\n");
    }

    /// The digest over all of them.
    pub(super) fn finish(self) -> String {
        hexadecimal(self.0.finalize())
    }
}

/// The SHA-256 of `bytes` in hexadecimal.
pub(in crate::experiment) fn sha256(bytes: impl AsRef<[u8]>) -> String {
    hexadecimal(Sha256::digest(bytes))
}

fn hexadecimal(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
