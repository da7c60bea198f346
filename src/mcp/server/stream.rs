//! One logical stream of a session: its lives on the server, its buffer's bounds, and the one leg that may read it.

use std::cell::RefCell;
use std::rc::Rc;
use std::task::Waker;

use bytes::Bytes;

use super::base::Base;
use super::ids::{Numbering, WireId};
use super::log::{EventLog, Hit};
use super::session::Activity;
use super::settings::{GetPriming, Numbered, Replay};
use crate::mcp::wire::sse;
use crate::observe::event::{Cause, Event, FrameKind, IncarnationNo, LogNo, Position};
use crate::world::time::SimTime;

/// A stream that a session, a leg and a running tool share.
pub type SharedStream = Rc<RefCell<Stream>>;

/// The next event of a leg: a log, and a position in it. Later lives of a stream have higher log numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The log.
    pub log: LogNo,
    /// The position.
    pub next: Position,
}

/// How far a stream has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// More events may come.
    Open,
    /// Its response has been appended: nothing follows.
    Answered,
    /// Its call was cancelled: nothing follows.
    Cancelled,
    /// Its session is over, or the stream has been forgotten: nothing can be read any more.
    Closed,
}

/// One logical stream of a session.
pub struct Stream {
    base: Rc<Base>,
    incarnation: IncarnationNo,
    number: u32,
    numbering: Rc<Numbering>,
    /// Oldest first; the last one takes new events. Earlier ones are there where a store outlived its counters.
    lives: Vec<EventLog>,
    state: State,
    /// Why it is forgotten as soon as its leg is gone.
    doomed: Option<Cause>,
    slot: Option<Slot>,
    legs: u64,
    /// What is touched by each event; none where events do not count.
    activity: Option<Rc<Activity>>,
}

/// The leg that is attached.
struct Slot {
    leg: u64,
    reached: Place,
    waker: Option<Waker>,
}

impl Stream {
    /// Opens stream `number` of an incarnation, whose `activity` its events are.
    pub fn open(
        base: &Rc<Base>,
        incarnation: IncarnationNo,
        activity: &Rc<Activity>,
        number: u32,
        numbering: Rc<Numbering>,
    ) -> SharedStream {
        let mut stream = Stream {
            base: base.clone(),
            incarnation,
            number,
            numbering,
            lives: Vec::with_capacity(1),
            state: State::Open,
            doomed: None,
            slot: None,
            legs: 0,
            activity: base.settings.events_keep_alive.then(|| activity.clone()),
        };
        stream.begin_life(None);
        Rc::new(RefCell::new(stream))
    }

    /// The counter that gives its ids.
    pub fn numbering(&self) -> &Rc<Numbering> {
        &self.numbering
    }

    /// Its number within its session: 0 is the standalone one.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// How far it has come.
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether a life of it that is still kept has this epoch.
    pub fn has_epoch(&self, epoch: u32) -> bool {
        self.lives.iter().any(|life| life.epoch() == epoch)
    }

    fn current(&mut self) -> &mut EventLog {
        self.lives.last_mut().expect("a stream has a life until it is closed, and callers see to that")
    }

    fn begin_life(&mut self, born_of: Option<Cause>) {
        let log = self.base.fleet.next_log();
        self.lives.push(EventLog::new(log, self.numbering.epoch(), born_of));
        self.base.report(Event::LogOpened { log, incarnation: self.incarnation, stream: self.number });
    }

    /// Appends `times` events that carry `data`. False where they have nowhere to go: the stream is closed, or nobody
    /// is attached and only what somebody reads is numbered.
    pub fn append(&mut self, kind: FrameKind, data: &str, times: u32) -> bool {
        let unheard = self.base.settings.numbered == Numbered::WhileAttached && !self.is_held();
        if self.state == State::Closed || unheard {
            return false;
        }
        if times == 0 {
            return true;
        }
        let now = self.base.now();
        if let Some(activity) = &self.activity {
            activity.touch(now);
        }
        // The events of a burst differ in their ids alone.
        let mut lines = Vec::new();
        sse::encode(&mut lines, None, None, data);
        let lines = Bytes::from(lines);
        let ids: Vec<WireId> = (0..times).map(|_| self.numbering.take(&self.base.ids, self.number)).collect();
        let log = self.current();
        let (number, first) = (log.number(), log.end());
        for id in &ids {
            log.push(*id, now, lines.clone());
        }
        self.base.report(Event::Appended {
            log: number,
            first,
            last: first + Position::from(times) - 1,
            first_id: ids.first().and_then(|id| self.base.ids.carried(*id)),
            last_id: ids.last().and_then(|id| self.base.ids.carried(*id)),
            kind,
        });
        self.trim();
        self.wake();
        true
    }

    /// Nothing follows: a leg ends when it has sent what is left.
    pub fn complete(&mut self, state: State) {
        if self.state == State::Open {
            self.state = state;
            self.wake();
        }
    }

    /// The first bytes of a fresh stream: the priming event and the reconnection time, as far as they are wanted.
    pub fn greeting(&mut self, priming: bool, retry: bool) -> Option<Bytes> {
        let retry_ms = self.base.settings.retry_ms().filter(|_| retry);
        if !priming || self.state == State::Closed {
            // Not an event: a block without a data line only sets the time.
            return retry_ms.map(|retry_ms| format!("retry: {retry_ms}\n\n").into());
        }
        let id = if self.number == 0 && self.base.settings.get_priming == GetPriming::Zero {
            self.numbering.zero()
        } else {
            let id = self.numbering.take(&self.base.ids, self.number);
            self.current().prime(id);
            id
        };
        Some(primer(self.base.ids.carried(id).as_deref(), retry_ms))
    }

    /// Evicts what is too old or too much. An event that was appended at this very instant and waits for the attached
    /// leg to be polled stays, so that a burst larger than the buffer reaches a reader that keeps up.
    pub fn trim(&mut self) {
        let now = self.base.now();
        let ttl = self.base.settings.buffer_ttl_s;
        let capacity = (self.base.settings.buffer_events as usize).max(1);
        let reached = self.slot.as_ref().map(|slot| slot.reached);
        for life in &mut self.lives {
            let expired = |at: SimTime| ttl.is_some_and(|ttl| at + ttl.get() <= now);
            while life.oldest_at().is_some_and(expired) {
                life.evict_oldest(Cause::Expired);
            }
            while life.len() > capacity {
                let waits = reached.is_some_and(|reached| reached <= oldest_of(life));
                if waits && life.oldest_at() == Some(now) {
                    break;
                }
                life.evict_oldest(Cause::Churn);
            }
        }
        self.report_evicted();
    }

    /// Reports what has been evicted since the last report: one report for all that an append displaced.
    fn report_evicted(&mut self) {
        for life in &mut self.lives {
            if let Some((through, cause)) = life.take_unreported() {
                self.base.report(Event::Evicted { log: life.number(), through, cause });
            }
        }
    }

    /// Whether [`Stream::truncate`] would drop anything.
    pub fn exceeds(&self, keep: usize) -> bool {
        self.lives.iter().any(|life| life.len() > keep)
    }

    /// Drops all but the newest `keep` events of each life.
    pub fn truncate(&mut self, keep: usize, cause: Cause) {
        for life in &mut self.lives {
            while life.len() > keep {
                life.evict_oldest(cause);
            }
        }
        self.report_evicted();
        self.wake();
    }

    /// Begins another life: the counter has started again. Unless `keep_old`, the events of earlier lives are gone.
    pub fn restart(&mut self, cause: Cause, keep_old: bool) {
        if self.state == State::Closed {
            return;
        }
        if !keep_old {
            self.drop_lives(cause);
        }
        self.begin_life(Some(cause));
        self.wake();
    }

    /// Ends the stream: its events are gone, and an attached leg ends.
    pub fn close(&mut self, cause: Cause) {
        if self.state != State::Closed {
            self.state = State::Closed;
            self.drop_lives(cause);
            self.wake();
        }
    }

    fn drop_lives(&mut self, cause: Cause) {
        for life in self.lives.drain(..) {
            self.base.report(Event::LogClosed { log: life.number(), cause });
        }
    }

    /// Forgets the stream: it can no longer be resumed, and ends once its leg has sent what is left.
    pub fn forget(&mut self, cause: Cause) {
        match self.slot {
            Some(_) => self.doomed = Some(cause),
            None => self.close(cause),
        }
    }

    /// Where a resume with `id` goes on; none where no kept life knows the id.
    pub fn find(&self, id: WireId) -> Option<Place> {
        self.lives.iter().rev().find_map(|life| {
            let next = match (life.find(id)?, self.base.settings.replay) {
                (Hit::Event(position), Replay::Inclusive) => position,
                (Hit::Event(position), Replay::After) => position + 1,
                (Hit::Newest(position) | Hit::Primer(position), _) => position,
            };
            Some(Place { log: life.number(), next })
        })
    }

    /// The priming event `id` once more, where it is replayed like any other event and nothing has displaced it.
    pub fn replayed_primer(&self, id: WireId) -> Option<Bytes> {
        let settings = &self.base.settings;
        let life = self.lives.last()?;
        let replayed = settings.priming_buffered
            && settings.replay == Replay::Inclusive
            && matches!(life.find(id), Some(Hit::Primer(_)))
            && life.end() < Position::from(settings.buffer_events);
        replayed.then(|| primer(self.base.ids.carried(id).as_deref(), settings.retry_ms()))
    }

    /// Whether nothing is buffered, as a resume sees it.
    pub fn is_empty(&self) -> bool {
        self.lives.iter().all(|life| life.len() == 0 && !(self.base.settings.priming_buffered && life.is_primed()))
    }

    /// The place after the newest event.
    pub fn live(&mut self) -> Place {
        let log = self.current();
        Place { log: log.number(), next: log.end() }
    }

    /// The place of the oldest buffered event.
    pub fn oldest(&mut self) -> Place {
        self.lives.iter().find(|life| life.len() > 0).map(oldest_of).unwrap_or_else(|| self.live())
    }

    /// Whether a leg is attached.
    pub fn is_held(&self) -> bool {
        self.slot.is_some()
    }

    /// Attaches a leg that goes on at `place`, and displaces the one that is attached. Returns the leg's number.
    pub fn occupy(&mut self, place: Place) -> u64 {
        self.wake();
        self.legs += 1;
        self.slot = Some(Slot { leg: self.legs, reached: place, waker: None });
        self.legs
    }

    /// Whether `leg` is the one that is attached.
    pub fn is_held_by(&self, leg: u64) -> bool {
        self.slot.as_ref().is_some_and(|slot| slot.leg == leg)
    }

    /// Detaches `leg`, where it is the one that is attached.
    pub fn release(&mut self, leg: u64) {
        if self.is_held_by(leg) {
            self.slot = None;
            if let Some(cause) = self.doomed {
                self.close(cause);
            }
        }
    }

    /// Ends the leg that is attached, where there is one.
    pub fn expel(&mut self) {
        self.wake();
        self.slot = None;
    }

    /// Notes that the attached leg has sent everything before `reached`.
    pub fn advance(&mut self, reached: Place) {
        if let Some(slot) = &mut self.slot {
            slot.reached = reached;
        }
        self.trim();
    }

    /// Wakes the attached leg through `waker` at the next change.
    pub fn wait(&mut self, waker: &Waker) {
        if let Some(slot) = &mut self.slot {
            slot.waker = Some(waker.clone());
        }
    }

    fn wake(&mut self) {
        if let Some(waker) = self.slot.as_mut().and_then(|slot| slot.waker.take()) {
            waker.wake();
        }
    }

    /// Where a leg at `place` has to jump to, and why: its events have left the buffer, or its log's life is over and
    /// read to the end.
    pub fn jump(&self, place: Place) -> Option<(Place, Cause)> {
        if let Some(life) = self.lives.iter().find(|life| life.number() == place.log) {
            if place.next < life.oldest() {
                return Some((oldest_of(life), life.evicted_by()));
            }
            if place.next < life.end() {
                return None;
            }
        }
        let later = self.lives.iter().find(|life| life.number() > place.log)?;
        Some((oldest_of(later), later.born_of().unwrap_or(later.evicted_by())))
    }

    /// The events from `place` on, of its own log only: each one's id, and its lines but for the id's.
    pub fn events(&self, place: Place) -> impl Iterator<Item = (WireId, &Bytes)> {
        self.lives
            .iter()
            .find(|life| life.number() == place.log)
            .into_iter()
            .flat_map(move |life| life.from(place.next))
    }
}

/// A priming event as it is sent.
pub fn primer(id: Option<&str>, retry_ms: Option<u64>) -> Bytes {
    let mut buffer = Vec::new();
    sse::encode(&mut buffer, id, retry_ms, "");
    buffer.into()
}

fn oldest_of(life: &EventLog) -> Place {
    Place { log: life.number(), next: life.oldest() }
}
