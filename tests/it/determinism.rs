//! Same binary, scenario and seeds: the same bytes, however they are run.

use std::path::Path;

use super::program::{SMALL, desync_sim, digest_of, files, replay, table};

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
    let runs = |folder: &Path, seed: &str| -> Vec<_> {
        table(&folder.join("runs.csv")).into_iter().filter(|row| row["seed"] == seed).collect()
    };
    assert_eq!(runs(&sweep, "3"), runs(&alone, "3"));
    assert_eq!(runs(&alone, "3").len(), 2);
    // And as a process of its own.
    for run in runs(&alone, "3") {
        assert_eq!(digest_of(&replay(SMALL, "3", &run["arm"], &[])), run["digest"]);
    }
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

#[test]
fn a_story_is_told_twice_in_the_same_words() {
    let tell = || replay(SMALL, "1", "validating", &[]).ends_with(0).stdout;
    let story = tell();
    assert_eq!(story, tell());
    assert!(story.lines().count() > 100, "this story is too short to prove anything:\n{story}");
}
