//! Recorded digests: that the seeds of yesterday still give the runs of yesterday.
//!
//! `data/golden.txt` has one line a run: the digest of its event log, then the scenario, the seed, the arm and the
//! `--set` changes. After a change that is meant to alter runs, write it anew with
//!
//! ```text
//! BLESS=1 cargo test --test it golden
//! ```
//!
//! and say in CHANGELOG.md that seeds recorded earlier no longer replay.

use std::fmt::Write as _;
use std::path::Path;

use super::program::{digest_of, replay};

const RECORDED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/data/golden.txt");

/// One line of the file.
struct Golden<'t> {
    digest: &'t str,
    scenario: &'t str,
    seed: &'t str,
    arm: &'t str,
    changes: Vec<&'t str>,
}

impl<'t> Golden<'t> {
    fn parse(line: &'t str) -> Golden<'t> {
        let mut words = line.split_whitespace();
        let mut next = || words.next().unwrap_or_else(|| panic!("{RECORDED}: `{line}` has too few words"));
        let (digest, scenario, seed, arm) = (next(), next(), next(), next());
        Golden { digest, scenario, seed, arm, changes: words.collect() }
    }

    /// The digest of this run today.
    fn digest_now(&self) -> String {
        let mut more = Vec::new();
        for change in &self.changes {
            more.extend(["--set", change]);
        }
        digest_of(&replay(self.scenario, self.seed, self.arm, &more).ends_with(0))
    }

    /// Its line with another digest.
    fn line(&self, digest: &str) -> String {
        let Golden { scenario, seed, arm, .. } = self;
        let mut line = format!("{digest}  {scenario} {seed} {arm}");
        for change in &self.changes {
            write!(line, " {change}").unwrap();
        }
        line
    }
}

fn is_comment(line: &str) -> bool {
    line.is_empty() || line.starts_with('#')
}

#[test]
fn recorded_seeds_still_replay() {
    let recorded = std::fs::read_to_string(RECORDED).unwrap();
    let mut now = String::new();
    let mut changed = Vec::new();
    for line in recorded.lines() {
        if is_comment(line) {
            writeln!(now, "{line}").unwrap();
            continue;
        }
        let golden = Golden::parse(line);
        let digest = golden.digest_now();
        writeln!(now, "{}", golden.line(&digest)).unwrap();
        if digest != golden.digest {
            changed.push(format!("- {line}\n+ {}", golden.line(&digest)));
        }
    }
    #[expect(clippy::disallowed_methods, reason = "asks whoever runs the test, not a run")]
    if std::env::var("BLESS").is_ok() {
        std::fs::write(Path::new(RECORDED), now).unwrap();
        return;
    }
    assert!(
        changed.is_empty(),
        "these runs are no longer what they were: seeds that users recorded do not replay. If that is meant, \
         CHANGELOG.md must say so, and `BLESS=1 cargo test --test it golden` records them anew:\n{}",
        changed.join("\n")
    );
}

#[test]
fn the_recorded_runs_are_of_several_scenarios_and_of_every_arm() {
    let recorded = std::fs::read_to_string(RECORDED).unwrap();
    let runs: Vec<Golden<'_>> = recorded.lines().filter(|line| !is_comment(line)).map(Golden::parse).collect();
    for arm in ["trusting", "validating", "no-cursor"] {
        assert!(runs.iter().any(|run| run.arm == arm), "no recorded run has the arm {arm}");
    }
    let mut scenarios: Vec<&str> = runs.iter().map(|run| run.scenario).collect();
    scenarios.dedup();
    assert!(scenarios.len() >= 5, "{scenarios:?}");
}
