//! What a client keeps: its session, its calls in flight, the numbers it gives.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use tokio::sync::Notify;

use crate::observe::event::{CallNo, RequestNo};

/// The state of one client. Changes to `session` wake whoever waits for one.
#[derive(Default)]
pub struct State {
    pub(super) session: Session,
    /// Counts sessions, the one being opened included: tells a stream of an earlier session from one of this.
    pub(super) generation: u32,
    pub(super) tool: ToolTraits,
    pub(super) in_flight: BTreeMap<CallNo, InFlight>,
    pub(super) restart: Option<Restart>,
    /// Whether "the ids say nothing" has been reported.
    pub(super) said_not_applicable: bool,
    next_request: RequestNo,
    next_rpc_id: u64,
}

/// The session, as the client knows it.
#[derive(Default)]
pub enum Session {
    /// There is none yet, or the last one is over and the next one is being opened.
    #[default]
    Opening,
    /// It stands.
    Live(Rc<str>),
    /// The client is about to end it: no new call starts in it.
    Closing(Rc<str>),
}

/// What `tools/list` says about the tool.
#[derive(Clone, Copy, Default)]
pub struct ToolTraits {
    pub(super) idempotent: bool,
    pub(super) checkpointable: bool,
}

/// A call in flight.
#[derive(Default)]
pub struct InFlight {
    /// The check values of the parts held, in the order of their coming: their number is the checkpoint.
    pub(super) checks: Vec<u32>,
    /// The ids of its current request: (JSON-RPC id, progress token).
    pub(super) ids: Option<(u64, String)>,
    pub(super) restarts: u32,
    pub(super) response: Option<Result<(), String>>,
    /// Woken when `response` is there.
    pub(super) done: Rc<Notify>,
}

/// A restart that is not over: some calls have not been sent again yet.
pub struct Restart {
    pub(super) requests_before: RequestNo,
    pub(super) bytes_before: u64,
    pub(super) waiting: BTreeSet<CallNo>,
}

impl State {
    /// The number of the next HTTP request.
    pub(super) fn take_request_no(&mut self) -> RequestNo {
        let number = self.next_request;
        self.next_request += 1;
        number
    }

    /// Requests sent so far.
    pub(super) fn requests(&self) -> RequestNo {
        self.next_request
    }

    /// The next JSON-RPC id, from 1.
    pub(super) fn take_rpc_id(&mut self) -> u64 {
        self.next_rpc_id += 1;
        self.next_rpc_id
    }

    /// The call that waits for the response to the JSON-RPC request `id`.
    pub(super) fn by_rpc_id(&mut self, id: u64) -> Option<&mut InFlight> {
        self.find(|(rpc_id, _)| *rpc_id == id)
    }

    /// The call whose progress token is `token`.
    pub(super) fn by_token(&mut self, token: &str) -> Option<&mut InFlight> {
        self.find(|(_, own)| own == token)
    }

    /// A client has a handful of calls in flight: looking through them beats two more indexes.
    fn find(&mut self, wanted: impl Fn(&(u64, String)) -> bool) -> Option<&mut InFlight> {
        self.in_flight.values_mut().find(|call| call.ids.as_ref().is_some_and(&wanted))
    }
}
