//! The latencies that are kept as histograms.

use hdrhistogram::Histogram;

use crate::observe::measure::Measures;

/// A latency with a histogram of its own, in microseconds of simulated time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Latency {
    /// From the start of a call to its end, calls `completed` and `recovered` only.
    Completion,
    /// From the answer that exposed the client to a desync to the client's decision.
    Detection,
    /// From the instant at which the loss became certain on the server to the client's decision.
    DetectionFromLoss,
    /// From the decision to the last response of the calls that were replayed.
    Restart,
}

impl Latency {
    /// Every latency, in the order of the files.
    pub const ALL: [Latency; 4] =
        [Latency::Completion, Latency::Detection, Latency::DetectionFromLoss, Latency::Restart];

    /// The name in file names and histogram tags.
    pub const fn name(self) -> &'static str {
        match self {
            Latency::Completion => "completion",
            Latency::Detection => "detection",
            Latency::DetectionFromLoss => "detection-from-loss",
            Latency::Restart => "restart",
        }
    }
}

/// One histogram for each [`Latency`]. Their size depends on the values' range, not on their number.
#[derive(Clone, Debug)]
pub struct Latencies([Histogram<u64>; Latency::ALL.len()]);

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies(Latency::ALL.map(|_| histogram()))
    }
}

impl From<Measures> for Latencies {
    fn from(measures: Measures) -> Latencies {
        // In the order of `Latency::ALL`.
        Latencies([
            measures.completion,
            measures.detection_from_exposure,
            measures.detection_from_loss,
            measures.restart,
        ])
    }
}

impl Latencies {
    /// The histogram of one latency.
    pub fn get(&self, latency: Latency) -> &Histogram<u64> {
        &self.0[latency as usize]
    }

    /// Counts one value, in microseconds.
    pub fn record(&mut self, latency: Latency, micros: u64) {
        record(&mut self.0[latency as usize], micros);
    }

    /// Adds every value of `other`.
    pub fn add(&mut self, other: &Latencies) {
        for (sum, one) in self.0.iter_mut().zip(&other.0) {
            sum.add(one).expect("a histogram that resizes takes every other");
        }
    }
}

/// An empty histogram of three significant digits that grows with its values' range.
pub fn histogram() -> Histogram<u64> {
    Histogram::new(3).expect("three significant digits are within the crate's bounds")
}

/// Counts one value.
pub fn record(histogram: &mut Histogram<u64>, value: u64) {
    histogram.record(value).expect("a histogram that resizes takes every value");
}
