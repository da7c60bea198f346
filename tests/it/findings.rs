//! What `docs/rmcp-findings.md` says of the official Rust SDK is what happens: each committed schedule is replayed and
//! comes to the outcome that the document states, and the document's commands are exactly those that are replayed here.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use desync_sim::experiment::run::Run;
use desync_sim::experiment::scenario::{Override, Scenario, SeedRange};
use desync_sim::mcp::client::settings::Arm;
use desync_sim::observe::event::{Event, FrameKind};
use desync_sim::observe::recorder::Recorder;
use desync_sim::observe::witness::Sink;
use desync_sim::world::schedule::Schedule;
use desync_sim::world::time::SimTime;
use serde::Deserialize;

const DOCUMENT: &str = include_str!("../../docs/rmcp-findings.md");
const CASES: &str = include_str!("data/rmcp-findings.toml");
const PROGRAM: &str = "cargo run --release -- ";

/// A schedule of one client, changes to the scenario `rmcp-phases`, and what becomes of one call of seed 0.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// The file in `sims/schedules`, without `rmcp-` and its ending.
    schedule: String,
    #[serde(default)]
    set: Vec<String>,
    #[serde(default)]
    call: u32,
    outcome: String,
    parts: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    case: Vec<Case>,
}

impl Case {
    fn file(&self) -> String {
        format!("sims/schedules/rmcp-{}.toml", self.schedule)
    }

    /// The command as the document has it.
    fn command(&self) -> String {
        let mut command = format!("replay rmcp-phases --seed 0 --arm rmcp --schedule {}", self.file());
        for set in &self.set {
            let needs_quotes = set.contains(['{', '[', '"']);
            command += &if needs_quotes { format!(" --set '{set}'") } else { format!(" --set {set}") };
        }
        command
    }

    fn ran(&self) -> Ran {
        let changes: Vec<Override> = self.set.iter().map(|set| set.parse().unwrap()).collect();
        let scenario = Scenario::load("rmcp-phases", &changes).unwrap_or_else(|error| panic!("{error}")).scenario;
        let settings = &scenario.settings;
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(self.file());
        let schedule = Schedule::load(&path, settings.extent()).unwrap_or_else(|error| panic!("{error}"));
        let run = Run { seed: 0, arm: Arm::Rmcp }.with_schedule(&scenario, schedule);
        let sink = Rc::new(RefCell::new(Listening { recorder: Recorder::new(), heard: 0 }));
        run.simulate(sink.clone(), &AtomicBool::new(false)).unwrap_or_else(|error| panic!("{error}"));
        let mut sink = sink.borrow_mut();
        let record = sink.recorder.finish(settings.horizon_s.get().into());
        let mut calls = record.verdicts.calls.into_iter();
        let call = calls.find(|call| call.call == self.call).expect("the call is made");
        Ran { outcome: call.outcome.to_string(), parts: call.parts, heard: sink.heard }
    }
}

/// What a replay came to.
struct Ran {
    outcome: String,
    parts: u32,
    /// Messages on the standalone stream from [`Listening::FROM`] on.
    heard: u32,
}

/// A recorder that also counts what the client hears on the standalone stream.
struct Listening {
    recorder: Recorder,
    heard: u32,
}

impl Listening {
    /// In `rmcp-listen-lost.toml` the new session is open by then.
    const FROM: Duration = Duration::from_secs(86);
}

impl Sink for Listening {
    fn record(&mut self, at: SimTime, host: &str, event: Event) {
        let is_message = matches!(event, Event::FrameReceived { kind: FrameKind::Notification, .. });
        self.heard += u32::from(is_message && at >= Self::FROM.into());
        self.recorder.record(at, host, event);
    }
}

fn cases() -> Vec<Case> {
    toml::from_str::<Cases>(CASES).unwrap().case
}

/// The document's command lines that start with `word`, without the program's name.
fn commands(word: &str) -> BTreeSet<&'static str> {
    let blocks = DOCUMENT.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let lines = blocks.flat_map(str::lines).filter_map(|line| line.strip_prefix(PROGRAM));
    lines.filter(|line| line.starts_with(word)).collect()
}

#[test]
fn every_schedule_comes_to_what_the_document_states() {
    let mut wrong = Vec::new();
    for case in cases() {
        // A fresh thread for each run, as in a sweep: libraries keep state in threads.
        let ran = std::thread::scope(|scope| scope.spawn(|| case.ran()).join().unwrap());
        let told = (ran.outcome, ran.parts);
        if told != (case.outcome.clone(), case.parts) {
            wrong.push(format!("{}: {told:?}", case.command()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A standalone stream that fails to open is not opened again. Without a fault there is much to hear.
#[test]
fn a_standalone_stream_that_is_late_or_lost_is_not_heard() {
    let heard = |schedule: &str| {
        let lost = cases().into_iter().find(|case| case.schedule == "listen-lost").unwrap();
        let case = Case { schedule: schedule.to_owned(), ..lost };
        std::thread::scope(|scope| scope.spawn(|| case.ran()).join().unwrap()).heard
    };
    assert_eq!((heard("listen-lost"), heard("restart-early")), (0, 449));
    // It comes back a minute after the link, and the ring has kept the newest of what it missed.
    assert_eq!(heard("outage-long"), 261);
}

#[test]
fn the_document_has_exactly_the_commands_that_are_replayed() {
    let cases = cases();
    let replayed: BTreeSet<String> = cases.iter().map(Case::command).collect();
    let told: BTreeSet<String> = commands("replay").into_iter().map(str::to_owned).collect();
    let missing: Vec<_> = replayed.difference(&told).collect();
    let unknown: Vec<_> = told.difference(&replayed).collect();
    assert!(missing.is_empty() && unknown.is_empty(), "not told: {missing:#?}\nnot replayed: {unknown:#?}");
}

#[test]
fn every_schedule_of_the_sdk_is_in_the_document() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sims/schedules");
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let committed: BTreeSet<String> = names.filter(|name| name.starts_with("rmcp-")).collect();
    let told: BTreeSet<String> = cases().iter().map(|case| format!("rmcp-{}.toml", case.schedule)).collect();
    assert_eq!(committed, told);
}

/// The document's sweeps take too long here. That their scenarios, settings and seeds exist is checked.
#[test]
fn the_sweeps_of_the_document_load() {
    let sweeps = commands("run");
    assert!(sweeps.len() > 10, "the document has lost its sweeps");
    for sweep in sweeps {
        let words: Vec<String> = sweep.split(" --").map(|word| word.trim().replace('\'', "")).collect();
        let values = |option: &str| -> Vec<String> {
            let named = words[1..].iter().filter_map(|word| word.strip_prefix(option));
            named.map(|value| value.trim().to_owned()).collect()
        };
        let changes: Vec<Override> = values("set ").iter().map(|set| set.parse().unwrap()).collect();
        let scenario = words[0].strip_prefix("run ").unwrap();
        Scenario::load(scenario, &changes).unwrap_or_else(|error| panic!("{sweep}: {error}"));
        let seeds: SeedRange = values("seeds ")[0].parse().unwrap();
        assert!(seeds.len() >= 200, "{sweep}: an experiment has 200 seeds or more");
        assert_eq!(values("arms "), ["rmcp"], "{sweep}");
    }
}
