//! What servers of the field answered on real sockets, row by row, against the profiles that stand for them.
//!
//! `data/measured-answers.toml` has a script a row and what each server answered. The same script is played against the
//! server model with each profile, and for the official Rust SDK against its own server too.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use serde::Deserialize;

use super::case::{Answer, Case, Step, Then};
use super::lab::{Subject, play};

const MEASURED: &str = include_str!("../data/measured-answers.toml");
/// Of the servers that nobody has measured: what their sources say, in the same words.
const READ: &str = include_str!("../data/read-answers.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    row: Vec<Row>,
}

/// One script, and what each server answers to it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    #[serde(default)]
    set: Vec<String>,
    restart_at_s: Option<f64>,
    script: Vec<Step>,
    /// By profile: of each answer that the script watches, what the events carried, and whether the body ended.
    answers: BTreeMap<String, Vec<String>>,
    /// Profiles that answer otherwise than was measured, and why.
    #[serde(default)]
    differs: BTreeMap<String, String>,
}

fn rows(table: &str) -> Vec<Row> {
    let Table { row } = toml::from_str(table).unwrap_or_else(|error| panic!("a table of answers: {error}"));
    row
}

impl Row {
    fn case(&self, profile: &str) -> Case {
        Case {
            name: self.name.clone(),
            profile: profile.to_owned(),
            measured: None,
            set: self.set.clone(),
            needs_clock: false,
            restart_at_s: self.restart_at_s,
            differs_because: None,
            script: self.script.clone(),
        }
    }
}

/// An answer in the table's words: `p3..p5 R, closed`, `∅, open`, `404`.
fn told(answer: &Answer) -> String {
    let then = match (answer.status, answer.then) {
        (200, Then::Open) => "open",
        (200, Then::Closed) => "closed",
        (200, Then::Broken) => "broken",
        (status, _) => return status.to_string(),
    };
    // Ids are the table's business of other rows, and comments nobody's.
    let carried = answer.events.iter().filter_map(|event| event.split(' ').nth(1)).filter(|event| *event != "retry");
    let mut words: Vec<String> = Vec::new();
    let mut run: Option<(u32, u32)> = None;
    let close = |run: &mut Option<(u32, u32)>, words: &mut Vec<String>| match run.take() {
        Some((first, last)) if last > first => words.push(format!("p{first}..p{last}")),
        Some((first, _)) => words.push(format!("p{first}")),
        None => {}
    };
    for event in carried {
        match event.strip_prefix('p').and_then(|number| number.parse::<u32>().ok()) {
            Some(part) => match &mut run {
                Some((_, last)) if *last + 1 == part => *last = part,
                _ => {
                    close(&mut run, &mut words);
                    run = Some((part, part));
                }
            },
            None => {
                close(&mut run, &mut words);
                words.push(event.to_owned());
            }
        }
    }
    close(&mut run, &mut words);
    if words.is_empty() { format!("empty, {then}") } else { format!("{}, {then}", words.join(" ")) }
}

/// Plays the rows of `table` against `subject` with the profiles that `which` chooses, and tells every answer that is another.
fn differences(table: &str, subject: Subject, which: impl Fn(&str) -> bool) -> String {
    let mut said = String::new();
    for row in rows(table) {
        for (profile, expected) in row.answers.iter().filter(|(profile, _)| which(profile)) {
            let found: Vec<String> = play(&row.case(profile), subject).iter().map(told).collect();
            if *expected != found {
                writeln!(said, "{}, {profile}:\n  measured {expected:?}\n  found    {found:?}", row.name).unwrap();
            }
        }
    }
    said
}

#[test]
fn every_profile_answers_as_its_server_did() {
    let said = differences(MEASURED, Subject::Model, |_| true);
    assert!(said.is_empty(), "\n{said}");
}

#[test]
fn every_profile_answers_as_the_sources_of_its_server_say() {
    let said = differences(READ, Subject::Model, |_| true);
    assert!(said.is_empty(), "\n{said}");
}

/// A profile that no row asks could say anything.
#[test]
fn every_profile_is_held_to_a_table() {
    let asked: BTreeSet<String> =
        [MEASURED, READ].into_iter().flat_map(rows).flat_map(|row| row.answers.into_keys()).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sims/profiles/server");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(asked, files);
}

#[cfg(feature = "rmcp")]
#[test]
fn the_official_rust_sdk_answers_here_as_it_did_on_real_sockets() {
    let said = differences(MEASURED, Subject::Sdk, |profile| profile == "rmcp");
    assert!(said.is_empty(), "\n{said}");
}

/// The columns of the measurement: none may be lost from a row unseen.
#[test]
fn every_row_says_what_each_server_answered_or_why_not() {
    const SERVERS: [&str; 7] =
        ["typescript-1", "typescript-1-lookup", "typescript-2", "typescript-2-lookup", "python", "fastmcp", "rmcp"];
    let alone = |row: &Row| row.answers.len() == 1 && row.answers.contains_key("no-store");
    for row in rows(MEASURED).into_iter().filter(|row| !alone(row)) {
        for server in SERVERS {
            let (told, excused) = (row.answers.contains_key(server), row.differs.contains_key(server));
            assert!(told != excused, "{}: {server} has an answer or a reason why it has none here, not both", row.name);
        }
    }
}
