//! What a server does, as values: the `[server]` and `[tool]` tables of a scenario file.

use serde::{Deserialize, Serialize};

use crate::cursor::Grammar;
use crate::mcp::sdk::settings::{Implementation, RmcpServerSettings};
use crate::world::draw::Span;
use crate::world::time::Seconds;

/// The `[server]` table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerSettings {
    /// The profile that these keys start from: a file of `sims/profiles/server`. What the scenario says goes before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The form of the event ids on the wire.
    pub id_grammar: Grammar,
    /// Whether events have ids at all. Without, no client ever has a cursor.
    pub event_ids: bool,
    /// Whether sent events are stored. Without a store every cursor is an unknown one, whatever it names.
    pub store: bool,
    /// What the epoch in an id stands for, in grammars that have one.
    pub epoch_names: EpochNames,
    /// Which events are numbered.
    pub numbered: Numbered,
    /// Whether the streams of a session share one counter.
    pub counter_scope: CounterScope,
    /// The first number that a counter gives.
    pub counter_start: u64,
    /// The number by which ids name a session's first POST stream; later ones count up. The official Rust SDK counts
    /// from 0 (`next_http_request_id`).
    pub first_stream: u32,
    /// Events that one stream's buffer keeps; the oldest go first.
    pub buffer_events: u32,
    /// How long a buffered event is kept at most.
    pub buffer_ttl_s: Option<Seconds>,
    /// Which stream carries the parts and the response of a tool call.
    pub delivery: Delivery,
    /// Whether a fresh stream starts with an event that has an id and empty data (2025-11-25, transports,
    /// "Sending Messages to the Server", item 6).
    pub priming: bool,
    /// Which id the priming event of a fresh GET stream, and of an `initialize` that is answered with a stream, has.
    pub get_priming: GetPriming,
    /// Whether a priming event takes a place in the buffer: an inclusive replay from its id starts with it, for as long
    /// as it has not been displaced (official Rust SDK, `CachedTx::send_priming`).
    pub priming_buffered: bool,
    /// How requests other than `tools/call` are answered.
    pub short_answers: ShortAnswers,
    /// The reconnection time told to clients in the `retry` field of a fresh stream.
    pub retry_s: Option<Seconds>,
    /// The period of the comment lines that keep an idle connection alive.
    pub keep_alive_s: Option<Seconds>,
    /// Where a replay starts.
    pub replay: Replay,
    /// Where a GET without a cursor starts.
    pub fresh_get: FreshGet,
    /// The answer to a cursor that is not an id of this server.
    pub unknown_cursor: CursorAnswer,
    /// The answer to a cursor whose own event has left the buffer: stores look ids up exactly, so that a successor
    /// which is still there does not count.
    pub purged_cursor: CursorAnswer,
    /// The answer to a cursor above every id given so far.
    pub ahead_cursor: CursorAnswer,
    /// The answer to a cursor that is the very next id to be given; without it, that of any other id ahead. A server
    /// that only checks the distance from the oldest buffered event accepts it (official Rust SDK, `CachedTx::sync`).
    pub next_cursor: Option<CursorAnswer>,
    /// The answer to any cursor of a stream of which nothing is buffered; without it, the cursor is judged as ever.
    pub empty_buffer_cursor: Option<CursorAnswer>,
    /// Whether a resume that is answered `empty-closed` although its stream is known ends the leg that is attached to
    /// it: the official Rust SDK puts the new leg into the place of the old one before it looks at the number.
    pub failed_resume_ends_leg: bool,
    /// The answer to any cursor of the standalone stream, whatever it names; without it, the cursor is judged as ever. A
    /// store that cannot tell which stream an id of the standalone one belongs to cannot resume it (TypeScript SDK's
    /// example store).
    pub standalone_cursor: Option<CursorAnswer>,
    /// The answer to a cursor of a stream that has a leg; without it, a POST stream's newer leg takes over, and on the
    /// standalone stream `get_slot` decides.
    pub busy_cursor: Option<BusyCursor>,
    /// What is made of a cursor that only another session's streams know.
    pub foreign_cursor: ForeignCursor,
    /// Whether a resume sends a fresh priming event after what it replays (Python and Swift SDKs).
    pub resume_primer: bool,
    /// When a leg that a resume has opened on a POST stream ends by itself.
    pub resumed_leg_ends: ResumedLegEnds,
    /// Completed POST streams that a session keeps for a late resume. The oldest is forgotten first, whatever of it has
    /// not been read; a leg that is attached still gets what is left.
    pub complete_streams: u32,
    /// A session in which nothing happens for this long is torn down. A request happens; what else does is said below.
    pub session_idle_s: Option<Seconds>,
    /// Whether a call in flight counts as activity of its session.
    pub in_flight_keeps_alive: bool,
    /// Whether an attached leg counts as activity of its session, and its end as something that happens.
    pub legs_keep_alive: bool,
    /// Whether an event that the server sends is something that happens.
    pub events_keep_alive: bool,
    /// The answer to a session id that is not in the table.
    pub unknown_session: UnknownSession,
    /// The status of a DELETE that ends a session: 200, 202 or 204.
    pub delete_status: u16,
    /// The answer to a GET that presents no cursor.
    pub fresh_get_answer: FreshGetAnswer,
    /// What happens when a second GET stream is opened while one is attached.
    pub get_slot: GetSlot,
    /// Other notifications of a session, which take ids and fill its GET stream's buffer.
    pub churn: Option<Churn>,
    /// Whose server it is; `server = "rmcp"` is short for it. With `rmcp`, the keys above say nothing, but for `churn`.
    pub implementation: Implementation,
    /// The official Rust SDK's own settings.
    pub rmcp: RmcpServerSettings,
}

impl Default for ServerSettings {
    fn default() -> ServerSettings {
        ServerSettings {
            profile: None,
            id_grammar: Grammar::Integer,
            event_ids: true,
            store: true,
            epoch_names: EpochNames::Counter,
            numbered: Numbered::Always,
            counter_scope: CounterScope::Session,
            counter_start: 1,
            first_stream: 1,
            buffer_events: 256,
            buffer_ttl_s: None,
            delivery: Delivery::PostStream,
            priming: true,
            get_priming: GetPriming::Counted,
            priming_buffered: false,
            short_answers: ShortAnswers::Json,
            retry_s: None,
            keep_alive_s: None,
            replay: Replay::After,
            fresh_get: FreshGet::Live,
            unknown_cursor: CursorAnswer::Live,
            purged_cursor: CursorAnswer::Oldest,
            ahead_cursor: CursorAnswer::Live,
            next_cursor: None,
            empty_buffer_cursor: None,
            failed_resume_ends_leg: false,
            standalone_cursor: None,
            busy_cursor: None,
            foreign_cursor: ForeignCursor::Unknown,
            resume_primer: false,
            resumed_leg_ends: ResumedLegEnds::AfterResponse,
            // Enough for every late client of a session, and a bound on what a long session holds.
            complete_streams: 32,
            session_idle_s: None,
            in_flight_keeps_alive: true,
            legs_keep_alive: true,
            events_keep_alive: false,
            unknown_session: UnknownSession::NotFound,
            delete_status: 200,
            fresh_get_answer: FreshGetAnswer::Stream,
            get_slot: GetSlot::TakeOver,
            churn: None,
            implementation: Implementation::Model,
            rmcp: RmcpServerSettings::default(),
        }
    }
}

impl ServerSettings {
    /// The `retry` field in milliseconds.
    pub(super) fn retry_ms(&self) -> Option<u64> {
        self.retry_s.map(|retry| retry.as_micros() / 1000)
    }

    /// The keys that were given a value and say nothing: with the official Rust SDK's server, those of the model.
    pub fn unheard(&self) -> Vec<String> {
        let heard = ["profile", "churn", "implementation", "rmcp"];
        if self.implementation == Implementation::Model {
            return Vec::new();
        }
        let values = |settings: &ServerSettings| match serde_json::to_value(settings) {
            Ok(serde_json::Value::Object(values)) => values,
            _ => serde_json::Map::new(),
        };
        let defaults = values(&ServerSettings::default());
        let changed = values(self).into_iter().filter(|(key, value)| defaults.get(key) != Some(value));
        changed.map(|(key, _)| key).filter(|key| !heard.contains(&key.as_str())).collect()
    }

    /// The form of the event ids that clients see.
    pub fn grammar(&self) -> Grammar {
        match self.implementation {
            Implementation::Model => self.id_grammar,
            Implementation::Rmcp => Grammar::SeqStream,
        }
    }
}

/// Whether the streams of a session share one counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CounterScope {
    /// One counter a session: the ids of one stream may have legal gaps.
    Session,
    /// One counter a stream.
    Stream,
    /// One counter a process: sessions share it too, and it starts again with the process (mcp-go's event store).
    Process,
}

/// What the epoch in an id stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EpochNames {
    /// One life of the counter: it is drawn anew whenever the counter starts again.
    Counter,
    /// The session and the stream: a counter that starts again has the same one (C# SDK,
    /// `DistributedCacheEventIdFormatter`: the two in base 64, and a number that each new writer counts from 1).
    Stream,
}

/// Which events are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Numbered {
    /// All.
    Always,
    /// Those that are sent while a leg is attached. The others are lost before they have a number, so that no id ever
    /// tells of them (tower-mcp).
    WhileAttached,
}

/// The answer to a GET that presents no cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FreshGetAnswer {
    /// The standalone stream.
    Stream,
    /// 405: there is none (2025-11-25, transports, "Listening for Messages from the Server", item 2).
    NotAllowed,
    /// 202, and no stream (Envoy AI gateway).
    Accepted,
}

/// Which stream carries the parts and the response of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delivery {
    /// The POST is answered with an event stream, which a GET with its cursor resumes.
    PostStream,
    /// The POST is answered 202 and everything comes on the session's GET stream: the habit of the
    /// 2024-11-05 transport carried over, and the set-up of the incident.
    GetStream,
}

/// Where a replay starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replay {
    /// With the successor of the cursor.
    After,
    /// With the event that the cursor names, once more.
    Inclusive,
}

/// Which id the priming event of a fresh GET stream has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GetPriming {
    /// The counter's next.
    Counted,
    /// Always number 0, which the counter gives to an event all the same (official Rust SDK, `handle_get`).
    Zero,
    /// There is none: only POST streams are primed.
    None,
}

/// The answer to a cursor of a stream that has a leg.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BusyCursor {
    /// 409, until the old leg is gone.
    Conflict,
    /// 200, an empty body, closed at once: the old leg keeps the stream.
    EmptyClosed,
}

/// What is made of a cursor that only another session's streams know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ForeignCursor {
    /// It is unknown.
    Unknown,
    /// The other session's stream is resumed: the store is shared, and nobody asks whose a stream is (Python SDK).
    Deliver,
}

/// When a leg that a resume has opened on a POST stream ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResumedLegEnds {
    /// When the response has been sent (2025-11-25, transports, "Sending Messages to the Server", item 6: the server
    /// should terminate the stream then).
    AfterResponse,
    /// When the response has been sent as it happened; a leg that only replays it stays open (TypeScript SDK, v1).
    AfterLiveResponse,
    /// Never (Python SDK).
    Never,
}

/// How requests other than `tools/call` are answered (2025-11-25, transports, "Sending Messages to the Server", item 5:
/// either is allowed).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShortAnswers {
    /// One JSON object.
    Json,
    /// An event stream that takes a stream number: its priming event, the response, its end. It cannot be resumed.
    EventStream,
}

/// Where a GET without a cursor starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FreshGet {
    /// With the next event.
    Live,
    /// With the oldest buffered one, whether or not it has been read before (official Rust SDK,
    /// `establish_common_channel`).
    Oldest,
}

/// The answer to a resume whose cursor cannot be honoured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CursorAnswer {
    /// 200, and what the buffer still has, from its oldest event.
    Oldest,
    /// 200, nothing replayed, then whatever comes next.
    Live,
    /// 200, a fresh priming event, nothing replayed, then whatever comes next.
    Primer,
    /// 200, an empty body, closed at once.
    EmptyClosed,
    /// 200, open, and nothing ever.
    Silent,
    /// What a GET without a cursor is answered with: the cursor is ignored.
    Fresh,
    /// 200, nothing replayed, then whatever comes next, numbered from the cursor on (Go SDK, go-sdk#1132). Only an id
    /// ahead can be answered so.
    Adopt,
    /// 202, and no stream.
    Accepted,
    /// 400.
    Reject,
    /// 410: what the cursor names is gone, said with a status that stands for nothing else.
    Gone,
}

/// The answer to a session id that is not in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownSession {
    /// 404 (2025-11-25, transports, "Session Management", item 3).
    NotFound,
    /// A new incarnation under the presented key, as servers that migrate or adopt sessions do.
    Recreate,
    /// The same, but only where a store outside the processes remembers the key: it was given to the client by
    /// `initialize` and has not been ended with DELETE. Else 404.
    Restore,
}

/// What happens when a second GET stream is opened while one is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GetSlot {
    /// The new leg gets the stream and the old leg ends.
    TakeOver,
    /// 409 until the old leg is gone.
    Conflict,
    /// The old leg keeps the stream, and the new one stays open and never carries an event but its priming (official
    /// Rust SDK, `resume_or_shadow_common`).
    Shadow,
}

/// Other notifications of a session: bursts of log messages.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Churn {
    /// Time between two bursts.
    pub interval_s: Span<Seconds>,
    /// Events of one burst.
    pub burst_events: Span<u32>,
    /// Every so many bursts the session falls quiet once (0: never).
    #[serde(default)]
    pub quiet_every_bursts: u32,
    /// How long it is quiet then.
    #[serde(default = "no_time")]
    pub quiet_s: Span<Seconds>,
}

fn no_time() -> Span<Seconds> {
    Span::exactly(Seconds::new(0))
}

/// The `[tool]` table: the one tool that every server offers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolSettings {
    /// Progress parts of one call, before its response.
    pub parts: Span<u32>,
    /// Time before each part and before the response.
    pub interval_s: Span<Seconds>,
    /// Bytes of text in each part.
    pub part_bytes: u32,
    /// Whether a call can continue from part k instead of from its start.
    pub checkpointable: bool,
    /// Whether a second execution has no further effect.
    pub idempotent: bool,
}

impl Default for ToolSettings {
    fn default() -> ToolSettings {
        ToolSettings {
            parts: Span::exactly(8),
            interval_s: Span::exactly(Seconds::new(2)),
            part_bytes: 64,
            checkpointable: true,
            idempotent: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sdks_server_does_not_hear_what_the_model_is_told() {
        let told = ServerSettings { buffer_events: 7, replay: Replay::Inclusive, ..ServerSettings::default() };
        assert_eq!(told.unheard(), [""; 0], "the model hears it all");
        let mut sdk = ServerSettings { implementation: Implementation::Rmcp, ..told };
        assert_eq!(sdk.unheard(), ["buffer_events", "replay"]);
        sdk = ServerSettings { implementation: Implementation::Rmcp, ..ServerSettings::default() };
        sdk.rmcp.channel_capacity = 4;
        sdk.profile = Some("rmcp".to_owned());
        assert_eq!(sdk.unheard(), [""; 0]);
    }
}
