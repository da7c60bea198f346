//! Opening a session, ending it, and learning that it is lost.

use std::rc::Rc;

use tokio::task::spawn_local;
use tokio::time::sleep;

use super::Client;
use super::request::{Answered, Outgoing};
use super::state::{InFlight, Restart, Session, ToolTraits};
use super::stream::StreamEnd;
use crate::mcp::net::Dial;
use crate::mcp::wire::header::{RequestTag, SESSION_ID};
use crate::mcp::wire::message::{self, Incoming};
use crate::observe::event::{CallNo, DetectedBy, Event, Purpose};

/// A live session: its key and its place in the order of this client's sessions.
#[derive(Clone)]
pub struct LiveSession {
    /// The key.
    pub key: Rc<str>,
    /// Its place.
    pub generation: u32,
}

impl<D: Dial> Client<D> {
    /// Opens a session, trying until there is one, and listens on its GET stream.
    pub(super) async fn open_session(self: &Rc<Self>) {
        let mut delay = self.settings.reconnect_s.get();
        let key = loop {
            if let Some(key) = self.handshake().await {
                break key;
            }
            sleep(delay).await;
            delay = (delay * 2).min(self.settings.reconnect_max_s.get());
        };
        let generation = {
            let mut state = self.state.borrow_mut();
            state.generation += 1;
            state.session = Session::Live(key.clone());
            state.generation
        };
        self.changed.notify_waiters();
        self.finish_restart(None);
        spawn_local(self.clone().listen(LiveSession { key, generation }));
    }

    /// `initialize`, `notifications/initialized`, `tools/list`. Any failure means: start over. A server may give no
    /// session key (2025-11-25, transports, "Session Management"): then it is the empty one, which is never sent.
    async fn handshake(&self) -> Option<Rc<str>> {
        let id = self.state.borrow_mut().take_rpc_id();
        let answered = self.send(Purpose::Initialize, None, Outgoing::Message(&message::initialize(id))).await.ok()?;
        let key: Rc<str> = answered.answer.header(&SESSION_ID).unwrap_or_default().into();
        let status = answered.answer.status();
        let body = self.http.message(answered.answer).await;
        let is_answered = matches!(Incoming::parse(&body), Ok(Incoming::Response { result: Ok(_), .. }));
        if status != 200 || (key.is_empty() && !is_answered) {
            return None;
        }

        let initialized =
            self.send(Purpose::Initialized, Some(&key), Outgoing::Message(&message::initialized())).await.ok()?;
        let status = initialized.answer.status();
        self.http.message(initialized.answer).await;
        if !matches!(status, 200 | 202) {
            return None;
        }

        let id = self.state.borrow_mut().take_rpc_id();
        let listed =
            self.send(Purpose::ListTools, Some(&key), Outgoing::Message(&message::list_tools(id))).await.ok()?;
        let body = self.http.message(listed.answer).await;
        let Ok(Incoming::Response { result: Ok(result), .. }) = Incoming::parse(&body) else { return None };
        let (idempotent, checkpointable) = message::tool_traits(&result.read().ok()?);
        self.state.borrow_mut().tool = ToolTraits { idempotent, checkpointable };
        Some(key)
    }

    /// Reads the session's GET stream for as long as the session lives.
    async fn listen(self: Rc<Self>, session: LiveSession) {
        let mut stream = self.logical_stream(Purpose::Listen);
        tokio::select! {
            biased;
            () = self.session_over(session.generation) => {}
            // A server may offer no stream (405): then there is nothing to listen to.
            StreamEnd::SessionLost | StreamEnd::Over(_) =
                self.follow(&mut stream, &session.key, session.generation) => {}
        }
    }

    /// Takes note that the session of `generation` is lost, once, and opens another.
    ///
    /// The lost session is not ended with DELETE: under its key may live somebody else's.
    pub(super) fn lose_session(self: &Rc<Self>, generation: u32, tag: RequestTag, by: DetectedBy, detail: String) {
        let key = {
            let mut state = self.state.borrow_mut();
            if state.generation != generation {
                return;
            }
            match std::mem::take(&mut state.session) {
                Session::Live(key) | Session::Closing(key) => key,
                Session::Opening => return,
            }
        };
        // A call that has not been sent yet waits for the next session unharmed.
        let sent = |call: &InFlight| call.ids.is_some();
        let in_flight: Vec<CallNo> =
            self.state.borrow().in_flight.iter().filter(|(_, call)| sent(call)).map(|(no, _)| *no).collect();
        self.witness.report(Event::SessionLost {
            client: self.number,
            request: tag.request,
            session: key.to_string(),
            by,
            detail,
            in_flight: in_flight.len() as u32,
        });
        {
            let mut state = self.state.borrow_mut();
            state.restart = Some(Restart {
                requests_before: state.requests(),
                bytes_before: self.traffic.get(),
                waiting: in_flight.into_iter().collect(),
            });
        }
        self.changed.notify_waiters();
        let client = self.clone();
        spawn_local(async move { client.open_session().await });
    }

    /// Ends the session once no call is in flight in it, and opens another.
    pub(super) async fn replace_session(self: &Rc<Self>) {
        let session = self.live_session().await;
        self.state.borrow_mut().session = Session::Closing(session.key.clone());
        while self.state.borrow().in_flight.values().any(|call| call.ids.is_some()) {
            let changed = self.changed.notified();
            if !self.is_current(session.generation) {
                return;
            }
            changed.await;
        }
        if !self.is_current(session.generation) {
            return;
        }
        self.state.borrow_mut().session = Session::Opening;
        self.changed.notify_waiters();
        if !session.key.is_empty()
            && let Ok(Answered { answer, .. }) = self.send(Purpose::Delete, Some(&session.key), Outgoing::Delete).await
        {
            self.http.message(answer).await;
        }
        self.open_session().await;
    }

    /// Waits for a session in which a call can start.
    pub(super) async fn live_session(&self) -> LiveSession {
        loop {
            let changed = self.changed.notified();
            {
                let state = self.state.borrow();
                if let Session::Live(key) = &state.session {
                    return LiveSession { key: key.clone(), generation: state.generation };
                }
            }
            changed.await;
        }
    }

    /// Waits until the session of `generation` is over.
    pub(super) async fn session_over(&self, generation: u32) {
        loop {
            let changed = self.changed.notified();
            if !self.is_current(generation) {
                return;
            }
            changed.await;
        }
    }

    fn is_current(&self, generation: u32) -> bool {
        let state = self.state.borrow();
        state.generation == generation && !matches!(state.session, Session::Opening)
    }

    /// Takes `call` off the list of calls that the restart has still to send again; reports the end of the restart.
    pub(super) fn finish_restart(&self, call: Option<CallNo>) {
        let mut state = self.state.borrow_mut();
        let (Session::Live(key) | Session::Closing(key)) = &state.session else {
            if let (Some(call), Some(restart)) = (call, &mut state.restart) {
                restart.waiting.remove(&call);
            }
            return;
        };
        let key = key.to_string();
        let requests = state.requests();
        let Some(restart) = &mut state.restart else { return };
        if let Some(call) = call {
            restart.waiting.remove(&call);
        }
        if restart.waiting.is_empty() {
            let event = Event::SessionRestored {
                client: self.number,
                session: key,
                requests: requests - restart.requests_before,
                bytes: self.traffic.get() - restart.bytes_before,
            };
            state.restart = None;
            drop(state);
            self.witness.report(event);
        }
    }
}
