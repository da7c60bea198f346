//! What every part of one server shares: its settings, its id form, its witness.

use std::cell::Cell;
use std::rc::Rc;

use super::fleet::Fleet;
use super::ids::{IdForm, Numbering, Whose};
use super::settings::{CounterScope, ServerSettings};
use crate::observe::event::Event;
use crate::observe::witness::Witness;
use crate::world::time::SimTime;

/// What every part of one server shares.
pub struct Base {
    /// The server's number, from 0.
    pub number: u32,
    /// Its settings.
    pub settings: Rc<ServerSettings>,
    /// The form of its event ids.
    pub ids: IdForm,
    /// The servers of this run.
    pub fleet: Rc<Fleet>,
    /// The process-wide counter, where there is one.
    pub numbering: Option<Rc<Numbering>>,
    /// Whether its process runs.
    pub up: Cell<bool>,
    witness: Witness,
}

impl Base {
    pub(super) fn new(
        number: u32,
        settings: Rc<ServerSettings>,
        ids: IdForm,
        fleet: Rc<Fleet>,
        witness: Witness,
    ) -> Base {
        let numbering = (settings.counter_scope == CounterScope::Process)
            .then(|| Rc::new(Numbering::new(&ids, Whose { session: "", stream: 0 })));
        Base { number, settings, ids, fleet, numbering, up: Cell::new(false), witness }
    }

    /// Reports that `event` happens now.
    pub fn report(&self, event: Event) {
        self.witness.report(event);
    }

    /// The present instant.
    pub fn now(&self) -> SimTime {
        self.witness.now()
    }
}
