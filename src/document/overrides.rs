//! `--set key=value`: a value given on the command line in place of the file's.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::shorthand::Shorthand;

/// One `--set` argument: a dotted key and a TOML value, or a bare string where it is not one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    key: String,
    value: String,
}

impl Override {
    /// The dotted key.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Puts the value into `root`, with the tables above it where they are not there yet. Each key that it writes
    /// gets a place of its own from `fresh`, so that a place leads back to one key.
    pub(super) fn apply<'t>(
        &'t self,
        root: &mut DeTable<'t>,
        shorthands: &[Shorthand],
        fresh: &mut Fresh,
    ) -> Result<(), String> {
        let value = DeValue::parse(&self.value)
            .map_or_else(|_| DeValue::String(Cow::Borrowed(self.value.as_str())), Spanned::into_inner);
        let mut keys: Vec<&'t str> = self.key.split('.').collect();
        keys.extend(Shorthand::below(shorthands, &self.key, &value));
        let Some((last, parents)) = keys.split_last() else {
            return Ok(());
        };
        let mut table = root;
        for (depth, &parent) in parents.iter().enumerate() {
            let span = fresh.span();
            let entry = table
                .entry(Spanned::new(span.clone(), Cow::Borrowed(parent)))
                .or_insert_with(|| Spanned::new(span, DeValue::Table(DeTable::new())));
            let DeValue::Table(inner) = entry.get_mut() else {
                let below = keys[depth + 1..].join(".");
                return Err(format!("`{parent}` is not a table in this file: it has no key `{below}` to set"));
            };
            table = inner;
        }
        // Removed first: an insertion alone would keep the key of the file, and with it the place of the file.
        table.remove(*last);
        let span = fresh.span();
        table.insert(Spanned::new(span.clone(), Cow::Borrowed(*last)), placed(value, span, fresh));
        Ok(())
    }
}

/// Places of what one flag writes: beyond the text of the file, and all different.
pub(super) struct Fresh {
    next: usize,
}

impl Fresh {
    pub(super) fn from(start: usize) -> Fresh {
        Fresh { next: start }
    }

    fn span(&mut self) -> Range<usize> {
        let at = self.next;
        self.next += 1;
        at..at
    }
}

/// `value` at `span`, and every key within it at a place of its own.
fn placed<'t>(value: DeValue<'t>, span: Range<usize>, fresh: &mut Fresh) -> Spanned<DeValue<'t>> {
    let value = match value {
        DeValue::Array(items) => DeValue::Array(
            items
                .into_iter()
                .map(|item| match item.into_inner() {
                    table @ DeValue::Table(_) => {
                        let span = fresh.span();
                        placed(table, span, fresh)
                    }
                    other => placed(other, span.clone(), fresh),
                })
                .collect(),
        ),
        DeValue::Table(entries) => DeValue::Table(
            entries
                .into_iter()
                .map(|(key, value)| {
                    let span = fresh.span();
                    let key = Spanned::new(span.clone(), key.into_inner());
                    (key, placed(value.into_inner(), span, fresh))
                })
                .collect(),
        ),
        plain => plain,
    };
    Spanned::new(span, value)
}

impl fmt::Display for Override {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.value)
    }
}

/// The most parts that a key may have.
const MAX_DEPTH: usize = 16;

impl FromStr for Override {
    type Err = BadOverride;

    fn from_str(text: &str) -> Result<Override, BadOverride> {
        let bad = || BadOverride { text: text.to_owned() };
        let (key, value) = text.split_once('=').ok_or_else(bad)?;
        let (key, value) = (key.trim(), value.trim());
        // No file has tables so deep; a key of thousands of parts would exhaust the stack.
        if key.split('.').any(str::is_empty) || key.split('.').count() > MAX_DEPTH || value.is_empty() {
            return Err(bad());
        }
        Ok(Override { key: key.to_owned(), value: value.to_owned() })
    }
}

/// A `--set` argument that is not `key=value`.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` sets nothing: expected key=value, such as server.buffer_events=64")]
pub struct BadOverride {
    text: String,
}
