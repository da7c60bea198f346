//! The words that events are made of: closed sets of kinds, causes and ends.

use serde::{Deserialize, Serialize};

use super::CallNo;

/// What an application is told at the end of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "as", rename_all = "kebab-case")]
pub enum CallReport {
    /// The response came. The check values of the parts that the application holds, in the order it got them.
    Success {
        /// One value a part.
        checks: Vec<u32>,
    },
    /// An error that names its cause.
    Error {
        /// The cause in words.
        reason: String,
    },
    /// The call timeout fired.
    TimedOut,
}

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "for", rename_all = "kebab-case")]
pub enum Purpose {
    /// POST `initialize`.
    Initialize,
    /// POST `notifications/initialized`.
    Initialized,
    /// POST `tools/list`.
    ListTools,
    /// POST `tools/call`.
    Call {
        /// The call.
        call: CallNo,
    },
    /// POST `notifications/cancelled`.
    Cancel {
        /// The call.
        call: CallNo,
    },
    /// GET of the standalone stream, first or resumed.
    Listen,
    /// GET that resumes the stream of a `tools/call`.
    Resume {
        /// The call.
        call: CallNo,
    },
    /// DELETE of the session.
    Delete,
    /// Anything else, such as the response to a request of the server's: only the official SDK sends such.
    Other,
}

/// What an event carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrameKind {
    /// Empty data: a priming event.
    Priming,
    /// A notification that belongs to no call.
    Notification,
    /// A part of a tool call.
    Part,
    /// A JSON-RPC response.
    Response,
    /// Data that is not a message this client understands.
    Garbage,
}

/// How a leg ends, as the client sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LegEnd {
    /// The body ended as HTTP says it should.
    Clean,
    /// The connection broke.
    Broken,
    /// The client closed it itself.
    Left,
}

/// What led a client to the decision that its session is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DetectedBy {
    /// A rule of the validator: another epoch.
    EpochChanged,
    /// A rule of the validator: the first replayed id is not above the last seen.
    Regression,
    /// A rule of the validator: the first replayed id is not the successor.
    Gap,
    /// A rule of the validator: an event of another stream or session.
    Foreign,
    /// A rule of the validator: too many empty legs with an unchanged cursor.
    EmptyLegs,
    /// A rule of the validator: nothing came within the grace time.
    Silence,
    /// The server said so: 404 for the session.
    NotFound,
    /// The server said so: 400 for the cursor.
    Refused,
}

impl DetectedBy {
    /// Whether a rule of the validator led to it, and not a statement of the server.
    pub const fn is_rule(self) -> bool {
        !matches!(self, DetectedBy::NotFound | DetectedBy::Refused)
    }

    /// The name in the event log and the result files.
    pub const fn name(self) -> &'static str {
        match self {
            DetectedBy::EpochChanged => "epoch-changed",
            DetectedBy::Regression => "regression",
            DetectedBy::Gap => "gap",
            DetectedBy::Foreign => "foreign",
            DetectedBy::EmptyLegs => "empty-legs",
            DetectedBy::Silence => "silence",
            DetectedBy::NotFound => "not-found",
            DetectedBy::Refused => "refused",
        }
    }
}

/// Why something ended, was cut or was lost: a fault's name, or an ordinary course of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The gateway's idle timeout.
    IdleTimeout,
    /// The gateway's maximum life.
    MaxLife,
    /// A scheduled disconnect.
    Disconnect,
    /// The server reaped an idle session.
    SessionIdle,
    /// A session was torn down and its key used again.
    SessionRecycle,
    /// The buffer was full: older events made room for newer ones.
    Churn,
    /// Buffered events grew older than the buffer keeps them.
    Expired,
    /// A buffer was truncated.
    BufferTruncate,
    /// The counters started again.
    CounterWrap,
    /// A server process stopped.
    ServerShutdown,
    /// The client ended the session with DELETE.
    Deleted,
    /// The stream is complete: its response has been sent.
    Finished,
}

impl Cause {
    /// The name in the event log and the result files.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::IdleTimeout => "idle-timeout",
            Cause::MaxLife => "max-life",
            Cause::Disconnect => "disconnect",
            Cause::SessionIdle => "session-idle",
            Cause::SessionRecycle => "session-recycle",
            Cause::Churn => "churn",
            Cause::Expired => "expired",
            Cause::BufferTruncate => "buffer-truncate",
            Cause::CounterWrap => "counter-wrap",
            Cause::ServerShutdown => "server-shutdown",
            Cause::Deleted => "deleted",
            Cause::Finished => "finished",
        }
    }
}

/// Why a session was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// `initialize`, with a key of its own.
    Initialized,
    /// `initialize`, with the key of a session that was torn down.
    KeyReused,
    /// A request with a key that was not in the table.
    Recreated,
    /// A `session-recycle` fault to the same client.
    Recycled,
    /// A request with the key of a session that only a store outside the process still knew.
    Restored,
}

/// How a server judged the cursor that a GET presented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CursorFound {
    /// No cursor was presented: a fresh stream.
    Absent,
    /// The event is in the buffer, or it is the newest one given.
    Known,
    /// The event has left the buffer.
    Purged,
    /// The id is above every id given so far.
    Ahead,
    /// The id is not one of this server.
    Unknown,
}

/// How a tool's run for a call ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExecutionEnd {
    /// It produced its response.
    Finished,
    /// The client cancelled it.
    Cancelled,
    /// Its process stopped.
    Killed,
}
