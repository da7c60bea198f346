//! Scales, ticks and the frame of a panel.

use plotters::style::text_anchor::HPos;

use super::canvas::{Area, Canvas, Stroke, Text};
use super::style::{INK, MUTED, RULE};
use crate::stats::number::significant;

/// Maps values to pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    from: f64,
    to: f64,
    first: i32,
    last: i32,
    log: bool,
}

impl Scale {
    /// A scale on which equal differences are equally long.
    pub(super) fn linear(from: f64, to: f64) -> Scale {
        Scale { from, to: if to > from { to } else { from + 1.0 }, first: 0, last: 1, log: false }
    }

    /// A scale on which equal ratios are equally long. Both ends must be above zero.
    pub(super) fn logarithmic(from: f64, to: f64) -> Scale {
        Scale { log: true, ..Scale::linear(from, to) }
    }

    /// The value at the scale's beginning.
    pub(super) fn least(self) -> f64 {
        self.from
    }

    /// The same scale along a panel's width.
    pub(super) fn across(self, area: Area) -> Scale {
        Scale { first: area.left, last: area.right, ..self }
    }

    /// The same scale up a panel's height.
    pub(super) fn up(self, area: Area) -> Scale {
        Scale { first: area.bottom, last: area.top, ..self }
    }

    /// The pixel of a value; values outside are drawn at the nearer end.
    pub(super) fn at(self, value: f64) -> i32 {
        let share = if self.log {
            (value.max(self.from) / self.from).ln() / (self.to / self.from).ln()
        } else {
            (value - self.from) / (self.to - self.from)
        };
        self.first + (share.clamp(0.0, 1.0) * f64::from(self.last - self.first)).round() as i32
    }

    /// The value of a pixel.
    pub(super) fn value_at(self, pixel: i32) -> f64 {
        let share = f64::from(pixel - self.first) / f64::from(self.last - self.first);
        if self.log { self.from * (self.to / self.from).powf(share) } else { self.from + share * (self.to - self.from) }
    }

    /// Round values with their labels, about `count` of them; on a logarithmic scale every power of ten.
    pub(super) fn ticks(self, count: u32) -> Vec<Tick> {
        if self.log {
            let first = self.from.log10().ceil() as i32;
            let last = self.to.log10().floor() as i32;
            return (first..=last).map(|power| Tick::of(10f64.powi(power))).collect();
        }
        let step = round_step((self.to - self.from) / f64::from(count.max(1)));
        let first = (self.from / step).ceil() as i64;
        let last = (self.to / step + 1e-9).floor() as i64;
        (first..=last).map(|n| Tick::of(n as f64 * step)).collect()
    }
}

/// The smallest of 1, 2, 5 times a power of ten that is at least `least`.
pub(super) fn round_step(least: f64) -> f64 {
    if least <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powi(least.log10().floor() as i32);
    [1.0, 2.0, 5.0, 10.0]
        .map(|digit| digit * power)
        .into_iter()
        .find(|step| *step >= least * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

/// The smallest round value that is at least `value`.
pub(super) fn round_up(value: f64) -> f64 {
    let step = round_step(value / 5.0);
    (value / step - 1e-9).ceil() * step
}

/// A labelled place on an axis.
#[derive(Clone, Debug)]
pub(super) struct Tick {
    pub value: f64,
    pub label: String,
}

impl Tick {
    fn of(value: f64) -> Tick {
        Tick { value, label: significant(value) }
    }
}

/// An axis of a panel.
pub(super) struct Axis<'a> {
    pub scale: Scale,
    pub ticks: Vec<Tick>,
    pub title: &'a str,
}

/// Grid, labels and titles around a panel. Below it they take 48 pixels; to the left about 70.
pub(super) fn frame(canvas: &mut Canvas, area: Area, x: &Axis, y: &Axis) {
    frame_x(canvas, area, x);
    let label = Text::new(12, INK).aligned(HPos::Right);
    for tick in &y.ticks {
        let at = y.scale.up(area).at(tick.value);
        canvas.line(&[(area.left, at), (area.right, at)], Stroke::solid(RULE, 1));
        canvas.text((area.left - 8, at), &tick.label, label);
    }
    let title = Text::new(12, MUTED).aligned(HPos::Center).upwards();
    canvas.text((area.left - 62, area.middle()), y.title, title);
    axes(canvas, area);
}

/// The horizontal axis alone: a panel whose rows are labelled otherwise.
pub(super) fn frame_x(canvas: &mut Canvas, area: Area, x: &Axis) {
    let label = Text::new(12, INK).aligned(HPos::Center);
    let mut free_from = i32::MIN;
    for tick in &x.ticks {
        let at = x.scale.across(area).at(tick.value);
        canvas.line(&[(at, area.top), (at, area.bottom)], Stroke::solid(RULE, 1));
        let half = label.width_of(&tick.label) / 2;
        if at - half >= free_from {
            canvas.text((at, area.bottom + 14), &tick.label, label);
            free_from = at + half + 6;
        }
    }
    let title = Text::new(12, MUTED).aligned(HPos::Center);
    canvas.text(((area.left + area.right) / 2, area.bottom + 36), x.title, title);
    axes(canvas, area);
}

fn axes(canvas: &mut Canvas, area: Area) {
    let corner = (area.left, area.bottom);
    canvas.line(&[(area.left, area.top), corner, (area.right, area.bottom)], Stroke::solid(INK, 1));
}
