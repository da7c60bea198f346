//! The kinds of scheduled faults.

use std::fmt;
use std::str::FromStr;

use crate::document::did_you_mean;
use crate::world::fault::Fault;

/// A kind of scheduled fault. Its number is part of the name of its random streams: numbers are never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// [`Fault::Disconnect`].
    Disconnect = 0,
    /// [`Fault::Stall`].
    Stall = 1,
    /// [`Fault::SessionRecycle`].
    SessionRecycle = 2,
    /// [`Fault::BufferTruncate`].
    BufferTruncate = 3,
    /// [`Fault::CounterWrap`].
    CounterWrap = 4,
    /// [`Fault::ServerShutdown`].
    ServerShutdown = 5,
    /// [`Fault::Outage`].
    Outage = 6,
}

impl Kind {
    /// Every kind, in the order of their numbers.
    pub const ALL: [Kind; 7] = [
        Kind::Disconnect,
        Kind::Stall,
        Kind::SessionRecycle,
        Kind::BufferTruncate,
        Kind::CounterWrap,
        Kind::ServerShutdown,
        Kind::Outage,
    ];

    /// The kind of `fault`.
    pub const fn of(fault: &Fault) -> Kind {
        match fault {
            Fault::Disconnect { .. } => Kind::Disconnect,
            Fault::Outage { .. } => Kind::Outage,
            Fault::Stall { .. } => Kind::Stall,
            Fault::SessionRecycle { .. } => Kind::SessionRecycle,
            Fault::BufferTruncate { .. } => Kind::BufferTruncate,
            Fault::CounterWrap { .. } => Kind::CounterWrap,
            Fault::ServerShutdown { .. } => Kind::ServerShutdown,
        }
    }

    /// The kind's name in schedule files, scenario files and the event log.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Disconnect => "disconnect",
            Kind::Outage => "outage",
            Kind::Stall => "stall",
            Kind::SessionRecycle => "session-recycle",
            Kind::BufferTruncate => "buffer-truncate",
            Kind::CounterWrap => "counter-wrap",
            Kind::ServerShutdown => "server-shutdown",
        }
    }

    /// One line for `list faults`.
    pub const fn summary(self) -> &'static str {
        match self {
            Kind::Disconnect => {
                "the gateway cuts a client's open streams: clean-end, reset, truncated-event or half-open"
            }
            Kind::Outage => {
                "a client is cut off: what it has open breaks, and nothing it asks gets through for a while"
            }
            Kind::Stall => "a link holds all messages for a while, then delivers them",
            Kind::SessionRecycle => "a session is torn down and its key used again, by the same client or by another",
            Kind::BufferTruncate => "a session's buffers lose all but their newest events",
            Kind::CounterWrap => "a session's id counters start again, with empty buffers",
            Kind::ServerShutdown => "a server stops and starts again, keeping or losing sessions, store and counters",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(name: &str) -> Result<Kind, UnknownKind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| UnknownKind { name: name.to_owned() })
    }
}

/// A name that is no kind's.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no fault `{name}` to schedule; {}", did_you_mean(name, Kind::ALL.map(Kind::name)))]
pub struct UnknownKind {
    name: String,
}
