//! Running the program as a user does.

use std::path::Path;
use std::process::{Command, Output};

/// A scenario that is quick to run and has nearly every kind of event in it.
pub const SMALL: &str = "tests/it/data/small.toml";

/// What one execution left behind.
pub struct Ran {
    /// The exit code.
    pub code: Option<i32>,
    /// The standard output.
    pub stdout: String,
    /// The standard error.
    pub stderr: String,
}

/// A command line of the program, with the project's root as its folder.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_desync-sim"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
    // The help is as wide as the window, and backtraces of the caller's would get into messages.
    command.env_remove("COLUMNS").env_remove("RUST_BACKTRACE");
    command
}

/// Runs the program with `arguments`.
pub fn desync_sim(arguments: &[&str]) -> Ran {
    ran(command(arguments).output().unwrap())
}

/// What an execution left behind.
pub fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Replays one run.
pub fn replay(scenario: &str, seed: &str, arm: &str, more: &[&str]) -> Ran {
    let mut arguments = vec!["replay", scenario, "--seed", seed, "--arm", arm];
    arguments.extend(more);
    desync_sim(&arguments)
}

/// The digest that `replay` tells at the end of its story.
pub fn digest_of(replayed: &Ran) -> String {
    let last = replayed.stdout.lines().last().unwrap_or_default();
    last.strip_prefix("digest of the event log: ").unwrap_or_else(|| panic!("no digest: {last}")).to_owned()
}

/// The names of what lies in `folder`, in order.
pub fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The rows of a table of a result folder, each as its fields by the names of the columns.
pub fn table(file: &Path) -> Vec<std::collections::BTreeMap<String, String>> {
    csv::Reader::from_path(file).unwrap().deserialize().collect::<Result<_, _>>().unwrap()
}

impl Ran {
    /// Fails unless the execution ended with `code`.
    #[track_caller]
    pub fn ends_with(self, code: i32) -> Ran {
        assert_eq!(self.code, Some(code), "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// Fails unless the standard error says each of `words`.
    #[track_caller]
    pub fn complains(self, words: &[&str]) -> Ran {
        for word in words {
            assert!(self.stderr.contains(word), "no word of `{word}` in:\n{}", self.stderr);
        }
        self
    }
}

/// Every file below `folder` but `timing.json`, with its bytes, by its path within the folder.
pub fn files(folder: &Path) -> std::collections::BTreeMap<String, Vec<u8>> {
    let mut found = std::collections::BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().unwrap() != "timing.json" {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found
}
