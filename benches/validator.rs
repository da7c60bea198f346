//! What a validated resume costs: `cargo bench --bench validator`.
//!
//! The same stream is resumed over and over, each time by one event that is the successor of the cursor, by a
//! client that accepts blindly (the validator without rules, which only keeps the cursor), by one that compares bare
//! `u64`s, and by the validator under each grammar. The last two rows are alarms, which allocate to say what came.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the wall clock: it runs outside every simulation")]

use std::alloc::System;
use std::hint::black_box;
use std::time::Instant;

use desync_sim::cursor::{Grammar, Rules, Step, Validator, judge};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Resumes of one measurement. Ids of a benchmark all have four digits, as in the incident.
const IDS: std::ops::Range<u64> = 1000..9999;
/// Measurements of a row: the fastest counts, as the others were disturbed.
const ROUNDS: u32 = 200;

fn main() {
    println!("{:<34} {:>12} {:>18}", "per resume", "ns", "allocated bytes");

    row("accept blindly", validate(Grammar::Integer, Rules::none()));
    row("bare u64 compare", bare_compare());
    for grammar in Grammar::ALL {
        row(&format!("validate {grammar}"), validate(grammar, Rules::default()));
    }
    row("alarm: regression, integer", alarm(Grammar::Integer));
    row("alarm: regression, epoch:seq", alarm(Grammar::EpochSeq));
}

/// The ids of the stream, written before the clock starts: on the wire they are text.
fn ids(grammar: Grammar) -> Vec<String> {
    IDS.map(|seq| match grammar {
        Grammar::Integer | Grammar::Opaque => seq.to_string(),
        Grammar::EpochSeq => format!("a1b2c3d4:{seq}"),
        Grammar::StreamSeq => format!("get_{seq}"),
        Grammar::SeqStream => format!("{seq}/3"),
    })
    .collect()
}

fn validate(grammar: Grammar, rules: Rules) -> impl FnMut() -> usize {
    let ids = ids(grammar);
    let mut stream = Validator::new(grammar, rules);
    move || {
        stream.begin_leg(false);
        stream.on_event(Some("999"), false).expect("a primer is not judged");
        if let Some((first, _)) = ids.split_first() {
            stream.on_event(Some(first), true).expect("a fresh leg is not judged");
        }
        for id in &ids[1..] {
            stream.begin_leg(true);
            let step = stream.on_event(black_box(Some(id)), true);
            assert_eq!(step, Ok(Step::Deliver));
        }
        ids.len() - 1
    }
}

/// The least that any check could cost: the id read as a number and compared with the last.
fn bare_compare() -> impl FnMut() -> usize {
    let ids = ids(Grammar::Integer);
    move || {
        let mut last = IDS.start;
        for id in &ids[1..] {
            let seq: u64 = black_box(id).parse().expect("the ids are numbers");
            assert_eq!(seq, last + 1);
            last = black_box(seq);
        }
        ids.len() - 1
    }
}

fn alarm(grammar: Grammar) -> impl FnMut() -> usize {
    let ids = ids(grammar);
    move || {
        for pair in ids.windows(2) {
            black_box(judge(grammar, Some(&pair[1]), black_box(&pair[0]))).expect_err("it goes back");
        }
        ids.len() - 1
    }
}

fn row(name: &str, mut round: impl FnMut() -> usize) {
    round(); // grows the buffers once
    let allocations = Region::new(ALLOCATOR);
    let resumes = round();
    let change = allocations.change();
    let bytes = change.bytes_allocated as f64 / resumes as f64;

    let fastest = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            black_box(round());
            start.elapsed()
        })
        .min()
        .unwrap_or_default();
    let ns = fastest.as_nanos() as f64 / resumes as f64;
    println!("{name:<34} {ns:>12.1} {bytes:>18.1}");
}
