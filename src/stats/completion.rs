//! How calls end over time: a cumulative incidence that drops no call.

use hdrhistogram::Histogram;

use super::arm::ArmSummary;

/// The shares of an arm's calls that had ended a given time after their start. The rest is pending: a call that
/// hangs stays pending for ever, and the application's timeout does not end it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ended {
    /// Time since the start, in microseconds.
    pub after_us: u64,
    /// `completed` or `recovered`.
    pub ok: f64,
    /// `failed`.
    pub failed: f64,
    /// `wrong`.
    pub wrong: f64,
}

impl Ended {
    /// The share that had not ended.
    pub fn pending(&self) -> f64 {
        (1.0 - self.ok - self.failed - self.wrong).max(0.0)
    }
}

/// The curve at the given instants. Empty where the arm made no call.
pub fn curve(arm: &ArmSummary, instants_us: impl IntoIterator<Item = u64>) -> Vec<Ended> {
    if arm.calls == 0 {
        return Vec::new();
    }
    let share = |histogram: &Histogram<u64>, until: u64| {
        histogram.count_between(0, until) as f64 / arm.calls as f64
    };
    instants_us
        .into_iter()
        .map(|after_us| Ended {
            after_us,
            ok: share(&arm.completion, after_us),
            failed: share(&arm.failure, after_us),
            wrong: share(&arm.wrong, after_us),
        })
        .collect()
}
