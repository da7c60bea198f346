//! Colours, dashes, markers: the same for an arm or an outcome in every figure.
//!
//! The colours are those of Okabe and Ito, which people with the common colour deficiencies can tell apart. None
//! carries a meaning alone: on paper without colour, dashes, hatching and markers say the same.

use plotters::style::RGBColor;

use super::canvas::{Area, Canvas, Marker, Stroke};
use crate::mcp::client::settings::Arm;
use crate::observe::verdict::Outcome;

pub(super) const PAPER: RGBColor = RGBColor(255, 255, 255);
pub(super) const INK: RGBColor = RGBColor(26, 26, 26);
pub(super) const MUTED: RGBColor = RGBColor(96, 96, 96);
pub(super) const RULE: RGBColor = RGBColor(222, 222, 222);
pub(super) const SHADE: RGBColor = RGBColor(120, 120, 120);
const VERMILION: RGBColor = RGBColor(213, 94, 0);
const BLUE: RGBColor = RGBColor(0, 114, 178);
const GREEN: RGBColor = RGBColor(0, 128, 96);
const AMBER: RGBColor = RGBColor(230, 159, 0);
const PURPLE: RGBColor = RGBColor(204, 121, 167);
const PALE: RGBColor = RGBColor(168, 190, 208);

/// How an arm is drawn.
#[derive(Clone, Copy)]
pub(super) struct ArmStyle {
    pub color: RGBColor,
    pub dashes: &'static [f64],
    pub marker: Marker,
    hatch_step: Option<i32>,
}

/// An arm's style.
pub(super) fn arm(arm: Arm) -> ArmStyle {
    match arm {
        Arm::Trusting => {
            ArmStyle { color: VERMILION, dashes: &[9.0, 5.0], marker: Marker::Square, hatch_step: Some(7) }
        }
        Arm::Validating => ArmStyle { color: BLUE, dashes: &[], marker: Marker::Circle, hatch_step: None },
        Arm::Rmcp => {
            ArmStyle { color: AMBER, dashes: &[9.0, 3.0, 2.0, 3.0], marker: Marker::Square, hatch_step: Some(7) }
        }
        Arm::RmcpGuarded => ArmStyle { color: PURPLE, dashes: &[], marker: Marker::Circle, hatch_step: None },
        Arm::NoCursor => ArmStyle { color: GREEN, dashes: &[2.0, 4.0], marker: Marker::Triangle, hatch_step: Some(14) },
    }
}

impl ArmStyle {
    pub(super) fn stroke(self, width: u32) -> Stroke {
        Stroke { color: self.color, width, dashes: self.dashes }
    }

    /// A bar in the arm's colour and hatching.
    pub(super) fn bar(self, canvas: &mut Canvas, area: Area) {
        canvas.fill(area, self.color);
        if let Some(step) = self.hatch_step {
            canvas.hatch(area, PAPER, step);
        }
    }

    /// A short line with the arm's marker, for legends.
    pub(super) fn sample(self, canvas: &mut Canvas, left: i32, y: i32) {
        canvas.line(&[(left, y), (left + 34, y)], self.stroke(2));
        canvas.marker((left + 17, y), self.marker, 4, self.color);
    }
}

/// A call's bar in a timeline.
pub(super) fn call_bar(canvas: &mut Canvas, area: Area, outcome: Outcome) {
    let end = (area.right, area.middle());
    match outcome {
        Outcome::Completed => canvas.fill(area, PALE),
        Outcome::Recovered => canvas.fill(area, BLUE),
        Outcome::Failed => {
            canvas.fill(area, PAPER);
            canvas.outline(area, INK);
            canvas.marker(end, Marker::Cross, 3, INK);
        }
        Outcome::Hung => {
            canvas.fill(area, VERMILION);
            canvas.hatch(area, PAPER, 5);
            canvas.outline(area, VERMILION);
        }
        Outcome::Wrong => {
            canvas.fill(area, INK);
            canvas.marker(end, Marker::Square, 3, INK);
        }
    }
}
