//! The invariants of ARCHITECTURE.md that say what the sources do not contain.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Every Rust file below `folder`, with its path from the project's root and its text without comments.
fn sources(folder: &str) -> Vec<(String, String)> {
    let root = root();
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = vec![root.join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let code: String = text
                    .lines()
                    .filter(|line| !line.trim_start().starts_with("//"))
                    .flat_map(|line| [line, "\n"])
                    .collect();
                files.push((path.strip_prefix(root).unwrap().to_str().unwrap().to_owned(), code));
            }
        }
    }
    files.sort();
    assert!(!files.is_empty(), "{folder} holds no sources: this test looks at nothing");
    files
}

/// Fails where a file below `folder`, but for those that `except` accepts, contains one of `words`.
fn forbid(folder: &str, words: &[&str], except: impl Fn(&str) -> bool, why: &str) {
    let found: Vec<String> = sources(folder)
        .iter()
        .filter(|(path, _)| !except(path))
        .flat_map(|(path, code)| {
            let lines = code.lines().filter(|line| words.iter().any(|word| line.contains(*word)));
            lines.map(move |line| format!("{path}: {}", line.trim()))
        })
        .collect();
    assert!(found.is_empty(), "{why}:\n{}", found.join("\n"));
}

/// What of the crate each room may name: the code map of ARCHITECTURE.md.
const MAY_NAME: &[(&str, &[&str])] = &[
    // The validator and the reader of people's files are libraries of their own.
    ("src/cursor", &[]),
    ("src/document", &[]),
    ("src/mcp/wire", &["observe::event"]),
    (
        "src/mcp/sdk",
        &[
            "cursor",
            "mcp::client",
            "mcp::net",
            "mcp::sdk",
            "mcp::server",
            "mcp::wire",
            "observe::event",
            "observe::witness",
            "world::draw",
            "world::fault",
            "world::schedule",
            "world::time",
        ],
    ),
    // A client knows the wire, and can only write to the log: neither the oracle nor the server is in its reach.
    (
        "src/mcp/client",
        &[
            "cursor",
            "mcp::net",
            "mcp::sdk::settings",
            "mcp::wire",
            "observe::event",
            "observe::witness",
            "world::draw",
            "world::time",
        ],
    ),
    (
        "src/mcp/server",
        &[
            "cursor",
            "mcp::net",
            "mcp::sdk::settings",
            "mcp::server",
            "mcp::wire",
            "observe::event",
            "observe::witness",
            "world::draw",
            "world::fault",
            "world::schedule",
            "world::time",
        ],
    ),
    ("src/world", &["document", "mcp::net", "mcp::wire", "observe::event", "observe::witness", "world"]),
    ("src/observe", &["observe", "world::fault", "world::time"]),
    // Analysis reads files, and never simulates.
    (
        "src/stats",
        &[
            "experiment::results",
            "mcp::client::settings",
            "observe::measure",
            "observe::verdict",
            "stats",
            "world::time",
        ],
    ),
    (
        "src/report",
        &[
            "experiment::results",
            "mcp::client::settings",
            "observe::measure",
            "observe::verdict",
            "report",
            "stats",
            "world::time",
        ],
    ),
];

#[test]
fn each_room_names_only_what_the_code_map_allows() {
    for (room, allowed) in MAY_NAME {
        for (path, code) in sources(room) {
            for named in code.split("crate::").skip(1) {
                let is_allowed = allowed.iter().any(|allowed| {
                    named
                        .strip_prefix(allowed)
                        .is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_'))
                });
                let name = named.split(|c: char| !(c.is_ascii_alphanumeric() || "_:".contains(c))).next().unwrap();
                assert!(is_allowed, "{path} names crate::{name}; {room} may name {allowed:?}");
            }
        }
    }
}

#[test]
fn only_the_world_names_the_simulated_network() {
    forbid("src", &["turmoil::"], |path| path.starts_with("src/world/"), "turmoil is named in src/world only");
}

#[test]
fn one_module_is_unsafe() {
    let interposer = |path: &str| path == "src/world/interpose.rs";
    forbid("src", &["unsafe "], interposer, "only src/world/interpose.rs may be unsafe");
}

#[test]
fn nothing_in_a_run_depends_on_the_process() {
    // The SDK's trait for HTTP backends hands headers over in a hash map: they are sorted before they are sent.
    let takes_the_sdk_s_headers =
        |path: &str| ["src/mcp/sdk/client/backend.rs", "src/mcp/sdk/guard/mod.rs"].contains(&path);
    // What answers for the operating system has to try out, on a thread of its own, whether it is asked.
    let answers_for_the_system = |path: &str| path == "src/world/interpose.rs";
    let words = [
        "HashSet",
        "SystemTime::now",
        "thread::spawn",
        "spawn_blocking",
        "thread_rng",
        "rand::rng",
        "std::time::Instant",
        "std::env",
    ];
    let why = "a run reads neither the wall clock nor the operating system's entropy nor its environment";
    for room in ["src/cursor", "src/mcp", "src/world", "src/observe"] {
        forbid(room, &words, answers_for_the_system, why);
        forbid(room, &["HashMap"], takes_the_sdk_s_headers, why);
    }
}

#[test]
fn every_select_is_biased() {
    for (path, code) in sources("src") {
        for after in code.split("select!").skip(1) {
            let inside = after.trim_start().strip_prefix('{').unwrap_or_default();
            assert!(inside.trim_start().starts_with("biased;"), "{path}: a select! without `biased;` draws its order");
        }
    }
}

/// An `expect` has a reason, and says so where it has become unnecessary.
#[test]
fn no_lint_is_allowed_away() {
    forbid("src", &["#[allow(", "#![allow("], |_| false, "use #[expect(…, reason = …)]");
}

#[test]
fn clippy_forbids_what_a_run_must_not_use() {
    let clippy = text("clippy.toml");
    for what in [
        "std::time::Instant::now",
        "std::time::SystemTime::now",
        "std::thread::spawn",
        "tokio::task::spawn_blocking",
        "std::env::var",
        "std::collections::HashMap",
        "std::collections::HashSet",
        "std::hash::RandomState",
    ] {
        assert!(clippy.contains(&format!("{{ path = \"{what}\", ")), "clippy.toml does not forbid {what}");
    }
}

#[test]
fn no_room_is_too_large() {
    for (path, code) in sources("src") {
        assert!(code.lines().count() <= 500, "{path} is longer than 500 lines: would a reader find the rooms in it?");
    }
}

#[test]
fn main_stays_tiny() {
    let (_, main) = sources("src").into_iter().find(|(path, _)| path == "src/main.rs").unwrap();
    assert!(main.lines().count() < 60);
}

/// A build without the flag must stop with a sentence: it would give other runs for the same seed.
#[test]
fn a_build_without_tokio_unstable_stops_with_a_sentence() {
    let (_, lib) = sources("src").into_iter().find(|(path, _)| path == "src/lib.rs").unwrap();
    assert!(lib.contains("#[cfg(not(tokio_unstable))]\ncompile_error!("));
    assert!(lib.contains("must be built with `--cfg tokio_unstable`"));
    let cargo: toml::Table = text(".cargo/config.toml").parse().unwrap();
    assert_eq!(cargo["build"]["rustflags"].as_array().unwrap(), &["--cfg".into(), "tokio_unstable".into()]);
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(file: &str) -> String {
    fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Every dependency has its reason in ARCHITECTURE.md, and no reason has lost its dependency.
#[test]
fn every_dependency_earns_its_place() {
    let manifest: toml::Table = text("Cargo.toml").parse().unwrap();
    let names = |table: &str| manifest[table].as_table().unwrap().keys().cloned().collect::<BTreeSet<String>>();
    let dependencies: BTreeSet<String> = names("dependencies").union(&names("dev-dependencies")).cloned().collect();

    let architecture = text("ARCHITECTURE.md");
    let (_, after) =
        architecture.split_once("\n## Dependencies\n").expect("ARCHITECTURE.md has a room for dependencies");
    let rows = after.lines().skip_while(|line| !line.starts_with('|')).skip(2).take_while(|line| line.starts_with('|'));
    let explained: BTreeSet<String> = rows
        .filter_map(|row| row.split('|').nth(1))
        .flat_map(|names| names.split(','))
        .map(|name| name.trim().to_owned())
        .collect();
    assert_eq!(dependencies, explained, "left: Cargo.toml, right: ARCHITECTURE.md");
}

#[test]
fn the_changelog_has_a_place_for_what_comes_next() {
    let changelog = text("CHANGELOG.md");
    assert!(changelog.starts_with("# Changelog\n"));
    assert!(changelog.lines().any(|line| line == "## Unreleased"));
}

#[test]
fn what_makes_a_build_the_same_everywhere_is_committed() {
    let toolchain: toml::Table = text("rust-toolchain.toml").parse().unwrap();
    let channel = toolchain["toolchain"]["channel"].as_str().unwrap();
    assert!(channel.starts_with(|c: char| c.is_ascii_digit()), "`{channel}` is another compiler next month");
    assert!(root().join("Cargo.lock").is_file());
    let manifest: toml::Table = text("Cargo.toml").parse().unwrap();
    assert_eq!(manifest["package"]["license"].as_str(), Some("MIT OR Apache-2.0"));
    assert_eq!(manifest["lints"]["rust"]["unsafe_code"].as_str(), Some("deny"));
}

/// What is true on one machine only has no place here.
#[test]
fn no_file_names_a_path_of_somebodys_machine() {
    // In pieces, or this file would be the first one found.
    let machine = [concat!("/", "work/"), concat!("/tmp/", "wt"), concat!("/", "root/"), concat!("/", "home/")];
    // What is not committed: builds, runs, and the hidden files of tools other than ours.
    let skipped = ["target", "results/runs"].map(|name| root().join(name));
    let is_foreign = |path: &Path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with('.') && ![".cargo", ".ci", ".gitignore"].contains(&name)
    };
    let mut looked_at = 0;
    let mut folders = vec![root().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if skipped.contains(&path) || is_foreign(&path) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            // Pictures and the like are no text.
            let Ok(text) = fs::read_to_string(&path) else { continue };
            looked_at += 1;
            for (number, line) in text.lines().enumerate() {
                let found = machine.iter().find(|place| line.contains(**place));
                assert!(found.is_none(), "{}:{}: {}", path.display(), number + 1, line.trim());
            }
        }
    }
    assert!(looked_at > 100, "only {looked_at} files: this test looks at nothing");
}
