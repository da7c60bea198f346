//! Ground truth about sessions and the lives of their streams, for as long as they live.

use std::collections::BTreeMap;

use super::stream::{StreamId, StreamOf};
use crate::observe::event::{Cause, ClientNo, IncarnationNo, LogNo, Position};
use crate::world::time::SimTime;

/// The sessions and logs that are alive.
#[derive(Debug, Default)]
pub(super) struct Logs {
    sessions: BTreeMap<IncarnationNo, Session>,
    logs: BTreeMap<LogNo, Log>,
}

#[derive(Debug)]
struct Session {
    owner: ClientNo,
    logs: Vec<LogNo>,
}

/// One life of a stream.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) identity: Identity,
    /// The position that the next appended event will take.
    pub(super) head: Position,
    /// The first position that can still be replayed.
    pub(super) oldest: Position,
    /// The client streams whose next event is expected from this log.
    pub(super) followers: Vec<StreamId>,
}

/// Whose a log is. Copied to wherever a log is named, so that a closed log can be forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    owner: ClientNo,
    incarnation: IncarnationNo,
    stream: u32,
}

impl Identity {
    /// Whether this log belongs to another client than `client`, or carries another stream of its session than `stream`,
    /// whose earlier life was `expected`.
    pub(super) fn is_foreign(self, client: ClientNo, stream: StreamOf, expected: Option<Identity>) -> bool {
        let other_kind = (self.stream == 0) != (stream == StreamOf::Session);
        let other_stream =
            expected.is_some_and(|expected| self.incarnation == expected.incarnation && self.stream != expected.stream);
        self.owner != client || other_kind || other_stream
    }
}

/// Since when, and why, the next event of a client's stream can no longer be delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loss {
    pub(super) at: SimTime,
    pub(super) cause: Cause,
}

impl Logs {
    pub(super) fn session_opened(&mut self, incarnation: IncarnationNo, owner: ClientNo) {
        self.sessions.insert(incarnation, Session { owner, logs: Vec::new() });
    }

    /// Forgets a session. Returns its owner, and the logs that it had open, which are over with it.
    pub(super) fn session_closed(&mut self, incarnation: IncarnationNo) -> Option<(ClientNo, Vec<Log>)> {
        let session = self.sessions.remove(&incarnation)?;
        let logs = session.logs.iter().filter_map(|log| self.logs.remove(log)).collect();
        Some((session.owner, logs))
    }

    pub(super) fn opened(&mut self, log: LogNo, incarnation: IncarnationNo, stream: u32) {
        let Some(session) = self.sessions.get_mut(&incarnation) else {
            return;
        };
        session.logs.push(log);
        let identity = Identity { owner: session.owner, incarnation, stream };
        self.logs.insert(log, Log { identity, head: 0, oldest: 0, followers: Vec::new() });
    }

    /// Forgets a log and returns what is known of it.
    pub(super) fn closed(&mut self, log: LogNo) -> Option<Log> {
        let closed = self.logs.remove(&log)?;
        if let Some(session) = self.sessions.get_mut(&closed.identity.incarnation) {
            session.logs.retain(|other| *other != log);
        }
        Some(closed)
    }

    pub(super) fn get(&self, log: LogNo) -> Option<&Log> {
        self.logs.get(&log)
    }

    pub(super) fn get_mut(&mut self, log: LogNo) -> Option<&mut Log> {
        self.logs.get_mut(&log)
    }

    /// From now on `stream` expects its next event from `log`.
    pub(super) fn follow(&mut self, log: LogNo, stream: StreamId) {
        if let Some(log) = self.logs.get_mut(&log)
            && !log.followers.contains(&stream)
        {
            log.followers.push(stream);
        }
    }

    /// `stream` no longer expects anything from `log`.
    pub(super) fn unfollow(&mut self, log: LogNo, stream: StreamId) {
        if let Some(log) = self.logs.get_mut(&log) {
            log.followers.retain(|other| *other != stream);
        }
    }
}
