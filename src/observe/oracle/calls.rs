//! How calls end.

use std::collections::BTreeMap;

use crate::observe::event::{CallNo, CallReport, ClientNo};
use crate::observe::verdict::{CallVerdict, Outcome};
use crate::world::time::SimTime;

/// Calls in flight and the rows of those that ended.
#[derive(Debug, Default)]
pub(super) struct Calls {
    pending: BTreeMap<(ClientNo, CallNo), Call>,
    rows: Vec<CallVerdict>,
    duplicate_executions: u32,
}

#[derive(Debug)]
struct Call {
    started: SimTime,
    executions: u32,
    replays: u32,
    /// Parts that the client held when it last sent the call again.
    held: u32,
    /// What a correct client ends up with; known from the first execution on.
    checks: Option<Vec<u32>>,
}

impl Calls {
    pub(super) fn started(&mut self, at: SimTime, client: ClientNo, call: CallNo) {
        self.pending.entry((client, call)).or_insert(Call {
            started: at,
            executions: 0,
            replays: 0,
            held: 0,
            checks: None,
        });
    }

    pub(super) fn replayed(&mut self, client: ClientNo, call: CallNo, held: u32) {
        if let Some(pending) = self.pending.get_mut(&(client, call)) {
            pending.replays += 1;
            pending.held = held;
        }
    }

    pub(super) fn execution_started(&mut self, client: ClientNo, call: CallNo, checks: &[u32]) {
        let executions = if let Some(pending) = self.pending.get_mut(&(client, call)) {
            pending.checks.get_or_insert_with(|| checks.to_vec());
            &mut pending.executions
        } else if let Some(row) = self.rows.iter_mut().rev().find(|row| (row.client, row.call) == (client, call)) {
            // The request was still on its way when the call timed out: the tool runs for nobody.
            &mut row.executions
        } else {
            return;
        };
        *executions += 1;
        if *executions > 1 {
            self.duplicate_executions += 1;
        }
    }

    pub(super) fn ended(
        &mut self,
        at: SimTime,
        (client, call): (ClientNo, CallNo),
        report: &CallReport,
        parts: u32,
        restarts: u32,
    ) {
        let Some(pending) = self.pending.remove(&(client, call)) else {
            return;
        };
        let (outcome, reason) = match report {
            CallReport::Success { checks } => match fault_in(pending.checks.as_deref(), checks) {
                Some(reason) => (Outcome::Wrong, reason),
                None if restarts > 0 => (Outcome::Recovered, String::new()),
                None => (Outcome::Completed, String::new()),
            },
            CallReport::Error { reason } => (Outcome::Failed, reason.clone()),
            CallReport::TimedOut => (Outcome::Hung, "tool did not complete".to_owned()),
        };
        self.rows.push(CallVerdict {
            client,
            call,
            outcome,
            censored: false,
            started: pending.started,
            ended: at,
            parts,
            restarts,
            executions: pending.executions,
            reason,
        });
    }

    /// The rows, with what is pending at the horizon as hung and censored, and the executions beyond the first.
    pub(super) fn finish(mut self, horizon: SimTime) -> (Vec<CallVerdict>, u32) {
        let censored = self.pending.into_iter().map(|((client, call), pending)| CallVerdict {
            client,
            call,
            outcome: Outcome::Hung,
            censored: true,
            started: pending.started,
            ended: horizon,
            parts: pending.held,
            restarts: pending.replays,
            executions: pending.executions,
            reason: "censored".to_owned(),
        });
        self.rows.extend(censored);
        (self.rows, self.duplicate_executions)
    }
}

/// What is wrong with the parts that an application got, or none where it got each of them once and in order.
fn fault_in(expected: Option<&[u32]>, got: &[u32]) -> Option<String> {
    let Some(expected) = expected else {
        return Some("success without an execution".to_owned());
    };
    if expected == got {
        return None;
    }
    let mut left: BTreeMap<u32, i64> = BTreeMap::new();
    for check in expected {
        *left.entry(*check).or_default() += 1;
    }
    let (mut foreign, mut repeated) = (false, false);
    for check in got {
        match left.get_mut(check) {
            None => foreign = true,
            Some(count) => {
                *count -= 1;
                repeated |= *count < 0;
            }
        }
    }
    let missing = left.values().any(|count| *count > 0);
    let findings = [
        (missing, "parts missing"),
        (repeated, "parts repeated"),
        (foreign, "parts of another call"),
        (!(missing || repeated || foreign), "parts out of order"),
    ];
    let found: Vec<&str> = findings.into_iter().filter_map(|(holds, text)| holds.then_some(text)).collect();
    Some(found.join(", "))
}
