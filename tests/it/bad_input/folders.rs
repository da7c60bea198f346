//! Places that cannot be written, and results that cannot be read.

use std::fs;
use std::path::Path;

use crate::program::{SMALL, command, desync_sim, entries, files, ran, replay};

fn run_into(folder: &Path) -> crate::program::Ran {
    desync_sim(&["run", SMALL, "--seeds", "0..1", "--arms", "trusting", "--out", folder.to_str().unwrap()])
}

/// Below a file no folder can be made, whoever asks; permissions would not stop the administrator.
#[test]
fn an_output_folder_that_cannot_be_made_is_named_before_anything_runs() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("file");
    fs::write(&file, "text").unwrap();
    let below = file.join("results");
    let ran = run_into(&below).ends_with(74).complains(&["error: cannot write ", below.to_str().unwrap()]);
    assert_eq!(ran.stderr.matches("os error").count(), 1, "said twice: {}", ran.stderr);
    assert_eq!(fs::read_to_string(file).unwrap(), "text");
}

#[test]
#[cfg(target_os = "linux")]
fn a_read_only_output_folder_is_named_before_anything_runs() {
    // A file system on which nobody makes a folder.
    run_into(Path::new("/proc/desync-sim")).ends_with(74).complains(&["error: cannot write /proc"]);
}

#[test]
fn a_folder_with_other_things_in_it_is_refused_and_kept() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path().join("home");
    fs::create_dir(&home).unwrap();
    fs::write(home.join("thesis.tex"), "years").unwrap();
    run_into(&home).ends_with(64).complains(&[
        home.to_str().unwrap(),
        "is not a result folder",
        "nothing in it was touched",
    ]);
    assert_eq!(fs::read_to_string(home.join("thesis.tex")).unwrap(), "years");
    assert_eq!(entries(place.path()), ["home"]);
}

#[test]
fn what_is_no_result_folder_cannot_be_reported() {
    desync_sim(&["report", "src"])
        .ends_with(64)
        .complains(&["error: src is not a result folder: it has no manifest.json"]);
    let ran = desync_sim(&["report", "nowhere"]).ends_with(74).complains(&["error: cannot read nowhere: "]);
    assert_eq!(ran.stderr.matches("os error").count(), 1, "said twice: {}", ran.stderr);
}

/// Each case damages one file of a good folder: `report` names the file and the place, and leaves the folder as it is.
#[test]
fn a_damaged_result_folder_is_told_with_file_and_line() {
    type Damage = fn(String) -> String;
    let cases: &[(&str, Damage, &[&str])] = &[
        (
            "manifest.json",
            |text| text.replacen("\"format\": 1", "\"format\": 2", 1),
            &["has result format version 2: this build reads version 1"],
        ),
        ("manifest.json", |text| text[..text.len() / 2].to_owned(), &[", line "]),
        ("runs.csv", |text| text[..text.len() - 10].to_owned(), &["is cut off: its last line has no end"]),
        ("runs.csv", |text| text.replacen(",trusting,", ",trusting,many", 1), &[", line 2, column calls: "]),
        ("runs.csv", |text| text.replacen("point", "spot", 1), &[", line 1, ", "expected `scenario,point,"]),
        ("calls.csv", |text| text.replacen("completed,", "", 1), &[", line ", "fields: expected 12"]),
    ];
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("small");
    run_into(&folder).ends_with(0);
    for (name, damage, words) in cases {
        let path = folder.join(name);
        let good = fs::read_to_string(&path).unwrap();
        let bad = damage(good.clone());
        assert_ne!(good, bad, "{name} is not damaged");
        fs::write(&path, bad).unwrap();
        let before = files(&folder);
        desync_sim(&["report", folder.to_str().unwrap()])
            .ends_with(65)
            .complains(&[path.to_str().unwrap()])
            .complains(words);
        assert!(files(&folder) == before, "a report of damaged results changed them");
        fs::write(&path, good).unwrap();
    }
    desync_sim(&["report", folder.to_str().unwrap()]).ends_with(0);
}

/// A disk that takes no more is met in the middle of the work. A limit on the size of files stands for it: that needs no
/// privilege, and the write fails at the same places.
#[test]
#[cfg(unix)]
fn a_disk_that_takes_no_more_ends_the_command_and_leaves_the_earlier_result() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("small");
    run_into(&folder).ends_with(0);
    let before = files(&folder);

    let run = command(&["run", SMALL, "--seeds", "0..4", "--out", folder.to_str().unwrap()]);
    // Eight blocks of 512 bytes; without the trap the kernel would end the process in place of the write.
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 8; exec \"$0\" \"$@\""]).arg(run.get_program()).args(run.get_args());
    limited.current_dir(env!("CARGO_MANIFEST_DIR"));
    let ran = ran(limited.output().unwrap()).ends_with(74).complains(&["error: cannot write ", ".csv"]);
    assert_eq!(ran.stdout, "");
    assert_eq!(entries(place.path()), ["small"]);
    assert!(files(&folder) == before, "the earlier result is no longer what it was");
}

/// A device is written into: to move a finished file to its place would replace it. Named by a link here, so that a
/// program that is wrong about that harms the link only.
#[test]
#[cfg(target_os = "linux")]
fn a_trace_for_a_full_device_is_refused_and_the_device_stays() {
    let place = tempfile::tempdir().unwrap();
    let full = place.path().join("full");
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    replay(SMALL, "0", "trusting", &["--trace", full.to_str().unwrap()]).ends_with(74).complains(&[
        "error: cannot write ",
        "/full: No space left on device",
        "free some space",
    ]);
    assert!(fs::symlink_metadata(&full).unwrap().is_symlink(), "the device was replaced by a file");
    assert_eq!(entries(place.path()), ["full"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_standard_output_that_is_full_is_an_error_and_no_panic() {
    let commands: &[&[&str]] = &[
        &["list", "arms"],
        &["replay", SMALL, "--seed", "0", "--arm", "trusting"],
        &["replay", SMALL, "--seed", "0", "--arm", "trusting", "--trace", "-"],
    ];
    for arguments in commands {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = command(arguments).stdout(full).stderr(std::process::Stdio::piped()).spawn().unwrap();
        let ran =
            ran(output.wait_with_output().unwrap()).ends_with(74).complains(&["error: ", "No space left on device"]);
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_told_nothing() {
    use std::io::Read as _;
    // More than a pipe holds.
    let mut child = command(&["replay", SMALL, "--seed", "0", "--arm", "trusting", "--trace", "-"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 80];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut first).unwrap();
    drop(stdout);
    let ran = ran(child.wait_with_output().unwrap()).ends_with(74);
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_folder_with_the_manifest_of_another_program_is_refused_and_kept() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("extension");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("manifest.json"), r#"{"manifest_version": 3}"#).unwrap();
    std::fs::write(folder.join("thesis.txt"), "thesis").unwrap();
    run_into(&folder).ends_with(64);
    assert_eq!(std::fs::read_to_string(folder.join("thesis.txt")).unwrap(), "thesis");
}

#[cfg(unix)]
#[test]
fn a_trace_through_a_link_goes_to_what_the_link_leads_to() {
    let place = tempfile::tempdir().unwrap();
    let (target, link) = (place.path().join("target"), place.path().join("link"));
    std::fs::write(&target, "before").unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    let trace = link.to_str().unwrap();
    crate::program::desync_sim(&[
        "replay",
        crate::program::SMALL,
        "--seed",
        "0",
        "--arm",
        "trusting",
        "--trace",
        trace,
    ])
    .ends_with(0);
    assert!(std::fs::read_link(&link).is_ok(), "the link is still one");
    assert!(std::fs::read_to_string(&target).unwrap().starts_with(r#"{"format":1"#));
}
