//! What one arm did, over all runs.

use std::time::Duration;

use hdrhistogram::Histogram;

use super::micros;
use crate::experiment::results::rows::{RestartRow, RunRow};
use crate::mcp::client::settings::Arm;
use crate::observe::measure::{empty, record};
use crate::observe::verdict::Outcome;

/// The ages, in seconds, at which pending calls are counted. DESIGN section 5.
pub const PENDING_S: [u64; 3] = [20, 60, 300];

/// Steps from 0 to 1 in which runs are told apart by their share of hung calls.
pub const HUNG_BINS: usize = 1_000;

/// One arm's counts and histograms. Histograms of time are in microseconds.
#[derive(Clone, Debug)]
pub struct ArmSummary {
    /// The arm.
    pub arm: Arm,
    /// Runs, the vacuous ones included.
    pub runs: u64,
    /// Runs in which no fault took effect.
    pub vacuous: u64,
    /// Calls started.
    pub calls: u64,
    outcomes: [u64; Outcome::ALL.len()],
    /// Calls pending at the horizon; they are among the hung ones.
    pub censored: u64,
    /// GETs with a cursor that were answered 200.
    pub resumes: u64,
    /// Resumes that were not coherent.
    pub desyncs: u64,
    /// Desyncs that lost or mixed up nothing: events that the client had consumed came again. There is nothing in
    /// them to detect.
    pub harmless: u64,
    /// Harmful desyncs after which the client never decided that its session is lost.
    pub undetected: u64,
    /// Alarms on resumes that lost or mixed up events.
    pub true_alarms: u64,
    /// Alarms on resumes that lost nothing.
    pub false_alarms: u64,
    /// Resumes that lost or mixed up events without an alarm.
    pub missed: u64,
    /// Sessions declared lost and replaced.
    pub restarts: u64,
    /// Tool executions beyond the first of their call.
    pub duplicate_executions: u64,
    /// HTTP requests of all clients.
    pub requests: u64,
    /// Bytes of all clients.
    pub bytes: u64,
    /// Calls that were still pending so many seconds after their start, see [`PENDING_S`]. A hung call is pending until
    /// its application gave up or the run was over, that instant included.
    pub pending: [u64; PENDING_S.len()],
    /// Time to the end of calls `completed` or `recovered`.
    pub completion: Histogram<u64>,
    /// Time to the end of calls `failed`.
    pub failure: Histogram<u64>,
    /// Time to the end of calls `wrong`.
    pub wrong: Histogram<u64>,
    /// Time from the exposing answer to the decision, for harmful desyncs that were detected.
    pub detection: Histogram<u64>,
    /// Time from the certain loss to the decision.
    pub detection_from_loss: Histogram<u64>,
    /// What restarts cost.
    pub restart_cost: RestartCost,
    /// Runs by their share of hung calls, rounded to [`HUNG_BINS`] steps. Runs without calls are left out.
    pub runs_by_hung_share: Vec<u64>,
}

/// What each restart cost, as histograms over restarts.
#[derive(Clone, Debug)]
pub struct RestartCost {
    /// Requests.
    pub requests: Histogram<u64>,
    /// Bytes.
    pub bytes: Histogram<u64>,
    /// Microseconds from the decision to the last replayed call's response, where it came.
    pub time: Histogram<u64>,
    /// Executions that the replays repeated.
    pub duplicate_executions: Histogram<u64>,
}

impl RestartCost {
    fn new() -> RestartCost {
        RestartCost { requests: empty(), bytes: empty(), time: empty(), duplicate_executions: empty() }
    }

    pub(super) fn add(&mut self, row: &RestartRow, time_us: Option<u64>) {
        record(&mut self.requests, row.requests.into());
        record(&mut self.bytes, row.bytes);
        record(&mut self.duplicate_executions, row.duplicate_executions.into());
        if let Some(time_us) = time_us {
            record(&mut self.time, time_us);
        }
    }
}

impl ArmSummary {
    pub(super) fn new(arm: Arm) -> ArmSummary {
        ArmSummary {
            arm,
            runs: 0,
            vacuous: 0,
            calls: 0,
            outcomes: [0; Outcome::ALL.len()],
            censored: 0,
            resumes: 0,
            desyncs: 0,
            harmless: 0,
            undetected: 0,
            true_alarms: 0,
            false_alarms: 0,
            missed: 0,
            restarts: 0,
            duplicate_executions: 0,
            requests: 0,
            bytes: 0,
            pending: [0; PENDING_S.len()],
            completion: empty(),
            failure: empty(),
            wrong: empty(),
            detection: empty(),
            detection_from_loss: empty(),
            restart_cost: RestartCost::new(),
            runs_by_hung_share: vec![0; HUNG_BINS + 1],
        }
    }

    pub(super) fn add_run(&mut self, row: &RunRow) {
        self.runs += 1;
        self.vacuous += u64::from(row.vacuous);
        self.calls += u64::from(row.calls);
        let outcomes = [row.completed, row.recovered, row.failed, row.hung, row.wrong];
        for (sum, count) in self.outcomes.iter_mut().zip(outcomes) {
            *sum += u64::from(count);
        }
        self.censored += u64::from(row.censored);
        self.resumes += u64::from(row.resumes);
        self.desyncs += u64::from(row.desyncs);
        self.true_alarms += u64::from(row.true_alarms);
        self.false_alarms += u64::from(row.false_alarms);
        self.missed += u64::from(row.missed);
        self.restarts += u64::from(row.restarts);
        self.duplicate_executions += u64::from(row.duplicate_executions);
        self.requests += row.requests;
        self.bytes += row.bytes;
        if let Some(share) = ratio(row.hung.into(), row.calls.into()) {
            let bin = (share * HUNG_BINS as f64).round() as usize;
            self.runs_by_hung_share[bin.min(HUNG_BINS)] += 1;
        }
    }

    pub(super) fn add_call(&mut self, outcome: Outcome, lasted: Duration) {
        for (count, age_s) in self.pending.iter_mut().zip(PENDING_S) {
            let age = Duration::from_secs(age_s);
            *count += u64::from(lasted > age || (lasted == age && outcome == Outcome::Hung));
        }
        match outcome {
            Outcome::Completed | Outcome::Recovered => record(&mut self.completion, micros(lasted)),
            Outcome::Failed => record(&mut self.failure, micros(lasted)),
            Outcome::Wrong => record(&mut self.wrong, micros(lasted)),
            // Nothing ended: the application gave up or the run was over.
            Outcome::Hung => {}
        }
    }

    /// Calls with one outcome.
    pub fn outcome(&self, outcome: Outcome) -> u64 {
        self.outcomes[outcome as usize]
    }

    /// The share of calls with one outcome; none where there are no calls.
    pub fn share(&self, outcome: Outcome) -> Option<f64> {
        ratio(self.outcome(outcome), self.calls)
    }

    /// True alarms among all alarms; none where there is no alarm.
    pub fn precision(&self) -> Option<f64> {
        ratio(self.true_alarms, self.true_alarms + self.false_alarms)
    }

    /// True alarms among the resumes that lost or mixed up events; none where there is none.
    pub fn recall(&self) -> Option<f64> {
        ratio(self.true_alarms, self.true_alarms + self.missed)
    }
}

/// `part` / `whole`; none over nothing.
pub fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
