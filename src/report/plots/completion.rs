//! How calls end over time. Hung calls stay pending; none is dropped.

use plotters::style::text_anchor::HPos;

use super::super::axis::{Axis, Scale, Tick, frame, round_up};
use super::super::canvas::{Area, Canvas, Point, Stroke, Text};
use super::super::figure::Sheet;
use super::super::style::{self, INK, MUTED};
use super::spread;
use crate::stats::Analysis;
use crate::stats::arm::ArmSummary;
use crate::stats::completion::{Ended, curve};
use crate::stats::number::{percent, seconds};

/// Height of the first panel, of each further one, and of the axis below a panel.
const MAIN: i32 = 290;
const SECOND: i32 = 110;
const BELOW: i32 = 64;
/// Room for the labels at the curves' ends.
const LABELS: i32 = 236;
/// A pending share that is smaller cannot be read off the first panel: it gets one with its own scale.
const SMALL: f64 = 0.3;

/// The figure. `timeout_s` is the application's call timeout, where it is known.
pub(in super::super) fn draw(analysis: &Analysis, timeout_s: Option<f64>, command: &str) -> String {
    let arms: Vec<&ArmSummary> = analysis.arms.iter().filter(|arm| arm.calls > 0).collect();
    let sheet = Sheet {
        title: "Calls ended over time",
        subtitle: "share of all calls by time since their start; a call that hangs stays pending and is not dropped",
        command,
    };
    if arms.is_empty() {
        return sheet.say("No call was made in any run.");
    }
    let x = time_scale(&arms, timeout_s);
    let panels = panels(&arms);
    let height = panels.iter().map(|panel| panel.height + BELOW).sum();
    sheet.draw(height, |canvas, area| {
        let mut top = area.top;
        for (i, panel) in panels.iter().enumerate() {
            let inner = Area { left: area.left + 72, top, right: area.right - LABELS, bottom: top + panel.height };
            let time = Time { scale: x, timeout_s, named: i == 0 };
            panel.draw(canvas, inner, &time, &arms);
            if i == 0 {
                arm_labels(canvas, inner, &arms);
            }
            top = inner.bottom + BELOW;
        }
    })
}

/// The time axis of every panel.
struct Time {
    scale: Scale,
    timeout_s: Option<f64>,
    /// Whether the timeout's line has its name.
    named: bool,
}

/// One share of calls on its own scale.
struct Panel {
    title: &'static str,
    height: i32,
    /// The largest share that is shown.
    top: f64,
    curves: Vec<Curve>,
}

const PENDING: &str = "pending";

struct Curve {
    /// What follows the arm's name in the label at the end; the first panel's curves are labelled otherwise.
    label: Option<&'static str>,
    width: u32,
    share: fn(&Ended) -> f64,
}

impl Curve {
    /// Where nothing failed or nothing was wrong, there is no line along the axis.
    fn is_drawn(&self, last: f64) -> bool {
        last > 0.0 || matches!(self.label, None | Some(PENDING))
    }
}

/// Success always; what is pending where it is little; errors and wrong answers where there are any.
fn panels(arms: &[&ArmSummary]) -> Vec<Panel> {
    let most = |share: fn(&Ended) -> f64| arms.iter().map(|arm| share(&end(arm))).fold(0.0, f64::max);
    let room = |most: f64, factor: f64| (round_up(most * factor * 100.0) / 100.0).min(1.0);
    let mut panels = vec![Panel {
        title: "success (% of calls)",
        height: MAIN,
        top: 1.0,
        curves: vec![Curve { label: None, width: 3, share: |at| at.ok }],
    }];
    let pending = most(|at| at.pending);
    if pending > 0.0 && pending < SMALL {
        panels.push(Panel {
            title: "pending (%)",
            height: SECOND,
            top: room(pending, 2.0),
            curves: vec![Curve { label: Some(PENDING), width: 3, share: |at| at.pending }],
        });
    }
    let unhappy = most(|at| at.failed.max(at.wrong));
    if unhappy > 0.0 {
        panels.push(Panel {
            title: "failed, wrong (%)",
            height: SECOND,
            top: room(unhappy, 1.0),
            curves: vec![
                Curve { label: Some("failed (thin)"), width: 2, share: |at| at.failed },
                Curve { label: Some("wrong (thick)"), width: 4, share: |at| at.wrong },
            ],
        });
    }
    panels
}

impl Panel {
    fn draw(&self, canvas: &mut Canvas, area: Area, time: &Time, arms: &[&ArmSummary]) {
        let y = Scale::linear(0.0, self.top);
        let percents = Scale::linear(0.0, self.top * 100.0).ticks(if self.height == MAIN { 5 } else { 4 });
        let x_axis =
            Axis { scale: time.scale, ticks: time.scale.ticks(8), title: "time since the start of the call (s)" };
        let y_axis = Axis {
            scale: y,
            ticks: percents.into_iter().map(|tick| Tick { value: tick.value / 100.0, ..tick }).collect(),
            title: self.title,
        };
        frame(canvas, area, &x_axis, &y_axis);
        let (x, y) = (time.scale.across(area), y.up(area));
        if let Some(timeout_s) = time.timeout_s {
            timeout_line(canvas, area, x.at(timeout_s), time.named);
        }
        for arm in solid_first(arms) {
            let look = style::arm(arm.arm);
            for drawn in self.curves.iter().filter(|drawn| drawn.is_drawn((drawn.share)(&end(arm)))) {
                let points = steps(arm, area, x, y, self.top, drawn.share);
                canvas.line(&points, look.stroke(drawn.width));
                if let Some(last) = points.last() {
                    canvas.marker(*last, look.marker, 4, look.color);
                }
            }
        }
        let labels: Vec<(i32, String)> = arms
            .iter()
            .flat_map(|arm| self.curves.iter().map(move |drawn| (arm.arm, drawn.label, (drawn.share)(&end(arm)))))
            .filter_map(|(arm, label, last)| {
                let label = label.filter(|_| last > 0.0)?;
                Some((y.at(last), format!("{arm} {label} {}", percent(last))))
            })
            .collect();
        let wanted: Vec<i32> = labels.iter().map(|(y, _)| *y).collect();
        for ((_, text), y) in labels.iter().zip(spread(&wanted, 16, area.bottom)) {
            canvas.text((area.right + 12, y), text, Text::new(12, INK));
        }
    }
}

/// Where curves lie on each other, the dashes of one show the other between them.
fn solid_first<'a>(arms: &[&'a ArmSummary]) -> Vec<&'a ArmSummary> {
    let mut arms = arms.to_vec();
    arms.sort_by_key(|arm| !style::arm(arm.arm).dashes.is_empty());
    arms
}

fn timeout_line(canvas: &mut Canvas, area: Area, x: i32, named: bool) {
    let line = Stroke { color: MUTED, width: 1, dashes: &[3.0, 3.0] };
    canvas.line(&[(x, area.top), (x, area.bottom)], line);
    if named {
        let label = Text::new(12, MUTED).aligned(HPos::Center);
        canvas.text((x, area.top - 11), "call timeout", label);
    }
}

/// Every arm's shares at the end, in the arms' order: the curves' ends lie too close to each other to be labelled there.
fn arm_labels(canvas: &mut Canvas, area: Area, arms: &[&ArmSummary]) {
    for (arm, y) in arms.iter().zip((area.top..).step_by(58)) {
        let end = end(arm);
        let left = area.right + 56;
        style::arm(arm.arm).sample(canvas, area.right + 12, y);
        canvas.text((left, y), arm.arm.name(), Text::new(13, INK).bold());
        let shares = [("success", end.ok), ("pending", end.pending)];
        for (i, (name, share)) in shares.into_iter().enumerate() {
            let text = format!("{name} {}", percent(share));
            canvas.text((left, y + 17 + 16 * i as i32), &text, Text::new(12, INK));
        }
    }
}

fn end(arm: &ArmSummary) -> Ended {
    curve(arm, [u64::MAX])[0]
}

/// A step for each pixel across the panel, from where the share is low enough to be shown.
fn steps(arm: &ArmSummary, area: Area, x: Scale, y: Scale, top: f64, share: fn(&Ended) -> f64) -> Vec<Point> {
    let instants = (area.left..=area.right).map(|pixel| (x.value_at(pixel) * 1e6).round() as u64);
    let mut shown =
        (area.left..).zip(curve(arm, instants)).skip_while(|(_, ended)| share(ended) > top + 1e-9).peekable();
    let mut points: Vec<Point> = Vec::new();
    if let Some((pixel, _)) = shown.peek().filter(|(pixel, _)| *pixel > area.left) {
        points.push((*pixel, area.top));
    }
    for (pixel, ended) in shown {
        let height = y.at(share(&ended));
        match points.as_mut_slice() {
            // A level run is one line however long it is.
            [.., before, end] if before.1 == height && end.1 == height => end.0 = pixel,
            [.., end] if end.1 != height => {
                let corner = (pixel, end.1);
                points.extend([corner, (pixel, height)]);
            }
            _ => points.push((pixel, height)),
        }
    }
    points
}

/// Logarithmic where most calls end early in the time to be shown.
fn time_scale(arms: &[&ArmSummary], timeout_s: Option<f64>) -> Scale {
    let longest =
        arms.iter().flat_map(|arm| [arm.completion.max(), arm.failure.max(), arm.wrong.max()]).max().unwrap_or(0);
    let end = seconds(longest).max(timeout_s.unwrap_or(0.0) * 1.1).max(1e-3);
    let medians = arms.iter().filter(|arm| !arm.completion.is_empty());
    let median = medians.map(|arm| arm.completion.value_at_quantile(0.5)).min();
    match median.map(seconds) {
        Some(median) if median > 0.0 && median < end / 30.0 => Scale::logarithmic((median / 10.0).max(1e-3), end),
        _ => Scale::linear(0.0, end),
    }
}
