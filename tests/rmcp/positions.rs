//! The truth that is told about the SDK's server is a prediction: which event of which stream takes which id, and with
//! which event a leg begins. Here it is held against the wire.

use std::collections::BTreeMap;

use desync_sim::mcp::client::settings::Arm;
use desync_sim::observe::event::{ClientNo, Event, FrameKind, LogNo, Position, Purpose, RequestNo};

use crate::allocated::beside;
use crate::runs::{run, scenario};

const SCENARIO: &str = r#"format = 1
name = "rmcp"
summary = "every fault that the SDK's server knows"
seeds = "0..1"
arms = ["rmcp"]
horizon_s = 400
tick_s = 0.02

[topology]
clients = 4
sites = 2
servers = 2

[server]
implementation = "rmcp"

[server.rmcp]
channel_capacity = 8
session_keep_alive_s = 60

[server.churn]
interval_s = [2, 20]
burst_events = [1, 12]
quiet_every_bursts = 4
quiet_s = [30, 90]

[gateway]
idle_timeout_s = 40

[tool]
parts = [2, 14]
interval_s = [0.2, 4]

[client]
call_interval_s = [5, 30]
call_timeout_s = 50
session_duration_s = [60, 200]

[faults.disconnect]
per_client_per_hour = 120
modes = ["clean-end", "reset", "truncated-event", "half-open"]

[faults.outage]
per_client_per_hour = 20
duration_s = [2, 8]

[faults.stall]
per_hour = 20
link = "servers"
duration_s = [1, 4]

[faults.server-shutdown]
per_hour = 20
down_s = [1, 5]
"#;

/// An event as the truth has it.
type Appended = (Option<String>, FrameKind);

/// What was held against what.
#[derive(Debug, Default)]
pub struct Checked {
    pub legs: u32,
    pub resumed: u32,
    pub frames: u32,
    pub ids: u32,
}

/// Holds every event that was read against the one that should stand there.
pub fn check(events: &[Event]) -> Result<Checked, String> {
    let mut logs: BTreeMap<LogNo, BTreeMap<Position, Appended>> = BTreeMap::new();
    let mut legs: BTreeMap<(ClientNo, RequestNo), (Option<LogNo>, Position)> = BTreeMap::new();
    let mut purposes = BTreeMap::new();
    for event in events {
        match event {
            Event::Appended { log, first, last, first_id, kind, .. } => {
                assert_eq!(first, last, "the SDK appends one by one");
                let before = logs.entry(*log).or_default().insert(*first, (first_id.clone(), *kind));
                assert!(before.is_none(), "log {log}: two events at {first}");
            }
            Event::Attached { client, request, log, next, .. } => {
                legs.insert((*client, *request), (*log, *next));
            }
            Event::RequestSent { client, request, purpose, .. } => {
                purposes.insert((*client, *request), *purpose);
            }
            _ => {}
        }
    }
    let mut checked = Checked { legs: legs.len() as u32, ..Checked::default() };
    let mut read: BTreeMap<(ClientNo, RequestNo), Position> = BTreeMap::new();
    for event in events {
        let Event::FrameReceived { client, request, id, kind } = event else { continue };
        let leg = (*client, *request);
        if *kind == FrameKind::Priming {
            continue;
        }
        let Some((log, next)) = legs.get(&leg) else {
            // The answer to `initialize` goes past every stream.
            match purposes.get(&leg) {
                None | Some(Purpose::Initialize) => continue,
                Some(purpose) => return Err(format!("{leg:?}: {kind:?} on a leg of {purpose:?} that nobody told of")),
            }
        };
        let count = read.entry(leg).or_default();
        let position = next + *count;
        *count += 1;
        let log = log.ok_or_else(|| format!("{leg:?}: {kind:?} `{id:?}` on a leg that should carry nothing"))?;
        let expected = logs.get(&log).and_then(|log| log.get(&position));
        let Some((expected_id, expected_kind)) = expected else {
            return Err(format!("{leg:?}: {kind:?} `{id:?}` at {position} of log {log}, where nothing stands"));
        };
        if kind != expected_kind || expected_id.is_some() && id != expected_id {
            return Err(format!(
                "{leg:?}: at {position} of log {log} came {kind:?} `{id:?}`, not {expected_kind:?} `{expected_id:?}`"
            ));
        }
        checked.frames += 1;
        checked.ids += u32::from(expected_id.is_some());
        checked.resumed += u32::from(*count == 1 && *next > 0);
    }
    Ok(checked)
}

/// Checks whole runs; returns what was checked.
fn checked(changes: &[&str], arms: &[Arm]) -> Checked {
    let scenario = scenario(SCENARIO, changes);
    let mut sum = Checked::default();
    for (seed, arm) in (0..3).flat_map(|seed| arms.iter().map(move |arm| (seed, *arm))) {
        let ran = run(&scenario, seed, arm);
        let told = check(&ran.events).unwrap_or_else(|error| panic!("{changes:?}, seed {seed}, {arm}: {error}"));
        sum.legs += told.legs;
        sum.resumed += told.resumed;
        sum.frames += told.frames;
        sum.ids += told.ids;
    }
    sum
}

#[test]
fn what_is_read_stands_where_it_was_said_to() {
    let _beside = beside();
    for changes in [&[][..], &["server.rmcp.session_store=true"], &["server.rmcp.sse_retry_s=0"]] {
        let sum = checked(changes, &[Arm::Rmcp, Arm::Trusting]);
        assert!(sum.frames > 3000 && sum.resumed > 100, "{changes:?}: {sum:?}");
        assert_eq!(sum.ids, sum.frames);
    }
}

#[test]
fn so_it_is_with_an_event_store() {
    let _beside = beside();
    for store in ["finite", "live"] {
        for sessions in ["false", "true"] {
            let store = format!("server.rmcp.event_store={store}");
            let sessions = format!("server.rmcp.session_store={sessions}");
            let sum = checked(&[&store, &sessions], &[Arm::Rmcp, Arm::Trusting]);
            assert!(sum.frames > 3000 && sum.resumed > 100, "{store} {sessions}: {sum:?}");
            assert!(sum.ids * 10 > sum.frames * 7, "{store} {sessions}: hardly any id is known: {sum:?}");
        }
    }
}
