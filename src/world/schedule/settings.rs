//! How many faults of each kind are generated: the `[faults]` table of a scenario file.

use serde::{Deserialize, Serialize};

use crate::world::draw::Span;
use crate::world::fault::{DisconnectMode, Keep, RecycleTo, StallLink};
use crate::world::time::Seconds;

/// The `[faults]` table: an absent key means that this fault is not generated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct FaultSettings {
    /// No generated fault strikes before this instant.
    #[serde(rename = "from_s")]
    pub from_s: Seconds,
    /// The gateway cuts a client's open stream legs.
    pub disconnect: Option<DisconnectRate>,
    /// A client is cut off for a while.
    pub outage: Option<OutageRate>,
    /// A link holds its messages for a while.
    pub stall: Option<StallRate>,
    /// A session is torn down and its key used again.
    pub session_recycle: Option<RecycleRate>,
    /// A session's buffers lose all but their newest events.
    pub buffer_truncate: Option<TruncateRate>,
    /// A session's id counters start again.
    pub counter_wrap: Option<WrapRate>,
    /// A server process stops and starts again.
    pub server_shutdown: Option<ShutdownRate>,
}

/// `disconnect`: how often and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DisconnectRate {
    /// Expected number for each client and hour.
    pub per_client_per_hour: u32,
    /// The kinds to choose from, each as likely as the next.
    pub modes: Vec<DisconnectMode>,
}

/// `outage`: how often and for how long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutageRate {
    /// Expected number for each client and hour.
    pub per_client_per_hour: u32,
    /// How long the client is cut off.
    pub duration_s: Span<Seconds>,
}

/// `stall`: how often, where and for how long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StallRate {
    /// Expected number an hour.
    pub per_hour: u32,
    /// Which link.
    pub link: StallLink,
    /// How long messages are held.
    pub duration_s: Span<Seconds>,
}

/// `session-recycle`: how often and to whom.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecycleRate {
    /// Expected number for each client and hour.
    pub per_client_per_hour: u32,
    /// Who gets the key.
    pub to: RecycleTo,
}

/// `buffer-truncate`: how often and to what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TruncateRate {
    /// Expected number for each client and hour.
    pub per_client_per_hour: u32,
    /// How many of the newest events stay.
    pub keep_events: u32,
}

/// `counter-wrap`: how often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrapRate {
    /// Expected number for each client and hour.
    pub per_client_per_hour: u32,
}

/// `server-shutdown`: how often, for how long, and what is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShutdownRate {
    /// Expected number for each server and hour.
    pub per_hour: u32,
    /// How long the server is down.
    pub down_s: Span<Seconds>,
    /// What outlives the process.
    #[serde(default)]
    pub keep: Keep,
}
