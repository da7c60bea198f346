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
        self.sink.borrow_mut().record((self.clock)(), &self.host, event);
    }

    /// The present instant on this host's clock.
    pub fn now(&self) -> SimTime {
        (self.clock)()
    }
}
