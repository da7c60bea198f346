//! Thresholds: what must hold of an arm's outcomes for `run` to end well.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::experiment::results::rows::RunRow;
use crate::mcp::client::settings::Arm;

/// A bound on a measure of an arm over all runs of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Threshold {
    /// The arm.
    pub arm: Arm,
    /// The measure.
    pub measure: Measure,
    /// The smallest accepted value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The largest accepted value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
}

/// A measure that a threshold can bound: shares of all calls, or counts over all runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Share of calls `completed`.
    CompletedShare,
    /// Share of calls `recovered`.
    RecoveredShare,
    /// Share of calls `failed`.
    FailedShare,
    /// Share of calls `hung`.
    HungShare,
    /// Share of calls `wrong`.
    WrongShare,
    /// Number of desyncs.
    Desyncs,
    /// Number of false alarms.
    FalseAlarms,
    /// Number of desyncs without an alarm.
    Missed,
    /// Number of restarts.
    Restarts,
}

impl Measure {
    /// The measure's name in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Measure::CompletedShare => "completed_share",
            Measure::RecoveredShare => "recovered_share",
            Measure::FailedShare => "failed_share",
            Measure::HungShare => "hung_share",
            Measure::WrongShare => "wrong_share",
            Measure::Desyncs => "desyncs",
            Measure::FalseAlarms => "false_alarms",
            Measure::Missed => "missed",
            Measure::Restarts => "restarts",
        }
    }

    /// Whether it lies between 0 and 1.
    pub const fn is_share(self) -> bool {
        matches!(
            self,
            Measure::CompletedShare
                | Measure::RecoveredShare
                | Measure::FailedShare
                | Measure::HungShare
                | Measure::WrongShare
        )
    }

    /// Its value; none for a share of no calls.
    pub fn of(self, totals: &Totals) -> Option<f64> {
        let counted = match self {
            Measure::CompletedShare => totals.completed,
            Measure::RecoveredShare => totals.recovered,
            Measure::FailedShare => totals.failed,
            Measure::HungShare => totals.hung,
            Measure::WrongShare => totals.wrong,
            Measure::Desyncs => totals.desyncs,
            Measure::FalseAlarms => totals.false_alarms,
            Measure::Missed => totals.missed,
            Measure::Restarts => totals.restarts,
        };
        if !self.is_share() {
            return Some(counted as f64);
        }
        (totals.calls > 0).then(|| counted as f64 / totals.calls as f64)
    }
}

/// The sums of one arm's rows of `runs.csv` that thresholds need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Calls started.
    pub calls: u64,
    /// Calls `completed`.
    pub completed: u64,
    /// Calls `recovered`.
    pub recovered: u64,
    /// Calls `failed`.
    pub failed: u64,
    /// Calls `hung`.
    pub hung: u64,
    /// Calls `wrong`.
    pub wrong: u64,
    /// Resumes that were not coherent.
    pub desyncs: u64,
    /// Alarms on resumes that lost nothing.
    pub false_alarms: u64,
    /// Desyncs that raised no alarm.
    pub missed: u64,
    /// Sessions replaced.
    pub restarts: u64,
}

impl Totals {
    /// Adds one run.
    pub fn add(&mut self, run: &RunRow) {
        for (sum, value) in [
            (&mut self.calls, run.calls),
            (&mut self.completed, run.completed),
            (&mut self.recovered, run.recovered),
            (&mut self.failed, run.failed),
            (&mut self.hung, run.hung),
            (&mut self.wrong, run.wrong),
            (&mut self.desyncs, run.desyncs),
            (&mut self.false_alarms, run.false_alarms),
            (&mut self.missed, run.missed),
            (&mut self.restarts, run.restarts),
        ] {
            *sum += u64::from(value);
        }
    }

    /// The sums of `runs` for each arm among them. Rows of an arm that this build does not know are left out.
    pub fn by_arm<'r>(runs: impl IntoIterator<Item = &'r RunRow>) -> BTreeMap<Arm, Totals> {
        let mut totals: BTreeMap<Arm, Totals> = BTreeMap::new();
        for run in runs {
            if let Ok(arm) = run.arm.parse() {
                totals.entry(arm).or_default().add(run);
            }
        }
        totals
    }
}

/// A threshold that does not hold, and the value that breaks it.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// The threshold.
    pub threshold: Threshold,
    /// The measured value; none where no call was made, so that there is no share.
    pub measured: Option<f64>,
}

/// The thresholds that `totals` violate. Those of arms without runs are not judged; a share of no calls violates
/// every bound on it, for it proves nothing.
pub fn check(thresholds: &[Threshold], totals: &BTreeMap<Arm, Totals>) -> Vec<Violation> {
    let holds = |threshold: &Threshold, value: f64| {
        threshold.at_least.is_none_or(|bound| value >= bound) && threshold.at_most.is_none_or(|bound| value <= bound)
    };
    thresholds
        .iter()
        .filter_map(|threshold| {
            let measured = threshold.measure.of(totals.get(&threshold.arm)?);
            let violated = !measured.is_some_and(|value| holds(threshold, value));
            violated.then(|| Violation { threshold: threshold.clone(), measured })
        })
        .collect()
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Threshold { arm, measure, at_least, at_most } = &self.threshold;
        let name = measure.name();
        match self.measured {
            Some(value) if measure.is_share() => write!(f, "{arm}: {name} is {value:.4}")?,
            Some(value) => write!(f, "{arm}: {name} is {value}")?,
            None => write!(f, "{arm}: {name} has no value, for no call was made")?,
        }
        f.write_str("; the scenario demands ")?;
        match (at_least, at_most) {
            (Some(low), Some(high)) => write!(f, "{low} to {high}"),
            (Some(low), None) => write!(f, "at least {low}"),
            (None, Some(high)) => write!(f, "at most {high}"),
            (None, None) => f.write_str("a bound, and names none"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threshold(measure: Measure, at_least: Option<f64>, at_most: Option<f64>) -> Threshold {
        Threshold { arm: Arm::Trusting, measure, at_least, at_most }
    }

    fn sentences(thresholds: &[Threshold], totals: Totals) -> Vec<String> {
        check(thresholds, &BTreeMap::from([(Arm::Trusting, totals)])).iter().map(Violation::to_string).collect()
    }

    #[test]
    fn a_violation_tells_arm_measure_value_and_bound() {
        let totals = Totals { calls: 200, completed: 150, hung: 30, missed: 7, ..Totals::default() };
        let thresholds = [
            threshold(Measure::CompletedShare, Some(0.75), Some(0.75)),
            threshold(Measure::CompletedShare, Some(0.8), None),
            threshold(Measure::HungShare, None, Some(0.1)),
            threshold(Measure::HungShare, Some(0.2), Some(0.3)),
            threshold(Measure::Missed, None, Some(0.0)),
            threshold(Measure::Restarts, None, Some(0.0)),
        ];
        assert_eq!(
            sentences(&thresholds, totals),
            [
                "trusting: completed_share is 0.7500; the scenario demands at least 0.8",
                "trusting: hung_share is 0.1500; the scenario demands at most 0.1",
                "trusting: hung_share is 0.1500; the scenario demands 0.2 to 0.3",
                "trusting: missed is 7; the scenario demands at most 0",
            ]
        );
    }

    #[test]
    fn a_share_of_no_calls_violates_its_bound() {
        let thresholds = [threshold(Measure::HungShare, None, Some(1.0))];
        assert_eq!(
            sentences(&thresholds, Totals::default()),
            ["trusting: hung_share has no value, for no call was made; the scenario demands at most 1"]
        );
    }

    #[test]
    fn an_arm_that_did_not_run_is_not_judged() {
        let thresholds = [threshold(Measure::Desyncs, Some(1.0), None)];
        assert!(check(&thresholds, &BTreeMap::new()).is_empty());
    }

    #[test]
    fn a_measure_is_named_as_in_the_file() {
        for measure in [Measure::CompletedShare, Measure::FalseAlarms] {
            let written = serde_json::to_value(measure).unwrap();
            assert_eq!(written, measure.name());
        }
    }
}
