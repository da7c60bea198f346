//! What a simulation costs: `cargo bench --bench cost`, about two minutes.
//!
//! **The ratio.** A run of the incident is timed against bare turmoil (`support/bare_turmoil.rs`), in one execution,
//! turn by turn, and the fastest of each counts: a disturbed machine slows both. The two have the same three hosts,
//! tick, simulated time, clients, number of messages in each direction and bytes (checked to within a hundredth),
//! spread evenly over time. What the yardstick does not do is what the ratio prices: HTTP, events and JSON, sessions
//! and buffers, faults, the event log with its digest, and the oracle. It must not exceed [`MAX_RATIO`].
//!
//! **Linearity.** The time of a run divided by its clients and simulated seconds must not grow with either. It falls
//! at first, because a tick has a price whoever is there; so growth is looked for from each size to the next.
//!
//! **The official Rust SDK.** The same scenario is run by the models and by the SDK on both sides, in turn: 20 clients,
//! 120 simulated seconds, without faults. It must not take more than [`MAX_SDK_RATIO`] times as long.
//!
//! Times are the thread's own on the processor where the system tells them (Linux), so that a busy machine disturbs
//! them little: a run has one thread. Elsewhere they are real time. The cost of the validator alone is in
//! `benches/validator.rs`.

#![allow(clippy::disallowed_methods, reason = "a benchmark reads the time clock: it runs outside every simulation")]

#[path = "support/bare_turmoil.rs"]
mod bare_turmoil;
#[path = "support/census.rs"]
mod census;
#[path = "support/stopwatch.rs"]
mod stopwatch;

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use desync_sim::experiment::run::Run;
#[cfg(feature = "rmcp")]
use desync_sim::experiment::scenario::Override;
use desync_sim::experiment::scenario::Scenario;
use desync_sim::mcp::client::settings::Arm;
use desync_sim::observe::recorder::Recorder;

use self::bare_turmoil::{Flow, Load, bare};
use self::census::Census;
use self::stopwatch::Stopwatch;

/// The most that a run may take, in times of the yardstick.
const MAX_RATIO: f64 = 6.0;
/// The most by which the cost of a client-second may grow from one size to a larger one. Twice the clients in a
/// quadratic simulator would make it two.
const MAX_GROWTH: f64 = 1.5;
/// The most that a run of the official Rust SDK may take, in times of the same run of the models.
#[cfg(feature = "rmcp")]
const MAX_SDK_RATIO: f64 = 3.0;
/// Turns of a comparison.
const TURNS: u32 = 3;
/// Bytes of a request: its head, and for a POST a JSON-RPC message. Requests are a hundredth of all bytes.
const REQUEST_BYTES: u64 = 400;

const SEED: u64 = 0;
const ARM: Arm = Arm::Validating;

fn main() -> ExitCode {
    let mut well = true;

    println!("A run against bare turmoil, fastest of {TURNS} turns:");
    println!("{:>8} {:>10} {:>10} {:>10} {:>10} {:>8}", "clients", "horizon_s", "bytes", "bare_s", "run_s", "ratio");
    for (clients, horizon_s) in [(12, 3000), (100, 600), (400, 600)] {
        let ratio = compare(&incident(clients, horizon_s));
        well &= ratio <= MAX_RATIO;
    }

    println!("\nMore clients, 480 simulated seconds:");
    well &= linear([10, 100, 1000, 2000].map(|clients| (clients, 480)));
    println!("\nMore simulated time, 100 clients:");
    well &= linear([(100, 600), (100, 1200), (100, 2400)]);

    #[cfg(feature = "rmcp")]
    {
        well &= sdk_against_models();
    }

    if well {
        ExitCode::SUCCESS
    } else {
        eprintln!("a run costs more than it may: see the bounds at the head of this benchmark");
        ExitCode::FAILURE
    }
}

/// The incident on three hosts: one site, the gateway, one server.
fn incident(clients: u32, horizon_s: u32) -> Scenario {
    let overrides =
        ["topology.sites=1".to_owned(), format!("topology.clients={clients}"), format!("horizon_s={horizon_s}")]
            .map(|flag| flag.parse().expect("a key and a value"));
    Scenario::load("incident", &overrides).expect("the incident takes any number of clients").scenario
}

/// Times a run against the yardstick, prints a line and returns the ratio.
fn compare(scenario: &Scenario) -> f64 {
    let load = load(scenario, &Census::take(scenario, SEED, ARM));
    let (mut run_time, mut bare_time) = (Duration::MAX, Duration::MAX);
    let mut moved = 0;
    for _ in 0..TURNS {
        let (time, bytes) = timed_run(scenario, ARM);
        run_time = run_time.min(time);
        let yardstick = bare(load);
        bare_time = bare_time.min(yardstick.time);

        let difference = yardstick.bytes.abs_diff(bytes);
        assert!(
            difference <= bytes / 100,
            "the yardstick moved {} bytes, the run {bytes}: they do not compare",
            yardstick.bytes
        );
        moved = bytes;
    }
    let ratio = run_time.as_secs_f64() / bare_time.as_secs_f64();
    println!(
        "{:>8} {:>10} {moved:>10} {:>10.3} {:>10.3} {ratio:>8.2}",
        load.clients,
        load.horizon.get().as_secs(),
        bare_time.as_secs_f64(),
        run_time.as_secs_f64(),
    );
    ratio
}

/// What `census` found, as evenly as the yardstick moves it.
fn load(scenario: &Scenario, census: &Census) -> Load {
    let settings = &scenario.settings;
    let clients = u64::from(settings.topology.clients);
    let flow = |messages: u64, bytes: u64| {
        let messages = (messages / clients).max(1);
        Flow {
            messages: u32::try_from(messages).expect("a client gets some messages a second"),
            bytes: (bytes / clients / messages) as usize,
            // All of them within the horizon, and time for the last one to arrive.
            interval: settings.horizon_s.get() / (messages as u32 + 2),
        }
    };
    let up_bytes = census.requests * REQUEST_BYTES;
    Load {
        clients: settings.topology.clients,
        sites: settings.topology.sites,
        horizon: settings.horizon_s,
        tick: settings.tick_s,
        down: flow(census.answers + census.arrivals, census.bytes - up_bytes),
        up: flow(census.requests, up_bytes),
    }
}

/// A run's time, and the bytes that it moved.
fn timed_run(scenario: &Scenario, arm: Arm) -> (Duration, u64) {
    let run = Run { seed: SEED, arm }.of(scenario);
    let watch = Stopwatch::start();
    let record = run
        .record(Recorder::new(), &AtomicBool::new(false))
        .expect("the network of a benchmark does not fail")
        .expect("nobody stops it");
    (watch.elapsed(), record.verdicts.run.bytes)
}

/// Times runs of growing size and prints what a client costs for a simulated second. Whether that does not grow.
fn linear<const N: usize>(sizes: [(u32, u32); N]) -> bool {
    println!("{:>8} {:>10} {:>10} {:>22}", "clients", "horizon_s", "run_s", "us per client-second");
    let costs = sizes.map(|(clients, horizon_s): (u32, u32)| {
        let scenario = incident(clients, horizon_s);
        let turns = if clients <= 100 { 3 } else { 1 };
        let time = (0..turns).map(|_| timed_run(&scenario, ARM).0).min().expect("a turn at least").as_secs_f64();
        let cost = time * 1e6 / f64::from(clients) / f64::from(horizon_s);
        println!("{clients:>8} {horizon_s:>10} {time:>10.3} {cost:>22.2}");
        cost
    });
    let growth = costs.windows(2).map(|pair| pair[1] / pair[0]).fold(0.0, f64::max);
    println!("growth from one size to the next: at most {growth:.2}");
    growth <= MAX_GROWTH
}

/// Times the official Rust SDK against the models, both sides of each. Whether it keeps its bound.
#[cfg(feature = "rmcp")]
fn sdk_against_models() -> bool {
    let scenario = |server: &str| {
        let size = ["topology.clients=20", "topology.sites=1", "horizon_s=120"];
        let same = ["faults.outage.per_client_per_hour=0", "server.profile=rmcp", server];
        let flags = [size, same].concat();
        let changes: Vec<Override> = flags.iter().map(|flag| flag.parse().expect("a key and a value")).collect();
        Scenario::load("rmcp-outage", &changes).expect("the scenario takes these").scenario
    };
    let (models, sdk) = (scenario("server=model"), scenario("server=rmcp"));
    println!(
        "\nThe official Rust SDK against the models, 20 clients, 120 simulated seconds, fastest of {TURNS} turns:"
    );
    let (mut models_time, mut sdk_time) = (Duration::MAX, Duration::MAX);
    for _ in 0..TURNS {
        models_time = models_time.min(timed_run(&models, Arm::Trusting).0);
        sdk_time = sdk_time.min(timed_run(&sdk, Arm::Rmcp).0);
    }
    let ratio = sdk_time.as_secs_f64() / models_time.as_secs_f64();
    println!("{:>10} {:>10} {:>8}", "models_s", "sdk_s", "ratio");
    println!("{:>10.4} {:>10.4} {ratio:>8.2}", models_time.as_secs_f64(), sdk_time.as_secs_f64());
    ratio <= MAX_SDK_RATIO
}
