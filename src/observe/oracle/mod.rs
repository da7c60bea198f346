//! Ground truth: what the log of a run meant. A pure fold over its events.
//!
//! Nothing here can be read by client code. Memory is bounded by what is in flight: closed sessions, logs and legs are
//! forgotten, and what has ended is kept as one compact row.
//!
//! Each part of the fold sees only what it decides on: `calls` the outcomes, `restarts` the cost of recovery, `faults`
//! what struck, `resumes` the continuity of every stream. The rules are those of DESIGN.md section 5 ("Outcomes and
//! measures"), with these additions:
//!
//! - A resume is a request with a cursor that was answered 200. It is coherent if the leg was attached exactly behind the
//!   last event that the client consumed on that stream. A client that had consumed nothing yet expects the event that
//!   its first leg was attached at. Without a cursor there is no resume and no desync.
//! - A leg that is moved to another life of its stream before anything was sent on it is judged by where it was moved.
//!   One that is moved later is no desync (it did resume coherently), but an alarm about it is a true one; so is one
//!   about a fresh leg that carries another tenant's events.
//! - An alarm belongs to the leg that led to it. Harm is events skipped, or another log. A leg that carries nothing does
//!   harm if there was something to carry.

mod calls;
mod faults;
mod judge;
mod logs;
mod restarts;
mod resumes;
mod stream;
#[cfg(test)]
mod tests;
mod wire_id;

use calls::Calls;
use faults::Faults;
use restarts::Restarts;
use resumes::Resumes;

use super::event::{Cause, Event};
use super::measure::Measures;
use super::verdict::{CallVerdict, DesyncVerdict, Outcome, RunVerdict, Verdicts};
use crate::world::time::SimTime;

/// The fold.
#[derive(Debug, Default)]
pub struct Oracle {
    calls: Calls,
    restarts: Restarts,
    faults: Faults,
    resumes: Resumes,
    requests: u64,
    bytes: u64,
}

impl Oracle {
    /// An oracle that has seen nothing.
    pub fn new() -> Oracle {
        Oracle::default()
    }

    /// Takes the next event. Events that contradict earlier ones are passed over: the log is a report, not a promise.
    pub fn observe(&mut self, at: SimTime, event: &Event) {
        match event {
            Event::CallStarted { client, call } => self.calls.started(at, *client, *call),
            Event::CallEnded { client, call, report, parts, restarts } => {
                self.calls.ended(at, (*client, *call), report, *parts, *restarts);
                self.restarts.call_ended(at, *client, *call, report);
                self.resumes.call_ended(*client, *call, &mut self.faults);
            }
            Event::RequestSent { client, request, purpose, cursor, .. } => {
                self.requests += 1;
                self.resumes.request_sent(*client, *request, *purpose, cursor.as_deref(), &mut self.faults);
            }
            Event::Answered { client, request, status, .. } => {
                self.resumes.answered(at, *client, *request, *status, &mut self.faults)
            }
            Event::Unanswered { client, request, .. } => self.resumes.unanswered(*client, *request),
            Event::FrameReceived { client, request, id, kind } => {
                self.resumes.frame_received(*client, *request, id.as_deref(), *kind)
            }
            Event::LegEnded { client, request, .. } => self.resumes.leg_ended(*client, *request),
            Event::SessionLost { client, request, by, in_flight, .. } => {
                self.resumes.session_lost(at, *client, *request, *by);
                self.restarts.session_lost(at, *client, *by, *in_flight);
            }
            Event::CallReplayed { client, call, held, .. } => {
                self.calls.replayed(*client, *call, *held);
                self.restarts.call_replayed(*client, *call, *held);
            }
            Event::SessionRestored { client, requests, bytes, .. } => {
                self.restarts.session_restored(at, *client, *requests, *bytes)
            }
            Event::ClientDone { bytes, .. } => self.bytes = self.bytes.saturating_add(*bytes),
            Event::LegCut { client, cause, .. } => {
                // A `disconnect` is in the schedule and reported as such.
                if matches!(cause, Cause::IdleTimeout | Cause::MaxLife) {
                    self.faults.emergent(at, Some(*client), *cause);
                }
            }
            Event::FaultStruck { fault, took_effect } => {
                self.faults.struck(at, fault, *took_effect);
            }
            Event::FaultOver { fault } => self.faults.over(at, fault),
            Event::ExecutionStarted { client, call, execution, from_part, checks } => {
                self.calls.execution_started(*client, *call, checks);
                self.restarts.execution_started(*client, *call, *execution, *from_part);
            }
            _ => self.observe_streams(at, event),
        }
    }

    /// The lives of sessions, logs and attachments.
    fn observe_streams(&mut self, at: SimTime, event: &Event) {
        match event {
            Event::SessionOpened { incarnation, owner, .. } => self.resumes.logs.session_opened(*incarnation, *owner),
            Event::SessionClosed { incarnation, cause, .. } => {
                let owner = self.resumes.session_closed(at, *incarnation, *cause);
                if *cause == Cause::SessionIdle {
                    self.faults.emergent(at, owner, *cause);
                }
            }
            Event::LogOpened { log, incarnation, stream } => self.resumes.logs.opened(*log, *incarnation, *stream),
            Event::LogClosed { log, cause } => self.resumes.log_closed(at, *log, *cause),
            Event::Appended { log, last, .. } => self.resumes.appended(*log, *last),
            Event::Evicted { log, through, cause } => self.resumes.evicted(at, *log, *through, *cause),
            Event::Attached { client, request, log, next, .. } => self.resumes.attached(*client, *request, *log, *next),
            Event::Rebased { client, request, sent, log, next, .. } => {
                self.resumes.rebased(at, (*client, *request), *sent, (*log, *next), &mut self.faults)
            }
            _ => {}
        }
    }

    /// The desyncs so far, in the order of exposure. The signature of the last ones may be provisional.
    pub fn desyncs(&self) -> &[DesyncVerdict] {
        &self.resumes.rows
    }

    /// Closes what is open at the horizon and gives the verdicts.
    pub fn finish(mut self, horizon: SimTime) -> Verdicts {
        self.resumes.finish(&mut self.faults);
        let (calls, duplicate_executions) = self.calls.finish(horizon);
        let mut desyncs = self.resumes.rows;
        for desync in desyncs.iter_mut().filter(|desync| !desync.harmful) {
            desync.lost_at = None;
            desync.fault = None;
        }
        let restarts = self.restarts.finish();
        let faults = self.faults.finish(horizon);
        let measures = Measures::of(&calls, &desyncs, &restarts);
        let tally = self.resumes.tally;
        Verdicts {
            run: RunVerdict {
                resumes: tally.resumes,
                desyncs: count(desyncs.len()),
                true_alarms: tally.true_alarms,
                false_alarms: tally.false_alarms,
                missed: tally.missed,
                restarts: count(restarts.len()),
                duplicate_executions,
                requests: self.requests,
                bytes: self.bytes,
                vacuous: !faults.iter().any(|fault| fault.took_effect),
                ..outcomes(&calls)
            },
            calls,
            desyncs,
            restarts,
            faults,
            measures,
        }
    }
}

fn outcomes(calls: &[CallVerdict]) -> RunVerdict {
    let of = |outcome| count(calls.iter().filter(|call| call.outcome == outcome).count());
    RunVerdict {
        calls: count(calls.len()),
        completed: of(Outcome::Completed),
        recovered: of(Outcome::Recovered),
        failed: of(Outcome::Failed),
        hung: of(Outcome::Hung),
        wrong: of(Outcome::Wrong),
        censored: count(calls.iter().filter(|call| call.censored).count()),
        ..RunVerdict::default()
    }
}

fn count(items: usize) -> u32 {
    u32::try_from(items).unwrap_or(u32::MAX)
}
