//! The application: it connects through the SDK, calls tools at instants fixed before the run, and changes its session
//! when its time has come.
//!
//! It does what a careful program does with this SDK and no more. It tries again, with growing delays, where connecting
//! fails. The SDK replaces a lost session by itself; where it does not, because it is told not to, or because its
//! transport has ended, the application closes the client and connects anew for the next call.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rmcp::model::{ClientRequest, ListToolsRequest, ServerResult};
use rmcp::service::{ClientServiceExt, Peer, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use send_wrapper::SendWrapper;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::backend::Backend;
use super::connection::Connection;
use super::error::BackendError;
use super::handler::Handler;
use super::record::Record;
use super::{config, tasks};
use crate::cursor::{Grammar, Rules};
use crate::mcp::client::settings::ClientSettings;
use crate::mcp::client::workload::Workload;
use crate::mcp::net::Dial;
use crate::mcp::sdk::guard::Guard;
use crate::mcp::wire::message;
use crate::observe::witness::Witness;

/// One application and its client of the SDK.
pub struct Application<D: Dial> {
    pub(super) settings: Rc<ClientSettings>,
    pub(super) record: Rc<Record>,
    /// What the guard checks; without it there is no guard.
    guard: Option<(Grammar, Rules)>,
    dial: D,
    witness: Witness,
    client: RefCell<Client>,
    /// How many there have been.
    clients: Cell<u64>,
    pub(super) tool: Cell<ToolTraits>,
    /// Woken whenever the client changes, and whenever a call ends.
    pub(super) changed: Notify,
}

/// The client of the SDK.
enum Client {
    /// There is none yet, or the last one is over and the next one is being connected.
    Connecting,
    /// It is there.
    Connected(Connected),
    /// The application is about to end its session: no new call starts in it.
    Closing(Connected),
}

struct Connected {
    service: Service,
    generation: u64,
}

/// A client of the SDK, as those that call through it see it.
pub struct Live {
    /// Where requests go in.
    pub peer: Peer<RoleClient>,
    /// Its place in the order of this application's clients.
    generation: u64,
}

type Service = RunningService<RoleClient, Handler>;

/// What `tools/list` says about the tool.
#[derive(Clone, Copy, Default)]
pub struct ToolTraits {
    pub(super) idempotent: bool,
    pub(super) checkpointable: bool,
}

impl<D: Dial> Application<D> {
    /// An application that has not started.
    pub fn new(
        guard: Option<(Grammar, Rules)>,
        settings: Rc<ClientSettings>,
        dial: D,
        record: Rc<Record>,
        witness: Witness,
    ) -> Rc<Application<D>> {
        Rc::new(Application {
            settings,
            record,
            guard,
            dial,
            witness,
            client: RefCell::new(Client::Connecting),
            clients: Cell::new(0),
            tool: Cell::default(),
            changed: Notify::new(),
        })
    }

    /// Works through `workload`, whose instants count from the start of the run.
    pub async fn work(self: Rc<Self>, workload: Workload) {
        let origin = Instant::now() - self.witness.now().since(Default::default());
        sleep_until(origin + workload.start()).await;
        self.connect().await;

        let sessions = tasks::spawn({
            let (application, ends) = (self.clone(), workload.session_ends().to_vec());
            async move {
                for end in ends {
                    sleep_until(origin + end).await;
                    application.replace_session().await;
                }
            }
        });
        for (call, start) in (0..).zip(workload.calls()) {
            sleep_until(origin + *start).await;
            tasks::spawn(self.clone().call(call));
        }
        tasks::join(sessions).await;
    }

    /// Connects, trying until there is a client with a session.
    async fn connect(&self) {
        let mut delay = self.settings.reconnect_s.get();
        let service = loop {
            if let Some(service) = self.attempt().await {
                break service;
            }
            sleep(delay).await;
            delay = (delay * 2).min(self.settings.reconnect_max_s.get());
        };
        self.clients.set(self.clients.get() + 1);
        *self.client.borrow_mut() = Client::Connected(Connected { service, generation: self.clients.get() });
        self.changed.notify_waiters();
    }

    /// The SDK's handshake, then `tools/list`. Any failure means: start over. The SDK waits for ever for an answer to
    /// either, so the application gives each the time that the scenario gives an answer.
    async fn attempt(&self) -> Option<Service> {
        let within = self.settings.answer_timeout_s.get();
        let mut service = timeout(within, self.handshake()).await.ok()??;
        let request = ClientRequest::ListToolsRequest(ListToolsRequest::default());
        match timeout(within, service.send_request(request)).await {
            Ok(Ok(ServerResult::ListToolsResult(tools))) => {
                let (idempotent, checkpointable) =
                    message::tool_traits(&serde_json::to_value(&tools).unwrap_or_default());
                self.tool.set(ToolTraits { idempotent, checkpointable });
                Some(service)
            }
            _ => {
                let _ = service.close().await;
                None
            }
        }
    }

    async fn handshake(&self) -> Option<Service> {
        let sdk = &self.settings.rmcp;
        let connection = Rc::new(Connection::new(self.record.clone()));
        let watched = SendWrapper::new(connection.clone());
        let backend = Backend::new(connection, self.dial.clone(), self.settings.answer_timeout_s.get());
        let handler = Handler::new(self.record.clone(), sdk.protocol);
        let config = config::transport(sdk);
        let lifecycle = config::lifecycle(sdk.protocol);
        let Some((grammar, rules)) = &self.guard else {
            let transport = StreamableHttpClientTransport::with_client(backend, config);
            return handler.serve_with_lifecycle(transport, lifecycle).await.ok();
        };
        let guard = Guard::new(backend, *grammar, rules.clone())
            .observed(move |finding| watched.found(finding))
            .refused_where(BackendError::refuses_resume);
        let transport = StreamableHttpClientTransport::with_client(guard, config);
        handler.serve_with_lifecycle(transport, lifecycle).await.ok()
    }

    /// Waits for a client in whose session a call can start. One whose transport has ended is replaced.
    pub(super) async fn live(self: &Rc<Self>) -> Live {
        loop {
            let changed = self.changed.notified();
            let ended = match &*self.client.borrow() {
                Client::Connected(Connected { service, generation }) => {
                    let live = Live { peer: service.peer().clone(), generation: *generation };
                    if !live.peer.is_transport_closed() {
                        return live;
                    }
                    Some(live)
                }
                Client::Connecting | Client::Closing(_) => None,
            };
            if let Some(ended) = ended {
                self.abandon(&ended);
            }
            changed.await;
        }
    }

    /// Closes the client `live`, if it is still there, and connects anew.
    pub(super) fn abandon(self: &Rc<Self>, live: &Live) {
        let Some(mut connected) = self.take(live.generation) else { return };
        // A task of its own: whoever finds a client dead may stop waiting for the next one.
        let application = self.clone();
        tasks::spawn(async move {
            let _ = connected.service.close().await;
            application.connect().await;
        });
    }

    /// Ends the session once no call is in flight in it, and opens another.
    async fn replace_session(self: &Rc<Self>) {
        let Live { generation, .. } = self.live().await;
        if let Some(connected) = self.take(generation) {
            *self.client.borrow_mut() = Client::Closing(connected);
        }
        while self.record.is_busy() {
            let changed = self.changed.notified();
            if !self.is_current(generation) {
                return;
            }
            changed.await;
        }
        if let Some(mut connected) = self.take(generation) {
            let _ = connected.service.close().await;
            self.connect().await;
        }
    }

    /// Takes the client of `generation` away, where it is still there.
    fn take(&self, generation: u64) -> Option<Connected> {
        if !self.is_current(generation) {
            return None;
        }
        match std::mem::replace(&mut *self.client.borrow_mut(), Client::Connecting) {
            Client::Connected(connected) | Client::Closing(connected) => Some(connected),
            Client::Connecting => None,
        }
    }

    fn is_current(&self, generation: u64) -> bool {
        match &*self.client.borrow() {
            Client::Connected(connected) | Client::Closing(connected) => connected.generation == generation,
            Client::Connecting => false,
        }
    }
}
