//! Ground truth about the SDK's sessions, kept from outside: what the SDK is asked and what passes through its seams.
//!
//! The rules are those of `session/local.rs` in rmcp 3.11.0. A stream keeps its newest events in a ring, the priming
//! event included, and forgets everything once its response has gone. A resume begins *with* the event that the cursor
//! names; a cursor one beyond the newest event is accepted, any other is answered 200 with an empty, closed stream.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use rmcp::model::{ClientJsonRpcMessage, ClientNotification, RequestId, ServerJsonRpcMessage, ServerNotification};
use rmcp::model::{GetMeta, ProgressToken};

use crate::mcp::server::fleet::Fleet;
use crate::mcp::wire::header::RequestTag;
use crate::observe::event::{Cause, CursorFound, Event, FrameKind, IncarnationNo, LogNo, Origin, Position};
use crate::observe::witness::Witness;

/// The standalone stream is this stream of its session.
const STANDALONE: u32 = 0;

/// What is known of every session that lives.
pub(super) struct Truth {
    server: u32,
    /// Events that one stream keeps.
    capacity: u64,
    /// Whether the stream of a POST begins with a priming event, which takes the index 0.
    priming: bool,
    fleet: Rc<Fleet>,
    witness: Witness,
    sessions: RefCell<BTreeMap<String, Session>>,
}

struct Session {
    incarnation: IncarnationNo,
    /// Whether `initialize` has been answered. That answer goes past every stream: it is in no ring and has no number.
    initialized: bool,
    /// The streams that are not complete, by their number in the session.
    streams: BTreeMap<u32, Stream>,
    opened: u32,
    requests: BTreeMap<String, u32>,
    tokens: BTreeMap<String, u32>,
    /// Whether a leg carries the standalone stream.
    standalone_attached: bool,
}

struct Stream {
    log: LogNo,
    /// The index that the next event gets, in the SDK's counting.
    next: u64,
    /// What is taken off an index to get a position: 1 where the priming event has the index 0.
    offset: u64,
}

impl Stream {
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
    pub(super) fn new(server: u32, capacity: u32, priming: bool, fleet: Rc<Fleet>, witness: Witness) -> Truth {
        Truth { server, capacity: u64::from(capacity), priming, fleet, witness, sessions: RefCell::default() }
    }

    /// A session begins a life.
    pub(super) fn opened(&self, key: &str, tag: Option<RequestTag>, origin: Origin) {
        let owner = tag.unwrap_or_else(|| self.fleet.stranger(None)).client;
        let incarnation = self.fleet.next_incarnation();
        self.fleet.settle(owner, self.server);
        let log = self.fleet.next_log();
        let session = key.to_owned();
        self.witness.report(Event::SessionOpened { server: self.server, session, incarnation, owner, origin });
        self.witness.report(Event::LogOpened { log, incarnation, stream: STANDALONE });
        let standalone = Stream { log, next: 0, offset: 0 };
        let session = Session {
            incarnation,
            initialized: false,
            streams: BTreeMap::from([(STANDALONE, standalone)]),
            opened: 0,
            requests: BTreeMap::new(),
            tokens: BTreeMap::new(),
            standalone_attached: false,
        };
        self.sessions.borrow_mut().insert(key.to_owned(), session);
    }

    /// A session's life ends, if it has not ended before.
    pub(super) fn closed(&self, key: &str, cause: Cause) {
        let Some(session) = self.sessions.borrow_mut().remove(key) else {
            return;
        };
        for stream in session.streams.values() {
            self.witness.report(Event::LogClosed { log: stream.log, cause });
        }
        let incarnation = session.incarnation;
        self.witness.report(Event::SessionClosed { session: key.to_owned(), incarnation, cause });
    }

    /// The process stops: every session's life ends.
    pub(super) fn stopped(&self) {
        let keys: Vec<String> = self.sessions.borrow().keys().cloned().collect();
        for key in keys {
            self.closed(&key, Cause::ServerShutdown);
        }
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
        let offset = u64::from(self.priming);
        session.streams.insert(number, Stream { log, next: offset, offset });
        session.requests.insert(id_text(&request.id), number);
        if let Some(token) = request.request.get_meta().get_progress_token() {
            session.tokens.insert(token_text(&token), number);
        }
        self.witness.report(Event::LogOpened { log, incarnation: session.incarnation, stream: number });
        Place { log: Some(log), next: 0, found: CursorFound::Absent }
    }

    /// A GET with the cursor `cursor`, or with none. Whether it carries the standalone stream.
    pub(super) fn resumed(&self, key: &str, cursor: Option<&str>) -> (Place, bool) {
        let sessions = self.sessions.borrow();
        let Some(session) = sessions.get(key) else {
            return (Place::nowhere(CursorFound::Unknown), false);
        };
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
        let first = if kept { index.max(oldest) } else { stream.next };
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

    /// The handler hands `message` to the session: it becomes an event of the stream that the SDK routes it to.
    pub(super) fn appended(&self, key: &str, message: &ServerJsonRpcMessage) {
        let mut sessions = self.sessions.borrow_mut();
        let Some(session) = sessions.get_mut(key) else { return };
        if !std::mem::replace(&mut session.initialized, true) {
            return;
        }
        let (routed, kind) = match message {
            ServerJsonRpcMessage::Response(response) => {
                (session.requests.get(&id_text(&response.id)), FrameKind::Response)
            }
            ServerJsonRpcMessage::Error(error) => {
                (error.id.as_ref().and_then(|id| session.requests.get(&id_text(id))), FrameKind::Response)
            }
            ServerJsonRpcMessage::Notification(notification) => match &notification.notification {
                ServerNotification::ProgressNotification(progress) => {
                    (session.tokens.get(&token_text(&progress.params.progress_token)), FrameKind::Part)
                }
                _ => (None, FrameKind::Notification),
            },
            ServerJsonRpcMessage::Request(_) => (None, FrameKind::Notification),
        };
        let number = routed.copied().unwrap_or(STANDALONE);
        let Some(stream) = session.streams.get_mut(&number) else { return };
        let index = stream.next;
        stream.next += 1;
        let position = stream.position(index);
        let id = if number == STANDALONE { index.to_string() } else { format!("{index}/{}", number - 1) };
        self.witness.report(Event::Appended {
            log: stream.log,
            first: position,
            last: position,
            first_id: Some(id.clone()),
            last_id: Some(id),
            kind,
        });
        let oldest = stream.oldest(self.capacity);
        if oldest > stream.offset {
            let through = stream.position(oldest - 1);
            self.witness.report(Event::Evicted { log: stream.log, through, cause: Cause::Churn });
        }
    }

    /// The session has taken `message`: a response completes its stream, which the SDK forgets at once.
    pub(super) fn taken(&self, key: &str, message: &RequestId) {
        let mut sessions = self.sessions.borrow_mut();
        let Some(session) = sessions.get_mut(key) else { return };
        let Some(number) = session.requests.remove(&id_text(message)) else { return };
        session.tokens.retain(|_, stream| *stream != number);
        if let Some(stream) = session.streams.remove(&number) {
            self.witness.report(Event::LogClosed { log: stream.log, cause: Cause::Finished });
        }
    }

    /// A message of the client that opens no stream: a cancellation unroutes its request.
    pub(super) fn accepted(&self, key: &str, message: &ClientJsonRpcMessage) {
        if let ClientJsonRpcMessage::Notification(notification) = message
            && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
            && let Some(id) = &cancelled.params.request_id
            && let Some(session) = self.sessions.borrow_mut().get_mut(key)
            && let Some(number) = session.requests.remove(&id_text(id))
        {
            session.tokens.retain(|_, stream| *stream != number);
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

fn id_text(id: &RequestId) -> String {
    id.to_string()
}

fn token_text(token: &ProgressToken) -> String {
    id_text(&token.0)
}
