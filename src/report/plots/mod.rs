//! The figures.

pub(super) mod completion;
pub(super) mod detection;
pub(super) mod hung;
pub(super) mod restart;
pub(super) mod timeline;

use super::canvas::{Canvas, Text};
use super::style::{self, INK};
use crate::mcp::client::settings::Arm;

/// Heights for labels that want to stand at `wanted`, moved apart to at least `gap` pixels and kept above `bottom`.
fn spread(wanted: &[i32], gap: i32, bottom: i32) -> Vec<i32> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|i| wanted[*i]);
    let mut placed = wanted.to_vec();
    let mut free_from = i32::MIN;
    for i in &order {
        placed[*i] = placed[*i].max(free_from);
        free_from = placed[*i] + gap;
    }
    let mut free_to = bottom;
    for i in order.iter().rev() {
        placed[*i] = placed[*i].min(free_to);
        free_to = placed[*i] - gap;
    }
    placed
}

/// A legend in one row: each arm's sample, name and note. Returns nothing; takes 20 pixels of height.
fn legend(canvas: &mut Canvas, left: i32, y: i32, arms: impl IntoIterator<Item = (Arm, String)>) {
    let label = Text::new(12, INK);
    let mut x = left;
    for (arm, note) in arms {
        style::arm(arm).sample(canvas, x, y);
        canvas.text((x + 42, y), &note, label);
        x += 42 + label.width_of(&note) + 28;
    }
}
