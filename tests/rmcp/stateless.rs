//! Revision 2026-07-28, in which there are no sessions and nothing to resume.

use desync_sim::mcp::client::settings::Arm;
use desync_sim::observe::event::{CallReport, Event, Purpose};
use desync_sim::observe::verdict::Outcome;

use crate::allocated::beside;
use crate::runs::{Ran, run, scenario};

const SCENARIO: &str = r#"format = 1
name = "rmcp"
summary = "the SDK against itself, without sessions"
seeds = "0..1"
arms = ["rmcp"]
horizon_s = 300

[topology]
clients = 4
sites = 2

[server]
implementation = "rmcp"

[tool]
parts = [2, 8]
interval_s = [0.5, 2]

[client]
call_interval_s = [10, 40]
call_timeout_s = 60
"#;

const STATELESS: &str = r#"client.rmcp.protocol="2026-07-28""#;
const CUTS: &str = r#"faults.disconnect={per_client_per_hour=240, modes=["clean-end", "reset", "truncated-event"]}"#;

fn told(changes: &[&str], arm: Arm) -> Ran {
    let ran = run(&scenario(SCENARIO, changes), 0, arm);
    let mut outcomes = std::collections::BTreeMap::<String, u32>::new();
    for call in &ran.verdicts.calls {
        *outcomes.entry(format!("{:?} {}", call.outcome, call.reason)).or_default() += 1;
    }
    let mut purposes = std::collections::BTreeMap::<String, u32>::new();
    for event in &ran.events {
        if let Event::RequestSent { purpose, session, cursor, .. } = event {
            let name = format!("{purpose:?}");
            let name = name.split(' ').next().unwrap();
            *purposes.entry(format!("{name} {} {}", session.is_some(), cursor.is_some())).or_default() += 1;
        }
    }
    println!("{changes:?} {arm}: {outcomes:#?} {purposes:#?} {:?}", ran.verdicts.run);
    ran
}

#[test]
fn explore() {
    let _beside = beside();
    told(&[STATELESS], Arm::Rmcp);
    told(&[STATELESS, "server.rmcp.legacy_session_mode=false"], Arm::Rmcp);
    told(&[STATELESS, "server.rmcp.json_response=true"], Arm::Rmcp);
    told(&[STATELESS, CUTS], Arm::Rmcp);
    told(&[STATELESS, CUTS, "server.rmcp.event_store=finite"], Arm::Rmcp);
    told(&[STATELESS, CUTS, "server.rmcp.event_store=live"], Arm::Rmcp);
    told(&["server.rmcp.legacy_session_mode=false"], Arm::Rmcp);
    told(&["server.rmcp.legacy_session_mode=false"], Arm::Trusting);
    told(&["server.rmcp.legacy_session_mode=false", CUTS], Arm::Trusting);
    told(&["server.rmcp.legacy_session_mode=false", CUTS, "server.rmcp.event_store=live"], Arm::Trusting);
    let _ = (CallReport::TimedOut, Purpose::Listen, Outcome::Hung);
}
