//! What the gateway does by itself: the `[gateway]` table of a scenario file.

use serde::{Deserialize, Serialize};

use crate::world::time::Seconds;

/// The `[gateway]` table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GatewaySettings {
    /// A response that carries no byte for this long is cut.
    pub idle_timeout_s: Option<Seconds>,
    /// A response that has lasted this long is cut.
    pub max_life_s: Option<Seconds>,
    /// How the gateway's own cuts look to the client.
    pub cut: GatewayCut,
    /// How long a connection to a server may take to be made before the client is answered 504.
    pub connect_timeout_s: Seconds,
}

impl Default for GatewaySettings {
    fn default() -> GatewaySettings {
        GatewaySettings {
            idle_timeout_s: None,
            max_life_s: None,
            cut: GatewayCut::Reset,
            connect_timeout_s: Seconds::new(5),
        }
    }
}

/// How the gateway's own cuts look to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GatewayCut {
    /// The connection is closed and the body stays incomplete, as nginx and most balancers do.
    Reset,
    /// The response body ends as HTTP says it should.
    CleanEnd,
}
