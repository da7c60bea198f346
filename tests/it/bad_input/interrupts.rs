//! Commands that are ended from outside.
#![cfg(unix)]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::program::{SMALL, command, desync_sim, entries, ran};

/// A sweep that would take hours, once its first run is in the hidden folder.
fn long_sweep(place: &Path) -> Child {
    let out = place.join("small");
    let mut child = command(&["run", SMALL, "--seeds", "0..10000", "--jobs", "1", "--out", out.to_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let first_run_is_written = || {
        let hidden = entries(place).pop()?;
        place.join(hidden).join("schedules/0-0.toml").exists().then_some(())
    };
    while first_run_is_written().is_none() {
        assert_eq!(child.try_wait().unwrap(), None, "the sweep ended before it could be interrupted");
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}

fn signal(name: &str, child: &Child) {
    let kill = format!("kill -{name} {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
}

#[test]
fn an_interrupted_sweep_leaves_nothing_and_says_so() {
    let place = tempfile::tempdir().unwrap();
    let child = long_sweep(place.path());
    signal("INT", &child);
    let ran = ran(child.wait_with_output().unwrap()).ends_with(130);
    ran.complains(&["interrupted after ", " of 20000 runs: nothing was written to ", "/small"]);
    assert!(entries(place.path()).is_empty(), "{:?} is left", entries(place.path()));
}

/// Nobody can clean up after that; but no half result stands under the final name, and the next sweep does not mind.
#[test]
fn a_killed_sweep_leaves_no_result_and_the_next_one_does_not_mind() {
    let place = tempfile::tempdir().unwrap();
    let child = long_sweep(place.path());
    signal("KILL", &child);
    assert_eq!(ran(child.wait_with_output().unwrap()).code, None);
    let left = entries(place.path());
    assert!(left.iter().all(|name| name.starts_with(".small.partial-")), "{left:?}");

    let out = place.path().join("small");
    desync_sim(&["run", SMALL, "--seeds", "0..1", "--arms", "trusting", "--out", out.to_str().unwrap()]).ends_with(0);
    assert_eq!(entries(place.path()), [left, vec!["small".to_owned()]].concat());
}
