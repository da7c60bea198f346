//! What the servers of one run share: numbers that are unique in the run, and whose turn it is when a fault strikes
//! a client. A server alone is a fleet of one.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::mcp::wire::header::RequestTag;
use crate::observe::event::{CallNo, ClientNo, IncarnationNo, LogNo, RequestNo};

/// Requests without a tag are given client numbers from here on: no simulated client has one of them.
const FIRST_STRANGER: ClientNo = 1_000_000;

/// The servers of one run.
pub struct Fleet {
    servers: u32,
    logs: Cell<LogNo>,
    incarnations: Cell<IncarnationNo>,
    strangers: Cell<u32>,
    executions: RefCell<BTreeMap<(ClientNo, CallNo), u32>>,
    homes: RefCell<BTreeMap<ClientNo, u32>>,
    turns: RefCell<BTreeMap<usize, Polled>>,
    store: RefCell<BTreeSet<Rc<str>>>,
}

/// How far the servers have got with one fault.
#[derive(Default)]
struct Polled {
    servers: u32,
    struck: bool,
}

/// What a server has to do about a fault that strikes a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It holds the client's session: it executes the fault.
    Strike,
    /// No server of the fleet holds one: it reports that nothing happened.
    Nobody,
    /// Another server sees to it.
    Pass,
}

impl Fleet {
    /// A fleet of `servers` servers.
    pub fn new(servers: u32) -> Fleet {
        Fleet {
            servers,
            logs: Cell::new(0),
            incarnations: Cell::new(0),
            strangers: Cell::new(0),
            executions: RefCell::default(),
            homes: RefCell::default(),
            turns: RefCell::default(),
            store: RefCell::default(),
        }
    }

    /// A number for a new log.
    pub fn next_log(&self) -> LogNo {
        next(&self.logs)
    }

    /// A number for a new incarnation.
    pub fn next_incarnation(&self) -> IncarnationNo {
        next(&self.incarnations)
    }

    /// A tag for a request that has none: sent by `client` where its session says so, else by a new client.
    pub fn stranger(&self, client: Option<ClientNo>) -> RequestTag {
        let number: RequestNo = FIRST_STRANGER.saturating_add(next(&self.strangers));
        RequestTag { client: client.unwrap_or(number), request: number }
    }

    /// Counts one more execution of a call: its number, from 1.
    pub fn count_execution(&self, client: ClientNo, call: CallNo) -> u32 {
        let mut executions = self.executions.borrow_mut();
        let count = executions.entry((client, call)).or_default();
        *count += 1;
        *count
    }

    /// Notes that `client` opened a session at `server`: its faults strike there from now on.
    pub fn settle(&self, client: ClientNo, server: u32) {
        self.homes.borrow_mut().insert(client, server);
    }

    /// The server at which `client` opened a session last.
    pub fn home(&self, client: ClientNo) -> Option<u32> {
        self.homes.borrow().get(&client).copied()
    }

    /// Notes in the store outside the processes that `key` has been given to a client.
    pub fn remember(&self, key: &Rc<str>) {
        self.store.borrow_mut().insert(key.clone());
    }

    /// Takes `key` out of the store.
    pub fn forget(&self, key: &str) {
        self.store.borrow_mut().remove(key);
    }

    /// Whether the store knows `key`.
    pub fn remembers(&self, key: &str) -> bool {
        self.store.borrow().contains(key)
    }

    /// Asks whose turn it is: each server calls it once for the `index`-th client fault of the run, at the fault's
    /// instant, and says whether it holds the client's session. The last to ask reports a fault that met nobody.
    pub fn turn(&self, index: usize, holds: bool) -> Turn {
        let mut turns = self.turns.borrow_mut();
        let polled = turns.entry(index).or_default();
        polled.servers += 1;
        let last = polled.servers >= self.servers;
        let turn = match (polled.struck, holds) {
            (false, true) => Turn::Strike,
            (false, false) if last => Turn::Nobody,
            _ => Turn::Pass,
        };
        polled.struck |= turn == Turn::Strike;
        if last {
            turns.remove(&index);
        }
        turn
    }
}

fn next(counter: &Cell<u32>) -> u32 {
    let number = counter.get();
    counter.set(number + 1);
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_strikes_at_exactly_one_server_or_is_reported_by_the_last() {
        let fleet = Fleet::new(3);
        let turns = |holds: [bool; 3]| holds.map(|holds| fleet.turn(7, holds));
        assert_eq!(turns([false, true, false]), [Turn::Pass, Turn::Strike, Turn::Pass]);
        assert_eq!(turns([true, true, false]), [Turn::Strike, Turn::Pass, Turn::Pass]);
        assert_eq!(turns([false, false, false]), [Turn::Pass, Turn::Pass, Turn::Nobody]);
    }
}
