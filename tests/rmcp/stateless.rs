//! Revision 2026-07-28, in which there are no sessions and nothing to resume.

use desync_sim::mcp::client::settings::Arm;
use desync_sim::observe::event::{Event, ExecutionEnd};
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
const NO_SESSIONS: &str = "server.rmcp.legacy_session_mode=false";
const CUTS: &str = r#"faults.disconnect={per_client_per_hour=240, modes=["clean-end", "reset", "truncated-event"]}"#;
const HALF_OPEN: &str = r#"faults.disconnect={per_client_per_hour=240, modes=["half-open"]}"#;
const RESTARTS: &str = "faults.server-shutdown={per_hour=60, down_s=[1, 3]}";

fn ran(changes: &[&str], arm: Arm) -> Ran {
    run(&scenario("rmcp", SCENARIO, changes), 0, arm)
}

/// Whether a request of the run carried a session key.
fn has_sessions(ran: &Ran) -> bool {
    ran.events.iter().any(|event| matches!(event, Event::RequestSent { session: Some(_), .. }))
}

fn all_complete(changes: &[&str], arm: Arm) -> Ran {
    let ran = ran(changes, arm);
    let told = &ran.verdicts.run;
    assert!(told.calls > 30 && told.completed == told.calls, "{changes:?} {arm}: {told:?}");
    assert!(!has_sessions(&ran), "{changes:?} {arm}");
    ran
}

#[test]
fn without_faults_every_call_completes() {
    let _beside = beside();
    for more in [&[][..], &[NO_SESSIONS], &["server.rmcp.json_response=true"]] {
        all_complete(&[&[STATELESS], more].concat(), Arm::Rmcp);
    }
    // Revision 2025-11-25 in front of a server that gives no sessions.
    for arm in [Arm::Rmcp, Arm::Trusting] {
        all_complete(&[NO_SESSIONS], arm);
        all_complete(&[NO_SESSIONS, "server.rmcp.json_response=true"], arm);
    }
}

/// Events have no ids: there is nothing to resume. The client is told at once that its call has failed, and the server
/// cancels the tool, whose output nobody could get.
#[test]
fn a_call_whose_stream_is_cut_fails_at_once() {
    let _beside = beside();
    for (changes, arm, reason) in [
        ([STATELESS, CUTS], Arm::Rmcp, "Transport closed"),
        ([NO_SESSIONS, CUTS], Arm::Rmcp, "Transport closed"),
        ([NO_SESSIONS, CUTS], Arm::Trusting, "the response stream ended before its response and gave no event id"),
        // Or, where the stream had not begun, in the gateway's words.
        ([STATELESS, RESTARTS], Arm::Rmcp, ""),
    ] {
        let ran = ran(&changes, arm);
        let told = &ran.verdicts.run;
        assert!(told.failed > 5 && told.completed + told.failed == told.calls, "{changes:?} {arm}: {told:?}");
        assert_eq!((told.resumes, told.duplicate_executions), (0, 0), "{changes:?} {arm}: {told:?}");
        for call in ran.verdicts.calls.iter().filter(|call| call.outcome == Outcome::Failed) {
            assert!(call.reason.contains(reason), "{changes:?} {arm}: {call:?}");
        }
        let ended_early = |event: &&Event| {
            matches!(event, Event::ExecutionEnded { how: ExecutionEnd::Cancelled | ExecutionEnd::Killed, .. })
        };
        let failed = ran.verdicts.calls.iter().filter(|call| call.outcome == Outcome::Failed);
        let executions: u32 = failed.map(|call| call.executions).sum();
        assert!(executions > 5, "{changes:?} {arm}: {told:?}");
        assert_eq!(ran.events.iter().filter(ended_early).count(), executions as usize, "{changes:?} {arm}");
    }
}

/// A leg that is dead on one side only is noticed by nobody: the call runs into its timeout.
#[test]
fn a_call_whose_stream_is_half_open_hangs() {
    let _beside = beside();
    let ran = ran(&[STATELESS, HALF_OPEN], Arm::Rmcp);
    let told = &ran.verdicts.run;
    assert!(told.hung > 5 && told.completed + told.hung == told.calls, "{told:?}");
}

/// With an event store there are ids, and a GET without a session resumes.
#[test]
fn an_event_store_makes_streams_resumable_again() {
    let _beside = beside();
    for store in ["server.rmcp.event_store=finite", "server.rmcp.event_store=live"] {
        for (mode, arm) in [(STATELESS, Arm::Rmcp), (NO_SESSIONS, Arm::Rmcp), (NO_SESSIONS, Arm::Trusting)] {
            let ran = all_complete(&[mode, CUTS, store], arm);
            assert!(ran.verdicts.run.resumes > 5, "{store} {mode} {arm}: {:?}", ran.verdicts.run);
        }
    }
}

/// What a process had in flight when it stopped is never answered: the client asks the store for ever.
#[test]
fn an_event_store_makes_calls_hang_whose_process_has_died() {
    let _beside = beside();
    for store in ["server.rmcp.event_store=finite", "server.rmcp.event_store=live"] {
        let ran = ran(&[STATELESS, RESTARTS, store], Arm::Rmcp);
        let told = &ran.verdicts.run;
        assert!(told.hung > 3, "{store}: {told:?}");
        // A call whose stream had not begun fails.
        assert!(told.completed + told.hung + told.failed == told.calls, "{store}: {told:?}");
    }
}
