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
    /// Not ended. From the count: what three rounded shares leave of 1 may be a little more than nothing.
    pub pending: f64,
}

/// The curve at the given instants. Empty where the arm made no call.
pub fn curve(arm: &ArmSummary, instants_us: impl IntoIterator<Item = u64>) -> Vec<Ended> {
    if arm.calls == 0 {
        return Vec::new();
    }
    let [ok, failed, wrong] = [&arm.completion, &arm.failure, &arm.wrong].map(Cumulative::of);
    let share = |count: u64| count as f64 / arm.calls as f64;
    instants_us
        .into_iter()
        .map(|after_us| {
            let [ok, failed, wrong] = [&ok, &failed, &wrong].map(|counts| counts.until(after_us));
            Ended {
                after_us,
                ok: share(ok),
                failed: share(failed),
                wrong: share(wrong),
                pending: share(arm.calls.saturating_sub(ok + failed + wrong)),
            }
        })
        .collect()
}

/// How many values lie at or below each value that occurred.
struct Cumulative(Vec<(u64, u64)>);

impl Cumulative {
    fn of(histogram: &Histogram<u64>) -> Cumulative {
        let mut count = 0;
        let steps = histogram.iter_recorded().map(|step| {
            count += step.count_since_last_iteration();
            (step.value_iterated_to(), count)
        });
        Cumulative(steps.collect())
    }

    fn until(&self, value: u64) -> u64 {
        let after = self.0.partition_point(|(at, _)| *at <= value);
        after.checked_sub(1).map_or(0, |last| self.0[last].1)
    }
}
