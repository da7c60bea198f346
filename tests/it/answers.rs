//! Model against reality: scripted resumes, answered by the server model with the profile that stands for the official
//! Rust SDK, and by the SDK's own server, on the same simulated network.
//!
//! `data/rmcp-answers.toml` has a script a case and, of each answer, every event. What was measured on real sockets
//! stands beside it. Where the model's answer is another one, the case says why.

#[cfg(feature = "rmcp")]
mod bare;
mod case;
mod client;
mod lab;
mod measured;

use std::fmt::Write as _;

use case::{Case, Cases};
use lab::{Subject, play};

const CASES: &str = include_str!("data/rmcp-answers.toml");

fn cases() -> Vec<Case> {
    let Cases { case } = toml::from_str(CASES).unwrap_or_else(|error| panic!("rmcp-answers.toml: {error}"));
    case
}

/// Plays every case against `subject`, and tells every answer that is not the expected one.
fn differences(subject: Subject) -> String {
    let mut told = String::new();
    for case in cases().into_iter().filter(|case| subject.can_play(case)) {
        let expected = case.expected(subject);
        let found = play(&case, subject);
        if expected != found {
            writeln!(told, "\n{}: {subject:?} answers otherwise", case.name).unwrap();
            for (number, (expected, found)) in expected.iter().zip(&found).enumerate() {
                if expected != found {
                    writeln!(told, "  answer {number}\n    expected {expected}\n    found    {found}").unwrap();
                }
            }
        }
    }
    told
}

#[test]
fn the_model_answers_as_the_profile_says() {
    let told = differences(Subject::Model);
    assert!(told.is_empty(), "{told}");
}

#[cfg(feature = "rmcp")]
#[test]
fn the_sdk_answers_as_the_table_says() {
    let told = differences(Subject::Sdk);
    assert!(told.is_empty(), "{told}");
}

#[cfg(feature = "rmcp")]
#[test]
fn what_runs_put_around_the_sdk_changes_no_answer() {
    let told = differences(Subject::BareSdk);
    assert!(told.is_empty(), "{told}");
}

/// A row that lists a difference which is none any more hides the next one.
#[test]
fn every_listed_difference_is_one_and_has_a_reason() {
    for case in cases() {
        let differs = case.expected(Subject::Model) != case.expected(Subject::Sdk);
        assert_eq!(differs, case.differs_because.is_some(), "{}", case.name);
    }
}

#[test]
fn the_listed_differences_are_documented() {
    let document = include_str!("../../ARCHITECTURE.md");
    for case in cases().into_iter().filter(|case| case.differs_because.is_some()) {
        let row = format!("| {} |", case.name);
        assert!(document.contains(&row), "ARCHITECTURE.md, \"Model against reality\", has no row `{}`", case.name);
    }
}

/// The cases that the table must not lose: those of the measurement, and those that the field's reports name.
#[test]
fn every_kind_of_resume_has_a_case() {
    let names: Vec<String> = cases().into_iter().map(|case| case.name).collect();
    for kind in
        ["known", "inclusive", "purged", "ahead by one", "far ahead", "finished", "malformed", "foreign", "restore"]
    {
        assert!(names.iter().any(|name| name.contains(kind)), "no case has `{kind}` in its name: {names:?}");
    }
}
