//! The invariants of ARCHITECTURE.md that say what the sources do not contain.

use std::fs;
use std::path::{Path, PathBuf};

/// Every Rust file below `folder`, with its path from the project's root and its text without comments.
fn sources(folder: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
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
            let lines = code.lines().enumerate();
            lines
                .flat_map(|(_, line)| words.iter().filter(|word| line.contains(**word)).map(move |_| line))
                .map(move |line| format!("{path}: {}", line.trim()))
        })
        .collect();
    assert!(found.is_empty(), "{why}:\n{}", found.join("\n"));
}

#[test]
fn the_cursor_imports_nothing_from_the_crate() {
    forbid(
        "src/cursor",
        &["crate::mcp", "crate::world", "crate::observe", "crate::experiment", "std::time::Instant", "tokio"],
        |_| false,
        "the validator is a library of its own",
    );
}

#[test]
fn clients_cannot_reach_the_oracle_or_the_server() {
    forbid(
        "src/mcp/client",
        &["oracle", "recorder", "mcp::server", "crate::experiment"],
        |_| false,
        "a client knows the wire only",
    );
}

#[test]
fn report_and_stats_never_simulate() {
    for room in ["src/report", "src/stats"] {
        forbid(
            room,
            &["simulation", "turmoil", "mcp::server", "world::gateway", "tokio"],
            |_| false,
            "analysis reads files only",
        );
    }
}

#[test]
fn only_the_world_names_the_simulated_network() {
    forbid("src", &["turmoil::"], |path| path.starts_with("src/world/"), "turmoil is named in src/world only");
}

#[test]
fn nothing_is_unsafe() {
    forbid("src", &["unsafe "], |_| false, "the crate forbids unsafe code");
}

#[test]
fn nothing_in_a_run_depends_on_the_process() {
    let words = [
        "HashMap",
        "HashSet",
        "SystemTime::now",
        "thread::spawn",
        "spawn_blocking",
        "thread_rng",
        "rand::rng",
        "std::time::Instant",
        "std::env",
    ];
    for room in ["src/cursor", "src/mcp", "src/world", "src/observe"] {
        forbid(
            room,
            &words,
            |_| false,
            "a run reads neither the wall clock nor the operating system's entropy nor its environment",
        );
    }
}

#[test]
fn every_select_is_biased() {
    for (path, code) in sources("src") {
        for after in code.split("tokio::select! {").skip(1) {
            assert!(after.trim_start().starts_with("biased;"), "{path}: a select! without `biased;` draws its order");
        }
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
}
