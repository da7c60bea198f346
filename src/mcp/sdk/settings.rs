//! The official Rust SDK's settings that matter here, as the tables `[client.rmcp]` and `[server.rmcp]` of a scenario
//! file. Every default is the SDK's own (rmcp 3.11.0), which a test holds them to.

use serde::{Deserialize, Serialize};

use crate::world::time::Seconds;

/// Whose client or server runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Implementation {
    /// The model of this repository.
    Model,
    /// The official Rust SDK, unmodified.
    Rmcp,
}

/// The `[server.rmcp]` table: `SessionConfig`, `StreamableHttpServerConfig` and the stores of the SDK.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RmcpServerSettings {
    /// Events that one stream keeps for a replay, and messages that a session queues (`channel_capacity`).
    pub channel_capacity: u32,
    /// A session without any session event for this long is torn down (`SessionConfig::keep_alive`); 0: never.
    pub session_keep_alive_s: Seconds,
    /// The period of comment lines on an idle stream (`sse_keep_alive`); 0: none.
    pub sse_keep_alive_s: Seconds,
    /// The `retry` field of priming events, and whether there are any (`sse_retry`, in both of the SDK's
    /// configurations); 0: no priming events.
    pub sse_retry_s: Seconds,
    /// How long the events of a completed request are kept (`completed_cache_ttl`).
    pub completed_cache_ttl_s: Seconds,
    /// How long a session may wait for its `initialize` (`init_timeout`); 0: for ever.
    pub init_timeout_s: Seconds,
    /// Whether a `SessionStore` outside the process remembers sessions, so that a server that has lost one restores it.
    pub session_store: bool,
    /// Whether an `EventStore` outside the process keeps events (`LocalSessionManager::with_event_store`), and how its
    /// replays end. A resume then goes by the store alone.
    pub event_store: RmcpEventStore,
    /// Whether revisions before 2026-07-28 get sessions (`legacy_session_mode`). Revision 2026-07-28 never does.
    pub legacy_session_mode: bool,
    /// Whether a response without any notification is plain JSON where there are no sessions (`json_response`).
    pub json_response: bool,
}

impl Default for RmcpServerSettings {
    fn default() -> RmcpServerSettings {
        RmcpServerSettings {
            channel_capacity: 16,
            session_keep_alive_s: Seconds::new(300),
            sse_keep_alive_s: Seconds::new(15),
            sse_retry_s: Seconds::new(3),
            completed_cache_ttl_s: Seconds::new(60),
            init_timeout_s: Seconds::new(60),
            session_store: false,
            event_store: RmcpEventStore::None,
            legacy_session_mode: true,
            json_response: false,
        }
    }
}

/// What keeps events outside the process of the SDK's server (`EventStore`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RmcpEventStore {
    /// Nothing: each stream keeps its newest events in the process.
    None,
    /// A store whose replay ends with what it has: the client asks again for what comes later.
    Finite,
    /// A store whose replay goes on with what is stored later, to the response.
    Live,
}

/// The `[client.rmcp]` table: `StreamableHttpClientTransportConfig` and the lifecycle of the SDK.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RmcpClientSettings {
    /// The revision that the client speaks.
    pub protocol: RmcpProtocol,
    /// How the delay before a stream is opened again grows (`retry_config`).
    pub retry: RmcpRetry,
    /// The delay of `fixed`, the first one of `exponential`.
    pub retry_base_s: Seconds,
    /// The longest delay of `exponential`; without it delays double without end.
    pub retry_max_delay_s: Option<Seconds>,
    /// Attempts at opening one stream again before it is given up; without it there is no end.
    pub retry_max_times: Option<u32>,
    /// Messages queued between the SDK's tasks (`channel_buffer_capacity`).
    pub channel_buffer_capacity: u32,
    /// POSTs in progress at once (`max_concurrent_requests`).
    pub max_concurrent_requests: u32,
    /// The time limit of a POST that cancels or replies (`control_request_timeout`).
    pub control_request_timeout_s: Seconds,
    /// The time limit of each half of a session's recovery (`session_recovery_timeout`).
    pub session_recovery_timeout_s: Seconds,
    /// Whether a POST that is answered 404 makes the client initialize a new session
    /// (`reinit_on_expired_session`).
    pub reinit_on_expired_session: bool,
    /// The longest event, in bytes (`max_sse_event_size`).
    pub max_sse_event_bytes: u32,
}

impl Default for RmcpClientSettings {
    fn default() -> RmcpClientSettings {
        RmcpClientSettings {
            protocol: RmcpProtocol::Sessions,
            retry: RmcpRetry::Exponential,
            retry_base_s: Seconds::new(1),
            retry_max_delay_s: None,
            retry_max_times: None,
            channel_buffer_capacity: 16,
            max_concurrent_requests: 16,
            control_request_timeout_s: Seconds::new(5),
            session_recovery_timeout_s: Seconds::new(5),
            reinit_on_expired_session: true,
            max_sse_event_bytes: 16 * 1024 * 1024,
        }
    }
}

/// The revision that the SDK's client speaks (`ClientLifecycleMode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RmcpProtocol {
    /// `initialize`, sessions and resumable streams.
    #[serde(rename = "2025-11-25")]
    Sessions,
    /// `server/discover`; no sessions, no GET stream, nothing to resume.
    #[serde(rename = "2026-07-28")]
    Stateless,
}

/// How the SDK's client spaces its attempts (`SseRetryPolicy`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RmcpRetry {
    /// `ExponentialBackoff`.
    Exponential,
    /// `FixedInterval`.
    Fixed,
    /// `NeverRetry`.
    Never,
}
