//! The truth that is told about the SDK's server is a prediction: which event of which stream takes which id, and with
//! which event a leg begins. Here it is held against the wire.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use desync_sim::mcp::client::settings::Arm;
use desync_sim::observe::event::{ClientNo, Event, FrameKind, LogNo, Position, Purpose, RequestNo};

use desync_sim::mcp::sdk::server::Limits;
use desync_sim::observe::witness::Sink;
use desync_sim::world::time::SimTime;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::allocated::beside;
use crate::raw::{After, Told, call_with, get, post};
use crate::runs::{run, scenario};
use crate::world::{World, run_into};

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

impl Checked {
    fn add(&mut self, more: &Checked) {
        self.legs += more.legs;
        self.resumed += more.resumed;
        self.frames += more.frames;
        self.ids += more.ids;
    }
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
    let scenario = scenario("rmcp", SCENARIO, changes);
    let mut sum = Checked::default();
    for (seed, arm) in (0..3).flat_map(|seed| arms.iter().map(move |arm| (seed, *arm))) {
        let ran = run(&scenario, seed, arm);
        let told = check(&ran.events).unwrap_or_else(|error| panic!("{changes:?}, seed {seed}, {arm}: {error}"));
        sum.add(&told);
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

/// What a peer does in a session, with names that others use too.
#[derive(Clone, Debug)]
enum Act {
    Call { id: &'static str, token: &'static str },
    Cancel { id: &'static str },
    Listen,
    Resume { index: u32, stream: u32 },
}

fn any_act() -> impl Strategy<Value = Act> {
    let id = || prop::sample::select(vec!["1", "2", "\"1\""]);
    let token = prop::sample::select(vec!["1", "\"1\"", "\"t\""]);
    prop_oneof![
        5 => (id(), token).prop_map(|(id, token)| Act::Call { id, token }),
        2 => id().prop_map(|id| Act::Cancel { id }),
        1 => Just(Act::Listen),
        5 => (0_u32..4, 0_u32..4).prop_map(|(index, stream)| Act::Resume { index, stream }),
    ]
}

/// Keeps every event.
#[derive(Default)]
struct Log(Vec<Event>);

impl Sink for Log {
    fn record(&mut self, _at: SimTime, _host: &str, event: Event) {
        self.0.push(event);
    }
}

/// Does `act` as client `number`, and reads for a while what comes of it.
async fn perform(world: &World, key: &str, number: u32, act: &Act) -> Told {
    let tag = format!("x-request-id: c{number}-r0\r\n");
    let request = match act {
        Act::Call { id, token } => post(Some(key), number, &call_with(id, token, number)),
        Act::Cancel { id } => {
            let cancelled =
                format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#);
            post(Some(key), number, &cancelled)
        }
        Act::Listen => get(Some(key), tag.as_bytes()),
        Act::Resume { index, stream } => get(Some(key), format!("{tag}last-event-id: {index}/{stream}\r\n").as_bytes()),
    };
    world.tell(&request, After::Silence(3 + u64::from(number % 5) * 2)).await
}

/// The events of an answer, as a client would tell the log of them.
fn frames(client: ClientNo, told: &Told) -> Vec<Event> {
    let blocks = told.text.split("\n\n").filter(|block| block.contains("data: "));
    let frame = |block: &str| {
        let field = |name| block.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
        let kind = match field("data: ").unwrap_or_default() {
            data if data.is_empty() => FrameKind::Priming,
            data if data.contains("notifications/progress") => FrameKind::Part,
            data if data.contains(r#""method""#) => FrameKind::Notification,
            _ => FrameKind::Response,
        };
        Event::FrameReceived { client, request: 0, id: field("id: "), kind }
    };
    blocks.map(frame).collect()
}

/// Requests under the id of one in flight, tokens that two calls share, calls that are cancelled, cursors of streams that
/// are there, complete or forgotten.
#[test]
fn so_it_is_where_names_are_used_twice() {
    let _beside = beside();
    let changes = ["tool.parts=5", "tool.interval_s=0.5", "server.rmcp.completed_cache_ttl_s=4"];
    let sum = RefCell::new(Checked::default());
    let mut runner = TestRunner::new(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() });
    let outcome = runner.run(&prop::collection::vec(any_act(), 4..16), |acts| {
        let log = Rc::new(RefCell::new(Log::default()));
        let read = RefCell::new(Vec::new());
        run_into(&changes, Limits::default(), log.clone(), async |world| {
            let key = world.session(1).await;
            let told = futures::future::join_all((10..).zip(&acts).map(async |(number, act)| {
                tokio::time::sleep(Duration::from_millis(370) * (number - 10)).await;
                frames(number, &perform(&world, &key, number, act).await)
            }));
            let told = told.await;
            read.borrow_mut().extend(told.into_iter().flatten());
        });
        let mut events = std::mem::take(&mut log.borrow_mut().0);
        events.append(&mut read.borrow_mut());
        let checked = check(&events).map_err(TestCaseError::fail)?;
        sum.borrow_mut().add(&checked);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    let sum = sum.into_inner();
    assert!(sum.frames > 4000 && sum.resumed > 100, "{sum:?}");
}
