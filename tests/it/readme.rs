//! Every command of the README runs, and what it shows is what comes out.

use desync_sim::experiment::scenario::Scenario;

use super::program::desync_sim;

const README: &str = include_str!("../../README.md");

/// The program's command lines in the README's shell blocks, without `cargo run --release --`.
fn commands() -> Vec<Vec<&'static str>> {
    let blocks = README.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let commands: Vec<_> = blocks
        .flat_map(str::lines)
        .filter(|line| *line != "cargo test")
        .map(|line| {
            let words = line.strip_prefix("cargo run --release -- ");
            words.unwrap_or_else(|| panic!("the README has a command that no test runs: {line}")).split(' ').collect()
        })
        .collect();
    assert!(commands.len() >= 5, "the README has lost its commands");
    commands
}

/// Results go to a folder of the test's own, and runs are cut short: this test is about the command lines. What they
/// come to at full length is the business of `.ci/run`, which runs them optimised.
#[test]
fn every_command_runs() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("folder");
    let folder = folder.to_str().unwrap();
    for mut words in commands() {
        if cfg!(not(feature = "rmcp")) && words.iter().any(|word| word.contains("rmcp")) {
            continue;
        }
        match words[0] {
            "run" => {
                words.retain(|word| !word.starts_with("results/") && *word != "--out");
                words.extend(["--out", folder, "--set", "horizon_s=700"]);
                if !words.contains(&"--seeds") {
                    words.extend(["--seeds", "0..1"]);
                }
                let ran = desync_sim(&words);
                // At this length the trusting arm may not have hung as often as the thresholds ask for.
                assert!(matches!(ran.code, Some(0 | 1)), "{words:?}: {:?}\n{}", ran.code, ran.stderr);
            }
            "report" => {
                desync_sim(&["report", folder]).ends_with(0);
            }
            "verify" => {
                words.extend(["--set", "horizon_s=700"]);
                desync_sim(&words).ends_with(0);
            }
            _ => {
                desync_sim(&words).ends_with(0);
            }
        }
    }
}

#[test]
fn the_story_that_it_shows_is_the_story_that_is_told() {
    let words = commands().into_iter().find(|words| words[0] == "replay").unwrap();
    let ran = desync_sim(&words).ends_with(0);
    let shown = README.split("```text\n").nth(1).unwrap().split("```").next().unwrap();
    for line in shown.lines() {
        assert!(ran.stdout.contains(line), "the README shows a line that `replay` does not print: {line}");
    }
}

#[test]
fn every_file_that_it_links_to_exists() {
    for target in README.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
        if !target.starts_with("https://") {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(target);
            assert!(path.exists(), "the README links to {target}");
        }
    }
}

const GUIDE: &str = include_str!("../../docs/writing-a-scenario.md");

/// The guide's example loads, and the guide names every key that there is.
#[test]
fn the_guide_to_scenarios_is_complete_and_its_example_loads() {
    let example = GUIDE.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let scenario =
        Scenario::parse("worker-restarts.toml", example, &[]).unwrap_or_else(|problems| panic!("{problems}"));

    let settings = serde_json::to_value(&scenario.settings).unwrap();
    let mut keys = Vec::new();
    collect_keys(&settings, &mut keys);
    assert!(keys.len() > 40, "the settings have lost their keys");
    for key in keys {
        assert!(
            GUIDE.contains(&format!("`{key}`")) || GUIDE.contains(&format!("[{key}]")),
            "the guide does not name `{key}`"
        );
    }
}

/// Names of all settings, those of absent values included: they are written as null.
fn collect_keys(value: &serde_json::Value, keys: &mut Vec<String>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        keys.push(key.clone());
        collect_keys(value, keys);
    }
}
