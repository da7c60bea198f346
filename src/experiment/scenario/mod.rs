//! A scenario file: one experiment as data.

mod library;
mod load;
mod profile;
mod seeds;
mod thresholds;
mod validate;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::mcp::client::settings::{Arm, ClientSettings};
use crate::mcp::server::settings::{ServerSettings, ToolSettings};
use crate::world::draw::Span;
use crate::world::gateway::settings::GatewaySettings;
use crate::world::schedule::Extent;
use crate::world::schedule::settings::FaultSettings;
use crate::world::time::Seconds;

pub use crate::document::{BadOverride, Override};
pub use library::Library;
pub use load::{Listed, LoadedScenario, ScenarioError, folder, list};
pub use profile::{ListedProfile, Profile, ProfileFile, list_profiles};
pub use seeds::{BadSeedRange, SeedRange};
pub use thresholds::{Measure, Threshold, Totals, Violation, check};
pub use validate::arm_has_the_client;

/// The version of the scenario file format that this build reads.
pub const FORMAT: u32 = 1;

/// What a scenario file says, with every default filled in. [`Scenario::load`] reads and checks one.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// What is simulated: top-level keys and tables of the file.
    #[serde(flatten)]
    pub settings: Settings,
    /// What `run` checks afterwards.
    #[serde(rename = "threshold")]
    pub thresholds: Vec<Threshold>,
}

/// What is simulated: everything that a run depends on but its seed, its arm and its schedule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// How long a run lasts.
    pub horizon_s: Seconds,
    /// The simulated network's step: delivery of messages is rounded up to it. Whole milliseconds, at most a second.
    #[serde(default = "default_tick")]
    pub tick_s: Seconds,
    /// Hosts, clients and links.
    #[serde(default)]
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

/// Ten milliseconds: half the default latency, so that rounding delivery up to a tick keeps it the same.
fn default_tick() -> Seconds {
    Seconds::from_millis(10)
}

impl Settings {
    /// No call starts within this time of the horizon: `client.drain_s`, by default the call timeout, so that every
    /// call has its whole timeout before the run ends.
    pub fn drain(&self) -> Seconds {
        self.client.drain_s.unwrap_or(self.client.call_timeout_s)
    }

    /// Whom and when a fault schedule can hit.
    pub fn extent(&self) -> Extent {
        Extent { clients: self.topology.clients, servers: self.topology.servers, horizon: self.horizon_s }
    }
}

/// Hosts, clients and links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Topology {
    /// Clients, spread evenly over the sites; 1 to 100,000.
    pub clients: u32,
    /// Sites: hosts on which clients run, each a fault domain; 1 to the number of clients.
    pub sites: u32,
    /// Servers; the gateway keeps a session at the server that opened it.
    pub servers: u32,
    /// One-way latency of every link, drawn anew every `latency_epoch_s`; whole milliseconds, at least one.
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
