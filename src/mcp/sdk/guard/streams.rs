//! The logical streams of one transport, and the sessions that are suspect.

use std::collections::BTreeSet;
use std::sync::Arc;

use rmcp::model::RequestId;
use tokio::time::Instant;

use super::Shared;
use crate::cursor::Validator;

/// Streams that are kept although no leg carries them. Nothing says that the SDK has given a stream up, so the oldest
/// are forgotten.
const DETACHED_KEPT: usize = 64;

/// The number of a stream.
pub(super) type StreamNo = u64;

/// A stream, over all its legs.
struct Stream {
    number: StreamNo,
    /// The request that waits for it; none for a standalone stream.
    request: Option<RequestId>,
    /// The request was answered 202: it has no stream of its own, and what it waits for comes on the standalone one.
    accepted: bool,
    opened: Instant,
    session: Option<Arc<str>>,
    validator: Validator,
    /// The last id that the SDK has seen, which is what it presents. After a rebase the validator has another.
    last_id: Option<String>,
    /// None while a leg carries it or is asked for; then its place in the order of ends.
    ended: Option<u64>,
}

/// Whose a stream is.
pub(super) struct Owner {
    pub(super) session: Option<Arc<str>>,
    /// None: nobody's, a standalone stream.
    pub(super) request: Option<RequestId>,
}

#[derive(Default)]
pub(super) struct Streams {
    streams: Vec<Stream>,
    opened: u64,
    ends: u64,
    suspects: BTreeSet<Arc<str>>,
}

impl Streams {
    /// A stream begins; its leg is being asked for.
    pub(super) fn open(
        &mut self,
        request: Option<RequestId>,
        session: Option<Arc<str>>,
        validator: Validator,
    ) -> StreamNo {
        if request.is_none() {
            // A session has one standalone stream, and this GET does not go on with the last one.
            self.streams.retain(|old| old.request.is_some() || old.session != session || old.ended.is_none());
        }
        let number = self.opened;
        self.opened += 1;
        self.streams.push(Stream {
            number,
            request,
            accepted: false,
            opened: Instant::now(),
            session,
            validator,
            last_id: None,
            ended: None,
        });
        number
    }

    /// The stream that a GET with `cursor` resumes: of those whose last id that is and that have no leg, the one whose
    /// leg ended first. No other GET can have it now.
    pub(super) fn claim(&mut self, cursor: &str, session: Option<&Arc<str>>) -> Option<StreamNo> {
        let waiting = self.streams.iter_mut().filter(|stream| {
            stream.ended.is_some() && stream.last_id.as_deref() == Some(cursor) && stream.session.as_ref() == session
        });
        let stream = waiting.min_by_key(|stream| stream.ended)?;
        stream.ended = None;
        Some(stream.number)
    }

    /// Its leg has been answered.
    pub(super) fn begin_leg(&mut self, number: StreamNo, resumed: bool) {
        if let Some(stream) = self.find(number) {
            stream.validator.begin_leg(resumed);
        }
    }

    /// What is known of the validity of a stream; none once nobody waits for it.
    pub(super) fn validator(&mut self, number: StreamNo) -> Option<&mut Validator> {
        self.find(number).map(|stream| &mut stream.validator)
    }

    /// The SDK is about to see an event with this id.
    pub(super) fn saw(&mut self, number: StreamNo, id: &str) {
        if let Some(stream) = self.find(number) {
            stream.last_id = Some(id.to_owned());
        }
    }

    pub(super) fn owner(&mut self, number: StreamNo) -> Option<Owner> {
        self.find(number).map(|stream| Owner { session: stream.session.clone(), request: stream.request.clone() })
    }

    /// The instant from which a stream's request has waited.
    pub(super) fn opened(&mut self, number: StreamNo) -> Option<Instant> {
        self.find(number).map(|stream| stream.opened)
    }

    /// Its leg has ended, or was not to be had. A request's stream without an id is over: the SDK cannot resume it.
    pub(super) fn detach(&mut self, number: StreamNo) {
        let order = self.ends;
        self.ends += 1;
        let Some(stream) = self.find(number) else { return };
        if stream.last_id.is_none() {
            return self.finish(number);
        }
        stream.ended = Some(order);
        if self.streams.iter().filter(|stream| stream.ended.is_some()).count() > DETACHED_KEPT {
            let oldest = self.streams.iter().filter_map(|stream| stream.ended).min();
            self.streams.retain(|stream| stream.ended.is_none() || stream.ended != oldest);
        }
    }

    /// The request was answered 202. The SDK waits for its response as long as there is no other answer.
    fn accept(&mut self, number: StreamNo) {
        if let Some(stream) = self.find(number) {
            stream.accepted = true;
        }
    }

    /// The requests that a loss on the standalone stream of `session` concerns: those without a stream of their own,
    /// or `all`. Each with the instant from which it has waited.
    pub(super) fn dependants(&self, session: Option<&Arc<str>>, all: bool) -> Vec<(RequestId, Instant)> {
        let concerned = |stream: &&Stream| stream.session.as_ref() == session && (stream.accepted || all);
        let concerned = self.streams.iter().filter(concerned);
        concerned.filter_map(|stream| Some((stream.request.clone()?, stream.opened))).collect()
    }

    /// Nobody waits for the stream any more.
    pub(super) fn finish(&mut self, number: StreamNo) {
        self.streams.retain(|stream| stream.number != number);
    }

    /// Nobody waits for the response to `request` any more.
    pub(super) fn finish_request(&mut self, request: &RequestId) {
        self.streams.retain(|stream| !stream.request.as_ref().is_some_and(|waiting| is_same(waiting, request)));
    }

    /// A new session has been opened.
    pub(super) fn clear(&mut self) {
        self.streams.clear();
        self.suspects.clear();
    }

    pub(super) fn suspect(&mut self, session: &Arc<str>) {
        self.suspects.insert(session.clone());
    }

    pub(super) fn is_suspect(&self, session: Option<&Arc<str>>) -> bool {
        session.is_some_and(|session| self.suspects.contains(session))
    }

    /// Whether `session` is suspect and no request is in flight in it that leaving it would fail.
    pub(super) fn is_to_be_left(&self, session: &Arc<str>) -> bool {
        let in_flight = |stream: &Stream| stream.request.is_some() && stream.session.as_ref() == Some(session);
        self.suspects.contains(session) && !self.streams.iter().any(in_flight)
    }

    fn find(&mut self, number: StreamNo) -> Option<&mut Stream> {
        self.streams.iter_mut().find(|stream| stream.number == number)
    }
}

/// Whether a response to `one` is a response to `other`: the SDK takes the text of a number for the number.
fn is_same(one: &RequestId, other: &RequestId) -> bool {
    one == other || one.to_string() == other.to_string()
}

/// A leg of a stream, from its being asked for to its end: dropping it leaves the stream without one.
pub(super) struct Claim {
    shared: Arc<Shared>,
    number: StreamNo,
    /// There will be no leg, and the stream is kept all the same.
    accepted: bool,
}

impl Claim {
    pub(super) fn new(shared: Arc<Shared>, number: StreamNo) -> Claim {
        Claim { shared, number, accepted: false }
    }

    /// The request was answered 202.
    pub(super) fn accept(mut self) {
        self.shared.streams().accept(self.number);
        self.accepted = true;
    }

    pub(super) fn number(&self) -> StreamNo {
        self.number
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.accepted {
            self.shared.streams().detach(self.number);
        }
    }
}
