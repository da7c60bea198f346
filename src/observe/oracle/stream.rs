//! A client's place in one of its streams, and the legs that carry the stream.

use std::collections::VecDeque;

use super::logs::{Identity, Loss};
use crate::observe::event::{CallNo, ClientNo, LogNo, Position, Purpose, RequestNo};

/// Which of a client's streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StreamOf {
    /// The session's standalone GET stream.
    Session,
    /// The stream that answers a `tools/call`.
    Call(CallNo),
}

impl StreamOf {
    /// The stream that a request opens or resumes, where it opens or resumes one.
    pub(super) fn of(purpose: Purpose) -> Option<StreamOf> {
        match purpose {
            Purpose::Listen => Some(StreamOf::Session),
            Purpose::Call { call } | Purpose::Resume { call } => Some(StreamOf::Call(call)),
            Purpose::Initialize
            | Purpose::Initialized
            | Purpose::ListTools
            | Purpose::Cancel { .. }
            | Purpose::Delete
            | Purpose::Other => None,
        }
    }
}

/// A stream of a client.
pub(super) type StreamId = (ClientNo, StreamOf);

/// The place of one data event in the ground truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) log: LogNo,
    pub(super) position: Position,
    /// Whose the log is; none where its opening was not recorded.
    pub(super) identity: Option<Identity>,
}

/// What a client has of a stream.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// The place of the next event: after the last one consumed, or where the first leg was attached.
    pub(super) expected: Option<Place>,
    /// Since when that event has been gone from its buffer. It may still be on its way.
    pub(super) evicted: Option<Loss>,
    /// Whether that eviction has been counted as a fault.
    pub(super) bitten: bool,
    /// Since when the life of the stream that holds that event has been over.
    pub(super) closed: Option<Loss>,
    /// The newest leg.
    pub(super) newest: Option<RequestNo>,
    /// Whether earlier legs withheld events, no rule noticed, and no data has come since.
    pub(super) unnoticed: bool,
}

impl Stream {
    /// When and why the next event became undeliverable, where it did.
    pub(super) fn lost(&self) -> Option<Loss> {
        match (self.evicted, self.closed) {
            (Some(evicted), Some(closed)) if closed.at < evicted.at => Some(closed),
            (evicted, closed) => evicted.or(closed),
        }
    }
}

/// One HTTP response that carries part of a stream.
#[derive(Debug)]
pub(super) struct Leg {
    pub(super) stream: StreamOf,
    /// The `Last-Event-ID` of its request.
    pub(super) cursor: Option<String>,
    /// What the leg is attached to, from which of its data events on. Never empty once attached.
    segments: VecDeque<Segment>,
    /// Data events that reached the client.
    pub(super) data: u64,
    /// Whether a priming event reached the client.
    pub(super) primed: bool,
    pub(super) ended: bool,
    /// Set when a request with a cursor is answered 200.
    pub(super) resume: Option<Resume>,
    /// Whether the leg, once under way, lost or mixed up events.
    pub(super) torn: bool,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    from: u64,
    place: Option<Place>,
}

/// A leg that continues a stream.
#[derive(Debug)]
pub(super) struct Resume {
    /// The place of the event that a coherent leg starts with.
    pub(super) expected: Option<Place>,
    /// The row, where it is not coherent.
    pub(super) desync: Option<usize>,
    /// Whether its signature is decided.
    pub(super) signed: bool,
    /// Whether its part in the alarm quality is decided.
    pub(super) accounted: bool,
}

impl Leg {
    pub(super) fn new(stream: StreamOf, cursor: Option<String>) -> Leg {
        Leg {
            stream,
            cursor,
            segments: VecDeque::new(),
            data: 0,
            primed: false,
            ended: false,
            resume: None,
            torn: false,
        }
    }

    /// From its data event number `from` on, the leg carries what begins at `place`.
    pub(super) fn attach(&mut self, from: u64, place: Option<Place>) {
        self.segments.push_back(Segment { from, place });
    }

    /// The place of the leg's data event number `n`, for the numbers that have not been passed.
    pub(super) fn place_of(&self, n: u64) -> Option<Place> {
        let segment = self.segments.iter().rev().find(|segment| segment.from <= n)?;
        segment.place.map(|place| Place { position: place.position.saturating_add(n - segment.from), ..place })
    }

    /// Takes one data event and returns its place.
    pub(super) fn receive(&mut self) -> Option<Place> {
        let place = self.place_of(self.data);
        self.data += 1;
        while self.segments.get(1).is_some_and(|next| next.from <= self.data) {
            self.segments.pop_front();
        }
        place
    }
}
