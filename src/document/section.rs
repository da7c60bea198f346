//! One table of a document, emptied key by key.

use serde::de::DeserializeOwned;
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
        if !self.entries.contains_key(key) {
            self.asked.push(key);
            problems.note(&self.path_of(key), "this key is missing");
            return None;
        }
        self.take(key, problems)
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

    /// Notes every key that nobody asked for.
    pub fn finish(self, problems: &mut Problems) {
        for key in self.entries.keys() {
            let what = format!("there is no such key; {}", did_you_mean(key.get_ref(), self.asked.iter().copied()));
            problems.note_span(&key.span(), what);
        }
    }
}
