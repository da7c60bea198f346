//! The gateway: an HTTP/1.1 reverse proxy between the sites and the servers.
//!
//! Each connection from a client has at most one connection to a server behind it. Responses stream through
//! `body::GatewayBody`, which keeps the gateway's timeouts and carries out scheduled disconnects; `legs::Legs`
//! knows which event-stream responses are open.

mod alarm;
mod body;
mod forward;
mod headers;
mod legs;
mod outages;
mod routes;
pub mod settings;
mod truncate;

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;

use self::forward::Downstream;
use self::legs::Legs;
use self::outages::Outages;
use self::routes::Routes;
use self::settings::GatewaySettings;
use super::fault::{DisconnectMode, Fault};
use super::schedule::ScheduledFault;
use super::time::{Seconds, SimTime};
use crate::mcp::net::{Accept, Bind, Dial, Io};
use crate::observe::event::{ClientNo, Event};
use crate::observe::witness::Witness;

/// The gateway's state: what it does by itself, where its servers are, which sessions are where, which legs are open.
pub struct Gateway<D> {
    settings: GatewaySettings,
    servers: Vec<D>,
    routes: RefCell<Routes>,
    legs: Rc<Legs>,
    outages: Outages,
    witness: Witness,
}

impl<D: Dial> Gateway<D> {
    /// A gateway in front of `servers`, of which there must be one at least. It reports to `witness` and lives by
    /// its clock.
    pub fn new(settings: GatewaySettings, servers: Vec<D>, witness: Witness) -> Rc<Gateway<D>> {
        assert!(!servers.is_empty(), "a gateway stands before a server");
        Rc::new(Gateway {
            routes: RefCell::new(Routes::new(servers.len())),
            legs: Rc::new(Legs::new(witness.clone())),
            outages: Outages::default(),
            settings,
            servers,
            witness,
        })
    }

    /// Serves connections on `bind` and carries out the disconnects and outages among `faults`, each at its instant (one that
    /// has passed at once). Runs until the host stops; must be called within a `LocalSet`.
    ///
    /// # Errors
    /// Where the address cannot be bound, or connections can no longer be accepted on it.
    pub async fn run<B: Bind>(self: Rc<Self>, bind: B, faults: Vec<ScheduledFault>) -> io::Result<()> {
        let mut listener = bind.bind().await?;
        tokio::task::spawn_local(self.clone().strike(faults));
        loop {
            let io = listener.accept().await?;
            tokio::task::spawn_local(self.clone().serve(io));
        }
    }

    async fn serve(self: Rc<Self>, io: impl Io) {
        let downstream = Rc::new(Downstream::new(self));
        let service = service_fn(|request| {
            let downstream = downstream.clone();
            async move { downstream.forward(request).await }
        });
        // A connection's error is how it ends: the client left, or a body was cut.
        let _ended = http1::Builder::new()
            // hyper would read the real clock.
            .auto_date_header(false)
            .serve_connection(TokioIo::new(io), service)
            .await;
    }

    async fn strike(self: Rc<Self>, mut faults: Vec<ScheduledFault>) {
        faults.sort_by_key(|scheduled| scheduled.at_s);
        for ScheduledFault { at_s, fault } in faults {
            if !matches!(fault, Fault::Disconnect { .. } | Fault::Outage { .. }) {
                continue;
            }
            let wait = SimTime::from(at_s.get()) - self.witness.now();
            if !wait.is_zero() {
                tokio::time::sleep(wait).await;
            }
            match fault {
                Fault::Disconnect { client, mode } => {
                    let took_effect = self.legs.order(client, mode);
                    self.witness.report(Event::FaultStruck { fault, took_effect });
                }
                Fault::Outage { client, duration_s } => {
                    tokio::task::spawn_local(self.clone().cut_off(client, duration_s));
                }
                _ => {}
            }
        }
    }

    async fn cut_off(self: Rc<Self>, client: ClientNo, duration_s: Seconds) {
        let fault = Fault::Outage { client, duration_s };
        // Whatever the client tries meanwhile fails, so it takes effect even where nothing is open.
        self.witness.report(Event::FaultStruck { fault: fault.clone(), took_effect: true });
        self.outages.begin(client);
        self.legs.order(client, DisconnectMode::Reset);
        tokio::time::sleep(duration_s.get()).await;
        self.outages.end(client);
        self.witness.report(Event::FaultOver { fault });
    }
}

#[cfg(test)]
mod tests;
