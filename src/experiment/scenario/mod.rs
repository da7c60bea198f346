//! A scenario file: one experiment as data.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::mcp::client::settings::{Arm, ClientSettings};
use crate::mcp::server::settings::{ServerSettings, ToolSettings};
use crate::world::draw::Span;
use crate::world::gateway::settings::GatewaySettings;
use crate::world::schedule::settings::FaultSettings;
use crate::world::time::Seconds;

/// The version of the scenario file format that this build reads.
pub const FORMAT: u32 = 1;

/// The file as written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The file format's version.
    pub format: u32,
    /// The scenario's name: the file's name without its ending.
    pub name: String,
    /// One line for `list scenarios`.
    pub summary: String,
    /// The default seeds, `A..B` without B.
    pub seeds: SeedRange,
    /// The default arms.
    pub arms: Vec<Arm>,
    /// What is simulated.
    #[serde(flatten)]
    pub settings: Settings,
    /// What `run` checks afterwards.
    #[serde(rename = "threshold", default)]
    pub thresholds: Vec<Threshold>,
}

/// What is simulated: everything that a run depends on but its seed, its arm and its schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// How long a run lasts.
    pub horizon_s: Seconds,
    /// The simulated network's step: delivery of messages is rounded up to it.
    #[serde(default = "default_tick")]
    pub tick_s: Seconds,
    /// Hosts, clients and links.
    pub topology: Topology,
    /// What the gateway does by itself.
    #[serde(default)]
    pub gateway: GatewaySettings,
    /// What the servers do.
    #[serde(default)]
    pub server: ServerSettings,
    /// The tool that every server offers.
    #[serde(default)]
    pub tool: ToolSettings,
    /// What the clients do.
    #[serde(default)]
    pub client: ClientSettings,
    /// How many faults are generated.
    #[serde(default)]
    pub faults: FaultSettings,
}

fn default_tick() -> Seconds {
    Seconds::from_millis(10)
}

/// Hosts, clients and links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Topology {
    /// Clients, spread evenly over the sites.
    pub clients: u32,
    /// Sites: hosts on which clients run, each a fault domain.
    pub sites: u32,
    /// Servers; the gateway keeps a session at the server that opened it.
    pub servers: u32,
    /// One-way latency of every link, drawn anew every `latency_epoch_s`; whole milliseconds.
    pub latency_s: Span<Seconds>,
    /// How long a link keeps one latency.
    pub latency_epoch_s: Seconds,
}

impl Default for Topology {
    fn default() -> Topology {
        Topology {
            clients: 10,
            sites: 1,
            servers: 1,
            latency_s: Span::exactly(Seconds::from_millis(20)),
            latency_epoch_s: Seconds::new(30),
        }
    }
}

/// A half-open range of seeds, written `A..B`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedRange(pub Range<u64>);

/// A bound on a measure of an arm over all runs of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Threshold {
    /// The arm.
    pub arm: Arm,
    /// The measure.
    pub measure: Measure,
    /// The smallest accepted value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The largest accepted value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
}

/// A measure that a threshold can bound: shares of all calls, or counts over all runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Share of calls `completed`.
    CompletedShare,
    /// Share of calls `recovered`.
    RecoveredShare,
    /// Share of calls `failed`.
    FailedShare,
    /// Share of calls `hung`.
    HungShare,
    /// Share of calls `wrong`.
    WrongShare,
    /// Number of desyncs.
    Desyncs,
    /// Number of false alarms.
    FalseAlarms,
    /// Number of desyncs without an alarm.
    Missed,
    /// Number of restarts.
    Restarts,
}

impl Serialize for SeedRange {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{}..{}", self.0.start, self.0.end))
    }
}

impl<'de> Deserialize<'de> for SeedRange {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<SeedRange, D::Error> {
        let text = String::deserialize(deserializer)?;
        let (a, b) = text.split_once("..").ok_or_else(|| serde::de::Error::custom("expected A..B"))?;
        let parse = |s: &str| s.trim().parse().map_err(serde::de::Error::custom);
        Ok(SeedRange(parse(a)?..parse(b)?))
    }
}
