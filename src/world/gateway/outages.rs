//! Which clients are cut off at the moment.

use std::cell::RefCell;
use std::collections::BTreeMap;

use tokio::sync::Notify;

use crate::observe::event::ClientNo;

/// A client whose requests do not get through: its connection breaks without an answer.
#[derive(Debug, thiserror::Error)]
#[error("the client is cut off")]
pub(super) struct CutOff;

/// The outages that last.
#[derive(Debug, Default)]
pub(super) struct Outages {
    /// How many outages of a client overlap.
    lasting: RefCell<BTreeMap<ClientNo, u32>>,
    begun: Notify,
}

impl Outages {
    /// An outage of `client` begins: whoever waits for an answer on its behalf is told.
    pub(super) fn begin(&self, client: ClientNo) {
        *self.lasting.borrow_mut().entry(client).or_default() += 1;
        self.begun.notify_waiters();
    }

    /// One outage of `client` is over.
    pub(super) fn end(&self, client: ClientNo) {
        let mut lasting = self.lasting.borrow_mut();
        if let Some(overlapping) = lasting.get_mut(&client) {
            *overlapping -= 1;
            if *overlapping == 0 {
                lasting.remove(&client);
            }
        }
    }

    /// Waits until `client` is cut off; at once where it is.
    pub(super) async fn cut_off(&self, client: ClientNo) -> CutOff {
        loop {
            let begun = self.begun.notified();
            if self.lasting.borrow().contains_key(&client) {
                return CutOff;
            }
            begun.await;
        }
    }
}
