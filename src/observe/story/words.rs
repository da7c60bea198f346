//! The story's words, as pure functions.

use std::fmt::{self, Write as _};

use crate::observe::event::{CallReport, Cause, ClientNo, CursorFound, ExecutionEnd, LegEnd, Origin, Purpose};
use crate::observe::verdict::{CallVerdict, DesyncVerdict, Outcome};
use crate::world::fault::{DisconnectMode, Fault, RecycleTo};
use crate::world::time::SimTime;

/// A time in the story: seconds with three decimals.
pub(super) struct Clock(pub(super) SimTime);

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.0.as_micros() / 1000;
        write!(f, "{}.{:03} s", millis / 1000, millis % 1000)
    }
}

/// `1 part`, `3 parts`.
pub(super) fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// What a client does with a request; none for the ordinary ones.
pub(super) fn request(client: ClientNo, purpose: Purpose, cursor: Option<&str>) -> Option<String> {
    let with = match cursor {
        Some(cursor) => format!("with Last-Event-ID: {cursor}"),
        None => "without Last-Event-ID".to_owned(),
    };
    Some(match purpose {
        Purpose::Initialize => format!("client {client} opens a session: POST initialize"),
        Purpose::Listen if cursor.is_some() => format!("client {client} reconnects: GET {with}"),
        Purpose::Listen => format!("client {client} listens: GET {with}"),
        Purpose::Resume { call } => {
            format!("client {client} resumes the stream of call {call}: GET {with}")
        }
        Purpose::Cancel { call } => format!("client {client} cancels call {call}"),
        Purpose::Delete => format!("client {client} ends its session: DELETE"),
        Purpose::Initialized | Purpose::ListTools | Purpose::Call { .. } | Purpose::Other => return None,
    })
}

/// What a server finds about a cursor.
pub(super) const fn cursor_found(found: CursorFound) -> &'static str {
    match found {
        CursorFound::Absent => "no cursor was presented",
        CursorFound::Known => "the cursor is known",
        CursorFound::Purged => "what follows the cursor has left the buffer",
        CursorFound::Ahead => "the cursor is above every id given so far",
        CursorFound::Unknown => "the cursor is no id of this server",
    }
}

pub(super) fn call_end(client: ClientNo, call: u32, report: &CallReport, parts: u32) -> String {
    let parts = counted(parts.into(), "part");
    match report {
        CallReport::Success { .. } => {
            format!("call {call} of client {client} ends: success with {parts}")
        }
        CallReport::Error { reason } => {
            format!("call {call} of client {client} fails with {parts}: {reason}")
        }
        CallReport::TimedOut => {
            format!("call {call} of client {client} times out with {parts}: no response came")
        }
    }
}

pub(super) const fn leg_end(how: LegEnd) -> &'static str {
    match how {
        LegEnd::Clean => "ends as HTTP says it should",
        LegEnd::Broken => "breaks",
        LegEnd::Left => "is closed by the client",
    }
}

pub(super) const fn cut_mode(mode: DisconnectMode) -> &'static str {
    match mode {
        DisconnectMode::CleanEnd => "a clean end",
        DisconnectMode::Reset => "a reset",
        DisconnectMode::TruncatedEvent => "a truncated event",
        DisconnectMode::HalfOpen => "half open: neither side is told",
    }
}

/// A new life of a session; none where the client opened it in the ordinary way.
pub(super) fn session_opened(session: &str, owner: ClientNo, origin: Origin) -> Option<String> {
    let why = match origin {
        Origin::Initialized => return None,
        Origin::KeyReused => "initialize, with the key of a session that was torn down",
        Origin::Restored => "a request with a key that only the session store still knew",
        Origin::Recreated => "a request with a key that was not in the table",
        Origin::Recycled => "recycled",
    };
    Some(format!("session {session} begins a new life, for client {owner} ({why})"))
}

pub(super) fn session_closed(session: &str, owner: ClientNo, cause: Cause) -> String {
    format!("session {session} of client {owner} is torn down ({})", cause.name())
}

pub(super) const fn execution_end(how: ExecutionEnd) -> Option<&'static str> {
    match how {
        ExecutionEnd::Finished => None,
        ExecutionEnd::Cancelled => Some("is cancelled"),
        ExecutionEnd::Killed => Some("dies with its process"),
    }
}

pub(super) fn fault(fault: &Fault) -> String {
    let target = match fault {
        Fault::Disconnect { client, mode } => format!("client {client}, {}", cut_mode(*mode)),
        Fault::Outage { client, duration_s } => format!("client {client}, for {duration_s} s"),
        Fault::Stall { duration_s, .. } => format!("every message waits {duration_s} s"),
        Fault::SessionRecycle { client, to } => {
            format!("client {client}, to {}", recycled_to(*to))
        }
        Fault::BufferTruncate { client, keep_events } => {
            format!("client {client}, {} left", counted(u64::from(*keep_events), "event"))
        }
        Fault::CounterWrap { client } => format!("client {client}"),
        Fault::ServerShutdown { server, down_s, .. } => {
            format!("server {server}, down for {down_s} s")
        }
    };
    format!("{} ({target})", fault.name())
}

/// Why the loss is certain, and since when.
pub(super) fn loss(desync: &DesyncVerdict) -> String {
    match (desync.lost_at, desync.fault) {
        (Some(at), Some(cause)) => format!("loss certain: since {} ({})", Clock(at), cause.name()),
        (Some(_), None) => "loss certain: with this answer".to_owned(),
        (None, _) => "nothing is lost so far".to_owned(),
    }
}

/// What became of a call, and which desync it met.
pub(super) fn verdict(call: &CallVerdict, desync: Option<&DesyncVerdict>) -> String {
    let mut text = format!("Client {}, call {}: {}", call.client, call.call, call.outcome);
    // Writing to a string cannot fail.
    let _ = match call.outcome {
        _ if call.censored => write!(text, ", still pending at the horizon"),
        Outcome::Completed | Outcome::Recovered => Ok(()),
        _ => write!(text, " ({})", call.reason),
    };
    let _ = write!(
        text,
        ". From {} to {}, {} in hand, {}, {}.",
        Clock(call.started),
        Clock(call.ended),
        counted(call.parts.into(), "part"),
        counted(call.restarts.into(), "restart"),
        counted(call.executions.into(), "execution"),
    );
    if let Some(desync) = desync {
        let lost = match (desync.lost_at, desync.fault) {
            (Some(at), Some(cause)) => {
                format!("Its stream lost its place at {} ({})", Clock(at), cause.name())
            }
            (Some(at), None) => format!("Its stream lost its place at {}", Clock(at)),
            (None, _) => "Its stream lost nothing".to_owned(),
        };
        let noticed = match desync.detected {
            Some(detection) => format!("noticed at {} ({})", Clock(detection.at), detection.by.name()),
            None => "never noticed".to_owned(),
        };
        let _ = write!(
            text,
            " {lost}, the client was answered 200 at {} ({}), and {noticed}.",
            Clock(desync.exposed_at),
            desync.signature,
        );
    }
    text
}

/// Who gets a recycled key.
const fn recycled_to(to: RecycleTo) -> &'static str {
    match to {
        RecycleTo::Same => "the same client",
        RecycleTo::Other => "the next client that opens a session",
    }
}
