//! A drawing surface over plotters' SVG backend: lines, fills, hatching, markers and text in whole pixels.

use plotters::backend::{DrawingBackend, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, FontTransform, IntoFont, RGBColor, ShapeStyle, TextStyle};

/// The face of every label but commands; the names after the first are for machines that do not have it.
const SANS: &str = "DejaVu Sans, Verdana, sans-serif";
/// The face of commands.
const MONO: &str = "DejaVu Sans Mono, Menlo, Consolas, monospace";
/// plotters writes a font size divided by this number.
const PLOTTERS_EM: f64 = 1.24;

/// A point, in pixels from the upper left.
pub(super) type Point = (i32, i32);

/// A rectangle, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Area {
    pub left: i32,
    pub top: i32,
    pub right: i32,
    pub bottom: i32,
}

impl Area {
    pub(super) fn middle(self) -> i32 {
        (self.top + self.bottom) / 2
    }
}

/// A line's colour, thickness and dashes (drawn and skipped pixels in turn; empty for a solid line).
#[derive(Clone, Copy, Debug)]
pub(super) struct Stroke {
    pub color: RGBColor,
    pub width: u32,
    pub dashes: &'static [f64],
}

impl Stroke {
    pub(super) fn solid(color: RGBColor, width: u32) -> Stroke {
        Stroke { color, width, dashes: &[] }
    }
}

/// A marker's shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
}

/// How a text is set.
#[derive(Clone, Copy)]
pub(super) struct Text {
    pub size: i32,
    pub color: RGBColor,
    pub align: HPos,
    pub bold: bool,
    pub mono: bool,
    pub upwards: bool,
}

impl Text {
    pub(super) const fn new(size: i32, color: RGBColor) -> Text {
        Text { size, color, align: HPos::Left, bold: false, mono: false, upwards: false }
    }

    pub(super) fn aligned(self, align: HPos) -> Text {
        Text { align, ..self }
    }

    pub(super) fn bold(self) -> Text {
        Text { bold: true, ..self }
    }

    pub(super) fn mono(self) -> Text {
        Text { mono: true, ..self }
    }

    pub(super) fn upwards(self) -> Text {
        Text { upwards: true, ..self }
    }

    /// An upper estimate of a text's width: the viewer lays it out, perhaps in another face.
    pub(super) fn width_of(self, text: &str) -> i32 {
        let em = if self.bold { 0.70 } else { 0.62 };
        (text.chars().count() as f64 * f64::from(self.size) * em).ceil() as i32
    }
}

/// The surface.
pub(super) struct Canvas<'a> {
    backend: SVGBackend<'a>,
}

/// Draws a picture and returns it as SVG.
pub(super) fn picture(width: i32, height: i32, draw: impl FnOnce(&mut Canvas)) -> String {
    let mut svg = String::new();
    let size = (width.unsigned_abs(), height.unsigned_abs());
    let mut canvas = Canvas { backend: SVGBackend::with_string(&mut svg, size) };
    let page = Area { left: 0, top: 0, right: width, bottom: height };
    canvas.fill(page, super::style::PAPER);
    draw(&mut canvas);
    canvas.backend.present().expect(IN_MEMORY);
    drop(canvas);
    svg
}

/// Why drawing cannot fail.
const IN_MEMORY: &str = "an SVG is drawn into a string, which takes everything";

impl Canvas<'_> {
    pub(super) fn fill(&mut self, area: Area, color: RGBColor) {
        self.rectangle(area, color.filled(), true);
    }

    /// Fills with a colour that what lies below shows through.
    pub(super) fn tint(&mut self, area: Area, color: RGBColor, opacity: f64) {
        self.rectangle(area, color.mix(opacity).filled(), true);
    }

    pub(super) fn outline(&mut self, area: Area, color: RGBColor) {
        self.rectangle(area, color.stroke_width(1), false);
    }

    fn rectangle(&mut self, area: Area, style: ShapeStyle, fill: bool) {
        let corners = ((area.left, area.top), (area.right, area.bottom));
        let drawn = self.backend.draw_rect(corners.0, corners.1, &style, fill);
        drawn.expect(IN_MEMORY);
    }

    /// Diagonal lines, `step` pixels apart, clipped to the area.
    pub(super) fn hatch(&mut self, area: Area, color: RGBColor, step: i32) {
        let height = area.bottom - area.top;
        let mut foot = area.left - height + step;
        while foot < area.right {
            // The line climbs one pixel for each pixel to the right.
            let from = foot.max(area.left);
            let to = (foot + height).min(area.right);
            let climbed = |x: i32| area.bottom - (x - foot);
            self.line(&[(from, climbed(from)), (to, climbed(to))], Stroke::solid(color, 1));
            foot += step;
        }
    }

    pub(super) fn line(&mut self, points: &[Point], stroke: Stroke) {
        let style = stroke.color.stroke_width(stroke.width);
        if stroke.dashes.is_empty() {
            let drawn = self.backend.draw_path(points.iter().copied(), &style);
            drawn.expect(IN_MEMORY);
            return;
        }
        for dash in dashes(points, stroke.dashes) {
            self.backend.draw_path(dash, &style).expect(IN_MEMORY);
        }
    }

    pub(super) fn dot(&mut self, center: Point, radius: u32, color: RGBColor, opacity: f64) {
        let style = color.mix(opacity).filled();
        let drawn = self.backend.draw_circle(center, radius, &style, true);
        drawn.expect(IN_MEMORY);
    }

    /// A marker with a paper-coloured rim, so that it stands out on any ground.
    pub(super) fn marker(&mut self, (x, y): Point, marker: Marker, radius: i32, color: RGBColor) {
        let r = radius;
        match marker {
            Marker::Circle => {
                self.dot((x, y), r.unsigned_abs() + 1, super::style::PAPER, 1.0);
                self.dot((x, y), r.unsigned_abs(), color, 1.0);
            }
            Marker::Square => {
                self.polygon(r, color, |r| vec![(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)])
            }
            Marker::Triangle => self.polygon(r, color, |r| vec![(x - r, y + r), (x + r, y + r), (x, y - r)]),
            Marker::Diamond => self.polygon(r, color, |r| vec![(x - r, y), (x, y - r), (x + r, y), (x, y + r)]),
            Marker::Cross => {
                for (width, ink) in [(4, super::style::PAPER), (2, color)] {
                    let stroke = Stroke::solid(ink, width);
                    self.line(&[(x - r, y - r), (x + r, y + r)], stroke);
                    self.line(&[(x - r, y + r), (x + r, y - r)], stroke);
                }
            }
        }
    }

    fn polygon(&mut self, radius: i32, color: RGBColor, corners: impl Fn(i32) -> Vec<Point>) {
        for (radius, ink) in [(radius + 2, super::style::PAPER), (radius, color)] {
            let drawn = self.backend.fill_polygon(corners(radius), &ink.filled());
            drawn.expect(IN_MEMORY);
        }
    }

    /// A text whose vertical middle is at the point's height.
    pub(super) fn text(&mut self, at: Point, text: &str, style: Text) {
        let family = if style.mono { MONO } else { SANS };
        let mut font = (family, f64::from(style.size) * PLOTTERS_EM).into_font();
        if style.bold {
            font = font.style(FontStyle::Bold);
        }
        if style.upwards {
            font = font.transform(FontTransform::Rotate270);
        }
        let style = TextStyle::from(font).color(&style.color).pos(Pos::new(style.align, VPos::Center));
        let drawn = self.backend.draw_text(&printable(text), &style, at);
        drawn.expect(IN_MEMORY);
    }
}

/// Text without the control characters that XML cannot hold.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Cuts a line into its dashes.
fn dashes(points: &[Point], pattern: &[f64]) -> Vec<Vec<Point>> {
    let mut pieces = Vec::new();
    let mut piece: Vec<Point> = points.first().copied().into_iter().collect();
    let (mut index, mut left) = (0, pattern[0]);
    for pair in points.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let (dx, dy) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
        let length = dx.hypot(dy);
        let mut done = 0.0;
        while length - done > left {
            done += left;
            let at = |start: i32, d: f64| start + (d * done / length).round() as i32;
            let here = (at(from.0, dx), at(from.1, dy));
            if index % 2 == 0 {
                piece.push(here);
                pieces.push(std::mem::take(&mut piece));
            } else {
                piece = vec![here];
            }
            index = (index + 1) % pattern.len();
            left = pattern[index];
        }
        left -= length - done;
        if index % 2 == 0 {
            piece.push(to);
        }
    }
    if piece.len() > 1 {
        pieces.push(piece);
    }
    pieces
}
