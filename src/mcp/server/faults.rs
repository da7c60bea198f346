//! Scheduled faults as a server executes them, each at its exact instant.

use std::rc::Rc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;

use super::Server;
use super::fleet::Turn;
use super::table::SharedSession;
use crate::observe::event::{Cause, Event, Origin};
use crate::world::fault::{Fault, Keep, RecycleTo};
use crate::world::schedule::ScheduledFault;
use crate::world::time::SimTime;

/// The process has been stopped.
pub struct Stopped {
    /// By which fault.
    pub fault: Fault,
    /// For how long.
    pub down: Duration,
}

impl Server {
    /// Executes the faults that concern this server. Those of the past are passed over.
    pub(super) async fn strike(self: Rc<Server>, faults: Vec<ScheduledFault>, stopped: UnboundedSender<Stopped>) {
        let begins = self.base.now();
        let mut client_faults = 0;
        for ScheduledFault { at_s, fault } in faults {
            let index = client_faults;
            client_faults += usize::from(is_client_fault(&fault));
            let at = SimTime::from(at_s.get());
            if at < begins || !self.executes(&fault) {
                continue;
            }
            tokio::time::sleep(at.since(self.base.now())).await;
            if let Fault::ServerShutdown { down_s, keep, .. } = fault {
                let took_effect = self.base.up.get();
                self.report_struck(&fault, took_effect);
                if took_effect {
                    self.stop(keep);
                    let down = down_s.get();
                    // The receiver lives as long as the process's supervisor, which owns this task's set.
                    let _ = stopped.send(Stopped { fault, down });
                }
            } else {
                self.strike_client(index, &fault);
            }
        }
    }

    fn executes(&self, fault: &Fault) -> bool {
        match fault {
            Fault::ServerShutdown { server, .. } => *server == self.base.number,
            other => is_client_fault(other),
        }
    }

    fn report_struck(&self, fault: &Fault, took_effect: bool) {
        self.base.report(Event::FaultStruck { fault: fault.clone(), took_effect });
    }

    fn strike_client(&self, index: usize, fault: &Fault) {
        let session = self.session_struck(fault);
        match (self.base.fleet.turn(index, session.is_some()), session) {
            (Turn::Strike, Some(session)) => self.strike_session(&session, fault),
            (Turn::Strike | Turn::Nobody, _) => self.report_struck(fault, false),
            (Turn::Pass, _) => {}
        }
    }

    /// The newest session of the fault's client, where this server is the one at which it was opened.
    fn session_struck(&self, fault: &Fault) -> Option<SharedSession> {
        let client = fault.client()?;
        let home = self.base.fleet.home(client)?;
        let session = self.table.borrow().newest_of(client);
        session.filter(|_| home == self.base.number)
    }

    fn strike_session(&self, session: &SharedSession, fault: &Fault) {
        match fault {
            Fault::SessionRecycle { to, .. } => {
                self.report_struck(fault, true);
                self.recycle(session, *to);
            }
            Fault::BufferTruncate { keep_events, .. } => {
                let keep = *keep_events as usize;
                let exceeds = session.borrow().exceeds(keep);
                self.report_struck(fault, exceeds);
                session.borrow_mut().truncate(keep, Cause::BufferTruncate);
            }
            Fault::CounterWrap { .. } => {
                self.report_struck(fault, true);
                session.borrow_mut().wrap();
            }
            Fault::Disconnect { .. } | Fault::Outage { .. } | Fault::Stall { .. } | Fault::ServerShutdown { .. } => {}
        }
    }

    fn recycle(&self, session: &SharedSession, to: RecycleTo) {
        let (key, owner) = {
            let session = session.borrow();
            (session.key.clone(), session.owner)
        };
        let mut table = self.table.borrow_mut();
        table.close(&key, Cause::SessionRecycle);
        match to {
            RecycleTo::Same => {
                table.open(key, owner, Origin::Recycled);
            }
            RecycleTo::Other => table.give_away(key, owner),
        }
    }

    /// Stops the process: every connection and every running call ends now; `keep` says what outlives it.
    fn stop(&self, keep: Keep) {
        self.base.up.set(false);
        self.tasks.abort_all();
        self.kill_executions();
        if let Some(shared) = self.base.numbering.as_ref().filter(|_| !(keep.sessions && keep.counters)) {
            shared.restart(&self.base.ids);
        }
        let mut table = self.table.borrow_mut();
        if keep.sessions {
            for session in table.sessions() {
                session.borrow_mut().outlive_process(keep);
            }
        } else {
            table.close_all(Cause::ServerShutdown);
        }
    }
}

/// Whether a server executes this fault on a client's session.
fn is_client_fault(fault: &Fault) -> bool {
    match fault {
        Fault::SessionRecycle { .. } | Fault::BufferTruncate { .. } | Fault::CounterWrap { .. } => true,
        Fault::Disconnect { .. } | Fault::Outage { .. } | Fault::Stall { .. } | Fault::ServerShutdown { .. } => false,
    }
}
