//! One life of a session: its owner, its streams, the calls that run for it.

use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use super::base::Base;
use super::ids::{Numbering, Whose};
use super::settings::CounterScope;
use super::stream::{SharedStream, State, Stream};
use crate::mcp::wire::message::RpcId;
use crate::observe::event::{Cause, ClientNo, Event, IncarnationNo, Origin};
use crate::world::fault::Keep;
use crate::world::time::SimTime;

/// One life of a session.
pub struct Session {
    base: Rc<Base>,
    /// Its key.
    pub key: Rc<str>,
    /// Its number in the run.
    pub incarnation: IncarnationNo,
    /// The client that it belongs to.
    pub owner: ClientNo,
    /// What keeps it from being idle.
    pub activity: Rc<Activity>,
    /// The counter that its streams share, where they do.
    numbering: Option<Rc<Numbering>>,
    streams: BTreeMap<u32, SharedStream>,
    next_stream: u32,
    complete: VecDeque<u32>,
    /// The calls in flight by their request's id.
    pub running: BTreeMap<RpcId, Running>,
}

/// A call in flight.
pub struct Running {
    /// The number of the task that runs it.
    pub task: u64,
    /// The stream that gets its output.
    pub stream: SharedStream,
}

/// What keeps a session from being idle.
#[derive(Debug)]
pub struct Activity {
    last: Cell<SimTime>,
    legs: Cell<u32>,
    /// Whether legs count.
    counts_legs: bool,
}

impl Activity {
    /// Something happens in the session.
    pub fn touch(&self, now: SimTime) {
        self.last.set(now);
    }

    /// A leg is attached.
    pub fn leg_begins(&self, now: SimTime) {
        self.legs.set(self.legs.get() + 1);
        self.touch(now);
    }

    /// A leg is detached.
    pub fn leg_ends(&self, now: SimTime) {
        self.legs.set(self.legs.get() - 1);
        if self.counts_legs {
            self.touch(now);
        }
    }

    fn is_listened_to(&self) -> bool {
        self.counts_legs && self.legs.get() > 0
    }
}

impl Session {
    /// Opens a session with its standalone stream.
    pub fn open(base: &Rc<Base>, key: Rc<str>, owner: ClientNo, origin: Origin) -> Session {
        let incarnation = base.fleet.next_incarnation();
        base.fleet.settle(owner, base.number);
        base.report(Event::SessionOpened { server: base.number, session: key.to_string(), incarnation, owner, origin });
        let activity = Rc::new(Activity {
            last: Cell::new(base.now()),
            legs: Cell::new(0),
            counts_legs: base.settings.legs_keep_alive,
        });
        let numbering = match base.settings.counter_scope {
            CounterScope::Session => Some(Rc::new(Numbering::new(&base.ids, Whose { session: &key, stream: 0 }))),
            CounterScope::Process => base.numbering.clone(),
            CounterScope::Stream => None,
        };
        let mut session = Session {
            base: base.clone(),
            key,
            incarnation,
            owner,
            activity,
            numbering,
            streams: BTreeMap::new(),
            next_stream: 0,
            complete: VecDeque::new(),
            running: BTreeMap::new(),
        };
        session.open_stream();
        session
    }

    /// Opens the next stream: 0 is the standalone one, the others carry one POST's response each.
    pub fn open_stream(&mut self) -> SharedStream {
        let (number, numbering) = self.take_stream();
        let stream = Stream::open(&self.base, self.incarnation, &self.activity, number, numbering);
        self.streams.insert(number, stream.clone());
        stream
    }

    /// The number of the next stream, and the counter of its ids. A stream that nothing will ask for again needs no more.
    pub fn take_stream(&mut self) -> (u32, Rc<Numbering>) {
        let number = self.next_stream;
        self.next_stream += 1;
        let numbering = match &self.numbering {
            Some(shared) => shared.clone(),
            None => Rc::new(Numbering::new(&self.base.ids, Whose { session: &self.key, stream: number })),
        };
        (number, numbering)
    }

    /// The standalone stream.
    pub fn standalone(&self) -> &SharedStream {
        &self.streams[&0]
    }

    /// The streams, newest first; the standalone one comes last.
    pub fn newest_first(&self) -> impl Iterator<Item = &SharedStream> {
        self.streams.values().rev()
    }

    /// Completes a POST stream, and forgets the oldest complete one where too many are kept.
    pub fn complete(&mut self, stream: &SharedStream, state: State) {
        stream.borrow_mut().complete(state);
        let number = self
            .streams
            .iter()
            .find(|(number, candidate)| **number != 0 && Rc::ptr_eq(candidate, stream))
            .map(|(number, _)| *number);
        self.complete.extend(number);
        if self.complete.len() > self.base.settings.complete_streams as usize
            && let Some(oldest) = self.complete.pop_front()
            && let Some(stream) = self.streams.remove(&oldest)
        {
            stream.borrow_mut().forget(Cause::Finished);
        }
    }

    fn forget_complete(&mut self, cause: Cause) {
        for number in std::mem::take(&mut self.complete) {
            if let Some(stream) = self.streams.remove(&number) {
                stream.borrow_mut().close(cause);
            }
        }
    }

    /// Ends it: its streams are closed and their events are gone.
    pub fn close(&mut self, cause: Cause) {
        for stream in self.streams.values() {
            stream.borrow_mut().close(cause);
        }
        self.base.report(Event::SessionClosed { session: self.key.to_string(), incarnation: self.incarnation, cause });
    }

    /// Whether [`Session::truncate`] would drop anything.
    pub fn exceeds(&self, keep: usize) -> bool {
        self.streams.values().any(|s| s.borrow().exceeds(keep))
    }

    /// Drops all but the newest `keep` events of every buffer.
    pub fn truncate(&mut self, keep: usize, cause: Cause) {
        for stream in self.streams.values() {
            stream.borrow_mut().truncate(keep, cause);
        }
    }

    /// The counters start again, and the buffers with them. Complete streams are forgotten.
    pub fn wrap(&mut self) {
        self.forget_complete(Cause::CounterWrap);
        self.restart_counters(Cause::CounterWrap, false);
    }

    /// The process has stopped, and the session outlives it. With a lost store, complete streams are forgotten; with
    /// lost counters and a kept store, earlier events stay replayable by their exact ids.
    pub fn outlive_process(&mut self, keep: Keep) {
        self.running.clear();
        if !keep.store {
            self.forget_complete(Cause::ServerShutdown);
        }
        match (keep.store, keep.counters) {
            (true, true) => {}
            (false, true) => self.truncate(0, Cause::ServerShutdown),
            (store, false) => self.restart_counters(Cause::ServerShutdown, store),
        }
    }

    fn restart_counters(&mut self, cause: Cause, keep_old: bool) {
        // A counter that sessions share starts again with the process, not with each of them.
        if let Some(shared) = self.numbering.as_ref().filter(|_| self.base.numbering.is_none()) {
            shared.restart(&self.base.ids);
        }
        for stream in self.streams.values() {
            let mut stream = stream.borrow_mut();
            if stream.state() != State::Open {
                continue;
            }
            if self.numbering.is_none() {
                stream.numbering().restart(&self.base.ids);
            }
            stream.restart(cause, keep_old);
        }
    }

    /// Evicts what has grown too old.
    pub fn trim(&self) {
        for stream in self.streams.values() {
            stream.borrow_mut().trim();
        }
    }

    /// Whether it has been idle for its whole idle time. Calls and legs keep it from being idle, where they count.
    pub fn is_idle(&self, now: SimTime) -> bool {
        let Some(idle) = self.base.settings.session_idle_s else {
            return false;
        };
        if self.activity.is_listened_to() || (self.base.settings.in_flight_keeps_alive && !self.running.is_empty()) {
            return false;
        }
        now.since(self.activity.last.get()) >= idle.get()
    }
}
