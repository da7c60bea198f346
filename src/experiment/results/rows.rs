//! The rows of the result folder's CSV files. The field names are the column names.
//!
//! Times are seconds of simulated time with six decimals; an empty field means "never" or "does not apply".

use serde::{Deserialize, Serialize};

use crate::observe::event::DetectedBy;

/// `runs.csv`: one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRow {
    /// The scenario's name.
    pub scenario: String,
    /// The point of the scenario's grid; 0 where it has none.
    pub point: u32,
    /// The seed.
    pub seed: u64,
    /// The arm's name.
    pub arm: String,
    /// Calls started.
    pub calls: u32,
    /// Calls `completed`.
    pub completed: u32,
    /// Calls `recovered`.
    pub recovered: u32,
    /// Calls `failed`.
    pub failed: u32,
    /// Calls `hung`, the censored ones included.
    pub hung: u32,
    /// Calls `wrong`.
    pub wrong: u32,
    /// Calls pending at the horizon.
    pub censored: u32,
    /// GETs with a cursor that were answered 200.
    pub resumes: u32,
    /// Resumes that were not coherent.
    pub desyncs: u32,
    /// Rule alarms on resumes that lost or mixed up events.
    pub true_alarms: u32,
    /// Rule alarms on resumes that lost nothing.
    pub false_alarms: u32,
    /// Desyncs that lost or mixed up events and raised no rule alarm.
    pub missed: u32,
    /// Sessions declared lost and replaced.
    pub restarts: u32,
    /// Tool executions beyond the first of their call.
    pub duplicate_executions: u32,
    /// HTTP requests of all clients.
    pub requests: u64,
    /// Bytes sent and received by all clients.
    pub bytes: u64,
    /// Whether no fault took effect.
    pub vacuous: bool,
    /// SHA-256 of the run's event log, in hexadecimal.
    pub digest: String,
}

/// `calls.csv`: one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRow {
    /// The point.
    pub point: u32,
    /// The seed.
    pub seed: u64,
    /// The arm's name.
    pub arm: String,
    /// The client.
    pub client: u32,
    /// The call of that client.
    pub call: u32,
    /// The outcome's name; `hung` with reason `censored` is a call pending at the horizon.
    pub outcome: String,
    /// When it started.
    pub started_s: String,
    /// When it ended; for a censored call the horizon.
    pub ended_s: String,
    /// Parts that the application held at the end.
    pub parts: u32,
    /// How often it was sent again in a new session.
    pub restarts: u32,
    /// Tool executions.
    pub executions: u32,
    /// Why it did not complete.
    pub reason: String,
}

/// `desyncs.csv`: one resume that was not coherent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DesyncRow {
    /// The point.
    pub point: u32,
    /// The seed.
    pub seed: u64,
    /// The arm's name.
    pub arm: String,
    /// The client.
    pub client: u32,
    /// The signature's name.
    pub signature: String,
    /// The fault that made it possible.
    pub fault: String,
    /// When the loss became certain on the server; empty for a harmless desync, which lost and mixed up nothing.
    pub lost_at_s: String,
    /// When the answer reached the client.
    pub exposed_at_s: String,
    /// When the client decided that the session is lost.
    pub detected_at_s: String,
    /// What led it to that decision.
    pub detected_by: String,
}

/// `restarts.csv`: one session that a client declared lost and replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestartRow {
    /// The point.
    pub point: u32,
    /// The seed.
    pub seed: u64,
    /// The arm's name.
    pub arm: String,
    /// The client.
    pub client: u32,
    /// What led to it.
    pub by: DetectedBy,
    /// When the client decided.
    pub alarm_at_s: String,
    /// When the new session stood and every call in flight had been sent again.
    pub restored_at_s: String,
    /// When the last of the replayed calls had its response.
    pub response_at_s: String,
    /// Requests from the decision to the restored session.
    pub requests: u32,
    /// Bytes from the decision to the restored session.
    pub bytes: u64,
    /// Calls in flight that were interrupted.
    pub interrupted: u32,
    /// Executions that the replays repeated.
    pub duplicate_executions: u32,
    /// Parts that were sent again though the client had held them.
    pub parts_again: u32,
}

/// `faults.csv`: one fault that struck, scheduled or emergent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultRow {
    /// The point.
    pub point: u32,
    /// The seed.
    pub seed: u64,
    /// The arm's name.
    pub arm: String,
    /// The client it hit; empty for a fault that hits all.
    pub client: Option<u32>,
    /// The fault's name.
    pub fault: String,
    /// `scheduled` or `emergent`.
    pub origin: String,
    /// When it struck.
    pub from_s: String,
    /// When it was over; equal to `from_s` for an instant.
    pub to_s: String,
    /// Whether it changed anything.
    pub took_effect: bool,
}
