//! One table of a document, emptied key by key.

use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::near::did_you_mean;
use super::places::Problems;

/// One table of a document. What is left in it at the end has no business there.
#[derive(Debug)]
pub struct Section<'t> {
    path: String,
    entries: DeTable<'t>,
    asked: Vec<&'static str>,
}

impl<'t> Section<'t> {
    pub(super) fn root(entries: DeTable<'t>) -> Section<'t> {
        Section { path: String::new(), entries, asked: Vec::new() }
    }

    /// The dotted path of `key` of this table.
    pub fn path_of(&self, key: &str) -> String {
        match self.path.as_str() {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        }
    }

    /// The value of `key`; none where it is absent, or where it is not a `T`, which is then noted.
    pub fn take<T: DeserializeOwned>(&mut self, key: &'static str, problems: &mut Problems) -> Option<T> {
        self.asked.push(key);
        let value = self.entries.remove(key)?;
        match T::deserialize(ValueDeserializer::from(value)) {
            Ok(value) => Some(value),
            Err(error) => {
                problems.note_serde(&self.path_of(key), &error);
                None
            }
        }
    }

    /// Like [`Section::take`], and an absent key is noted too.
    pub fn require<T: DeserializeOwned>(&mut self, key: &'static str, problems: &mut Problems) -> Option<T> {
        if !self.has(key) {
            self.asked.push(key);
            problems.note(&self.path_of(key), "this key is missing");
            return None;
        }
        self.take(key, problems)
    }

    /// Whether `key` is there.
    pub fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// The tables of `[[key]]`, none where it is absent.
    pub fn tables(&mut self, key: &'static str, problems: &mut Problems) -> Vec<Section<'t>> {
        self.asked.push(key);
        let Some(value) = self.entries.remove(key) else {
            return Vec::new();
        };
        let path = self.path_of(key);
        let DeValue::Array(items) = value.into_inner() else {
            problems.note(&path, format!("expected tables, each under its own [[{key}]]"));
            return Vec::new();
        };
        let mut sections = Vec::new();
        for (number, item) in items.into_iter().enumerate() {
            let span = item.span();
            let DeValue::Table(entries) = item.into_inner() else {
                problems.note_span(&span, format!("expected a table, under its own [[{key}]]"));
                continue;
            };
            sections.push(Section { path: format!("{path}[{number}]"), entries, asked: Vec::new() });
        }
        sections
    }

    /// The text of `key` in the table `table`, where both are there. It stays there.
    pub fn text_in(&self, table: &str, key: &str) -> Option<&str> {
        let DeValue::Table(table) = self.entries.get(table)?.get_ref() else {
            return None;
        };
        match table.get(key)?.get_ref() {
            DeValue::String(text) => Some(text),
            _ => None,
        }
    }

    /// Puts what the table `table` of `base`, a TOML text that has been checked, says under what this one's says: a key that is there stays,
    /// and tables within are mixed in the same way. Whatever turns out to be wrong with what comes from `base` is told
    /// of the key `named_by` of the table.
    pub fn underlay(&mut self, table: &str, named_by: &str, base: &'t str, problems: &mut Problems) {
        let Ok(mut base) = DeTable::parse(base).map(Spanned::into_inner) else {
            return;
        };
        let (Some(own), Some(DeValue::Table(base))) =
            (self.entries.get_mut(table), base.remove(table).map(Spanned::into_inner))
        else {
            return;
        };
        let DeValue::Table(own) = own.get_mut() else {
            return;
        };
        let at = own.get(named_by).map_or(0..0, Spanned::span);
        mix(own, base, &at);
        problems.index_below(table, own);
    }

    /// Notes every key that nobody asked for.
    pub fn finish(self, problems: &mut Problems) {
        for key in self.entries.keys() {
            let what = format!("there is no such key; {}", did_you_mean(key.get_ref(), self.asked.iter().copied()));
            problems.note_span(&key.span(), what);
        }
    }
}

/// Adds to `own` what `base` has and it has not.
fn mix<'t>(own: &mut DeTable<'t>, base: DeTable<'t>, at: &Range<usize>) {
    for (key, value) in base {
        match (own.get_mut(key.get_ref().as_ref()), value.into_inner()) {
            (None, value) => {
                own.insert(Spanned::new(at.clone(), key.into_inner()), moved(value, at));
            }
            (Some(own), DeValue::Table(base)) => {
                if let DeValue::Table(own) = own.get_mut() {
                    mix(own, base, at);
                }
            }
            (Some(_), _) => {}
        }
    }
}

/// `value` with everything in it at `at`.
fn moved<'t>(value: DeValue<'t>, at: &Range<usize>) -> Spanned<DeValue<'t>> {
    let value = match value {
        DeValue::Array(items) => DeValue::Array(items.into_iter().map(|item| moved(item.into_inner(), at)).collect()),
        DeValue::Table(entries) => DeValue::Table(
            entries
                .into_iter()
                .map(|(key, value)| (Spanned::new(at.clone(), key.into_inner()), moved(value.into_inner(), at)))
                .collect(),
        ),
        plain => plain,
    };
    Spanned::new(at.clone(), value)
}
