//! The scenario library: every file in `sims/` loads, runs, and shows something.
//!
//! That each file keeps its thresholds with its default seeds is checked in release by `.ci/scenarios`: a debug build
//! takes ten times as long. Here one seed of each is run, cut short, for what must hold of any seed.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use desync_sim::experiment::available;
use desync_sim::experiment::run::Run;
use desync_sim::experiment::scenario::{self, Scenario};
use desync_sim::mcp::client::settings::Arm;
use desync_sim::observe::event::Event;
use desync_sim::observe::recorder::Recorder;
use desync_sim::observe::verdict::{Signature, Verdicts};
use desync_sim::observe::witness::Sink;
use desync_sim::world::fault::{Fault, Keep};
use desync_sim::world::time::{Seconds, SimTime};

use super::program::desync_sim;

/// The one seed that a debug build has time for. Every fault and signature turns up in it somewhere.
const SEED: u64 = 0;
/// Longer scenarios are cut here.
const LONGEST: Seconds = Seconds::new(500);
/// Left to `.ci/scenarios` and to the README's first command: cut short it has made no call yet.
const TOO_LONG: &str = "incident";

/// What one run of the library came to.
struct Ran {
    scenario: String,
    run: Run,
    verdicts: Verdicts,
    struck: BTreeSet<String>,
}

/// A recorder that also notes which faults took effect, mode and all: the result files name the fault only.
struct Watching {
    recorder: Recorder,
    struck: BTreeSet<String>,
}

impl Sink for Watching {
    fn record(&mut self, at: SimTime, host: &str, event: Event) {
        if let Event::FaultStruck { fault, took_effect: true } = &event {
            self.struck.extend(names(fault));
        }
        self.recorder.record(at, host, event);
    }
}

/// A fault's name with each of its modes: `disconnect reset`, `server-shutdown loses store`.
fn names(fault: &Fault) -> Vec<String> {
    let name = fault.name();
    match fault {
        Fault::Disconnect { mode, .. } => vec![format!("{name} {mode:?}")],
        Fault::Stall { link, .. } => vec![format!("{name} {link:?}")],
        Fault::SessionRecycle { to, .. } => vec![format!("{name} {to:?}")],
        Fault::ServerShutdown { keep: Keep { sessions, store, counters }, .. } => {
            [("sessions", sessions), ("store", store), ("counters", counters)]
                .map(|(what, kept)| format!("{name} {} {what}", if *kept { "keeps" } else { "loses" }))
                .into()
        }
        Fault::BufferTruncate { .. } | Fault::CounterWrap { .. } | Fault::Outage { .. } => vec![name.to_owned()],
    }
}

/// The library's scenarios, cut short.
fn scenarios() -> Vec<Scenario> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sims");
    let listed = scenario::list(&folder).unwrap();
    assert!(listed.len() > 10, "{} holds {} scenarios", folder.display(), listed.len());
    let load = |name: &str| Scenario::load(folder.join(format!("{name}.toml")).to_str().unwrap(), &[]);
    let mut scenarios: Vec<Scenario> =
        listed.iter().map(|listed| load(&listed.name).unwrap_or_else(|error| panic!("{error}")).scenario).collect();
    for scenario in &mut scenarios {
        scenario.settings.horizon_s = scenario.settings.horizon_s.min(LONGEST);
    }
    scenarios
}

fn carry_out(scenario: &Scenario, run: Run) -> Ran {
    let sink = Rc::new(RefCell::new(Watching { recorder: Recorder::new(), struck: BTreeSet::new() }));
    let prepared = run.of(scenario);
    prepared
        .simulate(sink.clone(), &AtomicBool::new(false))
        .unwrap_or_else(|error| panic!("{}: {error}", scenario.name));
    let mut sink = sink.borrow_mut();
    let record = sink.recorder.finish(scenario.settings.horizon_s.get().into());
    let struck = std::mem::take(&mut sink.struck);
    Ran { scenario: scenario.name.clone(), run, verdicts: record.verdicts, struck }
}

/// Every scenario with every arm: run once for all tests, on two threads.
fn library() -> &'static [Ran] {
    static LIBRARY: OnceLock<Vec<Ran>> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let scenarios = scenarios();
        let runs: Vec<(&Scenario, Run)> = scenarios
            .iter()
            .filter(|scenario| scenario.name != TOO_LONG)
            .flat_map(|scenario| {
                // The models run everywhere, the SDK where a scenario asks for it.
                let models = [Arm::Trusting, Arm::Validating, Arm::NoCursor];
                let named = scenario.arms.iter().copied().filter(move |arm| !models.contains(arm));
                models.into_iter().chain(named).map(move |arm| (scenario, Run { seed: SEED, arm }))
            })
            .filter(|(scenario, run)| available::check(run.arm, &scenario.settings).is_ok())
            .collect();
        let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        std::thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| {
                    while let Some((scenario, run)) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let ran = carry_out(scenario, *run);
                        done.lock().unwrap().push(ran);
                    }
                });
            }
        });
        done.into_inner().unwrap()
    })
}

#[test]
fn every_scenario_makes_calls_and_bounds_its_arms() {
    for Ran { scenario, run, verdicts, .. } in library() {
        assert!(verdicts.run.calls > 0, "{scenario}, seed {}, arm {}: no call was made", run.seed, run.arm);
    }
    for scenario in scenarios() {
        // A scenario of the SDK bounds the SDK.
        let arms = if scenario.arms.contains(&Arm::Trusting) {
            vec![Arm::Trusting, Arm::Validating]
        } else {
            scenario.arms.clone()
        };
        for arm in arms {
            assert!(
                scenario.thresholds.iter().any(|threshold| threshold.arm == arm),
                "{} demands nothing of the arm {arm}",
                scenario.name
            );
        }
    }
}

/// A fresh stream is what it asks for.
#[test]
fn a_client_without_a_cursor_is_never_desynchronised() {
    for Ran { scenario, run, verdicts, .. } in library().iter().filter(|ran| ran.run.arm == Arm::NoCursor) {
        let told = (verdicts.run.resumes, verdicts.run.desyncs, verdicts.run.missed, verdicts.run.false_alarms);
        assert_eq!(told, (0, 0, 0, 0), "{scenario}, seed {}", run.seed);
    }
}

#[test]
fn a_client_without_rules_raises_no_alarm() {
    for Ran { scenario, run, verdicts, .. } in library().iter().filter(|ran| ran.run.arm == Arm::Trusting) {
        let alarms = (verdicts.run.true_alarms, verdicts.run.false_alarms);
        assert_eq!(alarms, (0, 0), "{scenario}, seed {}", run.seed);
    }
}

#[test]
fn no_more_desyncs_are_missed_than_there_are() {
    for Ran { scenario, run, verdicts, .. } in library() {
        let harmful = verdicts.desyncs.iter().filter(|desync| desync.harmful).count();
        assert!(verdicts.run.missed as usize <= harmful, "{scenario}, seed {}, arm {}", run.seed, run.arm);
    }
}

#[test]
fn every_fault_bites_somewhere_in_every_mode() {
    let mut bites: BTreeMap<&str, u32> = BTreeMap::new();
    for ran in library() {
        for name in &ran.struck {
            *bites.entry(name).or_default() += 1;
        }
        for fault in ran.verdicts.faults.iter().filter(|fault| fault.took_effect) {
            *bites.entry(fault.fault).or_default() += 1;
        }
    }
    let wanted = [
        "idle-timeout",
        "max-life",
        "churn",
        "expired",
        "disconnect CleanEnd",
        "disconnect Reset",
        "disconnect TruncatedEvent",
        "disconnect HalfOpen",
        "stall Sites",
        "stall Servers",
        "session-recycle Same",
        "session-recycle Other",
        "buffer-truncate",
        "counter-wrap",
        "server-shutdown keeps sessions",
        "server-shutdown keeps store",
        "server-shutdown keeps counters",
        "server-shutdown loses sessions",
        "server-shutdown loses store",
        "server-shutdown loses counters",
    ];
    let missing: Vec<&str> = wanted.into_iter().filter(|name| !bites.contains_key(name)).collect();
    assert!(missing.is_empty(), "no scenario shows {missing:?}; there are {bites:?}");
}

#[test]
fn every_signature_arises_somewhere() {
    let arisen: BTreeSet<&str> =
        library().iter().flat_map(|ran| &ran.verdicts.desyncs).map(|desync| desync.signature.name()).collect();
    let missing: Vec<&str> = Signature::ALL.map(Signature::name).into_iter().filter(|s| !arisen.contains(s)).collect();
    assert!(missing.is_empty(), "no scenario shows {missing:?}");
}

/// The three signatures of the incident document, each where its scenario says so.
#[test]
fn the_documents_signatures_arise_where_they_are_claimed() {
    let claims = [
        ("restart-keeps-sessions", Signature::Regression),
        ("buffer-churn", Signature::Gap),
        ("fresh-primer", Signature::NoReplay),
        ("tenant-leak", Signature::Foreign),
        ("epoch-ids", Signature::EpochChange),
        ("inclusive-replay", Signature::Duplicate),
        ("empty-leg", Signature::EmptyLeg),
        ("silence", Signature::Silence),
        ("counter-wrap", Signature::Alias),
    ];
    for (scenario, signature) in claims {
        let arises = library()
            .iter()
            .filter(|ran| ran.scenario == scenario)
            .flat_map(|ran| &ran.verdicts.desyncs)
            .any(|desync| desync.signature == signature);
        assert!(arises, "{scenario} shows no {}", signature.name());
    }
}

/// The canary: a validating client whose rule is switched off must break the scenario's bounds, or they bound nothing.
#[test]
fn a_validator_without_its_rule_violates_the_thresholds() {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().join("canary");
    let arguments =
        ["run", "buffer-churn", "--seeds", "0..2", "--arms", "validating", "--out", folder.to_str().unwrap()];
    let sound = desync_sim(&arguments).ends_with(0);
    assert!(!sound.stderr.contains("violated"), "{}", sound.stderr);
    let blind = [&arguments[..], &["--set", "client.rules.continuity=false"]].concat();
    desync_sim(&blind).ends_with(1).complains(&["violated: validating: hung_share", "violated: validating: missed"]);
}

#[test]
fn a_remedy_takes_the_false_alarms_away() {
    let loaded = |set: &[&str]| {
        let changes: Vec<_> = set.iter().map(|change| change.parse().unwrap()).collect();
        Scenario::load("inclusive-replay", &changes).unwrap().scenario
    };
    let run = Run { seed: 0, arm: Arm::Validating };
    let strict = carry_out(&loaded(&["horizon_s=300"]), run).verdicts.run;
    assert!(strict.false_alarms > 0 && strict.true_alarms == 0 && strict.hung == 0, "{strict:?}");
    let tolerant = carry_out(&loaded(&["horizon_s=300", "client.rules.tolerate_inclusive=true"]), run).verdicts.run;
    assert!(tolerant.desyncs > 0 && tolerant.false_alarms == 0, "{tolerant:?}");
    assert_eq!(tolerant.completed, tolerant.calls, "{tolerant:?}");
}

/// A comparison in which nothing happened must not pass for one.
#[test]
fn a_run_without_faults_is_vacuous() {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().join("quiet");
    desync_sim(&["run", "quiet", "--seeds", "0..1", "--out", folder.to_str().unwrap()])
        .ends_with(3)
        .complains(&["no fault took effect in any run"]);
}
