//! What the teller keeps in mind: who owns what, what is open, which events have not been told yet.

use std::collections::{BTreeMap, BTreeSet};

use crate::observe::event::{CallNo, ClientNo, Event, FrameKind, IncarnationNo, LogNo, Purpose, RequestNo};
use crate::world::time::SimTime;

/// Everything kept in mind.
#[derive(Debug, Default)]
pub(super) struct Scene {
    owners: BTreeMap<IncarnationNo, ClientNo>,
    logs: BTreeMap<LogNo, Log>,
    clients: BTreeMap<ClientNo, Client>,
}

#[derive(Debug)]
struct Log {
    owner: Option<ClientNo>,
    incarnation: IncarnationNo,
    newest_id: Option<String>,
}

#[derive(Debug, Default)]
struct Client {
    requests: BTreeMap<RequestNo, Request>,
    streams: BTreeMap<Option<CallNo>, Stream>,
    discarded: BTreeSet<CallNo>,
    run: Option<Run>,
}

/// An open leg.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) purpose: Purpose,
    pub(super) cursor: Option<String>,
    log: Option<LogNo>,
    received: bool,
}

#[derive(Debug, Default)]
struct Stream {
    log: Option<LogNo>,
    seen: Option<String>,
}

/// Ordinary events that have not been told yet.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) events: u64,
    pub(super) first_id: Option<String>,
    pub(super) last_id: Option<String>,
    pub(super) until: SimTime,
}

impl Request {
    /// Whether the request opens or resumes a stream.
    fn is_leg(purpose: Purpose) -> bool {
        purpose == Purpose::Listen || matches!(purpose, Purpose::Call { .. } | Purpose::Resume { .. })
    }
}

/// The call whose stream a request carries; none for the session's own stream.
fn call_of(purpose: Purpose) -> Option<CallNo> {
    match purpose {
        Purpose::Call { call } | Purpose::Resume { call } => Some(call),
        _ => None,
    }
}

impl Scene {
    /// The client that an entry is about, where it is about one.
    pub(super) fn client_of(&self, event: &Event) -> Option<ClientNo> {
        match event {
            Event::CallStarted { client, .. }
            | Event::CallEnded { client, .. }
            | Event::RequestSent { client, .. }
            | Event::Answered { client, .. }
            | Event::Unanswered { client, .. }
            | Event::FrameReceived { client, .. }
            | Event::LegEnded { client, .. }
            | Event::SessionLost { client, .. }
            | Event::NotApplicable { client, .. }
            | Event::CallReplayed { client, .. }
            | Event::SessionRestored { client, .. }
            | Event::ClientDone { client, .. }
            | Event::LegCut { client, .. }
            | Event::Attached { client, .. }
            | Event::Rebased { client, .. }
            | Event::Detached { client, .. }
            | Event::ExecutionStarted { client, .. }
            | Event::ExecutionEnded { client, .. }
            | Event::Discarded { client, .. } => Some(*client),
            Event::SessionOpened { owner, .. } => Some(*owner),
            Event::SessionClosed { incarnation, .. } => self.owner(*incarnation),
            Event::FaultStruck { fault, .. } | Event::FaultOver { fault } => fault.client(),
            Event::Horizon
            | Event::LogOpened { .. }
            | Event::LogClosed { .. }
            | Event::Appended { .. }
            | Event::Evicted { .. } => None,
        }
    }

    /// Keeps in mind what later lines need.
    pub(super) fn observe(&mut self, event: &Event) {
        match event {
            Event::SessionOpened { incarnation, owner, .. } => {
                self.owners.insert(*incarnation, *owner);
            }
            Event::SessionClosed { incarnation, .. } => {
                self.owners.remove(incarnation);
                self.logs.retain(|_, log| log.incarnation != *incarnation);
            }
            Event::LogOpened { log, incarnation, .. } => {
                let opened = Log { owner: self.owner(*incarnation), incarnation: *incarnation, newest_id: None };
                self.logs.insert(*log, opened);
            }
            Event::LogClosed { log, .. } => {
                self.logs.remove(log);
            }
            Event::Appended { log, last_id, .. } => {
                if let Some(log) = self.logs.get_mut(log) {
                    log.newest_id.clone_from(last_id);
                }
            }
            Event::RequestSent { client, request, purpose, cursor, .. } if Request::is_leg(*purpose) => {
                let state = self.clients.entry(*client).or_default();
                let stream = state.streams.entry(call_of(*purpose)).or_default();
                if cursor.is_none() {
                    *stream = Stream::default();
                }
                let leg = Request { purpose: *purpose, cursor: cursor.clone(), log: None, received: false };
                state.requests.insert(*request, leg);
            }
            Event::Answered { client, request, status, .. } if *status != 200 => self.drop_request(*client, *request),
            Event::Unanswered { client, request, .. } | Event::LegEnded { client, request, .. } => {
                self.drop_request(*client, *request)
            }
            Event::Attached { client, request, log, .. } => self.attach(*client, *request, *log),
            Event::Rebased { client, request, log, .. } => self.attach(*client, *request, Some(*log)),
            Event::FrameReceived { client, request, id, kind } if *kind != FrameKind::Priming => {
                self.receive(*client, *request, id.as_ref())
            }
            Event::CallEnded { client, call, .. } => {
                if let Some(state) = self.clients.get_mut(client) {
                    state.streams.remove(&Some(*call));
                    state.discarded.remove(call);
                    state.requests.retain(|_, request| call_of(request.purpose) != Some(*call));
                }
            }
            _ => {}
        }
    }

    fn attach(&mut self, client: ClientNo, request: RequestNo, log: Option<LogNo>) {
        let Some(state) = self.clients.get_mut(&client) else {
            return;
        };
        let Some(request) = state.requests.get_mut(&request) else {
            return;
        };
        request.log = log;
        let stream = state.streams.entry(call_of(request.purpose)).or_default();
        // A stream that has brought something stays in the life that brought it until another one brings something.
        if stream.seen.is_none() {
            stream.log = log;
        }
    }

    fn receive(&mut self, client: ClientNo, request: RequestNo, id: Option<&String>) {
        let Some(state) = self.clients.get_mut(&client) else {
            return;
        };
        let Some(request) = state.requests.get_mut(&request) else {
            return;
        };
        request.received = true;
        let stream = state.streams.entry(call_of(request.purpose)).or_default();
        stream.log = request.log;
        if let Some(id) = id {
            stream.seen = Some(id.clone());
        }
    }

    fn drop_request(&mut self, client: ClientNo, request: RequestNo) {
        if let Some(state) = self.clients.get_mut(&client) {
            state.requests.remove(&request);
        }
    }

    pub(super) fn owner(&self, incarnation: IncarnationNo) -> Option<ClientNo> {
        self.owners.get(&incarnation).copied()
    }

    pub(super) fn log_owner(&self, log: LogNo) -> Option<ClientNo> {
        self.logs.get(&log)?.owner
    }

    pub(super) fn newest_id(&self, log: LogNo) -> Option<&str> {
        self.logs.get(&log)?.newest_id.as_deref()
    }

    pub(super) fn request(&self, client: ClientNo, request: RequestNo) -> Option<&Request> {
        self.clients.get(&client)?.requests.get(&request)
    }

    /// The life that brought a stream its last event.
    pub(super) fn log_before(&self, client: ClientNo, purpose: Purpose) -> Option<LogNo> {
        self.clients.get(&client)?.streams.get(&call_of(purpose))?.log
    }

    /// The cursor of a resume that has brought no data yet.
    pub(super) fn awaited_after(&self, client: ClientNo, request: RequestNo) -> Option<String> {
        let request = self.request(client, request)?;
        request.cursor.clone().filter(|_| !request.received)
    }

    /// The clients with a stream in `log`, and the last id that each of them has seen.
    pub(super) fn listeners(&self, log: LogNo) -> Vec<(ClientNo, Option<String>)> {
        self.clients
            .iter()
            .flat_map(|(client, state)| state.streams.values().map(move |stream| (client, stream)))
            .filter(|(_, stream)| stream.log == Some(log))
            .map(|(client, stream)| (*client, stream.seen.clone()))
            .collect()
    }

    /// Whether this is the first output of a pending call that is discarded.
    pub(super) fn first_discard(&mut self, client: ClientNo, call: CallNo) -> bool {
        self.clients
            .get_mut(&client)
            .is_some_and(|state| state.streams.contains_key(&Some(call)) && state.discarded.insert(call))
    }

    /// Puts an ordinary event aside.
    pub(super) fn join_run(&mut self, at: SimTime, client: ClientNo, id: Option<&str>) {
        let state = self.clients.entry(client).or_default();
        let run = state.run.get_or_insert_with(|| Run {
            events: 0,
            first_id: id.map(str::to_owned),
            last_id: None,
            until: at,
        });
        run.events += 1;
        run.last_id = id.map(str::to_owned);
        run.until = at;
    }

    pub(super) fn take_run(&mut self, client: ClientNo) -> Option<Run> {
        self.clients.get_mut(&client)?.run.take()
    }

    pub(super) fn take_runs(&mut self) -> Vec<(ClientNo, Run)> {
        self.clients.iter_mut().filter_map(|(client, state)| Some((*client, state.run.take()?))).collect()
    }
}
