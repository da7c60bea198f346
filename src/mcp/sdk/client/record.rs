//! What one client keeps beside the SDK: the numbers it gives, its calls in flight, and the session as the wire shows it.
//!
//! The application and the HTTP backend share it. It reports to the event log what the client model reports, at the
//! same points, and nothing here reaches back into the SDK.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rmcp::model::ProgressToken;

use crate::mcp::wire::header::RequestTag;
use crate::observe::event::{CallNo, ClientNo, DetectedBy, Event, RequestNo};
use crate::observe::witness::Witness;

/// The record of one client.
pub struct Record {
    client: ClientNo,
    /// Bytes sent and received so far: whoever opens the connections counts them.
    traffic: Rc<Cell<u64>>,
    witness: Witness,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    next_request: RequestNo,
    in_flight: BTreeMap<CallNo, InFlight>,
    /// The session that stands, as far as the wire has shown.
    session: Option<String>,
    restart: Option<Restart>,
}

/// A call in flight.
#[derive(Default)]
struct InFlight {
    /// The check values of the parts held, in the order of their coming: their number is the checkpoint.
    checks: Vec<u32>,
    /// The progress token of its current request.
    token: Option<ProgressToken>,
    restarts: u32,
    /// Whether its request has ever left.
    sent: bool,
    /// Whether the application has said that it sends the call again.
    announced: bool,
}

/// A restart that is not over: some calls have not been sent again yet.
struct Restart {
    requests_before: RequestNo,
    bytes_before: u64,
    waiting: BTreeSet<CallNo>,
}

/// What is left of a call that has ended.
pub struct Ended {
    /// The check values of the parts held.
    pub checks: Vec<u32>,
    /// How often it was sent again.
    pub restarts: u32,
}

impl Record {
    /// The record of a client that has done nothing.
    pub fn new(client: ClientNo, traffic: Rc<Cell<u64>>, witness: Witness) -> Record {
        Record { client, traffic, witness, state: RefCell::default() }
    }

    /// The client.
    pub fn client(&self) -> ClientNo {
        self.client
    }

    /// Bytes sent and received so far.
    pub fn bytes(&self) -> u64 {
        self.traffic.get()
    }

    /// Reports that `event` happens now.
    pub fn report(&self, event: Event) {
        self.witness.report(event);
    }

    /// The tag of the next request.
    pub fn take_tag(&self) -> RequestTag {
        let mut state = self.state.borrow_mut();
        let request = state.next_request;
        state.next_request += 1;
        RequestTag { client: self.client, request }
    }

    // ---- calls ----

    /// A call begins.
    pub fn call_started(&self, call: CallNo) {
        self.report(Event::CallStarted { client: self.client, call });
        self.state.borrow_mut().in_flight.insert(call, InFlight::default());
    }

    /// The parts that a call holds: what it asks for next.
    pub fn held(&self, call: CallNo) -> u32 {
        self.state.borrow().in_flight.get(&call).map_or(0, |call| call.checks.len() as u32)
    }

    /// The parts of a call's current request come with `token`; without one there is no request whose parts could come.
    /// Another client of the SDK gives the same tokens again.
    pub fn expect_parts(&self, call: CallNo, token: Option<ProgressToken>) {
        if let Some(call) = self.state.borrow_mut().in_flight.get_mut(&call) {
            call.token = token;
        }
    }

    /// A part has come with `token`. What nobody waits for is dropped.
    pub fn take_part(&self, token: &ProgressToken, check: u32) {
        let mut state = self.state.borrow_mut();
        // A client has a handful of calls in flight: looking through them beats another index.
        if let Some(call) = state.in_flight.values_mut().find(|call| call.token.as_ref() == Some(token)) {
            call.checks.push(check);
        }
    }

    /// Goes back to the last checkpoint of a call: the parts held, or the start where the tool keeps none.
    pub fn rewind(&self, call: CallNo, checkpointable: bool) {
        let (held, from_part) = {
            let mut state = self.state.borrow_mut();
            let Some(in_flight) = state.in_flight.get_mut(&call) else { return };
            let held = in_flight.checks.len() as u32;
            if !checkpointable {
                in_flight.checks.clear();
            }
            in_flight.restarts += 1;
            in_flight.announced = true;
            (held, in_flight.checks.len() as u32)
        };
        self.report(Event::CallReplayed { client: self.client, call, held, from_part });
    }

    /// A request of `call` is about to leave. Where the application knows nothing of it, the SDK sends a request again
    /// whose session has been answered 404.
    pub fn call_leaves(&self, call: CallNo, from_part: u32) {
        let held = {
            let mut state = self.state.borrow_mut();
            let Some(in_flight) = state.in_flight.get_mut(&call) else { return };
            let again = in_flight.sent && !in_flight.announced;
            in_flight.sent = true;
            in_flight.announced = false;
            in_flight.restarts += u32::from(again);
            again.then_some(in_flight.checks.len() as u32)
        };
        if let Some(held) = held {
            self.report(Event::CallReplayed { client: self.client, call, from_part, held });
        }
    }

    /// A call ends, as the application sees it.
    pub fn call_ends(&self, call: CallNo) -> Ended {
        let ended = self.state.borrow_mut().in_flight.remove(&call).unwrap_or_default();
        Ended { checks: ended.checks, restarts: ended.restarts }
    }

    /// Whether a call is in flight whose request has left.
    pub fn is_busy(&self) -> bool {
        self.state.borrow().in_flight.values().any(|call| call.sent)
    }

    // ---- the session ----

    /// A session stands: its `notifications/initialized` has been taken.
    pub fn session_opened(&self, key: &str) {
        self.state.borrow_mut().session = Some(key.to_owned());
        self.finish_restart(None);
    }

    /// Takes note, once, that the session `key` is lost.
    pub fn lose_session(&self, key: &str, request: RequestNo, by: DetectedBy, detail: String) {
        let in_flight: BTreeSet<CallNo> = {
            let mut state = self.state.borrow_mut();
            if state.session.as_deref() != Some(key) {
                return;
            }
            state.session = None;
            state.in_flight.iter().filter(|(_, call)| call.sent).map(|(no, _)| *no).collect()
        };
        self.report(Event::SessionLost {
            client: self.client,
            request,
            session: key.to_owned(),
            by,
            detail,
            in_flight: in_flight.len() as u32,
        });
        let mut state = self.state.borrow_mut();
        state.restart =
            Some(Restart { requests_before: state.next_request, bytes_before: self.traffic.get(), waiting: in_flight });
    }

    /// Takes `call` off the list of calls that the restart has still to send again; reports the end of the restart.
    /// Until a new session stands, an answer to a request is one of the lost session.
    pub fn answered(&self, call: CallNo) {
        if self.state.borrow().session.is_some() {
            self.finish_restart(Some(call));
        }
    }

    /// Nobody waits for `call` any more: the restart does not either.
    pub fn finish_restart(&self, call: Option<CallNo>) {
        let event = {
            let mut state = self.state.borrow_mut();
            let State { restart, session, next_request, .. } = &mut *state;
            let Some(open) = restart else { return };
            if let Some(call) = call {
                open.waiting.remove(&call);
            }
            let (Some(session), true) = (session, open.waiting.is_empty()) else { return };
            let event = Event::SessionRestored {
                client: self.client,
                session: session.clone(),
                requests: *next_request - open.requests_before,
                bytes: self.traffic.get() - open.bytes_before,
            };
            *restart = None;
            event
        };
        self.report(event);
    }
}
