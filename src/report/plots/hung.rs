//! Hung calls per arm: one bar over all runs, one dot for each seed.

use plotters::style::text_anchor::HPos;

use super::super::axis::{Axis, Scale, frame_x, round_up};
use super::super::canvas::{Area, Canvas, Text};
use super::super::figure::Sheet;
use super::super::style::{self, INK};
use crate::experiment::results::fields::Outcome;
use crate::stats::Analysis;
use crate::stats::arm::ArmSummary;
use crate::stats::number::{grouped, percent};

const ROW: i32 = 104;
const BAR: i32 = 34;
/// Dots of one column: higher columns stand for several seeds a dot.
const STACK: u64 = 5;

/// The figure.
pub(in super::super) fn draw(analysis: &Analysis, command: &str) -> String {
    let arms: Vec<&ArmSummary> = analysis.arms.iter().filter(|arm| arm.calls > 0).collect();
    let most = arms
        .iter()
        .flat_map(|arm| arm.runs_by_hung_percent)
        .max()
        .unwrap_or(0);
    let seeds_a_dot = most.div_ceil(STACK).max(1);
    let dots = match seeds_a_dot {
        1 => "each dot is one run".to_owned(),
        n => format!("each dot is up to {n} runs"),
    };
    let mut sheet = Sheet {
        title: "Hung tool calls",
        subtitle: "",
        command,
    };
    if arms.is_empty() {
        return sheet.say("No call was made in any run, so none could hang.");
    }
    let subtitle = format!("share of all calls that hung: the bar is over all runs, {dots}");
    sheet.subtitle = &subtitle;
    let widest = arms.iter().map(|arm| widest_share(arm)).fold(0.0, f64::max);
    let scale = Scale::linear(
        0.0,
        if widest > 0.0 {
            round_up(widest * 100.0)
        } else {
            10.0
        },
    );
    let height = ROW * arms.len() as i32 + 60;
    sheet.draw(height, |canvas, area| {
        let panel = Area {
            left: area.left + 96,
            right: area.right - 24,
            bottom: area.bottom - 52,
            ..area
        };
        let x = Axis {
            scale,
            ticks: scale.ticks(6),
            title: "hung calls (% of calls)",
        };
        frame_x(canvas, panel, &x);
        for (i, arm) in arms.iter().enumerate() {
            let top = panel.top + 8 + ROW * i as i32;
            row(canvas, panel, top, scale.across(panel), arm, seeds_a_dot);
        }
    })
}

fn row(canvas: &mut Canvas, panel: Area, top: i32, x: Scale, arm: &ArmSummary, seeds_a_dot: u64) {
    let look = style::arm(arm.arm);
    let (hung, share) = (
        arm.outcome(Outcome::Hung),
        arm.share(Outcome::Hung).unwrap_or(0.0),
    );
    let bar = Area {
        left: panel.left,
        top,
        right: x.at(share * 100.0),
        bottom: top + BAR,
    };
    let name = Text::new(14, INK).bold().aligned(HPos::Right);
    canvas.text(
        (panel.left - 12, bar.middle()),
        arm.arm.name(),
        Text {
            bold: false,
            ..name
        },
    );
    let value = Text::new(14, INK);
    let label = match hung {
        0 => format!("none of {} calls", grouped(arm.calls)),
        _ => format!(
            "{} of {} calls ({})",
            grouped(hung),
            grouped(arm.calls),
            percent(share)
        ),
    };
    if hung > 0 {
        look.bar(canvas, bar);
    }
    // Behind the bar where there is room, otherwise above its end.
    let beside = bar.right + 10;
    if beside + value.width_of(&label) <= panel.right {
        canvas.text((beside, bar.middle()), &label, value);
    } else {
        let plate = Area {
            left: panel.right - value.width_of(&label) - 12,
            top: bar.middle() - 11,
            right: panel.right - 4,
            bottom: bar.middle() + 11,
        };
        canvas.fill(plate, style::PAPER);
        canvas.text(
            (plate.right - 4, bar.middle()),
            &label,
            value.aligned(HPos::Right),
        );
    }
    for (bin, seeds) in arm.runs_by_hung_percent.iter().enumerate() {
        for level in 0..seeds.div_ceil(seeds_a_dot) {
            let at = (x.at(bin as f64), bar.bottom + 10 + 9 * level as i32);
            canvas.dot(at, 4, look.color, 0.75);
        }
    }
}

/// The largest share that has to be shown: of all runs, or of one.
fn widest_share(arm: &ArmSummary) -> f64 {
    let worst = arm.runs_by_hung_percent.iter().rposition(|runs| *runs > 0);
    let worst = worst.unwrap_or(0) as f64 / 100.0;
    arm.share(Outcome::Hung).unwrap_or(0.0).max(worst)
}
