//! Which logical stream a GET of the SDK belongs to.
//!
//! The SDK's HTTP backend is asked for streams one leg at a time: a GET with a cursor says nothing about the request
//! whose stream it resumes. What the wire shows is enough to tell: the cursor is the last id of a stream that has no
//! leg any more.

use crate::observe::event::{CallNo, Purpose};

/// Streams that are kept although no leg carries them. A stream whose call was given up is never asked for again, and
/// nothing says so, so the oldest are forgotten.
const DETACHED_KEPT: usize = 256;

/// What a stream carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// The standalone stream of a session.
    Standalone,
    /// The response to a `tools/call`.
    Call(CallNo),
    /// The response to another request: of no concern to the oracle.
    Other(Purpose),
}

impl Carries {
    /// The purpose of a GET that resumes the stream.
    fn resumed_for(self) -> Purpose {
        match self {
            Carries::Standalone => Purpose::Listen,
            Carries::Call(call) => Purpose::Resume { call },
            Carries::Other(purpose) => purpose,
        }
    }
}

/// A stream, over all its legs.
#[derive(Debug)]
struct Stream {
    number: u64,
    carries: Carries,
    session: Option<String>,
    /// The last id that the SDK has polled on it.
    last_id: Option<String>,
    /// Whether a response has come, after which the SDK asks for no more of it.
    is_answered: bool,
    /// None while a leg carries it; then its place in the order of ends.
    ended: Option<u64>,
}

/// The streams of one client of the SDK.
#[derive(Debug, Default)]
pub struct Streams {
    streams: Vec<Stream>,
    opened: u64,
    ended: u64,
}

/// The number of a stream.
pub type StreamNo = u64;

impl Streams {
    /// A stream begins with a leg of its own.
    pub fn open(&mut self, carries: Carries, session: Option<&str>) -> StreamNo {
        let number = self.opened;
        self.opened += 1;
        let session = session.map(str::to_owned);
        self.streams.push(Stream { number, carries, session, last_id: None, is_answered: false, ended: None });
        number
    }

    /// What a GET with `cursor` in `session` resumes, and what it is for: of the streams whose last id that is and that
    /// have no leg, the one that ended first. The SDK waits equally long for each.
    pub fn resumed(&self, cursor: &str, session: Option<&str>) -> Option<(StreamNo, Purpose)> {
        let waiting = self.streams.iter().filter(|stream| {
            stream.ended.is_some() && stream.last_id.as_deref() == Some(cursor) && stream.session.as_deref() == session
        });
        waiting.min_by_key(|stream| stream.ended).map(|stream| (stream.number, stream.carries.resumed_for()))
    }

    /// A leg carries the stream from now on.
    pub fn attach(&mut self, number: StreamNo) {
        if let Some(stream) = self.find(number) {
            stream.ended = None;
        }
    }

    /// The SDK has polled an event with this id.
    pub fn saw(&mut self, number: StreamNo, id: &str) {
        if let Some(stream) = self.find(number) {
            stream.last_id = Some(id.to_owned());
        }
    }

    /// The SDK has polled a response. The first one ends the stream of a request, whomever it answers.
    pub fn answered(&mut self, number: StreamNo) {
        if let Some(stream) = self.find(number) {
            stream.is_answered = stream.carries != Carries::Standalone;
        }
    }

    /// Whether the SDK opens the stream again after its leg has broken: it does where it knows an id, and the
    /// standalone stream in any case.
    pub fn is_resumable(&self, number: StreamNo) -> bool {
        self.streams
            .iter()
            .find(|stream| stream.number == number)
            .is_some_and(|stream| stream.last_id.is_some() || stream.carries == Carries::Standalone)
    }

    /// The cursor that a GET of the stream presents.
    pub fn cursor(&self, number: StreamNo) -> Option<String> {
        self.streams.iter().find(|stream| stream.number == number)?.last_id.clone()
    }

    /// The stream's leg is over.
    pub fn detach(&mut self, number: StreamNo) {
        let order = self.ended;
        self.ended += 1;
        if let Some(stream) = self.find(number) {
            stream.ended = Some(order);
        }
        self.streams.retain(|stream| stream.ended.is_none() || !stream.is_answered);
        let detached = self.streams.iter().filter(|stream| stream.ended.is_some());
        if detached.count() > DETACHED_KEPT {
            let oldest = self.streams.iter().filter_map(|stream| stream.ended).min();
            self.streams.retain(|stream| stream.ended.is_none() || stream.ended != oldest);
        }
    }

    fn find(&mut self, number: StreamNo) -> Option<&mut Stream> {
        self.streams.iter_mut().find(|stream| stream.number == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(streams: &mut Streams, carries: Carries, session: &str, id: &str) -> StreamNo {
        let number = streams.open(carries, Some(session));
        streams.saw(number, id);
        streams.detach(number);
        number
    }

    #[test]
    fn a_cursor_names_the_stream_whose_last_id_it_is() {
        let mut streams = Streams::default();
        let first = cut(&mut streams, Carries::Call(1), "s", "4/1");
        let standalone = cut(&mut streams, Carries::Standalone, "s", "0");
        assert_eq!(streams.resumed("4/1", Some("s")), Some((first, Purpose::Resume { call: 1 })));
        assert_eq!(streams.resumed("0", Some("s")), Some((standalone, Purpose::Listen)));
        assert_eq!(streams.resumed("3/1", Some("s")), None);
        assert_eq!(streams.resumed("4/1", Some("another")), None);
    }

    #[test]
    fn of_streams_with_the_same_last_id_the_one_that_ended_first_is_resumed_first() {
        let mut streams = Streams::default();
        let late = streams.open(Carries::Call(1), Some("s"));
        streams.saw(late, "7");
        let early = cut(&mut streams, Carries::Call(2), "s", "7");
        streams.detach(late);
        assert_eq!(streams.resumed("7", Some("s")), Some((early, Purpose::Resume { call: 2 })));
        streams.attach(early);
        assert_eq!(streams.resumed("7", Some("s")), Some((late, Purpose::Resume { call: 1 })));
    }

    #[test]
    fn a_stream_with_a_leg_is_not_resumed() {
        let mut streams = Streams::default();
        let open = streams.open(Carries::Call(1), Some("s"));
        streams.saw(open, "7");
        assert_eq!(streams.resumed("7", Some("s")), None);
    }

    #[test]
    fn a_stream_is_over_with_its_response_and_the_standing_one_is_not() {
        let mut streams = Streams::default();
        for carries in [Carries::Call(1), Carries::Standalone] {
            let number = streams.open(carries, Some("s"));
            streams.saw(number, "7");
            streams.answered(number);
            streams.detach(number);
        }
        assert_eq!(streams.resumed("7", Some("s")), Some((1, Purpose::Listen)));
    }

    #[test]
    fn streams_that_nobody_asks_for_are_forgotten() {
        let mut streams = Streams::default();
        for call in 0..10_000 {
            cut(&mut streams, Carries::Call(call), "s", "7");
        }
        assert_eq!(streams.streams.len(), DETACHED_KEPT);
        assert_eq!(streams.resumed("7", Some("s")).map(|(number, _)| number), Some(10_000 - DETACHED_KEPT as u64));
    }
}
