//! Which faults struck, scheduled or emergent.

use crate::observe::event::{Cause, ClientNo};
use crate::observe::verdict::{FaultOrigin, FaultVerdict};
use crate::world::fault::Fault;
use crate::world::time::SimTime;

/// The faults so far.
#[derive(Debug, Default)]
pub(super) struct Faults {
    /// Scheduled faults with a duration that are not over, and their rows.
    lasting: Vec<(Fault, usize)>,
    rows: Vec<FaultVerdict>,
}

impl Faults {
    pub(super) fn struck(&mut self, at: SimTime, fault: &Fault, took_effect: bool) {
        if matches!(fault, Fault::Stall { .. } | Fault::Outage { .. } | Fault::ServerShutdown { .. }) {
            self.lasting.push((fault.clone(), self.rows.len()));
        }
        self.rows.push(FaultVerdict {
            client: fault.client(),
            fault: fault.name(),
            origin: FaultOrigin::Scheduled,
            from: at,
            to: at,
            took_effect,
        });
    }

    pub(super) fn over(&mut self, at: SimTime, fault: &Fault) {
        // The first match: of two equal faults that overlap, the older one is over first.
        if let Some(place) = self.lasting.iter().position(|(struck, _)| struck == fault) {
            let (_, row) = self.lasting.remove(place);
            self.rows[row].to = at;
        }
    }

    pub(super) fn emergent(&mut self, at: SimTime, client: Option<ClientNo>, cause: Cause) {
        self.rows.push(FaultVerdict {
            client,
            fault: cause.name(),
            origin: FaultOrigin::Emergent,
            from: at,
            to: at,
            took_effect: true,
        });
    }

    /// The rows in the order of their beginnings: an eviction is known to have bitten only later.
    pub(super) fn finish(mut self, horizon: SimTime) -> Vec<FaultVerdict> {
        for (_, row) in self.lasting {
            self.rows[row].to = horizon;
        }
        self.rows.sort_by_key(|row| row.from);
        self.rows
    }
}
