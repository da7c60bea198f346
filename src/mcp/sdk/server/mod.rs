//! The SDK's server over its own session manager, and the simulated tool behind it.
//!
//! - `process`: the machine that starts the SDK's service, stops it when a fault says so, and starts it again.
//! - `sessions`: the SDK's session manager, reported. `truth`: what the reports come to.
//! - `tool`: the handler. `store`, `events`: what outlives the process.
//! - `config`: the scenario's settings as the SDK's. `limits`: what a process takes on at most.

mod config;
mod events;
mod limits;
mod process;
mod sessions;
mod store;
mod tool;
mod truth;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::ServerNotification;
use rmcp::service::Peer;
use send_wrapper::SendWrapper;

use self::events::Events;
pub use self::limits::Limits;
use self::store::Store;
use self::truth::Sessions;
use crate::mcp::server::churn::Bursts;
use crate::mcp::server::fleet::Fleet;
use crate::mcp::server::settings::{ServerSettings, ToolSettings};
use crate::mcp::wire::message;
use crate::observe::event::ClientNo;
use crate::observe::witness::Witness;
use crate::world::draw::Draws;

/// One server of the SDK: what outlives its process.
pub struct SdkServer {
    number: u32,
    settings: Rc<ServerSettings>,
    tool: ToolSettings,
    draws: Draws,
    witness: Witness,
    fleet: Rc<Fleet>,
    store: Arc<Store>,
    /// The event store, where there is one.
    events: Option<Arc<Events>>,
    /// The sessions that have outlived a process, while there is none.
    sessions: RefCell<Sessions>,
    limits: Limits,
    /// The newest session of each client, as the handler sees it, until it has ended.
    peers: RefCell<BTreeMap<ClientNo, Peer<RoleServer>>>,
    /// The clients whose churn has started: it does with their first session.
    churned: RefCell<BTreeSet<ClientNo>>,
}

/// So many peers are kept before those are looked for whose sessions have ended.
const PEERS_KEPT: usize = 64;

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
        SdkServer::with_limits(number, settings, tool, draws, witness, fleet, Limits::default())
    }

    /// The same with other limits.
    pub fn with_limits(
        number: u32,
        settings: Rc<ServerSettings>,
        tool: ToolSettings,
        draws: Draws,
        witness: Witness,
        fleet: Rc<Fleet>,
        limits: Limits,
    ) -> Rc<SdkServer> {
        let events = Events::new(settings.rmcp.event_store);
        Rc::new(SdkServer {
            number,
            settings,
            tool,
            draws,
            witness,
            fleet,
            store: Arc::default(),
            events,
            sessions: RefCell::default(),
            limits,
            peers: RefCell::default(),
            churned: RefCell::default(),
        })
    }

    /// A session of `client` is ready for notifications.
    fn initialized(self: &Rc<Self>, client: ClientNo, peer: Peer<RoleServer>) {
        let Some(churn) = self.settings.churn else { return };
        {
            let mut peers = self.peers.borrow_mut();
            // Twice as many as there were the last time: looking costs no more than adding.
            if peers.len() >= PEERS_KEPT && peers.len().is_power_of_two() {
                peers.retain(|_, peer| !peer.is_transport_closed());
            }
            peers.insert(client, peer);
        }
        let mut churned = self.churned.borrow_mut();
        if churned.len() < self.limits.sessions && churned.insert(client) {
            let bursts = Bursts::new(churn, &self.draws, client);
            // The SDK calls handlers on tasks of its own, which know no local set. A run has one thread.
            tokio::spawn(SendWrapper::new(self.clone().churn(client, bursts)));
        }
    }

    async fn churn(self: Rc<Self>, client: ClientNo, bursts: Bursts) {
        let begins = self.witness.now();
        let log = message::log_message("another event of this session");
        for (at, events) in bursts.skip_while(|(at, _)| *at < begins) {
            tokio::time::sleep(at.since(self.witness.now())).await;
            let peer = self.peers.borrow().get(&client).cloned();
            for _ in 0..events {
                let notification = serde_json::from_value::<ServerNotification>(log.clone());
                // A session that is gone takes no notification: the burst vanishes.
                if let (Some(peer), Ok(notification)) = (&peer, notification)
                    && peer.send_notification(notification).await.is_err()
                {
                    break;
                }
            }
        }
    }
}
