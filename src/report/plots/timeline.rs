//! One seed told in full: clients as lanes, calls as bars, faults as bands and ticks; one panel for each arm.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use plotters::style::text_anchor::HPos;

use super::super::axis::{Axis, Scale, frame_x};
use super::super::canvas::{Area, Canvas, Marker, Stroke, Text};
use super::super::figure::Sheet;
use super::super::style::{INK, MUTED, PAPER, RULE, SHADE, call_bar};
use crate::experiment::results::rows::{CallRow, DesyncRow, FaultRow};
use crate::observe::verdict::{FaultOrigin, Outcome};
use crate::world::time::SimTime;

/// Lanes of a panel at most; clients that met trouble come first.
const LANES: usize = 16;
/// Height of a call's bar, and of the row that it lies in.
const BAR: i32 = 8;
const ROW: i32 = 12;
/// Room above a lane's bars for what happened to the client, and below for what it decided.
const ABOVE: i32 = 11;
const UNDER: i32 = 10;
/// Rows of a lane at most: calls of one client may overlap.
const ROWS: usize = 4;
const HEADING: i32 = 24;
const BANDS: i32 = 18;
const BELOW: i32 = 56;
const LEGEND: i32 = 52;

/// A timeline of the runs of one point and seed, one panel for each arm that the calls name, in their order.
///
/// Rows with times that do not parse are left out. The result is an SVG.
pub(in super::super) fn timeline(
    calls: &[CallRow],
    faults: &[FaultRow],
    desyncs: &[DesyncRow],
    title: &str,
    command: &str,
) -> String {
    let mut panels = panels(calls, faults, desyncs);
    let hidden = keep_the_troubled(&mut panels);
    let subtitle = match hidden {
        0 => "one lane for each client; time is simulated".to_owned(),
        n => format!("the {LANES} clients that met the most trouble, {n} others are left out; time is simulated"),
    };
    let sheet = Sheet { title, subtitle: &subtitle, command };
    if panels.is_empty() {
        return sheet.say("No call was made in this run.");
    }
    let x = Scale::linear(0.0, panels.iter().map(|p| p.end_s).fold(1.0, f64::max));
    let height = LEGEND + panels.iter().map(Panel::height).sum::<i32>();
    sheet.draw(height, |canvas, area| {
        let mut top = area.top;
        for panel in &panels {
            panel.draw(canvas, Area { top, ..area }, x);
            top += panel.height();
        }
        legend(canvas, area.left, area.bottom - LEGEND + 12);
    })
}

/// One arm's run, laid out.
struct Panel<'a> {
    arm: &'a str,
    lanes: Vec<Lane<'a>>,
    faults: Vec<&'a FaultRow>,
    hung: usize,
    calls: usize,
    /// How many faults of each name took effect, at all clients.
    struck: BTreeMap<&'a str, usize>,
    end_s: f64,
}

/// One client's calls, each in the first row that is free when it starts.
struct Lane<'a> {
    client: u32,
    bars: Vec<Bar>,
    rows: usize,
    desyncs: Vec<&'a DesyncRow>,
    faults: Vec<&'a FaultRow>,
}

struct Bar {
    row: usize,
    from: f64,
    to: f64,
    outcome: Outcome,
}

fn panels<'a>(calls: &'a [CallRow], faults: &'a [FaultRow], desyncs: &'a [DesyncRow]) -> Vec<Panel<'a>> {
    let mut arms: Vec<&str> = Vec::new();
    for call in calls {
        if !arms.contains(&call.arm.as_str()) {
            arms.push(&call.arm);
        }
    }
    let panel = |arm| {
        Panel::new(
            arm,
            calls.iter().filter(|row| row.arm == arm),
            faults.iter().filter(|row| row.arm == arm && row.took_effect),
            desyncs.iter().filter(|row| row.arm == arm),
        )
    };
    arms.into_iter().map(panel).collect()
}

/// Keeps the lanes of the [`LANES`] clients that met the most trouble under any arm, the same in every panel.
/// Returns how many clients are left out.
fn keep_the_troubled(panels: &mut [Panel]) -> usize {
    let mut trouble: BTreeMap<u32, usize> = BTreeMap::new();
    for lane in panels.iter().flat_map(|panel| &panel.lanes) {
        *trouble.entry(lane.client).or_default() += lane.trouble();
    }
    let mut clients: Vec<(u32, usize)> = trouble.into_iter().collect();
    clients.sort_by_key(|(client, trouble)| (Reverse(*trouble), *client));
    let hidden: Vec<u32> = clients.iter().skip(LANES).map(|(client, _)| *client).collect();
    for panel in panels {
        panel.lanes.retain(|lane| !hidden.contains(&lane.client));
    }
    hidden.len()
}

impl<'a> Panel<'a> {
    fn new(
        arm: &'a str,
        calls: impl Iterator<Item = &'a CallRow>,
        faults: impl Iterator<Item = &'a FaultRow>,
        desyncs: impl Iterator<Item = &'a DesyncRow>,
    ) -> Panel<'a> {
        let mut lanes: BTreeMap<u32, Lane> = BTreeMap::new();
        let (mut hung, mut count, mut end_s) = (0, 0, 0.0_f64);
        for call in calls {
            let (Ok(outcome), Ok((from, to))) = (call.outcome(), call.span()) else {
                continue;
            };
            let lane = lanes.entry(call.client).or_insert_with(|| Lane::new(call.client));
            lane.add(outcome, from, to);
            count += 1;
            hung += usize::from(outcome == Outcome::Hung);
            end_s = end_s.max(to.as_secs_f64());
        }
        for desync in desyncs {
            let times = [desync.exposed_at().ok(), desync.detected_at().ok().flatten()];
            end_s = times.into_iter().flatten().map(SimTime::as_secs_f64).fold(end_s, f64::max);
            if let Some(lane) = lanes.get_mut(&desync.client) {
                lane.desyncs.push(desync);
            }
        }
        let mut for_all = Vec::new();
        let mut struck: BTreeMap<&str, usize> = BTreeMap::new();
        for fault in faults {
            *struck.entry(&fault.fault).or_default() += 1;
            end_s = fault.span().map_or(end_s, |(_, to)| end_s.max(to.as_secs_f64()));
            match fault.client {
                None => for_all.push(fault),
                Some(client) => {
                    if let Some(lane) = lanes.get_mut(&client) {
                        lane.faults.push(fault);
                    }
                }
            }
        }
        Panel { arm, lanes: lanes.into_values().collect(), faults: for_all, hung, calls: count, struck, end_s }
    }

    fn lanes_height(&self) -> i32 {
        self.lanes.iter().map(Lane::height).sum()
    }

    fn height(&self) -> i32 {
        HEADING + BANDS + self.lanes_height() + BELOW
    }

    fn draw(&self, canvas: &mut Canvas, area: Area, x: Scale) {
        let body = Area {
            left: area.left + 78,
            top: area.top + HEADING + BANDS,
            right: area.right - 8,
            bottom: area.top + HEADING + BANDS + self.lanes_height(),
        };
        let heading = format!("{}: {} of {} calls hung", self.arm, self.hung, self.calls);
        let bold = Text::new(14, INK).bold();
        canvas.text((area.left, area.top + 10), &heading, bold);
        let left = area.left + bold.width_of(&heading) + 16;
        let note = Text::new(12, MUTED);
        canvas.text((left, area.top + 10), &self.faults_in_words(area.right - left, note), note);
        self.draw_bands(canvas, body, x.across(body));
        frame_x(canvas, body, &Axis { scale: x, ticks: x.ticks(10), title: "simulated time (s)" });
        let mut top = body.top;
        for lane in &self.lanes {
            lane.draw(canvas, Area { top, bottom: top + lane.height(), ..body }, x.across(body));
            top += lane.height();
        }
    }

    /// The faults that took effect, as many as fit.
    fn faults_in_words(&self, width: i32, style: Text) -> String {
        let mut words = String::new();
        for (name, count) in &self.struck {
            let one = match words.as_str() {
                "" => format!("faults: {name} × {count}"),
                _ => format!(", {name} × {count}"),
            };
            if style.width_of(&words) + style.width_of(&one) > width {
                words.push_str(", …");
                break;
            }
            words.push_str(&one);
        }
        words
    }

    /// Faults that hit every client: a band over all lanes, its name above.
    fn draw_bands(&self, canvas: &mut Canvas, body: Area, x: Scale) {
        let label = Text::new(11, MUTED);
        let mut free_from = i32::MIN;
        for fault in &self.faults {
            let Ok((from, to)) = fault.span() else {
                continue;
            };
            let left = x.at(from.as_secs_f64());
            let right = x.at(to.as_secs_f64()).max(left + 1);
            canvas.tint(Area { left, right, ..body }, SHADE, 0.28);
            canvas.line(&[(left, body.top - 4), (left, body.bottom)], Stroke::solid(SHADE, 1));
            let width = label.width_of(&fault.fault);
            let start = left.min(body.right - width);
            if start >= free_from {
                canvas.text((start, body.top - 12), &fault.fault, label);
                free_from = start + width + 8;
            }
        }
    }
}

impl Lane<'_> {
    fn new(client: u32) -> Self {
        Lane { client, bars: Vec::new(), rows: 1, desyncs: Vec::new(), faults: Vec::new() }
    }

    fn add(&mut self, outcome: Outcome, from: SimTime, to: SimTime) {
        let (from, to) = (from.as_secs_f64(), to.as_secs_f64());
        let taken = |row: usize| self.bars.iter().any(|bar| bar.row == row && bar.to > from && bar.from < to);
        let row = (0..ROWS - 1).find(|row| !taken(*row)).unwrap_or(ROWS - 1);
        self.rows = self.rows.max(row + 1);
        self.bars.push(Bar { row, from, to, outcome });
    }

    /// How much there is to see: hung and wrong calls before failed and recovered ones.
    fn trouble(&self) -> usize {
        let weight = |bar: &Bar| match bar.outcome {
            Outcome::Hung | Outcome::Wrong => 1_000,
            Outcome::Failed | Outcome::Recovered => 10,
            Outcome::Completed => 0,
        };
        self.bars.iter().map(weight).sum::<usize>() + self.desyncs.len()
    }

    fn height(&self) -> i32 {
        ABOVE + ROW * self.rows as i32 + UNDER
    }

    fn draw(&self, canvas: &mut Canvas, area: Area, x: Scale) {
        let edge = [(area.left, area.bottom), (area.right, area.bottom)];
        canvas.line(&edge, Stroke::solid(RULE, 1));
        let name = Text::new(11, INK).aligned(HPos::Right);
        canvas.text((area.left - 8, area.middle()), &format!("client {}", self.client), name);
        for fault in &self.faults {
            if let Ok((from, to)) = fault.span() {
                let (left, right) = (x.at(from.as_secs_f64()), x.at(to.as_secs_f64()));
                if right > left {
                    canvas.tint(Area { left, right, ..area }, SHADE, 0.35);
                }
                if fault.origin == FaultOrigin::Emergent.name() {
                    emergent_tick(canvas, left, area);
                } else {
                    fault_tick(canvas, left, area);
                }
            }
        }
        for bar in &self.bars {
            let top = area.top + ABOVE + ROW * bar.row as i32 + (ROW - BAR) / 2;
            let left = x.at(bar.from);
            let right = x.at(bar.to).max(left + 2);
            call_bar(canvas, Area { left, top, right, bottom: top + BAR }, bar.outcome);
        }
        for desync in &self.desyncs {
            if let Ok(at) = desync.exposed_at() {
                canvas.marker((x.at(at.as_secs_f64()), area.top + 7), Marker::Diamond, 4, INK);
            }
            if let Ok(Some(at)) = desync.detected_at() {
                canvas.marker((x.at(at.as_secs_f64()), area.bottom - 6), Marker::Triangle, 3, INK);
            }
        }
    }
}

/// An instant of a fault that hits one client: a line through its lane with a foot on both edges.
fn fault_tick(canvas: &mut Canvas, x: i32, area: Area) {
    let (top, bottom) = (area.top + 1, area.bottom - 1);
    canvas.line(&[(x, top), (x, bottom)], Stroke::solid(PAPER, 3));
    canvas.line(&[(x, top), (x, bottom)], Stroke::solid(INK, 1));
    for y in [top, bottom] {
        canvas.line(&[(x - 2, y), (x + 3, y)], Stroke::solid(INK, 1));
    }
}

/// An instant at which a setting bit: a short line at the lane's foot, for there may be many.
fn emergent_tick(canvas: &mut Canvas, x: i32, area: Area) {
    let line = [(x, area.bottom - UNDER + 2), (x, area.bottom)];
    canvas.line(&line, Stroke::solid(MUTED, 2));
}

/// What the bars and marks mean, in two rows.
fn legend(canvas: &mut Canvas, left: i32, y: i32) {
    let label = Text::new(12, INK);
    let mut x = left;
    let swatch = |x: i32, y: i32| Area { left: x, top: y - 4, right: x + 30, bottom: y + 4 };
    for outcome in Outcome::ALL {
        call_bar(canvas, swatch(x, y), outcome);
        canvas.text((x + 42, y), outcome.name(), label);
        x += 42 + label.width_of(outcome.name()) + 26;
    }
    let y = y + 22;
    let mut x = left;
    type Sample = fn(&mut Canvas, i32, i32);
    let marks: [(&str, Sample); 5] = [
        ("desync", |c, x, y| c.marker((x + 15, y), Marker::Diamond, 5, INK)),
        ("session declared lost", |c, x, y| c.marker((x + 15, y), Marker::Triangle, 4, INK)),
        ("scheduled fault", |c, x, y| {
            let area = Area { left: x, top: y - 8, right: x + 30, bottom: y + 8 };
            fault_tick(c, x + 15, area);
        }),
        ("emergent fault", |c, x, y| {
            let area = Area { left: x, top: y - 8, right: x + 30, bottom: y + 4 };
            emergent_tick(c, x + 15, area);
        }),
        ("fault for all clients", |c, x, y| {
            let area = Area { left: x, top: y - 7, right: x + 30, bottom: y + 7 };
            c.tint(area, SHADE, 0.28);
        }),
    ];
    for (name, sample) in marks {
        sample(canvas, x, y);
        canvas.text((x + 42, y), name, label);
        x += 42 + label.width_of(name) + 14;
    }
}
