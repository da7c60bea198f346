//! One life of one stream: its buffered events and what is known of those that have left the buffer.
//!
//! Pure bookkeeping; [`super::stream`] decides what is evicted when and reports it.

use std::collections::VecDeque;

use bytes::Bytes;

use super::ids::WireId;
use crate::observe::event::{Cause, LogNo, Position};
use crate::world::time::SimTime;

/// Priming ids that a log remembers: the newest ones, since each reconnection of a client makes at most one.
const PRIMERS_KEPT: usize = 64;

/// One life of one stream.
#[derive(Debug)]
pub struct EventLog {
    number: LogNo,
    born_of: Option<Cause>,
    epoch: u32,
    events: VecDeque<Stored>,
    end: Position,
    newest: Option<WireId>,
    primers: VecDeque<Primer>,
    evicted_by: Cause,
    reported: Position,
}

#[derive(Debug)]
struct Stored {
    id: WireId,
    at: SimTime,
    /// What is encoded of it. The id is not: so the events of a burst share these bytes.
    lines: Bytes,
}

#[derive(Debug)]
struct Primer {
    id: WireId,
    next: Position,
}

/// Where a presented id was found in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit {
    /// It names the buffered event at this position.
    Event(Position),
    /// It names the newest event, which has left the buffer; what follows it starts at this position.
    Newest(Position),
    /// It names a priming event; what follows it starts at this position.
    Primer(Position),
}

impl EventLog {
    /// An empty log. `born_of` says what ended the life of the stream before it.
    pub fn new(number: LogNo, epoch: u32, born_of: Option<Cause>) -> EventLog {
        EventLog {
            number,
            born_of,
            epoch,
            events: VecDeque::new(),
            end: 0,
            newest: None,
            primers: VecDeque::new(),
            evicted_by: Cause::Churn,
            reported: 0,
        }
    }

    /// Its number in the run.
    pub fn number(&self) -> LogNo {
        self.number
    }

    /// What ended the life of the stream before this one.
    pub fn born_of(&self) -> Option<Cause> {
        self.born_of
    }

    /// The epoch of its ids.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The position of the oldest buffered event; [`EventLog::end`] where there is none.
    pub fn oldest(&self) -> Position {
        self.end - self.events.len() as Position
    }

    /// The position of the next event to be appended.
    pub fn end(&self) -> Position {
        self.end
    }

    /// How many events are buffered.
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// When the oldest buffered event was appended.
    pub fn oldest_at(&self) -> Option<SimTime> {
        self.events.front().map(|event| event.at)
    }

    /// Why events left the buffer last.
    pub fn evicted_by(&self) -> Cause {
        self.evicted_by
    }

    /// Appends an event: its id, and its encoded lines but for the id's.
    pub fn push(&mut self, id: WireId, at: SimTime, lines: Bytes) {
        if self.events.len() == self.events.capacity() {
            // By a quarter: a full buffer is kept for as long as its session, and doubling would leave half of it empty.
            self.events.reserve_exact((self.events.len() / 4).max(16));
        }
        self.events.push_back(Stored { id, at, lines });
        self.end += 1;
        self.newest = Some(id);
    }

    /// Remembers the id of a priming event: it takes no position.
    pub fn prime(&mut self, id: WireId) {
        if self.primers.len() == PRIMERS_KEPT {
            self.primers.pop_front();
        }
        self.primers.push_back(Primer { id, next: self.end });
    }

    /// Whether it has had a priming event.
    pub fn is_primed(&self) -> bool {
        !self.primers.is_empty()
    }

    /// Drops the oldest event.
    pub fn evict_oldest(&mut self, cause: Cause) {
        if self.events.pop_front().is_some() {
            self.evicted_by = cause;
        }
    }

    /// Evictions that have not been reported: the newest evicted position, and why. They count as reported then.
    pub fn take_unreported(&mut self) -> Option<(Position, Cause)> {
        let oldest = self.oldest();
        (oldest > self.reported).then(|| {
            self.reported = oldest;
            (oldest - 1, self.evicted_by)
        })
    }

    /// The events from position `next` on: each one's id, and its lines but for the id's.
    pub fn from(&self, next: Position) -> impl Iterator<Item = (WireId, &Bytes)> {
        let skipped = next.saturating_sub(self.oldest());
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX).min(self.events.len());
        self.events.range(skipped..).map(|event| (event.id, &event.lines))
    }

    /// Looks up an id exactly: a buffered event, the newest one given even where it has left the buffer, or a
    /// priming event whose successor has not left it.
    pub fn find(&self, id: WireId) -> Option<Hit> {
        if let Some(index) = self.events.iter().rposition(|event| event.id == id) {
            return Some(Hit::Event(self.oldest() + index as Position));
        }
        if self.newest == Some(id) {
            return Some(Hit::Newest(self.end));
        }
        self.primers
            .iter()
            .rev()
            .find(|primer| primer.id == id && primer.next >= self.oldest())
            .map(|primer| Hit::Primer(primer.next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u64) -> WireId {
        WireId { epoch: 0, stream: 0, number }
    }

    /// A primer 1, then events 2, 3, 4 at positions 0, 1, 2.
    fn log() -> EventLog {
        let mut log = EventLog::new(0, 0, None);
        log.prime(id(1));
        for number in 2..=4 {
            log.push(id(number), SimTime::ZERO, Bytes::from(number.to_string()));
        }
        log
    }

    #[test]
    fn ids_are_found_exactly() {
        let log = log();
        assert_eq!(log.find(id(1)), Some(Hit::Primer(0)));
        assert_eq!(log.find(id(3)), Some(Hit::Event(1)));
        assert_eq!(log.find(id(5)), None);
    }

    #[test]
    fn an_evicted_event_is_found_only_while_it_is_the_newest() {
        let mut log = log();
        for _ in 0..2 {
            log.evict_oldest(Cause::Churn);
        }
        assert_eq!(log.find(id(3)), None);
        assert_eq!(log.find(id(1)), None, "the successor of the primer is gone");
        log.evict_oldest(Cause::BufferTruncate);
        assert_eq!(log.find(id(4)), Some(Hit::Newest(3)));
        assert_eq!(log.oldest(), 3);
    }

    #[test]
    fn evictions_are_reported_once_and_together() {
        let mut log = log();
        assert_eq!(log.take_unreported(), None);
        log.evict_oldest(Cause::Churn);
        log.evict_oldest(Cause::Expired);
        assert_eq!(log.take_unreported(), Some((1, Cause::Expired)));
        assert_eq!(log.take_unreported(), None);
    }

    #[test]
    fn room_is_taken_for_what_is_buffered_and_not_for_what_has_passed() {
        let (mut log, lines) = (EventLog::new(0, 0, None), Bytes::from_static(b"data: 1\n\n"));
        for number in 0..10_000 {
            log.push(id(number), SimTime::ZERO, lines.clone());
            if log.len() > 256 {
                log.evict_oldest(Cause::Churn);
            }
        }
        assert!(log.events.capacity() <= 257 + 257 / 4, "room for {} events", log.events.capacity());
    }

    #[test]
    fn events_are_read_from_any_position() {
        let mut log = log();
        log.evict_oldest(Cause::Churn);
        let texts = |next| log.from(next).map(|(_, lines)| lines.to_vec()).collect::<Vec<_>>();
        assert_eq!(texts(0), [b"3", b"4"]);
        assert_eq!(texts(2), [b"4"]);
        assert!(texts(3).is_empty() && texts(99).is_empty());
    }
}
