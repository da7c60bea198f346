//! TOML files that people write, read so that every problem is told with its file, line and key.
//!
//! `toml` with derived `Deserialize` stops at the first problem, knows no `--set`, and loses positions inside
//! flattened and internally tagged types. A [`Document`] is read section by section instead: each [`Section::take`]
//! deserialises one value, notes what is wrong with it under its place, and goes on.

mod near;
mod overrides;
mod places;
mod section;
mod shorthand;
mod words;

#[cfg(test)]
mod tests;

use toml::de::DeTable;

pub use near::{did_you_mean, nearest};
pub use overrides::{BadOverride, Override};
pub use places::{Place, Problem, Problems};
pub use section::Section;
pub use shorthand::Shorthand;

use overrides::Fresh;
use places::Places;

/// A parsed file: what it says, and what is wrong with it so far.
#[derive(Debug)]
pub struct Document<'t> {
    /// The top-level table.
    pub root: Section<'t>,
    /// The problems found so far; more can be noted under the key they concern.
    pub problems: Problems,
}

impl<'t> Document<'t> {
    /// Parses `text`, called `file` in problems, and puts `overrides` in the place of what it says.
    ///
    /// # Errors
    /// Where `text` is not TOML, or an override needs a table where the file has a plain value.
    pub fn parse(file: &str, text: &'t str, overrides: &'t [Override]) -> Result<Document<'t>, Problems> {
        Document::parse_with(file, text, overrides, &[])
    }

    /// The same for a file in which some top-level tables may be written short: of each pair the table's name and the
    /// key that a plain text in the table's place is the value of.
    ///
    /// # Errors
    /// As for [`Document::parse`].
    pub fn parse_with(
        file: &str,
        text: &'t str,
        overrides: &'t [Override],
        shorthands: &[Shorthand],
    ) -> Result<Document<'t>, Problems> {
        let mut problems = Problems::new(Places::new(file, text, overrides));
        let mut table = match DeTable::parse(text) {
            Ok(table) => table.into_inner(),
            Err(error) => {
                problems.note_syntax(text, &error);
                return Err(problems);
            }
        };
        for shorthand in shorthands {
            shorthand.write_out(&mut table);
        }
        for (number, one) in overrides.iter().enumerate() {
            let start = problems.places().stretch(number);
            if let Err(what) = one.apply(&mut table, shorthands, &mut Fresh::from(start)) {
                problems.note_span(&(start..start), what);
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        problems.index(&table);
        Ok(Document { root: Section::root(table), problems })
    }
}
