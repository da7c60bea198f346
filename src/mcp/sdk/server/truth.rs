//! Ground truth about the SDK's sessions, kept from outside: what the SDK is asked and what passes through its seams.
//!
//! The rules are those of `session/local.rs` in rmcp 3.11.0. A stream keeps its newest events in a ring, the priming
//! event included, and forgets everything once its response has gone, or some time after its request is cancelled. A
//! resume begins *with* the event that the cursor names; a cursor one beyond the newest event is accepted, any other is
//! answered 200 with an empty, closed stream.
//!
//! With an event store (`events`), a resume begins *after* the event that the cursor names, wherever its stream is and
//! whether or not it is complete, and streams are forgotten with their session. With a session store beside it, sessions
//! outlive the process too: then a restart ends the streams of the calls that died, and nothing else. What is not told:
//! the ids of events before the first one of their stream has been read, and anything of revision 2026-07-28, whose
//! requests pass by the session manager.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ClientJsonRpcMessage, ClientNotification, RequestId, ServerJsonRpcMessage, ServerNotification};
use rmcp::model::{GetMeta, ProgressToken};

use super::events::{Events, Log};
use crate::mcp::sdk::settings::RmcpServerSettings;
use crate::mcp::server::fleet::Fleet;
use crate::mcp::wire::header::RequestTag;
use crate::observe::event::{Cause, CursorFound, Event, FrameKind, IncarnationNo, LogNo, Origin, Position};
use crate::observe::witness::Witness;
use crate::world::time::SimTime;

/// The standalone stream is this stream of its session.
const STANDALONE: u32 = 0;

/// What is known of every session that lives.
pub(super) struct Truth {
    server: u32,
    /// Events that one stream keeps.
    capacity: u64,
    /// Whether the stream of a POST begins with a priming event, which takes the index 0.
    priming: bool,
    /// How long a stream is kept whose request was cancelled.
    completed_ttl: Duration,
    fleet: Rc<Fleet>,
    witness: Witness,
    events: Option<Arc<Events>>,
    sessions: RefCell<Sessions>,
    /// Whether the sessions outlive the process.
    lasting: bool,
    /// The streams of POSTs in all sessions.
    streams: Cell<usize>,
}

/// The sessions that live, by their keys.
pub(super) type Sessions = BTreeMap<String, Session>;

/// What is known of a session.
pub(super) struct Session {
    /// Whether a process has it in its memory. Always, unless sessions outlive processes.
    is_present: bool,
    incarnation: IncarnationNo,
    /// Whether `initialize` has been answered. That answer goes past every stream: it is in no ring and has no number.
    initialized: bool,
    /// The streams that are not complete, by their number in the session.
    streams: BTreeMap<u32, Stream>,
    opened: u32,
    /// Which stream gets what belongs to a request. The last one to name a resource has it.
    resources: BTreeMap<Resource, u32>,
    /// The streams whose requests were cancelled, and when, in that order.
    cancelled: VecDeque<(SimTime, u32)>,
    /// Whether a leg carries the standalone stream.
    standalone_attached: bool,
}

struct Stream {
    log: LogNo,
    /// The index that the next event gets, in the SDK's counting.
    next: u64,
    /// What is taken off an index to get a position: 1 where the priming event has the index 0.
    offset: u64,
    /// What its request named. When the stream is done with, so are they, whoever has named them since.
    resources: BTreeSet<Resource>,
    /// The number by which the event store names it, once that is known.
    stored_as: Option<u64>,
}

/// The SDK's `ResourceKey`: the id of a request, or the token of its parts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Resource {
    Request(Name),
    Token(Name),
}

/// A number and a text are never the same name, however they look.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    Number(i64),
    Text(Arc<str>),
}

impl From<&RequestId> for Name {
    fn from(id: &RequestId) -> Name {
        match id {
            RequestId::Number(number) => Name::Number(*number),
            RequestId::String(text) => Name::Text(text.clone()),
        }
    }
}

fn request(id: &RequestId) -> Resource {
    Resource::Request(id.into())
}

fn token(token: &ProgressToken) -> Resource {
    Resource::Token((&token.0).into())
}

impl Stream {
    fn new(log: LogNo, offset: u64) -> Stream {
        Stream { log, next: offset, offset, resources: BTreeSet::new(), stored_as: None }
    }

    /// The index of the oldest event that is kept.
    fn oldest(&self, capacity: u64) -> u64 {
        self.next.saturating_sub(capacity)
    }

    fn position(&self, index: u64) -> Position {
        index.saturating_sub(self.offset)
    }
}

/// Where a leg begins.
#[derive(Clone, Copy)]
pub(super) struct Place {
    log: Option<LogNo>,
    next: Position,
    found: CursorFound,
}

impl Place {
    const fn nowhere(found: CursorFound) -> Place {
        Place { log: None, next: 0, found }
    }

    /// The same, where the SDK refused what it was asked.
    pub(super) const fn refused(self) -> Place {
        Place { log: None, ..self }
    }
}

impl Truth {
    /// What a new process knows: of its sessions nothing but `sessions`, which outlive processes.
    pub(super) fn new(
        server: u32,
        sdk: &RmcpServerSettings,
        events: Option<Arc<Events>>,
        sessions: Sessions,
        fleet: Rc<Fleet>,
        witness: Witness,
    ) -> Truth {
        Truth {
            server,
            capacity: u64::from(sdk.channel_capacity),
            priming: !sdk.sse_retry_s.get().is_zero(),
            completed_ttl: sdk.completed_cache_ttl_s.get(),
            fleet,
            witness,
            lasting: events.is_some() && sdk.session_store,
            events,
            sessions: RefCell::new(sessions),
            streams: Cell::new(0),
        }
    }

    /// The sessions that live.
    pub(super) fn sessions(&self) -> usize {
        self.sessions.borrow().values().filter(|session| session.is_present).count()
    }

    /// The streams of POSTs that are kept, in all sessions.
    pub(super) fn streams(&self) -> usize {
        self.streams.get()
    }

    /// A session begins a life.
    pub(super) fn opened(&self, key: &str, tag: Option<RequestTag>, origin: Origin) {
        if origin == Origin::Restored
            && let Some(session) = self.sessions.borrow_mut().get_mut(key)
        {
            session.is_present = true;
            return;
        }
        let owner = tag.unwrap_or_else(|| self.fleet.stranger(None)).client;
        let incarnation = self.fleet.next_incarnation();
        self.fleet.settle(owner, self.server);
        let log = self.fleet.next_log();
        let session = key.to_owned();
        self.witness.report(Event::SessionOpened { server: self.server, session, incarnation, owner, origin });
        self.witness.report(Event::LogOpened { log, incarnation, stream: STANDALONE });
        let standalone = Stream::new(log, 0);
        let session = Session {
            is_present: true,
            incarnation,
            initialized: false,
            streams: BTreeMap::from([(STANDALONE, standalone)]),
            opened: 0,
            resources: BTreeMap::new(),
            cancelled: VecDeque::new(),
            standalone_attached: false,
        };
        self.sessions.borrow_mut().insert(key.to_owned(), session);
    }

    /// A session's life ends, if it has not ended before. One that outlives processes ends when its client says so.
    pub(super) fn closed(&self, key: &str, cause: Cause) {
        if self.lasting && cause != Cause::Deleted {
            return self.parted(key, cause);
        }
        let Some(session) = self.sessions.borrow_mut().remove(key) else {
            return;
        };
        for stream in session.streams.values() {
            self.witness.report(Event::LogClosed { log: stream.log, cause });
        }
        self.streams.set(self.streams.get() + 1 - session.streams.len());
        let incarnation = session.incarnation;
        self.witness.report(Event::SessionClosed { session: key.to_owned(), incarnation, cause });
    }

    /// No process has the session any more, and the calls in flight are dead.
    fn parted(&self, key: &str, cause: Cause) {
        let mut sessions = self.sessions.borrow_mut();
        let Some(session) = sessions.get_mut(key).filter(|session| session.is_present) else { return };
        session.is_present = false;
        session.initialized = false;
        session.standalone_attached = false;
        session.resources.clear();
        session.cancelled.clear();
        let dead = session.streams.split_off(&(STANDALONE + 1));
        self.streams.set(self.streams.get() - dead.len());
        for stream in dead.values() {
            self.witness.report(Event::LogClosed { log: stream.log, cause });
        }
    }

    /// The process stops, and every session's life ends. Returns those that outlive it. What the SDK still does with
    /// its dead sessions finds none here.
    pub(super) fn stopped(&self) -> Sessions {
        let keys: Vec<String> = self.sessions.borrow().keys().cloned().collect();
        for key in keys {
            self.closed(&key, Cause::ServerShutdown);
        }
        self.sessions.take()
    }

    /// A POST opens the stream of its response.
    pub(super) fn stream_opened(&self, key: &str, message: &ClientJsonRpcMessage) -> Place {
        let mut sessions = self.sessions.borrow_mut();
        let (Some(session), ClientJsonRpcMessage::Request(request)) = (sessions.get_mut(key), message) else {
            return Place::nowhere(CursorFound::Absent);
        };
        session.opened += 1;
        let number = session.opened;
        let log = self.fleet.next_log();
        let mut stream = Stream::new(log, u64::from(self.priming));
        stream.resources.insert(self::request(&request.id));
        stream.resources.extend(request.request.get_meta().get_progress_token().as_ref().map(token));
        session.resources.extend(stream.resources.iter().map(|resource| (resource.clone(), number)));
        session.streams.insert(number, stream);
        self.streams.set(self.streams.get() + 1);
        self.witness.report(Event::LogOpened { log, incarnation: session.incarnation, stream: number });
        self.evict(session);
        Place { log: Some(log), next: 0, found: CursorFound::Absent }
    }

    /// A GET with the cursor `cursor`, or with none. Whether it carries the standalone stream.
    pub(super) fn resumed(&self, key: &str, cursor: Option<&str>) -> (Place, bool) {
        let mut sessions = self.sessions.borrow_mut();
        let Some(session) = sessions.get_mut(key) else {
            return (Place::nowhere(CursorFound::Unknown), false);
        };
        let place = self.place(session, cursor);
        self.evict(session);
        place
    }

    fn place(&self, session: &Session, cursor: Option<&str>) -> (Place, bool) {
        if let Some(events) = &self.events
            && let Some(cursor) = cursor
        {
            let found = if events.find(cursor).is_some() { CursorFound::Known } else { CursorFound::Unknown };
            let named = events.find(cursor).and_then(|found| Some((found.log?, found.index)));
            let place = named.map_or(Place::nowhere(found), |(log, index)| Place {
                log: Some(log.log),
                next: log.position(index + 1),
                found,
            });
            return (place, false);
        }
        let (index, number) = match cursor.map(parse) {
            None => (0, STANDALONE),
            Some(None) => return (Place::nowhere(CursorFound::Unknown), false),
            Some(Some(named)) => named,
        };
        let Some(stream) = session.streams.get(&number) else {
            return (Place::nowhere(CursorFound::Unknown), false);
        };
        let oldest = stream.oldest(self.capacity);
        let found = match cursor {
            None => CursorFound::Absent,
            Some(_) if index < oldest => CursorFound::Purged,
            Some(_) if index >= stream.next => CursorFound::Ahead,
            Some(_) => CursorFound::Known,
        };
        if number == STANDALONE && session.standalone_attached {
            // A second leg beside one that is open gets nothing but comments.
            return (Place::nowhere(found), false);
        }
        // Nothing has ever been kept where there are no priming events: then any cursor is accepted.
        let kept = stream.next > oldest;
        if kept && index > stream.next {
            return (Place::nowhere(CursorFound::Ahead), false);
        }
        // The event store has what was missed, so that nothing is replayed to who names no event.
        let replays = kept && self.events.is_none();
        let first = if replays { index.max(oldest) } else { stream.next };
        (Place { log: Some(stream.log), next: stream.position(first), found }, number == STANDALONE)
    }

    /// Reports that a leg begins at `place`.
    pub(super) fn attached(&self, tag: Option<RequestTag>, place: Place) {
        let Some(RequestTag { client, request }) = tag else { return };
        let Place { log, next, found } = place;
        self.witness.report(Event::Attached { client, request, log, next, found });
    }

    /// The standalone stream is carried by a leg from now on, or no longer.
    pub(super) fn standalone(&self, key: &str, attached: bool) {
        if let Some(session) = self.sessions.borrow_mut().get_mut(key) {
            session.standalone_attached = attached;
        }
    }

    /// The handler hands `message` to the session: it becomes an event of the stream that the SDK routes it to. Where
    /// that is a response, returns the stream of its request.
    pub(super) fn appended(&self, key: &str, message: &ServerJsonRpcMessage) -> Option<u32> {
        let mut sessions = self.sessions.borrow_mut();
        let session = sessions.get_mut(key)?;
        if !std::mem::replace(&mut session.initialized, true) {
            return None;
        }
        let (routed, kind) = match message {
            ServerJsonRpcMessage::Response(response) => {
                (session.resources.get(&request(&response.id)), FrameKind::Response)
            }
            ServerJsonRpcMessage::Error(error) => {
                (error.id.as_ref().and_then(|id| session.resources.get(&request(id))), FrameKind::Response)
            }
            ServerJsonRpcMessage::Notification(notification) => match &notification.notification {
                ServerNotification::ProgressNotification(progress) => {
                    (session.resources.get(&token(&progress.params.progress_token)), FrameKind::Part)
                }
                _ => (None, FrameKind::Notification),
            },
            ServerJsonRpcMessage::Request(_) => (None, FrameKind::Notification),
        };
        let routed = routed.copied();
        let number = routed.unwrap_or(STANDALONE);
        let stream = session.streams.get_mut(&number)?;
        let index = stream.next;
        stream.next += 1;
        let position = stream.position(index);
        let id = match (&self.events, stream.stored_as) {
            (Some(_), stored_as) => stored_as.map(|number| format!("{index}/{number}")),
            (None, _) if number == STANDALONE => Some(index.to_string()),
            (None, _) => Some(format!("{index}/{}", number - 1)),
        };
        self.witness.report(Event::Appended {
            log: stream.log,
            first: position,
            last: position,
            first_id: id.clone(),
            last_id: id,
            kind,
        });
        let oldest = stream.oldest(self.capacity);
        if oldest > stream.offset && self.events.is_none() {
            let through = stream.position(oldest - 1);
            self.witness.report(Event::Evicted { log: stream.log, through, cause: Cause::Churn });
        }
        self.evict(session);
        routed.filter(|_| kind == FrameKind::Response)
    }

    /// The session has taken a response: it completes the stream `number`, which the SDK forgets at once.
    pub(super) fn taken(&self, key: &str, number: u32) {
        if let Some(session) = self.sessions.borrow_mut().get_mut(key) {
            self.forget(session, number, Cause::Finished);
        }
    }

    /// A message of the client that opens no stream: a cancellation lets go of what its request named. Its stream is
    /// kept for a while, and gets no more.
    pub(super) fn accepted(&self, key: &str, message: &ClientJsonRpcMessage) {
        let mut sessions = self.sessions.borrow_mut();
        let Some(session) = sessions.get_mut(key) else { return };
        if let ClientJsonRpcMessage::Notification(notification) = message
            && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
            && let Some(id) = &cancelled.params.request_id
            && let Some(number) = session.resources.remove(&request(id))
            && let Some(stream) = session.streams.get_mut(&number)
        {
            session.cancelled.push_back((self.witness.now(), number));
            for resource in std::mem::take(&mut stream.resources) {
                session.resources.remove(&resource);
            }
        }
        self.evict(session);
    }

    /// The SDK forgets cancelled streams when their time is over, but looks only after something has happened in the
    /// session.
    fn evict(&self, session: &mut Session) {
        let now = self.witness.now();
        while let Some((at, number)) = session.cancelled.front().copied()
            && now.since(at) >= self.completed_ttl
        {
            session.cancelled.pop_front();
            self.forget(session, number, Cause::Expired);
        }
    }

    fn forget(&self, session: &mut Session, number: u32, cause: Cause) {
        let Some(stream) = session.streams.remove(&number) else { return };
        for resource in &stream.resources {
            session.resources.remove(resource);
        }
        self.streams.set(self.streams.get() - 1);
        // The event store forgets nothing.
        if self.events.is_none() {
            self.witness.report(Event::LogClosed { log: stream.log, cause });
        }
    }

    /// The first event that a leg which began at `place` carries has the id `id`: where there is an event store, that
    /// shows the stream's number there.
    pub(super) fn named(&self, key: &str, place: Place, id: &str) {
        let (Some(events), Some(log)) = (&self.events, place.log) else { return };
        let mut sessions = self.sessions.borrow_mut();
        let Some(session) = sessions.get_mut(key) else { return };
        if let Some(stream) = session.streams.values_mut().find(|stream| stream.log == log) {
            stream.stored_as = id.split_once('/').and_then(|(_, number)| number.parse().ok());
            events.name(id, Log { log, offset: stream.offset });
        }
    }
}

/// `<index>/<request>` of a POST's stream, `<index>` of the standalone one: the index, and the stream of the session.
fn parse(cursor: &str) -> Option<(u64, u32)> {
    match cursor.split_once('/') {
        None => Some((cursor.parse().ok()?, STANDALONE)),
        Some((index, request)) => Some((index.parse().ok()?, request.parse::<u32>().ok()?.checked_add(1)?)),
    }
}
