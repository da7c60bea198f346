//! Handles through which hosts report what happens. They can only write.

use std::cell::RefCell;
use std::rc::Rc;

use super::event::Event;
use crate::world::time::SimTime;

/// Where reported events go.
pub trait Sink {
    /// Takes one event, in the order of their happening.
    fn record(&mut self, at: SimTime, host: &str, event: Event);
}

/// A host's handle on the event log.
#[derive(Clone)]
pub struct Witness {
    host: Rc<str>,
    clock: fn() -> SimTime,
    sink: Rc<RefCell<dyn Sink>>,
}

impl Witness {
    /// A handle that stamps events with `clock` and the name `host`.
    pub fn new(host: &str, clock: fn() -> SimTime, sink: Rc<RefCell<dyn Sink>>) -> Witness {
        Witness { host: host.into(), clock, sink }
    }

    /// Reports that `event` happens now.
    pub fn report(&self, event: Event) {
        self.report_at(self.now(), event);
    }

    /// Reports that `event` happens at `now`, which the caller has read from [`Witness::now`] and since when it has not
    /// waited for anything: reading the simulated clock anew for each of a hundred events costs more than it says.
    pub fn report_at(&self, now: SimTime, event: Event) {
        self.sink.borrow_mut().record(now, &self.host, event);
    }

    /// The present instant on this host's clock.
    pub fn now(&self) -> SimTime {
        (self.clock)()
    }
}
