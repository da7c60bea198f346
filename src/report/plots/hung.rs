//! Hung calls per arm: one bar over all runs, one dot for each of them.

use std::collections::BTreeMap;

use plotters::style::text_anchor::HPos;

use super::super::axis::{Axis, Scale, frame_x, round_up};
use super::super::canvas::{Area, Canvas, Text};
use super::super::figure::{MARGIN, Sheet, WIDTH};
use super::super::style::{self, INK, PAPER};
use crate::observe::verdict::Outcome;
use crate::stats::Analysis;
use crate::stats::arm::{ArmSummary, HUNG_BINS};
use crate::stats::number::{grouped, percent};

const BAR: i32 = 34;
/// Room under an arm's last dot.
const GAP: i32 = 22;
/// Dots of one column at most, and the distance of columns and dots in pixels.
const STACK: u64 = 16;
const DOT: i32 = 7;
const RADIUS: u32 = 3;
/// Room for the arms' names and, at least, right of the axis.
const NAMES: i32 = 96;
const EDGE: i32 = 12;

/// The figure.
pub(in super::super) fn draw(analysis: &Analysis, command: &str) -> String {
    let arms: Vec<&ArmSummary> = analysis.arms.iter().filter(|arm| arm.calls > 0).collect();
    let mut sheet = Sheet { title: "Hung tool calls", subtitle: "", command };
    if arms.is_empty() {
        return sheet.say("No call was made in any run, so none could hang.");
    }
    let widest = arms.iter().map(|arm| widest_share(arm)).fold(0.0, f64::max);
    let top = if widest > 0.0 { round_up(widest * 100.0) } else { 10.0 };
    let x = Scale::linear(0.0, top);
    let across = |area: Area| {
        let left = area.left + NAMES;
        let right = arms.iter().map(|arm| room_beside_numbers(arm, left, area.right, top)).min();
        Area { left, right: right.unwrap_or(area.right), bottom: area.bottom - 52, ..area }
    };
    // The columns depend on the width alone, which is the same for every figure.
    let sheet_area = Area { left: MARGIN, top: 0, right: WIDTH - MARGIN, bottom: 0 };
    let scale = x.across(across(sheet_area));
    let columns: Vec<_> = arms.iter().map(|arm| columns(arm, scale)).collect();
    let most = columns.iter().flat_map(BTreeMap::values).max().copied();
    let runs_a_dot = most.unwrap_or(0).div_ceil(STACK).max(1);
    let dots = match runs_a_dot {
        1 => "each dot is one run".to_owned(),
        n => format!("each dot is up to {n} runs"),
    };
    let subtitle = format!("share of all calls that hung: the bar is over all runs, {dots}");
    sheet.subtitle = &subtitle;
    let row = |columns: &BTreeMap<i32, u64>| {
        let dots = columns.values().max().map_or(0, |runs| runs.div_ceil(runs_a_dot));
        BAR + DOT * (dots as i32 + 1) + GAP
    };
    sheet.draw(columns.iter().map(row).sum::<i32>() + 60, |canvas, area| {
        let panel = across(area);
        let axis = Axis { scale: x, ticks: x.ticks(6), title: "hung calls (% of calls)" };
        frame_x(canvas, panel, &axis);
        let mut top = panel.top + 8;
        for (arm, columns) in arms.iter().zip(&columns) {
            let look = style::arm(arm.arm);
            bar(canvas, panel, top, scale, arm);
            for (x, runs) in columns {
                for level in 0..runs.div_ceil(runs_a_dot) {
                    let y = top + BAR + DOT * (level as i32 + 1) + 1;
                    canvas.dot((*x, y), RADIUS, look.color, 0.85);
                }
            }
            top += row(columns);
        }
    })
}

/// How far to the right the panel may reach for an arm's numbers to find room behind its bar.
fn room_beside_numbers(arm: &ArmSummary, left: i32, right: i32, top: f64) -> i32 {
    let share = arm.share(Outcome::Hung).unwrap_or(0.0) * 100.0 / top;
    let longest_bar = f64::from(right - left - 14 - NUMBERS.width_of(&numbers(arm)));
    let width = f64::from(right - left - EDGE);
    // A bar takes `share` of the panel's width.
    left + if share > 0.0 { width.min(longest_bar / share) } else { width } as i32
}

/// How an arm's numbers are set, and what they are.
const NUMBERS: Text = Text::new(14, INK);

fn numbers(arm: &ArmSummary) -> String {
    let calls = grouped(arm.calls);
    match arm.outcome(Outcome::Hung) {
        0 => format!("none of {calls} calls"),
        hung => format!("{} of {calls} ({})", grouped(hung), percent(arm.share(Outcome::Hung).unwrap_or(0.0))),
    }
}

/// An arm's bar, its name before and its numbers behind it.
fn bar(canvas: &mut Canvas, panel: Area, top: i32, x: Scale, arm: &ArmSummary) {
    let hung = arm.outcome(Outcome::Hung);
    let share = arm.share(Outcome::Hung).unwrap_or(0.0);
    let bar = Area { left: panel.left, top, right: x.at(share * 100.0), bottom: top + BAR };
    let name = (panel.left - 12, bar.middle());
    canvas.text(name, arm.arm.name(), NUMBERS.aligned(HPos::Right));
    if hung > 0 {
        style::arm(arm.arm).bar(canvas, bar);
    }
    let numbers = numbers(arm);
    let plate = Area {
        left: bar.right + 6,
        top: bar.middle() - 10,
        right: bar.right + 14 + NUMBERS.width_of(&numbers),
        bottom: bar.middle() + 10,
    };
    canvas.fill(plate, PAPER);
    canvas.text((bar.right + 10, bar.middle()), &numbers, NUMBERS);
}

/// How many runs are drawn at each of the places that are a dot's width apart.
fn columns(arm: &ArmSummary, x: Scale) -> BTreeMap<i32, u64> {
    let mut columns = BTreeMap::new();
    let runs = arm.runs_by_hung_share.iter().enumerate();
    for (bin, runs) in runs.filter(|(_, runs)| **runs > 0) {
        let pixel = x.at(bin as f64 * 100.0 / HUNG_BINS as f64);
        let origin = x.at(0.0);
        let column = origin + (pixel - origin + DOT / 2) / DOT * DOT;
        *columns.entry(column).or_default() += runs;
    }
    columns
}

/// The largest share that has to be shown: of all runs, or of one.
fn widest_share(arm: &ArmSummary) -> f64 {
    let worst = arm.runs_by_hung_share.iter().rposition(|runs| *runs > 0);
    let worst = worst.unwrap_or(0) as f64 / HUNG_BINS as f64;
    arm.share(Outcome::Hung).unwrap_or(0.0).max(worst)
}
