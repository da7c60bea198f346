//! The distributions that a run is measured by.

use std::time::Duration;

use hdrhistogram::Histogram;

use super::verdict::{CallVerdict, DesyncVerdict, Outcome, RestartVerdict};

/// Distributions of times, in microseconds with three significant digits.
#[derive(Clone, Debug, PartialEq)]
pub struct Measures {
    /// From the start to the end of each call that completed or recovered. Calls that hung are not in it: whoever draws
    /// completion over time counts them as pending.
    pub completion: Histogram<u64>,
    /// From the answer that exposed the client to a harmful desync to its decision that the session is lost.
    pub detection_from_exposure: Histogram<u64>,
    /// From the instant the loss was certain on the server to that decision.
    pub detection_from_loss: Histogram<u64>,
    /// From the decision to the last response of the calls that were replayed.
    pub restart: Histogram<u64>,
}

impl Default for Measures {
    fn default() -> Measures {
        Measures {
            completion: empty(),
            detection_from_exposure: empty(),
            detection_from_loss: empty(),
            restart: empty(),
        }
    }
}

impl Measures {
    /// The distributions over finished rows.
    pub fn of(calls: &[CallVerdict], desyncs: &[DesyncVerdict], restarts: &[RestartVerdict]) -> Measures {
        let completed = calls.iter().filter(|call| matches!(call.outcome, Outcome::Completed | Outcome::Recovered));
        let detected =
            desyncs.iter().filter(|desync| desync.harmful).filter_map(|desync| Some((desync, desync.detected?.at)));
        Measures {
            completion: histogram(completed.map(|call| call.ended - call.started)),
            detection_from_exposure: histogram(detected.clone().map(|(desync, at)| at - desync.exposed_at)),
            detection_from_loss: histogram(detected.filter_map(|(desync, at)| Some(at - desync.lost_at?))),
            restart: histogram(restarts.iter().filter_map(|restart| Some(restart.response_at? - restart.alarm_at))),
        }
    }

    /// Adds every value of `other`.
    pub fn add(&mut self, other: &Measures) {
        // Taken apart field by field, so that a new distribution cannot be forgotten.
        let Measures { completion, detection_from_exposure, detection_from_loss, restart } = other;
        for (sum, one) in [
            (&mut self.completion, completion),
            (&mut self.detection_from_exposure, detection_from_exposure),
            (&mut self.detection_from_loss, detection_from_loss),
            (&mut self.restart, restart),
        ] {
            sum.add(one).expect("a histogram that resizes itself takes every other");
        }
    }
}

fn histogram(times: impl Iterator<Item = Duration>) -> Histogram<u64> {
    let mut histogram = empty();
    for time in times {
        record(&mut histogram, u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    }
    histogram
}

/// An empty distribution of this module's kind: three significant digits, as wide as it needs to be.
pub fn empty() -> Histogram<u64> {
    Histogram::new(3).expect("three significant digits are within the library's one to five")
}

/// Counts one value.
pub fn record(histogram: &mut Histogram<u64>, value: u64) {
    histogram.record(value).expect("a histogram that resizes itself takes every value");
}
