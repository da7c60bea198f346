//! Runs that cannot be had: refused before anything is written, by every command that would carry them out.

use super::program::{SMALL, desync_sim};

/// Every command that would run `arm` on `changes` ends with the exit code for a bad command line and says `sentence`.
fn refused(arm: &str, changes: &[&str], sentence: &str) {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("out");
    let out = folder.to_str().unwrap();
    let commands = [
        vec!["run", SMALL, "--arms", arm, "--out", out],
        vec!["replay", SMALL, "--arm", arm, "--seed", "0"],
        vec!["verify", SMALL, "--arms", arm, "--seeds", "0..1"],
    ];
    for mut command in commands {
        for change in changes {
            command.extend(["--set", change]);
        }
        let ran = desync_sim(&command).ends_with(64);
        assert_eq!(ran.stdout, "", "{command:?}");
        assert!(ran.stderr.contains(sentence), "{command:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains("panicked"), "{command:?}: {}", ran.stderr);
    }
    assert!(!folder.exists());
}

#[test]
fn an_arm_of_another_client_than_the_scenarios() {
    refused(
        "trusting",
        &["client=rmcp", "arms=[\"rmcp\"]"],
        "the arm `trusting` cannot go with `client.implementation`",
    );
    let changes = ["client=model", "arms=[\"trusting\"]"];
    refused("rmcp", &changes, if cfg!(feature = "rmcp") { "cannot go with" } else { "which this build is without" });
}

#[cfg(not(feature = "rmcp"))]
#[test]
fn the_official_rust_sdk_where_it_is_not_built_in() {
    let without = "is the official Rust SDK's, which this build is without";
    refused("rmcp", &[], without);
    refused("rmcp-guarded", &[], without);
    refused("trusting", &["server=rmcp"], without);
}
