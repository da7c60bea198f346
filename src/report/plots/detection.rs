//! How long it took to notice a desync: the percentile spectrum.

use plotters::style::text_anchor::HPos;

use super::super::axis::{Axis, Scale, Tick, frame, round_up};
use super::super::canvas::{Area, Canvas, Point, Stroke, Text};
use super::super::figure::Sheet;
use super::super::sentence::count;
use super::super::style::{self, INK, MUTED};
use hdrhistogram::Histogram;

use crate::stats::Analysis;
use crate::stats::arm::ArmSummary;
use crate::stats::number::{duration, grouped, seconds};
use crate::stats::spectrum::spectrum;

const HEIGHT: i32 = 300;
const BELOW: i32 = 54;
const LEGEND: i32 = 24;

/// The figure.
pub(in super::super) fn draw(analysis: &Analysis, command: &str) -> String {
    let sheet = Sheet {
        title: "Detection latency",
        subtitle: "from the answer that exposed the client to the desync (thick) and from the instant the loss became \
                   certain on the server (thin, grey) to the client's decision that its session is lost",
        command,
    };
    let (detecting, blind): (Vec<&ArmSummary>, Vec<&ArmSummary>) =
        analysis.arms.iter().partition(|arm| !arm.detection.is_empty());
    let blind: Vec<String> = blind.into_iter().map(blind_sentence).collect();
    if detecting.is_empty() {
        return sheet.say(&format!("There is no detection to show. {}", blind.join(" ")));
    }
    if detecting.iter().all(|arm| arm.detection.len() < 2) {
        // A single value has no percentiles.
        let found: Vec<String> = detecting.iter().map(|arm| detecting_sentence(arm)).collect();
        return sheet.say(&format!("{}. {}", found.join(". "), blind.join(" ")));
    }
    let legend_rows = detecting.len() + blind.len();
    let height = LEGEND * legend_rows as i32 + 8 + HEIGHT + BELOW;
    sheet.draw(height, |canvas, area| {
        let mut y = area.top + 6;
        for arm in &detecting {
            style::arm(arm.arm).sample(canvas, area.left, y);
            canvas.text((area.left + 46, y), &detecting_sentence(arm), Text::new(13, INK));
            y += LEGEND;
        }
        for sentence in &blind {
            canvas.text((area.left + 46, y), sentence, Text::new(13, INK));
            y += LEGEND;
        }
        let panel = Area { left: area.left + 72, top: y + 8, right: area.right - 24, bottom: area.bottom - BELOW };
        curves(canvas, panel, &detecting);
    })
}

fn curves(canvas: &mut Canvas, panel: Area, arms: &[&ArmSummary]) {
    let both = || arms.iter().flat_map(|arm| [&arm.detection, &arm.detection_from_loss]);
    let most = both().map(Histogram::len).max().unwrap_or(1);
    let last = most as f64;
    let x = Scale::logarithmic(1.0, last);
    let y = latency_scale(both());
    let x_ticks = [(1.0, "0 %"), (2.0, "50 %"), (10.0, "90 %"), (100.0, "99 %"), (1e3, "99.9 %"), (1e4, "99.99 %")];
    let x_ticks = x_ticks
        .into_iter()
        .filter(|(rarity, _)| *rarity <= last)
        .map(|(value, label)| Tick { value, label: label.to_owned() });
    frame(
        canvas,
        panel,
        &Axis { scale: x, ticks: x_ticks.collect(), title: "percentile of detected desyncs" },
        &Axis { scale: y, ticks: latency_ticks(y, both()), title: "detection latency (s)" },
    );
    let (x, y) = (x.across(panel), y.up(panel));
    let points = |histogram: &Histogram<u64>| -> Vec<Point> {
        let place = |p: crate::stats::spectrum::Percentile| (x.at(p.rarity), y.at(seconds(p.value)));
        let mut points: Vec<Point> = spectrum(histogram).into_iter().map(place).collect();
        points.dedup();
        points
    };
    for arm in arms {
        let look = style::arm(arm.arm);
        let thin = Stroke { color: MUTED, ..look.stroke(1) };
        canvas.line(&points(&arm.detection_from_loss), thin);
        canvas.line(&points(&arm.detection), look.stroke(3));
        for (quantile, rarity) in [(0.5, 2.0), (0.9, 10.0), (0.99, 100.0), (0.999, 1e3)] {
            if rarity <= arm.detection.len() as f64 {
                let at = (x.at(rarity), y.at(seconds(arm.detection.value_at_quantile(quantile))));
                canvas.marker(at, look.marker, 5, look.color);
            }
        }
    }
    name_the_clocks(canvas, panel, y, arms);
    let note = "the tail ends where one value is left";
    canvas.text((panel.right, panel.top - 9), note, Text::new(11, MUTED).aligned(HPos::Right));
}

/// Names the two curves of the arm with the longest ones at their ends, where there is room between them.
fn name_the_clocks(canvas: &mut Canvas, panel: Area, y: Scale, arms: &[&ArmSummary]) {
    let ends = arms.first().map(|arm| [&arm.detection, &arm.detection_from_loss]);
    let Some([exposed, lost]) = ends.map(|ends| ends.map(|h| y.at(seconds(h.max())))) else {
        return;
    };
    if exposed - lost > 24 {
        let label = Text::new(12, MUTED).aligned(HPos::Right);
        canvas.text((panel.right - 6, exposed - 13), "from the exposing answer", label);
        canvas.text((panel.right - 6, lost - 11), "from the loss", label);
    }
}

/// The smallest time that a logarithmic axis shows. Shorter ones are drawn on it, and the axis says so.
const FLOOR_S: f64 = 0.01;

/// Logarithmic where the largest value is more than thirty times the smallest.
fn latency_scale<'a>(histograms: impl Iterator<Item = &'a Histogram<u64>>) -> Scale {
    let (mut smallest, mut largest) = (u64::MAX, 0);
    for histogram in histograms.filter(|h| !h.is_empty()) {
        smallest = smallest.min(histogram.min());
        largest = largest.max(histogram.max());
    }
    let (smallest, largest) = (seconds(smallest).max(FLOOR_S), seconds(largest).max(FLOOR_S));
    if largest / smallest > 30.0 {
        let power = |value: f64| 10f64.powf(value);
        Scale::logarithmic(power(smallest.log10().floor()), power(largest.log10().ceil()))
    } else {
        Scale::linear(0.0, round_up(largest))
    }
}

/// Where times lie below the floor of the axis, its first label says so.
fn latency_ticks<'a>(scale: Scale, mut histograms: impl Iterator<Item = &'a Histogram<u64>>) -> Vec<Tick> {
    let mut ticks = scale.ticks(6);
    if histograms.any(|histogram| !histogram.is_empty() && seconds(histogram.min()) < scale.least())
        && let Some(first) = ticks.first_mut()
    {
        first.label = format!("≤ {}", first.label);
    }
    ticks
}

fn detecting_sentence(arm: &ArmSummary) -> String {
    let detected = arm.detection.len();
    if detected == 1 {
        let desyncs = count(detected + arm.undetected, "desync");
        let after = duration(arm.detection.max());
        return format!("{} detected 1 of {desyncs}, after {after}", arm.arm);
    }
    format!(
        "{} detected {} of {} desyncs: median {}, 99th percentile {}",
        arm.arm,
        grouped(detected),
        grouped(detected + arm.undetected),
        duration(arm.detection.value_at_quantile(0.5)),
        duration(arm.detection.value_at_quantile(0.99)),
    )
}

fn blind_sentence(arm: &ArmSummary) -> String {
    match arm.undetected {
        0 if arm.desyncs == 0 => format!("{} met no desync.", arm.arm),
        0 => format!("{} met no desync that lost anything.", arm.arm),
        1 => format!("{} never detected the one desync that it met.", arm.arm),
        n => format!("{} never detected any of the {} desyncs that it met.", arm.arm, grouped(n)),
    }
}
