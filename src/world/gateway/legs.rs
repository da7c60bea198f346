//! The open event-stream responses, by client, and the orders that scheduled disconnects give them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::{Context, Waker};

use crate::mcp::wire::header::RequestTag;
use crate::observe::event::{Cause, ClientNo, Event};
use crate::observe::witness::Witness;
use crate::world::fault::DisconnectMode;

/// What a fault wants of a leg.
#[derive(Debug, Default)]
struct Control {
    ordered: Option<DisconnectMode>,
    waker: Option<Waker>,
}

/// Every open leg.
pub(super) struct Legs {
    open: RefCell<BTreeMap<ClientNo, Vec<Rc<RefCell<Control>>>>>,
    witness: Witness,
}

impl Legs {
    /// No legs yet. Cuts will be reported to `witness`.
    pub(super) fn new(witness: Witness) -> Legs {
        Legs { open: RefCell::default(), witness }
    }

    /// A new leg: the response to the request tagged `tag`. It is open until it is dropped.
    pub(super) fn open(self: &Rc<Self>, tag: RequestTag) -> Leg {
        let control = Rc::<RefCell<Control>>::default();
        self.open.borrow_mut().entry(tag.client).or_default().push(control.clone());
        Leg { tag, control, obeyed: None, legs: self.clone() }
    }

    /// Orders every open leg of `client` to be cut. Whether that changes anything for any of them.
    pub(super) fn order(&self, client: ClientNo, mode: DisconnectMode) -> bool {
        let open = self.open.borrow();
        let legs = open.get(&client).map_or(&[][..], Vec::as_slice);
        // Every leg gets its order, so no short circuit.
        legs.iter().fold(false, |changed, control| control.borrow_mut().order(mode) | changed)
    }
}

impl Control {
    fn order(&mut self, mode: DisconnectMode) -> bool {
        let vain = self.ordered == Some(mode)
            // No byte passes a half-open leg, so none can be cut in its middle.
            || (self.ordered == Some(DisconnectMode::HalfOpen)
                && mode == DisconnectMode::TruncatedEvent);
        if !vain {
            self.ordered = Some(mode);
            if let Some(waker) = self.waker.take() {
                waker.wake();
            }
        }
        !vain
    }
}

/// One open leg, as its response body holds it.
pub(super) struct Leg {
    tag: RequestTag,
    control: Rc<RefCell<Control>>,
    obeyed: Option<DisconnectMode>,
    legs: Rc<Legs>,
}

impl Leg {
    /// An order that came since the last one. The task of `cx` is woken when there is another.
    pub(super) fn next_order(&mut self, cx: &mut Context<'_>) -> Option<DisconnectMode> {
        let mut control = self.control.borrow_mut();
        if self.obeyed != control.ordered {
            self.obeyed = control.ordered;
            control.waker = None;
            return control.ordered;
        }
        match &mut control.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        None
    }

    /// Reports that the leg is cut now.
    pub(super) fn report_cut(&self, cause: Cause, mode: DisconnectMode) {
        self.legs.witness.report(Event::LegCut { client: self.tag.client, request: self.tag.request, cause, mode });
    }
}

impl Drop for Leg {
    fn drop(&mut self) {
        let mut open = self.legs.open.borrow_mut();
        if let Some(legs) = open.get_mut(&self.tag.client) {
            legs.retain(|control| !Rc::ptr_eq(control, &self.control));
            if legs.is_empty() {
                open.remove(&self.tag.client);
            }
        }
    }
}
