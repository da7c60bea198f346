//! The SDK's client and the application that calls tools through it.

use std::cell::Cell;
use std::rc::Rc;

use crate::cursor::{Grammar, Rules};
use crate::mcp::client::settings::ClientSettings;
use crate::mcp::client::workload::Workload;
use crate::mcp::client::{Agent, AgentRun};
use crate::mcp::net::Dial;
use crate::observe::event::{ClientNo, Event};
use crate::observe::witness::Witness;

/// One client of the SDK. It lives on a host's `LocalSet`.
pub struct SdkClient<D: Dial> {
    number: ClientNo,
    /// What the guard checks; without it there is no guard.
    guard: Option<(Grammar, Rules)>,
    settings: Rc<ClientSettings>,
    dial: D,
    traffic: Rc<Cell<u64>>,
    witness: Witness,
}

impl<D: Dial> SdkClient<D> {
    /// A client that has not started.
    ///
    /// `dial` opens connections to the endpoint and counts their bytes in `traffic`.
    pub fn new(
        number: ClientNo,
        guard: Option<(Grammar, Rules)>,
        settings: Rc<ClientSettings>,
        dial: D,
        traffic: Rc<Cell<u64>>,
        witness: Witness,
    ) -> Rc<SdkClient<D>> {
        Rc::new(SdkClient { number, guard, settings, dial, traffic, witness })
    }
}

impl<D: Dial> Agent for SdkClient<D> {
    fn run(self: Rc<Self>, workload: Workload) -> AgentRun {
        let _ = (&self.guard, &self.settings, &self.dial, &self.witness, workload);
        Box::pin(std::future::ready(()))
    }

    fn done(&self) -> Event {
        Event::ClientDone { client: self.number, bytes: self.traffic.get() }
    }
}
