//! Arms compared, paired by seed: both met the same faults, so what differs is the policy.

use crate::experiment::results::rows::RunRow;
use crate::mcp::client::settings::Arm;

/// A measure of one run that arms are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Hung calls among all.
    HungShare,
    /// Wrong calls among all.
    WrongShare,
    /// Failed calls among all.
    FailedShare,
    /// Restarts for each call.
    RestartsPerCall,
    /// Executions beyond the first, for each call.
    DuplicateExecutionsPerCall,
    /// Bytes for each call.
    BytesPerCall,
}

impl Measure {
    /// Every measure, in the order of the table.
    pub const ALL: [Measure; 6] = [
        Measure::HungShare,
        Measure::WrongShare,
        Measure::FailedShare,
        Measure::RestartsPerCall,
        Measure::DuplicateExecutionsPerCall,
        Measure::BytesPerCall,
    ];

    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Measure::HungShare => "hung_share",
            Measure::WrongShare => "wrong_share",
            Measure::FailedShare => "failed_share",
            Measure::RestartsPerCall => "restarts_per_call",
            Measure::DuplicateExecutionsPerCall => "duplicate_executions_per_call",
            Measure::BytesPerCall => "bytes_per_call",
        }
    }

    /// The measure of a run; none where it has no calls.
    fn of(self, run: &RunRow) -> Option<f64> {
        let part = match self {
            Measure::HungShare => run.hung.into(),
            Measure::WrongShare => run.wrong.into(),
            Measure::FailedShare => run.failed.into(),
            Measure::RestartsPerCall => run.restarts.into(),
            Measure::DuplicateExecutionsPerCall => run.duplicate_executions.into(),
            Measure::BytesPerCall => run.bytes,
        };
        super::arm::ratio(part, run.calls.into())
    }
}

/// One measure of two arms over the seeds that both have run.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The measure.
    pub measure: Measure,
    /// The arm that is compared with: the manifest's first.
    pub first: Arm,
    /// The other arm.
    pub second: Arm,
    /// Pairs of runs (one for each point and seed) in which both arms made calls.
    pub seeds: u64,
    /// Sum over seeds of the first arm's measure, and of the second's.
    sums: [f64; 2],
    /// Seeds where the first arm's measure is the greater one.
    pub first_greater: u64,
    /// Seeds where the second arm's is.
    pub second_greater: u64,
    /// Seeds where they are equal.
    pub equal: u64,
}

impl Comparison {
    fn new(measure: Measure, first: Arm, second: Arm) -> Comparison {
        Comparison { measure, first, second, seeds: 0, sums: [0.0; 2], first_greater: 0, second_greater: 0, equal: 0 }
    }

    fn add(&mut self, first: &RunRow, second: &RunRow) {
        let (Some(a), Some(b)) = (self.measure.of(first), self.measure.of(second)) else {
            return;
        };
        self.seeds += 1;
        self.sums[0] += a;
        self.sums[1] += b;
        match a.total_cmp(&b) {
            std::cmp::Ordering::Greater => self.first_greater += 1,
            std::cmp::Ordering::Less => self.second_greater += 1,
            std::cmp::Ordering::Equal => self.equal += 1,
        }
    }

    /// The first arm's mean over seeds; none without a pair.
    pub fn first_mean(&self) -> Option<f64> {
        self.mean(self.sums[0])
    }

    /// The second arm's mean over seeds.
    pub fn second_mean(&self) -> Option<f64> {
        self.mean(self.sums[1])
    }

    /// The mean over seeds of the second arm's measure minus the first's.
    pub fn mean_difference(&self) -> Option<f64> {
        self.mean(self.sums[1] - self.sums[0])
    }

    fn mean(&self, sum: f64) -> Option<f64> {
        (self.seeds > 0).then(|| sum / self.seeds as f64)
    }
}

/// Pairs runs as they come: a table of runs is ordered by point, seed, arm.
pub(super) struct Comparisons {
    /// The runs of the present point and seed, in the arms' places.
    group: Vec<Option<RunRow>>,
    comparisons: Vec<(usize, Comparison)>,
}

impl Comparisons {
    pub(super) fn new(arms: &[Arm]) -> Comparisons {
        let others = arms.iter().enumerate().skip(1);
        Comparisons {
            group: vec![None; arms.len()],
            comparisons: others
                .flat_map(|(place, arm)| Measure::ALL.map(|measure| (place, Comparison::new(measure, arms[0], *arm))))
                .collect(),
        }
    }

    /// Takes the next run, of the arm at `place` in the manifest's order.
    pub(super) fn add(&mut self, place: usize, run: &RunRow) {
        let another = |other: &RunRow| (other.point, other.seed) != (run.point, run.seed);
        if self.group.iter().flatten().any(another) {
            self.close_group();
        }
        self.group[place] = Some(run.clone());
    }

    pub(super) fn finish(mut self) -> Vec<Comparison> {
        self.close_group();
        self.comparisons.into_iter().map(|(_, comparison)| comparison).collect()
    }

    fn close_group(&mut self) {
        if let Some(Some(first)) = self.group.first() {
            for (place, comparison) in &mut self.comparisons {
                if let Some(second) = &self.group[*place] {
                    comparison.add(first, second);
                }
            }
        }
        self.group.fill(None);
    }
}
