//! What it costs to replace a session.

use std::collections::BTreeMap;

use crate::observe::event::{CallNo, CallReport, ClientNo, DetectedBy};
use crate::observe::verdict::RestartVerdict;
use crate::world::time::SimTime;

/// Restarts under way and the rows of all of them.
#[derive(Debug, Default)]
pub(super) struct Restarts {
    /// A client's newest restart, until it is complete.
    open: BTreeMap<ClientNo, Open>,
    rows: Vec<RestartVerdict>,
}

#[derive(Debug)]
struct Open {
    row: usize,
    /// The calls sent again that have not ended.
    waiting: BTreeMap<CallNo, Replay>,
    last_response: Option<SimTime>,
    /// Whether a replayed call ended without a response.
    unanswered: bool,
}

#[derive(Debug)]
struct Replay {
    /// Parts that the client held when it sent the call again.
    held: u32,
    /// Whether an execution for the replay has started.
    executed: bool,
}

impl Restarts {
    pub(super) fn session_lost(&mut self, at: SimTime, client: ClientNo, by: DetectedBy, in_flight: u32) {
        // An earlier restart that is not complete will have no response in its session any more.
        self.open.insert(
            client,
            Open { row: self.rows.len(), waiting: BTreeMap::new(), last_response: None, unanswered: false },
        );
        self.rows.push(RestartVerdict {
            client,
            by,
            alarm_at: at,
            restored_at: None,
            response_at: None,
            requests: 0,
            bytes: 0,
            interrupted: in_flight,
            duplicate_executions: 0,
            parts_again: 0,
        });
    }

    pub(super) fn call_replayed(&mut self, client: ClientNo, call: CallNo, held: u32) {
        if let Some(open) = self.open.get_mut(&client) {
            open.waiting.insert(call, Replay { held, executed: false });
        }
    }

    pub(super) fn execution_started(&mut self, client: ClientNo, call: CallNo, execution: u32, from_part: u32) {
        let Some(open) = self.open.get_mut(&client) else {
            return;
        };
        let Some(replay) = open.waiting.get_mut(&call) else {
            return;
        };
        if replay.executed {
            return;
        }
        replay.executed = true;
        let row = &mut self.rows[open.row];
        // A tool that cannot continue from a checkpoint starts at part 0 whatever it is asked for.
        row.parts_again = row.parts_again.saturating_add(replay.held.saturating_sub(from_part));
        row.duplicate_executions += u32::from(execution > 1);
    }

    pub(super) fn session_restored(&mut self, at: SimTime, client: ClientNo, requests: u32, bytes: u64) {
        let Some(open) = self.open.get_mut(&client) else {
            return;
        };
        let row = &mut self.rows[open.row];
        row.restored_at = Some(at);
        row.requests = requests;
        row.bytes = bytes;
        self.close_if_complete(client);
    }

    pub(super) fn call_ended(&mut self, at: SimTime, client: ClientNo, call: CallNo, report: &CallReport) {
        let Some(open) = self.open.get_mut(&client) else {
            return;
        };
        if open.waiting.remove(&call).is_none() {
            return;
        }
        match report {
            CallReport::Success { .. } => open.last_response = Some(at),
            CallReport::Error { .. } | CallReport::TimedOut => open.unanswered = true,
        }
        self.close_if_complete(client);
    }

    fn close_if_complete(&mut self, client: ClientNo) {
        let Some(open) = self.open.get(&client) else {
            return;
        };
        let row = &mut self.rows[open.row];
        if open.waiting.is_empty() && row.restored_at.is_some() {
            if !open.unanswered {
                row.response_at = open.last_response;
            }
            self.open.remove(&client);
        }
    }

    pub(super) fn finish(self) -> Vec<RestartVerdict> {
        self.rows
    }
}
