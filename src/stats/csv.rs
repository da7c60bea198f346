//! `summary.csv` and `comparison.csv`.
//!
//! Shares and means have six significant digits. Times are in seconds with four: they come from histograms, which give
//! the upper end of a value's bucket, at most 0.1 % above the value. A field is empty where there is nothing to measure.

use std::fmt::Write as _;

use hdrhistogram::Histogram;

use super::Analysis;
use super::arm::{ArmSummary, PENDING_S, ratio};
use super::number::{rounded, seconds, significant};
use super::spectrum::quantile;
use crate::observe::verdict::Outcome;

/// `summary.csv`: one row for each arm.
pub fn summary(analysis: &Analysis) -> String {
    let mut table = String::new();
    for (i, arm) in analysis.arms.iter().enumerate() {
        let fields = summary_fields(arm);
        if i == 0 {
            push_line(&mut table, fields.iter().map(|(name, _)| name.as_str()));
        }
        push_line(&mut table, fields.iter().map(|(_, value)| value.as_str()));
    }
    table
}

fn summary_fields(arm: &ArmSummary) -> Vec<(String, String)> {
    let mut fields = vec![("arm".to_owned(), arm.arm.to_string())];
    let mut push = |name: &str, value: String| fields.push((name.to_owned(), value));
    push("runs", arm.runs.to_string());
    push("vacuous", arm.vacuous.to_string());
    push("calls", arm.calls.to_string());
    for outcome in Outcome::ALL {
        push(outcome.name(), arm.outcome(outcome).to_string());
        push(&format!("{}_share", outcome.name()), optional(arm.share(outcome)));
    }
    push("censored", arm.censored.to_string());
    for (age_s, count) in PENDING_S.iter().zip(arm.pending) {
        push(&format!("pending_after_{age_s}s"), count.to_string());
    }
    push("resumes", arm.resumes.to_string());
    push("desyncs", arm.desyncs.to_string());
    push("harmless", arm.harmless.to_string());
    push("undetected", arm.undetected.to_string());
    push("true_alarms", arm.true_alarms.to_string());
    push("false_alarms", arm.false_alarms.to_string());
    push("missed", arm.missed.to_string());
    push("precision", optional(arm.precision()));
    push("recall", optional(arm.recall()));
    push("restarts", arm.restarts.to_string());
    push("duplicate_executions", arm.duplicate_executions.to_string());
    let latencies = [
        ("detection", &arm.detection),
        ("detection_from_loss", &arm.detection_from_loss),
        ("completion", &arm.completion),
    ];
    for (name, histogram) in latencies {
        for (label, value) in quantiles(histogram) {
            push(&format!("{name}_{label}_s"), value);
        }
    }
    push("requests", arm.requests.to_string());
    push("bytes", arm.bytes.to_string());
    push("bytes_per_call", optional(ratio(arm.bytes, arm.calls)));
    fields
}

fn quantiles(histogram: &Histogram<u64>) -> [(&'static str, String); 4] {
    [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1.0)]
        .map(|(label, q)| (label, quantile(histogram, q).map(|time| rounded(seconds(time), 4)).unwrap_or_default()))
}

/// `comparison.csv`: one row for each measure and each arm but the first.
pub fn comparison(analysis: &Analysis) -> String {
    let mut table = String::from(
        "measure,first_arm,second_arm,first_mean,second_mean,mean_difference,seeds,first_greater,second_greater,equal\n",
    );
    for row in &analysis.comparisons {
        let _ = writeln!(
            table,
            "{},{},{},{},{},{},{},{},{},{}",
            row.measure.name(),
            row.first,
            row.second,
            optional(row.first_mean()),
            optional(row.second_mean()),
            optional(row.mean_difference()),
            row.seeds,
            row.first_greater,
            row.second_greater,
            row.equal,
        );
    }
    table
}

/// No field needs quotes: names and numbers only.
fn push_line<'a>(table: &mut String, fields: impl Iterator<Item = &'a str>) {
    table.push_str(&fields.collect::<Vec<_>>().join(","));
    table.push('\n');
}

fn optional(value: Option<f64>) -> String {
    value.map(significant).unwrap_or_default()
}
