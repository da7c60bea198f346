//! The process: it listens, serves each connection in a task of its own, stops when a fault says so, and comes back.

use std::io;
use std::rc::Rc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::sync::mpsc;

use super::Server;
use super::faults::Stopped;
use super::http;
use crate::mcp::net::{Accept, Bind, Io};
use crate::observe::event::Event;
use crate::world::schedule::ScheduledFault;

/// The period of the search for idle sessions and expired events, on whole seconds of simulated time.
const SWEEP: Duration = Duration::from_secs(1);

impl Server {
    /// Serves for ever, on the current local set. Executes those of `faults` that concern this server at their
    /// instants; every server of a fleet must be given the same faults in the same order.
    ///
    /// # Errors
    /// Where the network refuses to bind or to accept.
    pub async fn run(self: Rc<Server>, bind: impl Bind, faults: Vec<ScheduledFault>) -> io::Result<()> {
        let (stopped, mut stops) = mpsc::unbounded_channel();
        let (striking, sweeping) = (self.clone(), self.clone());
        self.background.spawn(|_| striking.strike(faults, stopped));
        if self.needs_sweeps() {
            self.background.spawn(|_| async move { sweeping.sweep().await });
        }
        loop {
            let listener = bind.bind().await?;
            self.base.up.set(true);
            tokio::select! {
                biased;
                Some(Stopped { fault, down }) = stops.recv() => {
                    tokio::time::sleep(down).await;
                    self.base.report(Event::FaultOver { fault });
                }
                failed = self.serve(listener) => return failed,
            }
        }
    }

    async fn serve(self: &Rc<Server>, mut listener: impl Accept) -> io::Result<()> {
        loop {
            let io = listener.accept().await?;
            let server = self.clone();
            self.tasks.spawn(|_| server.converse(io));
        }
    }

    /// Serves one connection until either side ends it.
    async fn converse(self: Rc<Server>, io: impl Io) {
        let service = service_fn(|request| {
            let server = self.clone();
            async move { http::answer(server, request).await }
        });
        // A connection that breaks is the peer's business: what it means for its legs is reported by them.
        let _ = http1::Builder::new()
            .auto_date_header(false)
            .header_read_timeout(None)
            .serve_connection(TokioIo::new(io), service)
            .await;
    }

    fn needs_sweeps(&self) -> bool {
        let settings = &self.base.settings;
        settings.session_idle_s.is_some() || settings.buffer_ttl_s.is_some()
    }

    async fn sweep(self: Rc<Server>) {
        loop {
            let period = SWEEP.as_micros() as u64;
            let into = self.base.now().as_micros() % period;
            tokio::time::sleep(Duration::from_micros(period - into)).await;
            if !self.base.up.get() {
                continue;
            }
            let mut table = self.table.borrow_mut();
            if self.base.settings.buffer_ttl_s.is_some() {
                for session in table.sessions() {
                    session.borrow().trim();
                }
            }
            table.reap();
        }
    }
}
