//! The process: the SDK's service behind hyper, stopped when a fault says so, and started again.

use std::io;
use std::rc::Rc;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use send_wrapper::SendWrapper;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::events::Access;
use super::sessions::{Reporting, TAG};
use super::tool::Handler;
use super::truth::Truth;
use super::{SdkServer, config};
use crate::mcp::net::{Accept, Bind, Io};
use crate::mcp::server::fleet::Turn;
use crate::mcp::wire::header::RequestTag;
use crate::observe::event::Event;
use crate::world::fault::Fault;
use crate::world::schedule::ScheduledFault;
use crate::world::time::SimTime;

type Service = StreamableHttpService<Handler, Reporting>;

/// One life of the process.
struct Process {
    service: Service,
    truth: Rc<Truth>,
    /// Cancelled when it stops: by the SDK's own means, and for the tool.
    life: CancellationToken,
}

impl SdkServer {
    /// Serves for ever, on the current local set. Executes those of `faults` that concern this server.
    ///
    /// # Errors
    /// Where the network refuses to bind or to accept.
    pub async fn run(self: Rc<Self>, bind: impl Bind, faults: Vec<ScheduledFault>) -> io::Result<()> {
        tokio::task::spawn_local(self.clone().pass_over(faults.clone()));
        let mut shutdowns = faults
            .into_iter()
            .filter(|f| matches!(f.fault, Fault::ServerShutdown { server, .. } if server == self.number))
            .peekable();
        loop {
            let process = self.start();
            let mut listener = bind.bind().await?;
            let mut connections = JoinSet::new();
            let fault = loop {
                let next = shutdowns.peek().map(|shutdown| SimTime::from(shutdown.at_s.get()));
                tokio::select! {
                    biased;
                    () = until(next, &self) => match shutdowns.next() {
                        Some(shutdown) => break shutdown.fault,
                        None => continue,
                    },
                    accepted = listener.accept() => {
                        let io = accepted?;
                        if connections.len() < self.limits.connections {
                            connections.spawn_local(converse(process.service.clone(), io));
                        }
                    }
                    Some(ended) = connections.join_next() => {
                        if let Err(error) = ended && error.is_panic() {
                            std::panic::resume_unwind(error.into_panic());
                        }
                    }
                }
            };
            self.witness.report(Event::FaultStruck { fault: fault.clone(), took_effect: true });
            drop(listener);
            connections.abort_all();
            process.life.cancel();
            self.sessions.replace(process.truth.stopped());
            drop(process);
            let Fault::ServerShutdown { down_s, .. } = fault else { continue };
            tokio::time::sleep(down_s.get()).await;
            self.witness.report(Event::FaultOver { fault });
        }
    }

    fn start(self: &Rc<Self>) -> Process {
        let (sdk, life) = (&self.settings.rmcp, CancellationToken::new());
        let truth = Rc::new(Truth::new(
            self.number,
            sdk,
            self.events.clone(),
            self.sessions.take(),
            self.fleet.clone(),
            self.witness.clone(),
        ));
        let mut manager = LocalSessionManager::default();
        if let Some(events) = &self.events {
            manager = manager.with_event_store(Arc::new(Access::new(events.clone(), life.clone())));
        }
        manager.session_config = config::session(sdk);
        // The simulated hosts are no loopback names.
        let mut config = config::service(sdk).disable_allowed_hosts().with_cancellation_token(life.clone());
        if sdk.session_store {
            config.session_store = Some(self.store.clone());
        }
        let sessions = Reporting::new(manager, SendWrapper::new(truth.clone()), self.limits);
        let handler = {
            let (server, life) = (SendWrapper::new(self.clone()), life.clone());
            move || Ok(Handler { server: server.clone(), life: life.clone() })
        };
        Process { service: StreamableHttpService::new(handler, Arc::new(sessions), config), truth, life }
    }

    /// Faults that reach into a server's memory do not reach into the SDK's: they meet nobody.
    async fn pass_over(self: Rc<Self>, faults: Vec<ScheduledFault>) {
        let inside = |fault: &Fault| {
            matches!(fault, Fault::SessionRecycle { .. } | Fault::BufferTruncate { .. } | Fault::CounterWrap { .. })
        };
        for (index, ScheduledFault { at_s, fault }) in faults.into_iter().filter(|f| inside(&f.fault)).enumerate() {
            until(Some(SimTime::from(at_s.get())), &self).await;
            if self.fleet.turn(index, false) == Turn::Nobody {
                self.witness.report(Event::FaultStruck { fault, took_effect: false });
            }
        }
    }
}

/// Waits for an instant; for ever where there is none.
async fn until(at: Option<SimTime>, server: &SdkServer) {
    match at {
        Some(at) => tokio::time::sleep(at.since(server.witness.now())).await,
        None => std::future::pending().await,
    }
}

/// Serves one connection until either side ends it.
async fn converse(service: Service, io: impl Io) {
    let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
        let service = service.clone();
        let tag = RequestTag::of(request.headers());
        async move { Ok::<_, std::convert::Infallible>(TAG.scope(tag, service.handle(request)).await) }
    });
    // A connection that breaks is the peer's business.
    let _ = http1::Builder::new()
        .auto_date_header(false)
        .header_read_timeout(None)
        .serve_connection(TokioIo::new(io), service)
        .await;
}
