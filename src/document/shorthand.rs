//! A table written short: `server = "rmcp"` for a table `[server]` with the one key `implementation`.

use std::borrow::Cow;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A top-level table for which a plain text may stand.
#[derive(Clone, Copy, Debug)]
pub struct Shorthand {
    /// The table's name.
    pub table: &'static str,
    /// The key of the table that the text is the value of.
    pub key: &'static str,
}

impl Shorthand {
    /// Makes the table of a text that stands for it, in `root`.
    pub(super) fn write_out(&self, root: &mut DeTable<'_>) {
        let Some(entry) = root.get_mut(self.table) else {
            return;
        };
        if let DeValue::String(text) = entry.get_mut() {
            let text = DeValue::String(std::mem::take(text));
            let (span, mut table) = (entry.span(), DeTable::new());
            table.insert(Spanned::new(span.clone(), Cow::Borrowed(self.key)), Spanned::new(span, text));
            *entry.get_mut() = DeValue::Table(table);
        }
    }

    /// The key below the table that `value`, given for `key`, is meant for.
    pub(super) fn below(shorthands: &[Shorthand], key: &str, value: &DeValue<'_>) -> Option<&'static str> {
        let short = shorthands.iter().find(|short| short.table == key)?;
        matches!(value, DeValue::String(_)).then_some(short.key)
    }
}
