//! What a run meant: the oracle's rows and totals, in simulated time and typed enums.
//!
//! The result writer adds the point, the seed and the arm, and turns names and times into text.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use super::event::{CallNo, Cause, ClientNo, DetectedBy, RequestNo};
use super::measure::Measures;
use crate::world::time::SimTime;

/// Everything that the oracle says about one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdicts {
    /// The totals.
    pub run: RunVerdict,
    /// One row per call, in the order of their ends; calls pending at the horizon last.
    pub calls: Vec<CallVerdict>,
    /// One row per resume that was not coherent, in the order of exposure.
    pub desyncs: Vec<DesyncVerdict>,
    /// One row per session that a client declared lost, in the order of the decisions.
    pub restarts: Vec<RestartVerdict>,
    /// One row per fault, in the order of their beginnings.
    pub faults: Vec<FaultVerdict>,
    /// Distributions, in microseconds.
    pub measures: Measures,
}

impl Verdicts {
    /// Clients worth telling of: those with a desync, a restart, or a call that did not complete.
    pub fn affected_clients(&self) -> BTreeSet<ClientNo> {
        let calls = self.calls.iter().filter(|call| call.outcome != Outcome::Completed).map(|call| call.client);
        let desyncs = self.desyncs.iter().map(|desync| desync.client);
        let restarts = self.restarts.iter().map(|restart| restart.client);
        calls.chain(desyncs).chain(restarts).collect()
    }
}

/// The totals of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunVerdict {
    /// Calls started.
    pub calls: u32,
    /// Calls with [`Outcome::Completed`].
    pub completed: u32,
    /// Calls with [`Outcome::Recovered`].
    pub recovered: u32,
    /// Calls with [`Outcome::Failed`].
    pub failed: u32,
    /// Calls with [`Outcome::Hung`], the censored ones included.
    pub hung: u32,
    /// Calls with [`Outcome::Wrong`].
    pub wrong: u32,
    /// Calls pending at the horizon.
    pub censored: u32,
    /// Requests with a cursor that were answered 200.
    pub resumes: u32,
    /// Resumes that were not coherent.
    pub desyncs: u32,
    /// Rule alarms about a leg that lost or mixed up events.
    pub true_alarms: u32,
    /// Rule alarms about a leg that lost nothing.
    pub false_alarms: u32,
    /// Desyncs that lost or mixed up events and raised no rule alarm. Legs of one stream that follow each other
    /// without any data between them count once: a rule about empty legs judges them together.
    pub missed: u32,
    /// Sessions declared lost.
    pub restarts: u32,
    /// Tool executions beyond the first of their call.
    pub duplicate_executions: u32,
    /// HTTP requests of all clients.
    pub requests: u64,
    /// Bytes sent and received by all clients.
    pub bytes: u64,
    /// Whether no fault took effect.
    pub vacuous: bool,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Success, every part present once and in order, no restart.
    Completed,
    /// The same after one or more session restarts.
    Recovered,
    /// An explicit error that names the cause.
    Failed,
    /// Nothing until the call timeout fired or the horizon came.
    Hung,
    /// Success reported, but parts are missing, repeated, out of order or from elsewhere.
    Wrong,
}

impl Outcome {
    /// Every outcome, in the order of tables.
    pub const ALL: [Outcome; 5] =
        [Outcome::Completed, Outcome::Recovered, Outcome::Failed, Outcome::Hung, Outcome::Wrong];

    /// The name in the result files.
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Completed => "completed",
            Outcome::Recovered => "recovered",
            Outcome::Failed => "failed",
            Outcome::Hung => "hung",
            Outcome::Wrong => "wrong",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Outcome {
    type Err = UnknownOutcome;

    fn from_str(name: &str) -> Result<Outcome, UnknownOutcome> {
        let found = Outcome::ALL.into_iter().find(|outcome| outcome.name() == name);
        found.ok_or_else(|| UnknownOutcome { name: name.to_owned() })
    }
}

/// A name that is no outcome's.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is no outcome: expected one of {}", Outcome::ALL.map(Outcome::name).join(", "))]
pub struct UnknownOutcome {
    name: String,
}

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallVerdict {
    /// The client.
    pub client: ClientNo,
    /// Its call.
    pub call: CallNo,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether the horizon came first; then the outcome is `hung`.
    pub censored: bool,
    /// When it started.
    pub started: SimTime,
    /// When it ended; for a censored call the horizon.
    pub ended: SimTime,
    /// Parts that the application held at the end ; where the horizon came first, those that it held when the call
    /// was last sent again.
    pub parts: u32,
    /// How often it was sent again in a new session.
    pub restarts: u32,
    /// Tool executions.
    pub executions: u32,
    /// Why it did not complete; empty where it did.
    pub reason: String,
}

/// How a desync shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signature {
    /// The first data event's id is not above the cursor.
    Regression,
    /// The first data event's id is above the cursor's successor.
    Gap,
    /// Nothing was replayed: only a priming event came, or an id that cannot be compared with the cursor.
    NoReplay,
    /// The first data event's id carries another epoch.
    EpochChange,
    /// The leg was attached to a stream of another client, or to another stream of the same session.
    Foreign,
    /// Events that the client had consumed come again; none is lost.
    Duplicate,
    /// The leg ended without any event.
    EmptyLeg,
    /// The leg stayed open without any event.
    Silence,
    /// The first data event's id is exactly the cursor's successor, but the event is not: the counter of another life
    /// of the stream has passed the cursor, or ids are given at delivery. No rule on ids can see it.
    Alias,
}

impl Signature {
    /// Every signature, in the order of tables.
    pub const ALL: [Signature; 9] = [
        Signature::Regression,
        Signature::Gap,
        Signature::NoReplay,
        Signature::EpochChange,
        Signature::Foreign,
        Signature::Duplicate,
        Signature::EmptyLeg,
        Signature::Silence,
        Signature::Alias,
    ];

    /// The name in the result files.
    pub const fn name(self) -> &'static str {
        match self {
            Signature::Regression => "regression",
            Signature::Gap => "gap",
            Signature::NoReplay => "no-replay",
            Signature::EpochChange => "epoch-change",
            Signature::Foreign => "foreign",
            Signature::Duplicate => "duplicate",
            Signature::EmptyLeg => "empty-leg",
            Signature::Silence => "silence",
            Signature::Alias => "alias",
        }
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One resume that was not coherent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DesyncVerdict {
    /// The client.
    pub client: ClientNo,
    /// The request that resumed.
    pub request: RequestNo,
    /// How it shows.
    pub signature: Signature,
    /// What made the successor of the client's last event undeliverable; none where nothing did but the server's
    /// answer to the cursor.
    pub fault: Option<Cause>,
    /// When that became certain; none where nothing was lost.
    pub lost_at: Option<SimTime>,
    /// When the client was exposed to it.
    pub exposed_at: SimTime,
    /// The client's next decision that its session is lost; none where it never came.
    pub detected: Option<Detection>,
    /// Whether events were lost or mixed up.
    pub harmful: bool,
}

/// A client's decision that its session is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detection {
    /// When.
    pub at: SimTime,
    /// What led to it.
    pub by: DetectedBy,
}

/// One session that a client declared lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestartVerdict {
    /// The client.
    pub client: ClientNo,
    /// What led to it.
    pub by: DetectedBy,
    /// When the client decided.
    pub alarm_at: SimTime,
    /// When the new session stood and every call in flight had been sent again.
    pub restored_at: Option<SimTime>,
    /// When the last of the replayed calls had its response; none where none was replayed, or where one had no
    /// response in that session.
    pub response_at: Option<SimTime>,
    /// Requests from the decision to the restored session.
    pub requests: u32,
    /// Bytes from the decision to the restored session.
    pub bytes: u64,
    /// Calls in flight that were interrupted.
    pub interrupted: u32,
    /// Executions beyond the first of their call that the replays caused.
    pub duplicate_executions: u32,
    /// Parts that the tool sends again though the client held them.
    pub parts_again: u32,
}

/// Where a fault came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaultOrigin {
    /// The fault schedule.
    Scheduled,
    /// The settings: an idle timeout, a maximum life, eviction, the reaping of an idle session.
    Emergent,
}

impl FaultOrigin {
    /// The name in the result files.
    pub const fn name(self) -> &'static str {
        match self {
            FaultOrigin::Scheduled => "scheduled",
            FaultOrigin::Emergent => "emergent",
        }
    }
}

/// One fault that struck.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultVerdict {
    /// The client it hit; none for a fault that hits all.
    pub client: Option<ClientNo>,
    /// The fault's name.
    pub fault: &'static str,
    /// Where it came from.
    pub origin: FaultOrigin,
    /// When it struck.
    pub from: SimTime,
    /// When it was over; equal to `from` for an instant, the horizon where it outlasted the run.
    pub to: SimTime,
    /// Whether it changed anything.
    pub took_effect: bool,
}
