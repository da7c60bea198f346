//! The faults that can be scheduled, named for what is observed.

use serde::{Deserialize, Serialize};

use super::time::Seconds;

/// One scheduled fault: what happens, and to whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Fault {
    /// The gateway cuts every stream leg of a client that is open at that instant.
    Disconnect {
        /// The client whose legs are cut.
        client: u32,
        /// How the cut looks to the client.
        mode: DisconnectMode,
    },
    /// A client is cut off: its open streams and requests break, and new ones break without an answer until it is over.
    Outage {
        /// The client that is cut off.
        client: u32,
        /// For how long.
        duration_s: Seconds,
    },
    /// A link holds all messages, in both directions, and delivers them when it is over.
    Stall {
        /// Which of the two links.
        link: StallLink,
        /// How long messages are held.
        duration_s: Seconds,
    },
    /// The server tears a client's session down and its key is used again.
    SessionRecycle {
        /// The client whose session is torn down.
        client: u32,
        /// Who gets the key.
        to: RecycleTo,
    },
    /// The server drops all but the newest events of every buffer of a client's session.
    BufferTruncate {
        /// The client whose buffers are truncated.
        client: u32,
        /// How many of the newest events stay.
        keep_events: u32,
    },
    /// The id counters of a client's session start again, and its buffers with them.
    CounterWrap {
        /// The client whose counters wrap.
        client: u32,
    },
    /// The server process stops politely, connections are refused while it is down, then it starts again.
    ServerShutdown {
        /// Which server, from 0.
        server: u32,
        /// How long it is down.
        down_s: Seconds,
        /// What outlives the process.
        keep: Keep,
    },
}

/// How a disconnect looks to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DisconnectMode {
    /// The response body ends as HTTP says it should.
    CleanEnd,
    /// The connection breaks and the body stays incomplete.
    Reset,
    /// The next event is cut in its middle, then the body ends as HTTP says it should.
    TruncatedEvent,
    /// No byte passes any more and neither side is told.
    HalfOpen,
}

/// The link that stalls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StallLink {
    /// Between every site and the gateway.
    Sites,
    /// Between the gateway and every server.
    Servers,
}

/// Who gets the key of a session that was torn down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecycleTo {
    /// A new incarnation for the same client, at once.
    Same,
    /// The next session that another client opens: a leak between tenants.
    Other,
}

/// What outlives a server process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Keep {
    /// The session table. Without it every session is gone.
    pub sessions: bool,
    /// The buffered events. Without them a kept session starts with empty buffers.
    pub store: bool,
    /// The id counters. Without them a kept session counts from its start again.
    pub counters: bool,
}

impl Fault {
    /// The fault's name in the event log, the result files and the scenario files.
    pub fn name(&self) -> &'static str {
        match self {
            Fault::Disconnect { .. } => "disconnect",
            Fault::Outage { .. } => "outage",
            Fault::Stall { .. } => "stall",
            Fault::SessionRecycle { .. } => "session-recycle",
            Fault::BufferTruncate { .. } => "buffer-truncate",
            Fault::CounterWrap { .. } => "counter-wrap",
            Fault::ServerShutdown { .. } => "server-shutdown",
        }
    }

    /// The client that the fault is aimed at, where it is aimed at one.
    pub fn client(&self) -> Option<u32> {
        match self {
            Fault::Disconnect { client, .. }
            | Fault::Outage { client, .. }
            | Fault::SessionRecycle { client, .. }
            | Fault::BufferTruncate { client, .. }
            | Fault::CounterWrap { client } => Some(*client),
            Fault::Stall { .. } | Fault::ServerShutdown { .. } => None,
        }
    }
}

/// The faults that emerge from settings, by name, with one line each.
pub const EMERGENT: [(&str, &str); 5] = [
    ("idle-timeout", "the gateway cuts a stream that carries no byte for its idle timeout"),
    ("max-life", "the gateway cuts a stream that has reached its maximum life"),
    ("session-idle", "the server tears down a session without requests and streams"),
    ("churn", "newer events push older ones out of a full buffer"),
    ("expired", "buffered events grow older than the buffer keeps them"),
];
