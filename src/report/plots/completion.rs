//! How calls end over time. Hung calls stay pending; none is dropped.

use super::super::axis::{Axis, Scale, Tick, frame, round_up};
use super::super::canvas::{Area, Canvas, Point, Stroke, Text};
use super::super::figure::Sheet;
use super::super::style::{self, INK, MUTED};
use super::spread;
use crate::stats::Analysis;
use crate::stats::arm::ArmSummary;
use crate::stats::completion::{Ended, curve};
use crate::stats::number::{percent, seconds};

const MAIN: i32 = 300;
const SECOND: i32 = 110;
const BELOW: i32 = 54;
const BETWEEN: i32 = 58;

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
    let unhappy = arms
        .iter()
        .any(|arm| !arm.failure.is_empty() || !arm.wrong.is_empty());
    let height = MAIN
        + BELOW
        + if unhappy {
            BETWEEN - BELOW + SECOND + BELOW
        } else {
            0
        };
    sheet.draw(height, |canvas, area| {
        let main = Area {
            left: area.left + 72,
            right: area.right - 236,
            bottom: area.top + MAIN,
            ..area
        };
        let success = Panel {
            area: main,
            x,
            top: 1.0,
            title: "success (% of calls)",
            labelled: true,
        };
        success.draw(canvas, &arms, timeout_s, |canvas, arm, look, scales| {
            let points = curve_points(arm, main, scales, |at| at.ok);
            canvas.line(&points, look.stroke(3));
            if let Some(end) = points.last() {
                canvas.marker(*end, look.marker, 4, look.color);
            }
        });
        end_labels(canvas, main, &arms, Scale::linear(0.0, 1.0).up(main));
        if unhappy {
            let second = Area {
                top: main.bottom + BETWEEN,
                bottom: main.bottom + BETWEEN + SECOND,
                ..main
            };
            errors_panel(canvas, second, x, &arms, timeout_s);
        }
    })
}

/// Failed and wrong answers, on their own scale.
fn errors_panel(
    canvas: &mut Canvas,
    area: Area,
    x: Scale,
    arms: &[&ArmSummary],
    timeout_s: Option<f64>,
) {
    let final_shares = arms.iter().flat_map(|arm| {
        let end = last(arm);
        [end.failed, end.wrong]
    });
    let top = (round_up(final_shares.fold(0.0, f64::max) * 100.0) / 100.0).min(1.0);
    let panel = Panel {
        area,
        x,
        top,
        title: "failed, wrong (%)",
        labelled: false,
    };
    let mut labels: Vec<(i32, String)> = Vec::new();
    panel.draw(canvas, arms, timeout_s, |canvas, arm, look, scales| {
        let end = last(arm);
        type Share = fn(&Ended) -> f64;
        let kinds: [(Share, &str, u32); 2] =
            [(|at| at.failed, "failed", 2), (|at| at.wrong, "wrong", 4)];
        for (share, name, width) in kinds {
            let at_the_end = share(&end);
            if at_the_end > 0.0 {
                canvas.line(&curve_points(arm, area, scales, share), look.stroke(width));
                let thickness = if width > 2 { "thick" } else { "thin" };
                let label = format!("{} {name} ({thickness}) {}", arm.arm, percent(at_the_end));
                labels.push((scales.1.at(at_the_end), label));
            }
        }
    });
    let wanted: Vec<i32> = labels.iter().map(|(y, _)| *y).collect();
    for ((_, text), y) in labels.iter().zip(spread(&wanted, 16, area.bottom)) {
        canvas.text((area.right + 10, y), text, Text::new(12, INK));
    }
}

/// A panel with time below and shares at the left.
struct Panel {
    area: Area,
    x: Scale,
    top: f64,
    title: &'static str,
    /// Whether the timeout's line has its name.
    labelled: bool,
}

impl Panel {
    fn draw(
        &self,
        canvas: &mut Canvas,
        arms: &[&ArmSummary],
        timeout_s: Option<f64>,
        mut draw: impl FnMut(&mut Canvas, &ArmSummary, style::ArmStyle, (Scale, Scale)),
    ) {
        let y = Scale::linear(0.0, self.top);
        let percents = Scale::linear(0.0, self.top * 100.0).ticks(5);
        let ticks = percents.into_iter().map(|tick| Tick {
            value: tick.value / 100.0,
            ..tick
        });
        frame(
            canvas,
            self.area,
            &Axis {
                scale: self.x,
                ticks: self.x.ticks(8),
                title: "time since the start of the call (s)",
            },
            &Axis {
                scale: y,
                ticks: ticks.collect(),
                title: self.title,
            },
        );
        let scales = (self.x.across(self.area), y.up(self.area));
        if let Some(timeout_s) = timeout_s {
            let at = scales.0.at(timeout_s);
            let line = Stroke {
                color: MUTED,
                width: 1,
                dashes: &[3.0, 3.0],
            };
            canvas.line(&[(at, self.area.top), (at, self.area.bottom)], line);
        }
        for arm in arms {
            draw(canvas, arm, style::arm(arm.arm), scales);
        }
        if let Some(timeout_s) = timeout_s.filter(|_| self.labelled) {
            let at = scales.0.at(timeout_s);
            let label = Text::new(12, MUTED).aligned(plotters::style::text_anchor::HPos::Center);
            canvas.text((at, self.area.top - 9), "call timeout", label);
        }
    }
}

/// Every arm's shares at the end, beside the end of its curve.
fn end_labels(canvas: &mut Canvas, area: Area, arms: &[&ArmSummary], y: Scale) {
    let wanted: Vec<i32> = arms.iter().map(|arm| y.at(last(arm).ok)).collect();
    for (arm, y) in arms.iter().zip(spread(&wanted, 50, area.bottom - 30)) {
        let end = last(arm);
        let look = style::arm(arm.arm);
        look.sample(canvas, area.right + 10, y);
        canvas.text(
            (area.right + 52, y),
            arm.arm.name(),
            Text::new(13, INK).bold(),
        );
        let text = format!("success {}", percent(end.ok));
        canvas.text((area.right + 52, y + 17), &text, Text::new(12, INK));
        let text = format!("pending {}", percent(end.pending()));
        canvas.text((area.right + 52, y + 32), &text, Text::new(12, INK));
    }
}

fn last(arm: &ArmSummary) -> Ended {
    curve(arm, [u64::MAX])[0]
}

/// A step for each pixel across the panel.
fn curve_points(
    arm: &ArmSummary,
    area: Area,
    (x, y): (Scale, Scale),
    share: impl Fn(&Ended) -> f64,
) -> Vec<Point> {
    let instants = (area.left..=area.right).map(|pixel| (x.value_at(pixel) * 1e6).round() as u64);
    let mut points: Vec<Point> = Vec::new();
    for (pixel, ended) in (area.left..).zip(curve(arm, instants)) {
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
    let longest = arms
        .iter()
        .flat_map(|arm| [arm.completion.max(), arm.failure.max(), arm.wrong.max()])
        .max()
        .unwrap_or(0);
    let end = seconds(longest)
        .max(timeout_s.unwrap_or(0.0) * 1.1)
        .max(1e-3);
    let medians = arms.iter().filter(|arm| !arm.completion.is_empty());
    let median = medians
        .map(|arm| arm.completion.value_at_quantile(0.5))
        .min();
    match median.map(seconds) {
        Some(median) if median > 0.0 && median < end / 30.0 => {
            Scale::logarithmic((median / 10.0).max(1e-3), end)
        }
        _ => Scale::linear(0.0, end),
    }
}
