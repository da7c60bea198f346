//! The comparison table for the terminal.

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};
use hdrhistogram::Histogram;

use crate::observe::verdict::Outcome;
use crate::stats::Analysis;
use crate::stats::arm::ArmSummary;
use crate::stats::number::{duration, grouped, percent};
use crate::stats::spectrum::quantile;

/// A rule below the header and no other line: the rows are short.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// The arms side by side: plain text without colours, at most 100 columns wide with the three arms that there are.
pub(super) fn table(analysis: &Analysis) -> String {
    let mut table = Table::new();
    table.load_style(STYLE);
    let head = analysis.arms.iter().map(|arm| arm.arm.to_string());
    table.set_header(std::iter::once(String::new()).chain(head));
    for (name, cells) in rows(analysis) {
        table.add_row(std::iter::once(name).chain(cells));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let text = table.to_string();
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The table's rows: a name, and one cell for each arm. The page shows the same.
pub(super) fn rows(analysis: &Analysis) -> Vec<(String, Vec<String>)> {
    let mut rows = Vec::new();
    let mut push = |name: &str, cell: &dyn Fn(&ArmSummary) -> String| {
        rows.push((name.to_owned(), analysis.arms.iter().map(cell).collect()));
    };
    push("runs (vacuous)", &|arm| format!("{} ({})", grouped(arm.runs), grouped(arm.vacuous)));
    push("calls", &|arm| grouped(arm.calls));
    for outcome in Outcome::ALL {
        push(outcome.name(), &|arm| counted(arm, outcome));
    }
    push("censored", &|arm| grouped(arm.censored));
    push("desyncs (harmless)", &|arm| format!("{} ({})", grouped(arm.desyncs), grouped(arm.harmless)));
    push("detection p50", &|arm| latency(&arm.detection, 0.5));
    push("detection p99", &|arm| latency(&arm.detection, 0.99));
    push("never detected", &|arm| grouped(arm.undetected));
    push("false alarms", &|arm| grouped(arm.false_alarms));
    push("restarts", &|arm| grouped(arm.restarts));
    push("duplicate executions", &|arm| grouped(arm.duplicate_executions));
    rows
}

fn counted(arm: &ArmSummary, outcome: Outcome) -> String {
    let count = grouped(arm.outcome(outcome));
    match arm.share(outcome) {
        Some(share) if share > 0.0 => format!("{count} ({})", percent(share)),
        _ => count,
    }
}

fn latency(histogram: &Histogram<u64>, q: f64) -> String {
    quantile(histogram, q).map_or_else(|| "-".to_owned(), duration)
}
