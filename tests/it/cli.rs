//! What each command says, writes and ends with.

use std::fs;
use std::path::Path;

use super::program::{SMALL, desync_sim, digest_of, entries, replay, table};

/// Runs the small scenario into `folder`.
fn run_into(folder: &Path, more: &[&str]) -> super::program::Ran {
    let mut arguments = vec!["run", SMALL, "--out", folder.to_str().unwrap()];
    arguments.extend(more);
    desync_sim(&arguments)
}

#[test]
fn help_says_what_there_is() {
    insta::assert_snapshot!("help", desync_sim(&["--help"]).ends_with(0).stdout);
    for command in ["run", "replay", "report", "verify", "list"] {
        insta::assert_snapshot!(format!("help-{command}"), desync_sim(&[command, "--help"]).ends_with(0).stdout);
    }
}

#[test]
fn lists_have_one_line_each() {
    for what in ["arms", "faults"] {
        insta::assert_snapshot!(format!("list-{what}"), desync_sim(&["list", what]).ends_with(0).stdout);
    }
}

#[test]
fn every_scenario_is_listed_with_its_summary() {
    let listed = desync_sim(&["list", "scenarios"]).ends_with(0).stdout;
    let names: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let files = entries(&Path::new(env!("CARGO_MANIFEST_DIR")).join("sims"));
    let expected: Vec<&str> = files.iter().filter_map(|file| file.strip_suffix(".toml")).collect();
    assert_eq!(names, expected);
    assert!(!listed.contains("does not load"), "{listed}");
}

#[test]
fn the_version_is_the_crates() {
    let said = desync_sim(&["--version"]).ends_with(0).stdout;
    assert_eq!(said, format!("desync-sim {}\n", env!("CARGO_PKG_VERSION")));
}

/// One run of the command, looked at from all sides.
#[test]
fn run_leaves_a_whole_result_folder() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("small");
    let ran = run_into(&folder, &["--seeds", "0..2"]).ends_with(0);

    let (table_shown, rest) = ran.stdout.split_once("\n\n").expect("an empty line ends the table");
    insta::assert_snapshot!("comparison", table_shown);
    assert!(rest.starts_with("4 runs in ") && rest.contains("report.html"), "{rest}");
    assert_eq!(entries(place.path()), ["small"], "something is left beside the result");

    insta::assert_snapshot!("folder", entries(&folder).join("\n"));
    assert_eq!(entries(&folder.join("schedules")), ["0-0.toml", "0-1.toml"]);
    let plots = ["completion", "detection", "hung", "restart", "timeline"];
    let expected: Vec<String> = plots.iter().flat_map(|name| [format!("{name}.png"), format!("{name}.svg")]).collect();
    assert_eq!(entries(&folder.join("plots")), expected);
    let page = fs::read_to_string(folder.join("report.html")).unwrap();
    for elsewhere in ["src=\"http", "href=\"http", "url(http", "@import"] {
        assert!(!page.contains(elsewhere), "the page needs a network: {elsewhere}");
    }

    rows_add_up(&folder);
    schedules_replay(&folder);
}

/// The rows of the other tables, counted, are what the row of each run says.
fn rows_add_up(folder: &Path) {
    let runs = table(&folder.join("runs.csv"));
    let calls = table(&folder.join("calls.csv"));
    let desyncs = table(&folder.join("desyncs.csv"));
    let restarts = table(&folder.join("restarts.csv"));
    assert_eq!(runs.len(), 4);
    for run in &runs {
        let of_run = |row: &&std::collections::BTreeMap<String, String>| {
            ["point", "seed", "arm"].iter().all(|key| row[*key] == run[*key])
        };
        let count = |key: &str| run[key].parse::<usize>().unwrap();
        let calls: Vec<_> = calls.iter().filter(of_run).collect();
        assert_eq!(calls.len(), count("calls"));
        for outcome in ["completed", "recovered", "failed", "hung", "wrong"] {
            assert_eq!(calls.iter().filter(|call| call["outcome"] == outcome).count(), count(outcome), "{outcome}");
        }
        let again = |call: &&std::collections::BTreeMap<String, String>| {
            call["executions"].parse::<usize>().unwrap().saturating_sub(1)
        };
        assert_eq!(calls.iter().map(again).sum::<usize>(), count("duplicate_executions"));
        assert_eq!(desyncs.iter().filter(of_run).count(), count("desyncs"));
        assert_eq!(restarts.iter().filter(of_run).count(), count("restarts"));
    }
    let total = |key: &str| runs.iter().map(|run| run[key].parse::<usize>().unwrap()).sum::<usize>();
    for key in ["hung", "wrong", "desyncs", "true_alarms", "restarts", "duplicate_executions"] {
        assert!(total(key) > 0, "no `{key}` in any run: this test compares zeros");
    }
}

/// The stored schedule gives the stored run; another schedule gives another.
fn schedules_replay(folder: &Path) {
    let stored = folder.join("schedules/0-1.toml");
    let digest = |schedule: &Path| {
        digest_of(&replay(SMALL, "1", "validating", &["--schedule", schedule.to_str().unwrap()]).ends_with(0))
    };
    let runs = table(&folder.join("runs.csv"));
    let run = runs.iter().find(|run| run["seed"] == "1" && run["arm"] == "validating").unwrap();
    assert_eq!(digest(&stored), run["digest"]);

    let edited = folder.join("edited.toml");
    let text = fs::read_to_string(&stored).unwrap();
    let without_the_last = text.rsplit_once("[[fault]]").unwrap().0;
    fs::write(&edited, without_the_last).unwrap();
    assert_ne!(digest(&edited), run["digest"]);
}

#[test]
fn replay_writes_the_event_log_and_the_timeline() {
    let place = tempfile::tempdir().unwrap();
    let (trace, timeline) = (place.path().join("log.jsonl"), place.path().join("timeline.svg"));
    let (trace_name, timeline_name) = (trace.to_str().unwrap(), timeline.to_str().unwrap());
    replay(SMALL, "0", "trusting", &["--trace", trace_name, "--timeline", timeline_name]).ends_with(0);
    assert_eq!(entries(place.path()), ["log.jsonl", "timeline.png", "timeline.svg"]);
    assert!(fs::read(place.path().join("timeline.png")).unwrap().starts_with(b"\x89PNG"));
    assert!(fs::read_to_string(&timeline).unwrap().starts_with("<svg"));

    // The standard output takes the same log.
    let log = replay(SMALL, "0", "trusting", &["--trace", "-"]).ends_with(0).stdout;
    assert!(log == fs::read_to_string(&trace).unwrap(), "the file and the standard output differ");
    assert!(log.lines().next().unwrap().contains(r#""format":1"#));
    for line in log.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
}

#[test]
fn a_story_of_one_client_tells_of_no_other() {
    let story = replay(SMALL, "0", "trusting", &["--client", "2"]).ends_with(0).stdout;
    assert!(story.contains("client 2 "));
    for other in ["client 0 ", "client 1 ", "client 3 ", "client 4 "] {
        assert!(!story.contains(other), "{other} is in the story of client 2");
    }
}

#[test]
fn a_threshold_that_does_not_hold_ends_the_command_with_1() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("small");
    let threshold = r#"threshold=[{ arm = "trusting", measure = "hung_share", at_most = 0 }]"#;
    run_into(&folder, &["--seeds", "0..1", "--arms", "trusting", "--set", threshold]).ends_with(1).complains(&[
        "violated: trusting: hung_share is ",
        "at most 0",
        "desync-sim replay ",
        " --seed 0 --arm trusting",
    ]);
    assert!(folder.join("report.html").exists(), "the results are there all the same");
}

#[test]
fn runs_in_which_no_fault_took_effect_end_the_command_with_3() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("quiet");
    let quiet = ["run", "quiet", "--seeds", "0..1", "--arms", "trusting", "--out", folder.to_str().unwrap()];
    let short = ["--set", "horizon_s=300"];
    desync_sim(&[&quiet[..], &short[..]].concat()).ends_with(3).complains(&["no fault took effect in any run"]);
    assert!(table(&folder.join("runs.csv")).iter().all(|run| run["vacuous"] == "true"));
}
