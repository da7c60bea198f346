//! What one restart costs: four small panels.

use hdrhistogram::Histogram;
use plotters::style::text_anchor::HPos;

use super::super::axis::{Axis, Scale, frame_x, round_up};
use super::super::canvas::{Area, Canvas, Stroke, Text};
use super::super::figure::{Sheet, WIDTH};
use super::super::style::{self, INK, PAPER};
use super::legend;
use crate::stats::Analysis;
use crate::stats::arm::{ArmSummary, RestartCost};
use crate::stats::number::{grouped, significant};

const ROW: i32 = 62;
const BELOW: i32 = 62;
const HEADING: i32 = 26;
const LEGEND: i32 = 30;

/// A cost, its unit, and how many of the histogram's units make one.
struct Cost {
    heading: &'static str,
    axis: &'static str,
    unit: f64,
    of: fn(&RestartCost) -> &Histogram<u64>,
}

const COSTS: [Cost; 4] = [
    Cost { heading: "Requests until the session stood again", axis: "requests", unit: 1.0, of: |c| &c.requests },
    Cost { heading: "Traffic until the session stood again", axis: "kB (1,000 bytes)", unit: 1e3, of: |c| &c.bytes },
    Cost { heading: "From the alarm to the last response", axis: "seconds", unit: 1e6, of: |c| &c.time },
    Cost { heading: "Tool executions repeated", axis: "executions", unit: 1.0, of: |c| &c.duplicate_executions },
];

/// The figure.
pub(in super::super) fn draw(analysis: &Analysis, command: &str) -> String {
    let sheet = Sheet {
        title: "Cost of a restart",
        subtitle: "each value that occurred is a dot, the larger the more often; the bar spans the 10th to the 90th \
                   percentile, the number is the median",
        command,
    };
    let arms: Vec<&ArmSummary> = analysis.arms.iter().filter(|arm| restarts(arm) > 0).collect();
    if arms.is_empty() {
        return sheet.say("No session was declared lost and replaced in any run, so there is no restart to cost.");
    }
    let panel_height = HEADING + ROW * arms.len() as i32 + BELOW;
    sheet.draw(LEGEND + 2 * panel_height, |canvas, area| {
        let notes = analysis.arms.iter().map(|arm| (arm.arm, note(arm)));
        legend(canvas, area.left, area.top + 8, notes);
        for (i, cost) in COSTS.iter().enumerate() {
            let left = if i % 2 == 0 { area.left + 8 } else { WIDTH / 2 + 16 };
            let top = area.top + LEGEND + panel_height * (i as i32 / 2);
            let panel = Area { left, top: top + HEADING, right: left + 344, bottom: top + panel_height - BELOW };
            cost_panel(canvas, panel, cost, &arms);
        }
    })
}

fn cost_panel(canvas: &mut Canvas, panel: Area, cost: &Cost, arms: &[&ArmSummary]) {
    canvas.text((panel.left, panel.top - 14), cost.heading, Text::new(13, INK).bold());
    let histograms = || arms.iter().map(|arm| (cost.of)(&arm.restart_cost));
    let largest = histograms().map(Histogram::max).max().unwrap_or(0) as f64 / cost.unit;
    // Whole numbers alone have no ticks between them.
    let top = if cost.unit == 1.0 { round_up(largest * 1.05).max(5.0) } else { round_up(largest * 1.05) };
    let scale = Scale::linear(0.0, top);
    frame_x(canvas, panel, &Axis { scale, ticks: scale.ticks(5), title: cost.axis });
    for (i, arm) in arms.iter().enumerate() {
        let y = panel.top + ROW * i as i32 + ROW * 5 / 8;
        strip(canvas, panel.right, y, scale.across(panel), cost, arm);
    }
}

fn strip(canvas: &mut Canvas, right: i32, y: i32, x: Scale, cost: &Cost, arm: &ArmSummary) {
    let histogram = (cost.of)(&arm.restart_cost);
    if histogram.is_empty() {
        return;
    }
    let look = style::arm(arm.arm);
    canvas.text((right + 8, y), arm.arm.name(), Text::new(12, INK));
    let at = |value: u64| x.at(value as f64 / cost.unit);
    let quantile = |q| at(histogram.value_at_quantile(q));
    let whole = histogram.len() as f64;
    for step in histogram.iter_recorded() {
        let share = step.count_since_last_iteration() as f64 / whole;
        let radius = (2.0 + 7.0 * share.sqrt()).round() as u32;
        canvas.dot((at(step.value_iterated_to()), y), radius, look.color, 0.5);
    }
    canvas.line(&[(quantile(0.1), y + 14), (quantile(0.9), y + 14)], look.stroke(4));
    let median = histogram.value_at_quantile(0.5);
    let middle = at(median);
    canvas.line(&[(middle, y - 12), (middle, y + 18)], Stroke::solid(INK, 2));
    let text = significant((median as f64 / cost.unit * 100.0).round() / 100.0);
    let label = Text::new(12, INK).aligned(HPos::Center);
    let half = label.width_of(&text) / 2;
    let plate = Area { left: middle - half, top: y - 30, right: middle + half, bottom: y - 15 };
    canvas.fill(plate, PAPER);
    canvas.text((middle, y - 22), &text, label);
}

fn restarts(arm: &ArmSummary) -> u64 {
    arm.restart_cost.requests.len()
}

fn note(arm: &ArmSummary) -> String {
    match restarts(arm) {
        0 => format!("{}: no restart", arm.arm),
        1 => format!("{}: 1 restart", arm.arm),
        n => format!("{}: {} restarts", arm.arm, grouped(n)),
    }
}
