//! What a readable scenario may still get wrong: values out of range, and keys that cannot go together.
//!
//! Each sentence says what is wrong and what would be accepted; of two keys that cannot go together it names both.

mod sdk;

use std::path::Path;

use super::{Scenario, Settings, Threshold};
use crate::cursor::Grammar;
use crate::document::Problems;
use crate::mcp::client::settings::{Arm, ClientSettings};
use crate::mcp::sdk::settings::Implementation;
use crate::mcp::server::settings::{
    Churn, CounterScope, CursorAnswer, Delivery, EpochNames, ForeignCursor, FreshGetAnswer, ServerSettings,
    ToolSettings,
};
use crate::world::draw::Span;
use crate::world::fault::RecycleTo;
use crate::world::gateway::settings::GatewaySettings;
use crate::world::schedule::settings::FaultSettings;
use crate::world::time::Seconds;

const MILLISECOND: Seconds = Seconds::from_millis(1);
/// A week: any longer is a slip of the pen, and would simulate for hours.
const MAX_HORIZON: Seconds = Seconds::new(7 * 86_400);
const MAX_CLIENTS: u32 = 100_000;
/// Schedules hold at most one fault a second of a kind and client.
const MAX_RATE: u32 = 3600;
const MAX_PARTS: u32 = 10_000;
const MAX_PART_BYTES: u32 = 64 * 1024;
/// As much as one client's buffers can hold before a thousand clients need more memory than a laptop has.
const MAX_BUFFER_EVENTS: u32 = 1_000_000;

/// Each kept stream has a buffer of its own.
const MAX_COMPLETE_STREAMS: u32 = 10_000;
/// The statuses with which a DELETE succeeds.
const DELETE_STATUSES: [u16; 3] = [200, 202, 204];

/// Notes everything that is wrong with `scenario`, read from `file`.
pub(super) fn scenario(scenario: &Scenario, file: &str, problems: &mut Problems) {
    identity(scenario, file, problems);
    arms(&scenario.arms, &scenario.settings.client, problems);
    thresholds(&scenario.thresholds, &scenario.arms, problems);
    settings(&scenario.settings, problems);
}

fn identity(scenario: &Scenario, file: &str, problems: &mut Problems) {
    file_name(&scenario.name, file, problems);
    if scenario.summary.trim().is_empty() || scenario.summary.contains('\n') {
        problems.note("summary", "expected one line of text");
    }
}

/// A file is called what it says that it is called.
pub(super) fn file_name(name: &str, file: &str, problems: &mut Problems) {
    if let Some(stem) = Path::new(file).file_stem().and_then(|stem| stem.to_str())
        && stem != name
    {
        problems.note("name", format!("`{name}` is not the file's name without its ending: expected `{stem}`"));
    }
}

/// Whether `arm` is a policy of the client that the scenario names, where it names one.
///
/// # Errors
/// A sentence that names both.
pub fn arm_has_the_client(arm: Arm, client: &ClientSettings) -> Result<(), String> {
    let named = match client.implementation {
        Some(named) if named != arm.implementation() => named,
        _ => return Ok(()),
    };
    let its: Vec<String> =
        Arm::ALL.iter().filter(|arm| arm.implementation() == named).map(|arm| format!("`{arm}`")).collect();
    let named = match named {
        Implementation::Model => "model",
        Implementation::Rmcp => "rmcp",
    };
    Err(format!(
        "the arm `{arm}` cannot go with `client.implementation` = \"{named}\", which is the client of {}",
        its.join(", ")
    ))
}

fn arms(arms: &[Arm], client: &ClientSettings, problems: &mut Problems) {
    if arms.is_empty() {
        problems.note("arms", "a scenario without an arm runs nothing");
    }
    for (number, arm) in arms.iter().enumerate() {
        if arms[..number].contains(arm) {
            problems.note("arms", format!("`{arm}` is there twice"));
        }
        if let Err(what) = arm_has_the_client(*arm, client) {
            problems.note("arms", what);
        }
    }
}

fn thresholds(thresholds: &[Threshold], arms: &[Arm], problems: &mut Problems) {
    for (number, threshold) in thresholds.iter().enumerate() {
        let at = |key: &str| format!("threshold[{number}].{key}");
        let measure = threshold.measure.name();
        if !arms.contains(&threshold.arm) {
            let what = format!("`{}` is not among the scenario's `arms`", threshold.arm);
            problems.note(&at("arm"), what);
        }
        let bounds = [("at_least", threshold.at_least), ("at_most", threshold.at_most)];
        for (key, bound) in bounds {
            let Some(bound) = bound else { continue };
            if !bound.is_finite() || bound < 0.0 {
                let what = format!("{bound} bounds nothing: expected a number, 0 or above");
                problems.note(&at(key), what);
            } else if threshold.measure.is_share() && bound > 1.0 {
                let what = format!("{bound} is no share: `{measure}` lies between 0 and 1");
                problems.note(&at(key), what);
            }
        }
        match (threshold.at_least, threshold.at_most) {
            (None, None) => problems.note(
                &format!("threshold[{number}]"),
                format!("no bound on `{measure}`: expected `at_least`, `at_most` or both"),
            ),
            (Some(low), Some(high)) if low > high => {
                problems.note(&at("at_least"), format!("{low} is above `at_most` = {high}: no value can satisfy both"))
            }
            _ => {}
        }
    }
}

fn settings(settings: &Settings, problems: &mut Problems) {
    time(settings, problems);
    topology(settings, problems);
    gateway(&settings.gateway, problems);
    server(&settings.server, problems);
    tool(&settings.tool, problems);
    client(&settings.client, problems);
    sdk::client(&settings.client.rmcp, problems);
    sdk::both(settings, problems);
    faults(&settings.faults, settings, problems);
}

fn time(settings: &Settings, problems: &mut Problems) {
    let (horizon, tick, drain) = (settings.horizon_s, settings.tick_s, settings.drain());
    if tick == Seconds::default() || tick > Seconds::new(1) || !is_whole_ms(tick) {
        problems.note("tick_s", format!("{tick} is no tick: expected whole milliseconds from 0.001 to 1 second"));
    }
    if horizon > MAX_HORIZON {
        problems.note("horizon_s", format!("{horizon} is above {MAX_HORIZON} seconds, a week"));
    }
    if horizon <= drain {
        let (key, what) = match settings.client.drain_s {
            Some(_) => ("client.drain_s", "the time before the horizon"),
            None => ("client.call_timeout_s", "the call timeout"),
        };
        problems.note(
            "horizon_s",
            format!(
                "{horizon} is not above `{key}` = {drain}, {what} in which no call starts: no call would ever start"
            ),
        );
    }
}

fn topology(settings: &Settings, problems: &mut Problems) {
    let topology = &settings.topology;
    let (clients, sites) = (topology.clients, topology.sites);
    if clients == 0 || clients > MAX_CLIENTS {
        problems.note("topology.clients", format!("{clients} is out of range: expected 1 to {MAX_CLIENTS} clients"));
    }
    if sites == 0 {
        problems.note("topology.sites", "clients need a site to run on: expected 1 or more");
    } else if sites > clients.max(1) {
        problems.note(
            "topology.sites",
            format!("{sites} is above `topology.clients` = {clients}: a site without clients does nothing"),
        );
    }
    if topology.servers == 0 || topology.servers > 1000 {
        problems.note("topology.servers", format!("{} is out of range: expected 1 to 1000 servers", topology.servers));
    }
    let latency = topology.latency_s;
    if latency.min() < MILLISECOND
        || latency.max() > Seconds::new(60)
        || !is_whole_ms(latency.min())
        || !is_whole_ms(latency.max())
    {
        problems.note(
            "topology.latency_s",
            format!(
                "{} is no latency of the simulated network: expected whole milliseconds from 0.001 to 60 seconds",
                told(latency)
            ),
        );
    }
    above_zero("topology.latency_epoch_s", topology.latency_epoch_s, problems);
}

fn gateway(gateway: &GatewaySettings, problems: &mut Problems) {
    timeout("gateway.idle_timeout_s", gateway.idle_timeout_s, problems);
    timeout("gateway.max_life_s", gateway.max_life_s, problems);
    above_zero("gateway.connect_timeout_s", gateway.connect_timeout_s, problems);
}

/// What is wrong with the settings of servers.
pub(super) fn server(server: &ServerSettings, problems: &mut Problems) {
    if server.buffer_events == 0 || server.buffer_events > MAX_BUFFER_EVENTS {
        problems.note(
            "server.buffer_events",
            format!("{} is out of range: expected 1 to {MAX_BUFFER_EVENTS} events", server.buffer_events),
        );
    }
    timeout("server.buffer_ttl_s", server.buffer_ttl_s, problems);
    timeout("server.keep_alive_s", server.keep_alive_s, problems);
    timeout("server.session_idle_s", server.session_idle_s, problems);
    if let Some(retry) = server.retry_s.filter(|&retry| !is_whole_ms(retry)) {
        problems.note("server.retry_s", format!("{retry} cannot be sent: the `retry` field has whole milliseconds"));
    }
    if !DELETE_STATUSES.contains(&server.delete_status) {
        problems.note(
            "server.delete_status",
            format!("{} does not say that the session is ended: expected 200, 202 or 204", server.delete_status),
        );
    }
    if server.complete_streams > MAX_COMPLETE_STREAMS {
        problems.note(
            "server.complete_streams",
            format!("{} is out of range: expected at most {MAX_COMPLETE_STREAMS}", server.complete_streams),
        );
    }
    if server.counter_scope == CounterScope::Stream
        && server.id_grammar == Grammar::Integer
        && server.delivery == Delivery::PostStream
    {
        problems.note(
            "server.counter_scope",
            "`stream` cannot go with `server.id_grammar` = \"integer\" and `server.delivery` = \"post-stream\": the \
             same number would be an id in several streams, and a cursor would not say which one to resume; \
             `server.id_grammar` = \"epoch:seq\" does, and so does `server.counter_scope` = \"session\"",
        );
    }
    cursors(server, problems);
    sdk::server(&server.rmcp, problems);
    if let Some(churn) = &server.churn {
        self::churn(churn, problems);
    }
}

/// Answers to cursors that contradict the ids, the store or each other.
fn cursors(server: &ServerSettings, problems: &mut Problems) {
    let contradictions = [
        (
            !server.event_ids && server.priming,
            "server.priming",
            "true cannot go with `server.event_ids` = false: a priming event is sent for its id",
        ),
        (
            !server.event_ids && server.resume_primer,
            "server.resume_primer",
            "true cannot go with `server.event_ids` = false: a priming event is sent for its id",
        ),
        (
            !server.store && server.foreign_cursor == ForeignCursor::Deliver,
            "server.foreign_cursor",
            "`deliver` cannot go with `server.store` = false: nothing of any session is there to be delivered",
        ),
        (
            server.epoch_names == EpochNames::Stream && server.id_grammar != Grammar::EpochSeq,
            "server.epoch_names",
            "`stream` needs `server.id_grammar` = \"epoch:seq\": ids of other grammars have no epoch",
        ),
        (
            server.delivery == Delivery::GetStream && server.fresh_get_answer != FreshGetAnswer::Stream,
            "server.fresh_get_answer",
            "only `stream` can go with `server.delivery` = \"get-stream\": results would have no stream to come on",
        ),
    ];
    for (_, key, what) in contradictions.into_iter().filter(|(is_so, ..)| *is_so) {
        problems.note(key, what);
    }
    let elsewhere = [
        ("server.unknown_cursor", Some(server.unknown_cursor)),
        ("server.purged_cursor", Some(server.purged_cursor)),
        ("server.empty_buffer_cursor", server.empty_buffer_cursor),
        ("server.standalone_cursor", server.standalone_cursor),
    ];
    for (key, _) in elsewhere.into_iter().filter(|(_, answer)| *answer == Some(CursorAnswer::Adopt)) {
        problems
            .note(key, "`adopt` numbers on from an id ahead: only `server.ahead_cursor` and `server.next_cursor` can");
    }
}

fn churn(churn: &Churn, problems: &mut Problems) {
    at_least_a_millisecond("server.churn.interval_s", churn.interval_s, problems);
    if churn.burst_events.max() == 0 || churn.burst_events.max() > MAX_BUFFER_EVENTS {
        problems.note(
            "server.churn.burst_events",
            format!(
                "{} is out of range: expected at most {MAX_BUFFER_EVENTS} events, and not always none",
                told(churn.burst_events)
            ),
        );
    }
    let quiet = churn.quiet_s.max() > Seconds::default();
    if quiet && churn.quiet_every_bursts == 0 {
        problems
            .note("server.churn.quiet_s", "the session never falls quiet while `server.churn.quiet_every_bursts` is 0");
    } else if !quiet && churn.quiet_every_bursts > 0 {
        problems
            .note("server.churn.quiet_every_bursts", "a quiet spell lasts no time while `server.churn.quiet_s` is 0");
    }
}

fn tool(tool: &ToolSettings, problems: &mut Problems) {
    if tool.parts.max() > MAX_PARTS {
        problems
            .note("tool.parts", format!("{} is out of range: expected at most {MAX_PARTS} parts", told(tool.parts)));
    }
    if tool.part_bytes > MAX_PART_BYTES {
        problems.note(
            "tool.part_bytes",
            format!("{} is out of range: expected at most {MAX_PART_BYTES} bytes", tool.part_bytes),
        );
    }
}

fn client(client: &ClientSettings, problems: &mut Problems) {
    at_least_a_millisecond("client.call_interval_s", client.call_interval_s, problems);
    if let Some(duration) = client.session_duration_s {
        at_least_a_millisecond("client.session_duration_s", duration, problems);
    }
    for (key, value) in [
        ("client.call_timeout_s", client.call_timeout_s),
        ("client.answer_timeout_s", client.answer_timeout_s),
        ("client.reconnect_s", client.reconnect_s),
    ] {
        above_zero(key, value, problems);
    }
    if client.reconnect_max_s < client.reconnect_s {
        problems.note(
            "client.reconnect_max_s",
            format!(
                "{} is below `client.reconnect_s` = {}: the longest delay cannot be shorter than the first",
                client.reconnect_max_s, client.reconnect_s
            ),
        );
    }
}

fn faults(faults: &FaultSettings, settings: &Settings, problems: &mut Problems) {
    let rates = [
        ("disconnect.per_client_per_hour", faults.disconnect.as_ref().map(|f| f.per_client_per_hour)),
        ("outage.per_client_per_hour", faults.outage.as_ref().map(|f| f.per_client_per_hour)),
        ("stall.per_hour", faults.stall.as_ref().map(|f| f.per_hour)),
        ("session-recycle.per_client_per_hour", faults.session_recycle.as_ref().map(|f| f.per_client_per_hour)),
        ("buffer-truncate.per_client_per_hour", faults.buffer_truncate.as_ref().map(|f| f.per_client_per_hour)),
        ("counter-wrap.per_client_per_hour", faults.counter_wrap.as_ref().map(|f| f.per_client_per_hour)),
        ("server-shutdown.per_hour", faults.server_shutdown.as_ref().map(|f| f.per_hour)),
    ];
    for (key, rate) in rates {
        if let Some(rate) = rate.filter(|&rate| rate > MAX_RATE) {
            problems.note(
                &format!("faults.{key}"),
                format!("{rate} is out of range: expected at most {MAX_RATE}, one a second"),
            );
        }
    }
    if faults.counter_wrap.is_some() && settings.server.counter_scope == CounterScope::Process {
        problems.note(
            "faults.counter-wrap",
            "one client's counters cannot start again where `server.counter_scope` = \"process\": every session has the \
             same one",
        );
    }
    let any = rates.iter().any(|(_, rate)| rate.is_some_and(|rate| rate > 0));
    if any && faults.from_s >= settings.horizon_s {
        problems.note(
            "faults.from_s",
            format!("{} is not before `horizon_s` = {}: no fault would ever strike", faults.from_s, settings.horizon_s),
        );
    }
    if faults.disconnect.as_ref().is_some_and(|disconnect| disconnect.modes.is_empty()) {
        problems.note(
            "faults.disconnect.modes",
            "there is no mode to choose from: expected some of `clean-end`, `reset`, `truncated-event`, `half-open`",
        );
    }
    if let Some(outage) = &faults.outage
        && outage.duration_s.max() == Seconds::default()
    {
        problems.note("faults.outage.duration_s", "0 cuts nobody off: expected a time above 0");
    }
    if let Some(stall) = &faults.stall
        && stall.duration_s.max() == Seconds::default()
    {
        problems.note("faults.stall.duration_s", "0 holds no message: expected a time above 0");
    }
    recycle_to_other(faults, settings, problems);
}

/// A key is only given to another client if another client opens a session after the recycling.
fn recycle_to_other(faults: &FaultSettings, settings: &Settings, problems: &mut Problems) {
    let Some(recycle) = &faults.session_recycle else {
        return;
    };
    if recycle.to != RecycleTo::Other {
        return;
    }
    if settings.topology.clients == 1 {
        problems.note(
            "faults.session-recycle.to",
            "`other` needs another client to get the key, and `topology.clients` is 1",
        );
    }
    if settings.client.session_duration_s.is_none() {
        problems.note(
            "faults.session-recycle.to",
            "`other` needs clients that open new sessions, and without `client.session_duration_s` a client keeps its \
             session for ever: nobody would get the key",
        );
    }
}

fn timeout(key: &str, value: Option<Seconds>, problems: &mut Problems) {
    if value == Some(Seconds::default()) {
        problems.note(key, "0 would strike at once: expected a time above 0, or no such key at all for never");
    }
}

fn above_zero(key: &str, value: Seconds, problems: &mut Problems) {
    if value == Seconds::default() {
        problems.note(key, "0 leaves no time: expected a time above 0");
    }
}

/// A span of zero would happen without end at one instant, and the run would never get past it.
fn at_least_a_millisecond(key: &str, span: Span<Seconds>, problems: &mut Problems) {
    if span.min() < MILLISECOND {
        problems.note(key, format!("{} is too short: expected 0.001 seconds or more", told(span)));
    }
}

fn is_whole_ms(time: Seconds) -> bool {
    time.as_micros().is_multiple_of(1000)
}

/// A span as it is written.
fn told<T: Copy + PartialOrd + std::fmt::Display>(span: Span<T>) -> String {
    if span.min() == span.max() { span.min().to_string() } else { format!("[{}, {}]", span.min(), span.max()) }
}
