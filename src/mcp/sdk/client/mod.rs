//! The SDK's client and the application that calls tools through it.
//!
//! - `application` connects, calls and reconnects, as a careful program does; `call` is one call of it.
//! - `backend` is what the SDK asks for HTTP: it sends and reads over the simulated network (`exchange`), answers
//!   the SDK as its stock backend does (`answer`, `post`, `leg`), and tells the event log.
//! - `record` is what both know: request numbers, calls in flight, the session as the wire shows it.

mod answer;
mod application;
mod backend;
mod call;
mod config;
mod connection;
mod error;
mod exchange;
mod handler;
mod leg;
mod limit;
mod post;
mod process;
mod purpose;
mod record;
mod streams;
mod tasks;

#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::rc::Rc;

use self::application::Application;
use self::record::Record;
use crate::cursor::{Grammar, Rules};
use crate::mcp::client::settings::ClientSettings;
use crate::mcp::client::workload::Workload;
use crate::mcp::client::{Agent, AgentRun};
use crate::mcp::net::Dial;
use crate::observe::event::{ClientNo, Event};
use crate::observe::witness::Witness;

/// One client of the SDK. It lives on a host's runtime.
pub struct SdkClient<D: Dial> {
    application: Rc<Application<D>>,
    record: Rc<Record>,
}

impl<D: Dial> SdkClient<D> {
    /// A client that has not started. With `guard`, a guard checks its resumed streams.
    ///
    /// `dial` opens connections to the endpoint and counts their bytes in `traffic`.
    pub fn new(
        number: ClientNo,
        guard: Option<(Grammar, Rules)>,
        settings: Rc<ClientSettings>,
        dial: D,
        traffic: Rc<Cell<u64>>,
        witness: Witness,
    ) -> Rc<SdkClient<D>> {
        process::settle();
        let record = Rc::new(Record::new(number, traffic, witness.clone()));
        let application = Application::new(guard, settings, dial, record.clone(), witness);
        Rc::new(SdkClient { application, record })
    }
}

impl<D: Dial> Agent for SdkClient<D> {
    fn run(self: Rc<Self>, workload: Workload) -> AgentRun {
        Box::pin(async move { tasks::join(tasks::spawn(self.application.clone().work(workload))).await })
    }

    fn done(&self) -> Event {
        Event::ClientDone { client: self.record.client(), bytes: self.record.bytes() }
    }
}
