//! The sheet that every figure is drawn on: title, subtitle, panels, and the command that draws it again.

use super::canvas::{Area, Canvas, Stroke, Text, picture};
use super::style::{INK, MUTED, RULE};

/// The width of every figure, in pixels.
pub(super) const WIDTH: i32 = 960;
/// Empty space at the sheet's edges.
pub(super) const MARGIN: i32 = 24;
const TITLE: i32 = 18;
const SUBTITLE: i32 = 13;
const COMMAND: i32 = 12;

/// What stands around the panels.
pub(super) struct Sheet<'a> {
    pub title: &'a str,
    pub subtitle: &'a str,
    pub command: &'a str,
}

impl Sheet<'_> {
    /// Draws the sheet, with `height` pixels between subtitle and command for the panels.
    pub(super) fn draw(&self, height: i32, panels: impl FnOnce(&mut Canvas, Area)) -> String {
        let title = Text::new(TITLE, INK).bold();
        let subtitle = Text::new(SUBTITLE, MUTED);
        let command = Text::new(COMMAND, MUTED).mono();
        let titles = wrap(self.title, title);
        let subtitles = wrap(self.subtitle, subtitle);
        let commands = wrap(self.command, command);
        let line = |size: i32, count: usize| (size + 6) * count as i32;
        let top = MARGIN + line(TITLE, titles.len()) + line(SUBTITLE, subtitles.len()) + 12;
        let bottom = top + height;
        let whole = bottom + 22 + line(COMMAND, commands.len()) + 8;
        picture(WIDTH, whole, |canvas| {
            let mut y = MARGIN;
            for (lines, style) in [(&titles, title), (&subtitles, subtitle)] {
                for text in lines {
                    canvas.text((MARGIN, y), text, style);
                    y += style.size + 6;
                }
            }
            let inner = Area { left: MARGIN, top, right: WIDTH - MARGIN, bottom };
            panels(canvas, inner);
            let rule = [(MARGIN, bottom + 8), (WIDTH - MARGIN, bottom + 8)];
            canvas.line(&rule, Stroke::solid(RULE, 1));
            let mut y = bottom + 24;
            for text in &commands {
                canvas.text((MARGIN, y), text, command);
                y += COMMAND + 6;
            }
        })
    }

    /// A sheet that says why there is nothing to draw.
    pub(super) fn say(&self, sentence: &str) -> String {
        let sheet = Sheet { subtitle: "", ..*self };
        let style = Text::new(14, INK);
        let lines = wrap(sentence, style);
        sheet.draw(lines.len() as i32 * 20 + 20, |canvas, area| {
            for (i, text) in lines.iter().enumerate() {
                canvas.text((area.left, area.top + 14 + i as i32 * 20), text, style);
            }
        })
    }
}

/// Breaks a text into lines that fit a sheet; words that do not are cut.
fn wrap(text: &str, style: Text) -> Vec<String> {
    let fits = ((WIDTH - 2 * MARGIN) / style.width_of("x").max(1)) as usize;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let mut word: Vec<char> = word.chars().collect();
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.len() <= fits => {
                line.push(' ');
                line.extend(word);
                continue;
            }
            _ => {}
        }
        while word.len() > fits {
            let rest = word.split_off(fits);
            lines.push(word.into_iter().collect());
            word = rest;
        }
        lines.push(word.into_iter().collect());
    }
    lines
}
