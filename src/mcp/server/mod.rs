//! The server model: an MCP server (revision 2025-11-25, streamable HTTP) with sessions, resumable streams, bounded
//! event buffers and one tool, whose habits are settings.
//!
//! A [`Server`] is the state that can outlive its process; [`Server::run`] is the process, or rather the machine that
//! starts it again. Bytes are real: HTTP/1.1 through hyper, JSON-RPC, server-sent events.
//!
//! - [`fleet`], `base`: what servers share, what the parts of one server share.
//! - `table`, `session`: which sessions live, whose they are.
//! - `stream`, `log`, `ids`, `leg`: a stream, one life of its buffer, its ids, the response that reads it.
//! - `resume`: how a cursor is judged.
//! - [`tools`], `churn`: what fills the streams.
//! - `process`, `faults`, `tasks`: starting, stopping, scheduled faults.
//! - `http`: requests and answers.

mod base;
pub mod churn;
mod faults;
pub mod fleet;
mod http;
mod ids;
mod leg;
mod log;
mod process;
mod resume;
mod session;
pub mod settings;
mod stream;
mod table;
mod tasks;
#[cfg(test)]
mod tests;
pub mod tools;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use self::base::Base;
use self::fleet::Fleet;
use self::ids::IdForm;
use self::settings::{ServerSettings, ToolSettings};
use self::table::Table;
use self::tasks::Tasks;
use self::tools::Execution;
use crate::observe::event::ClientNo;
use crate::observe::witness::Witness;
use crate::world::draw::Draws;

/// One server: the state that outlives its process.
pub struct Server {
    base: Rc<Base>,
    tool: ToolSettings,
    draws: Draws,
    table: RefCell<Table>,
    /// Connections and running calls: they end with the process.
    tasks: Tasks,
    /// The executions that run, by the number of their task.
    executions: RefCell<BTreeMap<u64, Execution>>,
    /// Faults, sweeps and churn: they follow the run's time, whether or not the process runs.
    background: Tasks,
    churning: RefCell<BTreeSet<ClientNo>>,
}

impl Server {
    /// Server number `number` (from 0) of `fleet`, with nothing in it. `witness` stamps its events and is its clock.
    pub fn new(
        number: u32,
        settings: Rc<ServerSettings>,
        tool: ToolSettings,
        draws: Draws,
        witness: Witness,
        fleet: Rc<Fleet>,
    ) -> Rc<Server> {
        let ids = IdForm::new(&settings, &draws, number);
        let base = Rc::new(Base::new(number, settings, ids, fleet, witness));
        let table = RefCell::new(Table::new(&base, &draws));
        Rc::new(Server {
            base,
            tool,
            draws,
            table,
            tasks: Tasks::default(),
            executions: RefCell::default(),
            background: Tasks::default(),
            churning: RefCell::default(),
        })
    }
}
