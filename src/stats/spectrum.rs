//! A latency's percentile spectrum: as much room for the tail as for the body.

use hdrhistogram::Histogram;

/// One point of a spectrum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentile {
    /// How many times rarer than everything: 1 / (1 − quantile). 2 is the median, 100 the 99th percentile.
    pub rarity: f64,
    /// The value at that quantile.
    pub value: u64,
}

/// The spectrum from the smallest value to the largest, as far as the number of values supports: the last point
/// is the largest value, at a rarity equal to the number of values. Empty for an empty histogram.
pub fn spectrum(histogram: &Histogram<u64>) -> Vec<Percentile> {
    if histogram.is_empty() {
        return Vec::new();
    }
    let count = histogram.len() as f64;
    let mut points = vec![Percentile { rarity: 1.0, value: histogram.min() }];
    let mut below = 0;
    for step in histogram.iter_recorded() {
        // The value holds from the quantile of what lies below it to its own.
        let value = step.value_iterated_to();
        points.push(Percentile { rarity: count / (count - below as f64), value });
        below += step.count_since_last_iteration();
        points.push(Percentile { rarity: count / (count - below as f64).max(1.0), value });
    }
    points
}

/// The value at a quantile from 0 to 1; none for an empty histogram.
pub fn quantile(histogram: &Histogram<u64>, quantile: f64) -> Option<u64> {
    (!histogram.is_empty()).then(|| histogram.value_at_quantile(quantile))
}
