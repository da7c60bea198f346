//! The event log's vocabulary: one value for each thing that happens in a run.
//!
//! Three kinds of witness write into one ordered log. Clients report what they did, saw and decided; the gateway
//! reports what it cut; servers report the ground truth that no client can read: which incarnation lives, which
//! event lies at which position of which log, where a leg was attached. The oracle is a fold over this log.

mod words;

use serde::{Deserialize, Serialize};

use crate::world::fault::Fault;
use crate::world::time::SimTime;

pub use words::{CallReport, Cause, CursorFound, DetectedBy, ExecutionEnd, FrameKind, LegEnd, Origin, Purpose};

/// One line of the log: when and where something happened, and what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Simulated time in microseconds.
    pub t_us: SimTime,
    /// The simulated host: `site-1`, `gateway`, `server-1`, `world`.
    pub host: String,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// The number of a client, from 0.
pub type ClientNo = u32;
/// The number of a client's tool call, from 0, in the order of their starts.
pub type CallNo = u32;
/// The number of a client's HTTP request, from 0; travels in the `X-Request-Id` header as `c<client>-r<request>`.
pub type RequestNo = u32;
/// One life of one stream's ids and buffer on a server, unique in a run.
pub type LogNo = u32;
/// One life of a session on a server, unique in a run.
pub type IncarnationNo = u32;
/// The place of a data event in its log, from 0, dense. Priming events take no place.
pub type Position = u64;

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Event {
    // ---- reported by clients ----
    /// A tool call begins.
    CallStarted {
        /// The client.
        client: ClientNo,
        /// The call.
        call: CallNo,
    },
    /// A tool call ends, as the application sees it.
    CallEnded {
        /// The client.
        client: ClientNo,
        /// The call.
        call: CallNo,
        /// What the application was told.
        report: CallReport,
        /// Parts that the application holds, whatever it was told.
        parts: u32,
        /// How often the call was sent again in a new session.
        restarts: u32,
    },
    /// A request leaves the client.
    RequestSent {
        /// The client.
        client: ClientNo,
        /// The request.
        request: RequestNo,
        /// What it is for.
        purpose: Purpose,
        /// The session key it carries.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        session: Option<String>,
        /// The `Last-Event-ID` it carries.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        cursor: Option<String>,
    },
    /// A response's status line and headers reach the client. Where it opens a leg, its [`Event::Attached`] comes before.
    Answered {
        /// The client.
        client: ClientNo,
        /// The request.
        request: RequestNo,
        /// The HTTP status.
        status: u16,
        /// The session key that an `initialize` was answered with.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        session: Option<String>,
    },
    /// A request ends without a response.
    Unanswered {
        /// The client.
        client: ClientNo,
        /// The request.
        request: RequestNo,
        /// What the client saw instead.
        why: String,
    },
    /// An event is dispatched to the client: reported before any rule judges it, so a rejected event is here too.
    FrameReceived {
        /// The client.
        client: ClientNo,
        /// The request whose response carried it.
        request: RequestNo,
        /// Its `id`.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        id: Option<String>,
        /// What it carried. Priming events do not count as data.
        kind: FrameKind,
    },
    /// A leg ends, as the client sees it.
    LegEnded {
        /// The client.
        client: ClientNo,
        /// The request whose response it was.
        request: RequestNo,
        /// How it ended.
        how: LegEnd,
    },
    /// The client decides that its session is lost.
    SessionLost {
        /// The client.
        client: ClientNo,
        /// The request whose answer or leg led to the decision.
        request: RequestNo,
        /// The session key.
        session: String,
        /// What led to it.
        by: DetectedBy,
        /// The finding in words: what was expected and what came.
        detail: String,
        /// Calls in flight in that session.
        in_flight: u32,
    },
    /// A validating client could not judge a resume: the ids say nothing (written once a client).
    NotApplicable {
        /// The client.
        client: ClientNo,
        /// The request.
        request: RequestNo,
        /// Why.
        reason: String,
    },
    /// A call is about to be sent again in a new session.
    CallReplayed {
        /// The client.
        client: ClientNo,
        /// The call.
        call: CallNo,
        /// The first part asked for: the checkpoint; 0 is from the start.
        from_part: u32,
        /// Parts that the client holds already. Those from `from_part` on are the ones that it will get again.
        held: u32,
    },
    /// A lost session has been replaced and every call in flight has been sent again and answered with a status line.
    SessionRestored {
        /// The client.
        client: ClientNo,
        /// The new session key.
        session: String,
        /// Requests sent since the decision.
        requests: u32,
        /// Bytes sent and received since the decision.
        bytes: u64,
    },
    /// The client's traffic, written once at the end of the run.
    ClientDone {
        /// The client.
        client: ClientNo,
        /// Bytes sent and received on its connections.
        bytes: u64,
    },

    // ---- reported by the gateway ----
    /// The gateway cuts a leg: an emergent fault (idle timeout, maximum life), or the effect of a `disconnect`.
    LegCut {
        /// The client whose leg it was.
        client: ClientNo,
        /// The request.
        request: RequestNo,
        /// `idle-timeout`, `max-life`, or `disconnect`.
        cause: Cause,
        /// How the cut looks: `clean-end`, `reset`, `truncated-event`, `half-open`.
        mode: crate::world::fault::DisconnectMode,
    },

    // ---- reported by the world ----
    /// A scheduled fault strikes.
    FaultStruck {
        /// The fault.
        fault: Fault,
        /// Whether it changed anything: a disconnect without an open leg, or a recycled session that is not there, does not.
        took_effect: bool,
    },
    /// A fault with a duration is over.
    FaultOver {
        /// The fault.
        fault: Fault,
    },
    /// The horizon: nothing happens after it, and nothing that is reported after it is recorded.
    Horizon,

    // ---- reported by servers: ground truth ----
    /// A session begins a life.
    SessionOpened {
        /// The server, from 0.
        server: u32,
        /// The session key.
        session: String,
        /// Its new life.
        incarnation: IncarnationNo,
        /// The client that it belongs to.
        owner: ClientNo,
        /// Why it was opened.
        origin: Origin,
    },
    /// A session's life ends.
    SessionClosed {
        /// The session key.
        session: String,
        /// The life that ended.
        incarnation: IncarnationNo,
        /// Why.
        cause: Cause,
    },
    /// One life of a stream begins.
    LogOpened {
        /// The log.
        log: LogNo,
        /// Its session.
        incarnation: IncarnationNo,
        /// The stream within its session: 0 is the standalone GET stream, others carry one POST's response.
        stream: u32,
    },
    /// One life of a stream ends: events that no client has consumed by now are lost.
    LogClosed {
        /// The log.
        log: LogNo,
        /// Why.
        cause: Cause,
    },
    /// Events are appended at positions `first..=last`.
    Appended {
        /// The log.
        log: LogNo,
        /// The first event's position.
        first: Position,
        /// The last event's position.
        last: Position,
        /// The first event's id, where the stream has ids.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        first_id: Option<String>,
        /// The last event's id.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        last_id: Option<String>,
        /// What they carry.
        kind: FrameKind,
    },
    /// Events at positions up to and including `through` can no longer be replayed.
    Evicted {
        /// The log.
        log: LogNo,
        /// The newest evicted position.
        through: Position,
        /// Why.
        cause: Cause,
    },
    /// A leg is attached to a stream: the `n`-th data event that it carries is the one at `next + n`.
    Attached {
        /// The client that asked.
        client: ClientNo,
        /// Its request.
        request: RequestNo,
        /// The log, or none where the leg will never carry an event.
        log: Option<LogNo>,
        /// The position of the first event that it will carry.
        next: Position,
        /// How the presented cursor was judged by the server.
        found: CursorFound,
    },
    /// An attached leg goes on in another life of its stream, or jumps over positions: from now on, the next data
    /// event that it carries is the one at `next` of `log`.
    Rebased {
        /// The client.
        client: ClientNo,
        /// Its request.
        request: RequestNo,
        /// Data events that the server has written on this leg so far. They may still be on their way: a client maps
        /// its first `sent` data events by what was attached before, and only later ones by this.
        sent: u64,
        /// The log.
        log: LogNo,
        /// The position of the next event.
        next: Position,
        /// Why.
        cause: Cause,
    },
    /// A leg is no longer attached, as the server sees it.
    Detached {
        /// The client.
        client: ClientNo,
        /// Its request.
        request: RequestNo,
        /// `response-sent`, `peer-gone`, `taken-over`, `log-closed`, `server-stopped`, `answered` (an answer without a
        /// stream).
        why: String,
    },
    /// The tool starts to run for a call.
    ExecutionStarted {
        /// The client that the call belongs to.
        client: ClientNo,
        /// The call.
        call: CallNo,
        /// How many executions of this call have started, this one included.
        execution: u32,
        /// The first part that it will send.
        from_part: u32,
        /// The check value of every part of the call, from part 0: what a correct client ends up with.
        checks: Vec<u32>,
    },
    /// The tool stops running for a call.
    ExecutionEnded {
        /// The client.
        client: ClientNo,
        /// The call.
        call: CallNo,
        /// Which execution.
        execution: u32,
        /// `finished`, `cancelled`, `killed`.
        how: ExecutionEnd,
    },
    /// The tool's output has nowhere to go: its session's life is over, or nobody is attached and the server numbers
    /// only what somebody reads.
    Discarded {
        /// The client.
        client: ClientNo,
        /// The call.
        call: CallNo,
        /// The part, or none for the response.
        part: Option<u32>,
    },
}
