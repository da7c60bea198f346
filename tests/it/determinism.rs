//! Same binary, scenario and seeds: the same bytes, however they are run.

use std::path::Path;

use super::program::{desync_sim, files};

/// A scenario that is quick to run and has every kind of event in it.
const SMALL: &str = "tests/it/data/small.toml";

fn run_into(folder: &Path, more: &[&str]) {
    let mut arguments = vec!["run", SMALL, "--out", folder.to_str().unwrap()];
    arguments.extend(more);
    desync_sim(&arguments).ends_with(0);
}

#[test]
fn a_result_folder_is_the_same_at_any_number_of_jobs() {
    let place = tempfile::tempdir().unwrap();
    let (one, four) = (place.path().join("one"), place.path().join("four"));
    run_into(&one, &["--jobs", "1"]);
    run_into(&four, &["--jobs", "4"]);
    let (one, four) = (files(&one), files(&four));
    assert_eq!(one.keys().collect::<Vec<_>>(), four.keys().collect::<Vec<_>>());
    for (name, bytes) in &one {
        assert!(bytes == &four[name], "{name} differs");
    }
    assert!(one.contains_key("report.html") && one.contains_key("runs.csv"));
}

#[test]
fn a_seed_alone_is_the_seed_in_a_sweep() {
    let place = tempfile::tempdir().unwrap();
    let (sweep, alone) = (place.path().join("sweep"), place.path().join("alone"));
    run_into(&sweep, &["--seeds", "0..4"]);
    run_into(&alone, &["--seeds", "3..4"]);
    let rows = |folder: &Path| -> Vec<String> {
        let text = std::fs::read_to_string(folder.join("runs.csv")).unwrap();
        text.lines().skip(1).filter(|line| line.split(',').nth(2) == Some("3")).map(str::to_owned).collect()
    };
    assert_eq!(rows(&sweep), rows(&alone));
    assert_eq!(rows(&alone).len(), 2);
}

#[test]
fn two_processes_write_the_same_event_log() {
    let ran = desync_sim(&["verify", SMALL, "--seeds", "0..2"]).ends_with(0);
    assert!(ran.stdout.contains("each in two processes"), "{}", ran.stdout);
}

#[test]
fn report_draws_the_same_files_again() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("folder");
    run_into(&folder, &["--seeds", "0..2"]);
    let before = files(&folder);
    for derived in before.keys().filter(|name| name.starts_with("plots/")) {
        std::fs::remove_file(folder.join(derived)).unwrap();
    }
    std::fs::write(folder.join("report.html"), "spoiled").unwrap();
    desync_sim(&["report", folder.to_str().unwrap()]).ends_with(0);
    assert!(files(&folder) == before);
}
