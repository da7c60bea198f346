//! One run told to a person: who sent which cursor, what came back, where the loss became certain, who noticed when.
//!
//! Streaming: entries go in one by one, lines come out. What is kept is bounded by what is in flight. Runs of ordinary
//! events become one line without a time of its own. Lines of the host `oracle` say what nobody in the run could know.

mod exchange;
mod scene;
#[cfg(test)]
mod tests;
mod words;

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::event::{Cause, ClientNo, Event, FrameKind, LogNo, RequestNo};
use super::oracle::Oracle;
use super::verdict::{DesyncVerdict, Outcome, Verdicts};
use crate::world::time::SimTime;
use scene::{Run, Scene};
use words::{Clock, counted};

/// Whose story is told. Faults that hit everybody are always told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Focus {
    /// Every client's.
    All,
    /// These clients'.
    Clients(BTreeSet<ClientNo>),
}

impl Focus {
    /// One client's.
    pub fn client(client: ClientNo) -> Focus {
        Focus::Clients(BTreeSet::from([client]))
    }

    /// That of the clients with a desync, a restart, or a call that did not complete: known after a first run.
    pub fn affected(verdicts: &Verdicts) -> Focus {
        Focus::Clients(verdicts.affected_clients())
    }

    fn has(&self, client: ClientNo) -> bool {
        match self {
            Focus::All => true,
            Focus::Clients(clients) => clients.contains(&client),
        }
    }
}

/// The teller.
#[derive(Debug)]
pub struct Story<W> {
    out: W,
    focus: Focus,
    oracle: Oracle,
    told_desyncs: usize,
    scene: Scene,
}

impl<W: Write> Story<W> {
    /// A story of the clients in `focus`, written to `out`, one write a line.
    pub fn new(out: W, focus: Focus) -> Story<W> {
        Story { out, focus, oracle: Oracle::new(), told_desyncs: 0, scene: Scene::default() }
    }

    /// Takes the next entry.
    pub fn tell(&mut self, at: SimTime, host: &str, event: &Event) -> io::Result<()> {
        self.oracle.observe(at, event);
        if let Some(client) = self.scene.client_of(event)
            && !self.focus.has(client)
        {
            self.scene.observe(event);
            return Ok(());
        }
        self.tell_event(at, host, event)?;
        self.tell_desync(at)?;
        self.scene.observe(event);
        Ok(())
    }

    /// Ends the story with one paragraph for each call that was affected, and gives the verdicts.
    pub fn finish(mut self, horizon: SimTime) -> io::Result<Verdicts> {
        for (client, run) in self.scene.take_runs() {
            self.run_line(client, &run)?;
        }
        let verdicts = self.oracle.finish(horizon);
        for call in &verdicts.calls {
            // What the call ran into: the first resume in its time that went wrong, or else the last one before it that
            // had not been noticed by then.
            let mut of_client = verdicts.desyncs.iter().filter(|desync| desync.client == call.client);
            let during = |desync: &&DesyncVerdict| (call.started..=call.ended).contains(&desync.exposed_at);
            let before = |desync: &&DesyncVerdict| {
                desync.exposed_at < call.started
                    && desync.detected.is_none_or(|detection| detection.at >= call.started)
                    && call.outcome != Outcome::Completed
            };
            let met = of_client.clone().find(during).or_else(|| of_client.rfind(before));
            if self.focus.has(call.client) && (met.is_some() || call.outcome != Outcome::Completed) {
                writeln!(self.out, "\n{}", words::verdict(call, met))?;
            }
        }
        Ok(verdicts)
    }

    fn tell_event(&mut self, at: SimTime, host: &str, event: &Event) -> io::Result<()> {
        match event {
            Event::FrameReceived { client, request, id, kind } => {
                self.tell_frame(at, host, (*client, *request), id.as_deref(), *kind)
            }
            Event::FaultStruck { fault, took_effect } => {
                let effect = if *took_effect { "" } else { " without effect" };
                let line = format!("fault strikes{effect}: {}", words::fault(fault));
                self.line(at, host, fault.client(), &line)
            }
            Event::FaultOver { fault } => {
                let line = format!("fault is over: {}", words::fault(fault));
                self.line(at, host, fault.client(), &line)
            }
            Event::LogClosed { log, cause } => self.tell_loss(at, *log, *cause),
            Event::SessionOpened { session, owner, origin, .. } => {
                match words::session_opened(session, *owner, *origin) {
                    Some(line) => self.line(at, host, Some(*owner), &line),
                    None => Ok(()),
                }
            }
            Event::SessionClosed { session, incarnation, cause } => match self.scene.owner(*incarnation) {
                Some(owner) => {
                    let line = words::session_closed(session, owner, *cause);
                    self.line(at, host, Some(owner), &line)
                }
                None => Ok(()),
            },
            Event::ExecutionStarted { client, call, execution, from_part, .. } if *execution > 1 => {
                let line = format!(
                    "the tool runs again for call {call} of client {client} (execution {execution}, from part {from_part})"
                );
                self.line(at, host, Some(*client), &line)
            }
            Event::ExecutionEnded { client, call, how, .. } => match words::execution_end(*how) {
                Some(how) => {
                    let line = format!("the tool's run for call {call} of client {client} {how}");
                    self.line(at, host, Some(*client), &line)
                }
                None => Ok(()),
            },
            Event::Discarded { client, call, part } => {
                if !self.scene.first_discard(*client, *call) {
                    return Ok(());
                }
                let what = part.map_or("the response".to_owned(), |part| format!("part {part}"));
                let line =
                    format!("{what} of call {call} of client {client} has nowhere to go: its session's life is over");
                self.line(at, host, Some(*client), &line)
            }
            _ => self.tell_exchange(at, host, event),
        }
    }

    /// The first event after a resume is shown with its id; others join a run.
    fn tell_frame(
        &mut self,
        at: SimTime,
        host: &str,
        (client, request): (ClientNo, RequestNo),
        id: Option<&str>,
        kind: FrameKind,
    ) -> io::Result<()> {
        let Some(cursor) = self.scene.awaited_after(client, request) else {
            if kind != FrameKind::Priming {
                self.scene.join_run(at, client, id);
            }
            return Ok(());
        };
        let id = id.map_or("no id".to_owned(), |id| format!("id: {id}"));
        let line = if kind == FrameKind::Priming {
            format!("client {client} receives a priming event, {id}")
        } else {
            let desync =
                self.oracle.desyncs().iter().rev().find(|desync| (desync.client, desync.request) == (client, request));
            let judgement = desync.map_or("which continues its stream".to_owned(), |desync| {
                format!("not what followed: {}", desync.signature)
            });
            format!("client {client} receives {id} after its cursor {cursor}, {judgement}")
        };
        self.line(at, host, Some(client), &line)
    }

    fn tell_loss(&mut self, at: SimTime, log: LogNo, cause: Cause) -> io::Result<()> {
        if matches!(cause, Cause::Finished | Cause::Deleted) {
            return Ok(());
        }
        for (client, seen) in self.scene.listeners(log) {
            if !self.focus.has(client) {
                continue;
            }
            let seen = seen.map_or("it had seen nothing".to_owned(), |id| format!("it had got as far as id {id}"));
            let newest = self.scene.newest_id(log).map_or(String::new(), |id| format!(", the newest is {id}"));
            let line = format!(
                "loss certain: this life of client {client}'s stream is over ({}); {seen}{newest}",
                cause.name()
            );
            self.line(at, "oracle", Some(client), &line)?;
        }
        Ok(())
    }

    fn tell_desync(&mut self, at: SimTime) -> io::Result<()> {
        let new: Vec<_> = self.oracle.desyncs()[self.told_desyncs..]
            .iter()
            .map(|desync| (desync.client, words::loss(desync)))
            .collect();
        self.told_desyncs = self.oracle.desyncs().len();
        for (client, loss) in new {
            if self.focus.has(client) {
                let line = format!("this 200 does not continue client {client}'s stream; {loss}");
                self.line(at, "oracle", Some(client), &line)?;
            }
        }
        Ok(())
    }

    /// Writes a line, after the run of events that the client received before it.
    fn line(&mut self, at: SimTime, host: &str, client: Option<ClientNo>, text: &str) -> io::Result<()> {
        if let Some(client) = client
            && let Some(run) = self.scene.take_run(client)
        {
            self.run_line(client, &run)?;
        }
        writeln!(self.out, "{:>14}  {host:<9} {text}", Clock(at).to_string())
    }

    fn run_line(&mut self, client: ClientNo, run: &Run) -> io::Result<()> {
        let events = counted(run.events, "event");
        let ids = match (&run.first_id, &run.last_id) {
            (Some(first), Some(last)) if first == last => format!(", id {first}"),
            (Some(first), Some(last)) => format!(", ids {first} to {last}"),
            _ => String::new(),
        };
        writeln!(
            self.out,
            "{:>14}  {:<9} ... client {client} receives {events}{ids}, until {}",
            "",
            "",
            Clock(run.until)
        )
    }
}
