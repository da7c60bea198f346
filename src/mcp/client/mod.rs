//! The client model: one MCP client of revision 2025-11-25, the same for every arm but for its policy.
//!
//! A client opens a session, listens on its GET stream, starts tool calls at instants fixed before the run, resumes
//! streams that break, and, when it learns that its session is lost, opens another and sends the calls in flight
//! again. What it learns it learns from the wire alone: nothing here can read what a server or the oracle knows.

pub mod call;
pub mod http;
pub mod leg;
pub mod policy;
pub mod request;
pub mod session;
pub mod settings;
pub mod state;
pub mod stream;
pub mod workload;

#[cfg(test)]
pub(super) mod tests;

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;

use tokio::sync::Notify;
use tokio::task::spawn_local;
use tokio::time::{Instant, sleep_until};

use self::http::Http;
use self::policy::Policy;
use self::settings::ClientSettings;
use self::state::State;
use self::workload::Workload;
use crate::mcp::net::Dial;
use crate::observe::event::{ClientNo, Event};
use crate::observe::witness::Witness;
use crate::world::draw::Stream;

/// What a run does with a client, whoever wrote it.
pub trait Agent {
    /// Works through `workload`, whose instants count from the start of the run.
    fn run(self: Rc<Self>, workload: Workload) -> AgentRun;

    /// Writes what is only known at the end of the run. Called once, at the horizon.
    fn done(&self) -> Event;
}

/// A client at work.
pub type AgentRun = Pin<Box<dyn Future<Output = ()>>>;

/// One client. It lives on a host's `LocalSet`.
pub struct Client<D: Dial> {
    number: ClientNo,
    policy: Policy,
    settings: Rc<ClientSettings>,
    http: Http<D>,
    /// Bytes sent and received so far: whoever opens the connections counts them.
    traffic: Rc<Cell<u64>>,
    jitter: RefCell<Stream>,
    state: RefCell<State>,
    /// Woken whenever the session changes.
    changed: Notify,
    witness: Witness,
}

impl<D: Dial> Client<D> {
    /// A client that has not started.
    ///
    /// `dial` opens connections to the endpoint and counts their bytes in `traffic`; `jitter` spreads reconnections.
    pub fn new(
        number: ClientNo,
        policy: Policy,
        settings: Rc<ClientSettings>,
        dial: D,
        traffic: Rc<Cell<u64>>,
        jitter: Stream,
        witness: Witness,
    ) -> Rc<Client<D>> {
        let http = Http::new(dial, settings.answer_timeout_s.get());
        Rc::new(Client {
            number,
            policy,
            settings,
            http,
            traffic,
            jitter: RefCell::new(jitter),
            state: RefCell::new(State::default()),
            changed: Notify::new(),
            witness,
        })
    }

    async fn work(self: Rc<Self>, workload: Workload) {
        let origin = Instant::now() - self.witness.now().since(Default::default());
        sleep_until(origin + workload.start()).await;
        self.open_session().await;

        let sessions = spawn_local({
            let (client, ends) = (self.clone(), workload.session_ends().to_vec());
            async move {
                for end in ends {
                    sleep_until(origin + end).await;
                    client.replace_session().await;
                }
            }
        });
        for (call, start) in (0..).zip(workload.calls()) {
            sleep_until(origin + *start).await;
            spawn_local(self.clone().call(call));
        }
        // The task ends with the list of session ends; it is awaited so that a panic in it is not lost.
        let _ = sessions.await;
    }
}

impl<D: Dial> Agent for Client<D> {
    fn run(self: Rc<Self>, workload: Workload) -> AgentRun {
        Box::pin(self.work(workload))
    }

    fn done(&self) -> Event {
        Event::ClientDone { client: self.number, bytes: self.traffic.get() }
    }
}
