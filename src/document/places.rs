//! Where things were written, and what is wrong there.

use std::fmt;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::overrides::Override;
use super::words;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The file as a whole.
    File,
    /// A line of the file, from 1.
    Line(usize),
    /// A `--set` argument.
    Set(String),
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// The dotted key, where it concerns one.
    pub key: Option<String>,
    /// What is wrong and what would be accepted.
    pub what: String,
}

/// Everything that is wrong with a file.
#[derive(Clone, Debug)]
pub struct Problems {
    places: Box<Places>,
    list: Vec<Problem>,
}

impl Problems {
    pub(super) fn new(places: Places) -> Problems {
        Problems { places: Box::new(places), list: Vec::new() }
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The problems, in the order in which they were found.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.list.iter()
    }

    /// Notes that something is wrong with the value of `key`, a dotted path, whether it was written or is a default.
    pub fn note(&mut self, key: &str, what: impl Into<String>) {
        self.list.push(Problem { place: self.places.of_key(key), key: Some(key.to_owned()), what: what.into() });
    }

    /// Notes what is wrong at `span`; the key is found from it.
    pub(super) fn note_span(&mut self, span: &Range<usize>, what: impl Into<String>) {
        self.list.push(Problem {
            place: self.places.of_span(span),
            key: self.places.key_at(span).map(str::to_owned),
            what: what.into(),
        });
    }

    /// Notes that `text` is not TOML.
    pub(super) fn note_syntax(&mut self, text: &str, error: &toml::de::Error) {
        let span = error.span().unwrap_or_default();
        // The parser's message for a key written twice does not name it.
        let subject = match text.get(span.clone()) {
            Some(key) if error.message() == "duplicate key" => format!(" `{key}`"),
            _ => String::new(),
        };
        let what = format!("not TOML: {}{subject}", error.message());
        self.note_span(&span, what);
    }

    /// Notes a failed deserialisation of the value of `key`.
    pub(super) fn note_serde(&mut self, key: &str, error: &toml::de::Error) {
        let span = error.span();
        let key = span.as_ref().and_then(|span| self.places.key_at(span)).unwrap_or(key).to_owned();
        let said = words::from_serde(error.message());
        self.list.push(Problem {
            place: match &span {
                Some(span) => self.places.of_span(span),
                None => self.places.of_key(&key),
            },
            key: Some(match said.below {
                Some(below) => format!("{key}.{below}"),
                None => key,
            }),
            what: said.what,
        });
    }

    pub(super) fn places(&self) -> &Places {
        &self.places
    }

    pub(super) fn index(&mut self, root: &DeTable<'_>) {
        self.index_below("", root);
    }

    /// Takes up the places of the keys of `table`, whose path is `above`. Those that are there already stay.
    pub(super) fn index_below(&mut self, above: &str, table: &DeTable<'_>) {
        self.places.index_table(above, table);
    }
}

/// One line a problem: `FILE:LINE: key: what`.
impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, problem) in self.list.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            match &problem.place {
                Place::File => write!(f, "{}: ", self.places.file)?,
                Place::Line(line) => write!(f, "{}:{line}: ", self.places.file)?,
                Place::Set(argument) => write!(f, "--set {argument}: ")?,
            }
            if let Some(key) = &problem.key {
                write!(f, "`{key}`: ")?;
            }
            f.write_str(&problem.what)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// The places of everything in a document. Spans up to the text's length lie in the file; each override has a
/// stretch of places beyond it, so that whatever the deserialiser says about it leads back to its flag.
#[derive(Clone, Debug)]
pub(super) struct Places {
    file: String,
    text_len: usize,
    newlines: Vec<usize>,
    flags: Vec<String>,
    entries: Vec<Indexed>,
}

/// More places than the keys of any command line: each key takes at least two bytes of it.
const STRETCH: usize = 1 << 24;

#[derive(Clone, Debug)]
struct Indexed {
    path: String,
    key: Range<usize>,
    value: Range<usize>,
}

impl Places {
    pub(super) fn new(file: &str, text: &str, overrides: &[Override]) -> Places {
        Places {
            file: file.to_owned(),
            text_len: text.len(),
            newlines: text.match_indices('\n').map(|(at, _)| at).collect(),
            flags: overrides.iter().map(Override::to_string).collect(),
            entries: Vec::new(),
        }
    }

    /// Where the stretch of the override `number` starts.
    pub(super) fn stretch(&self, number: usize) -> usize {
        self.text_len + 1 + number * STRETCH
    }

    fn of_span(&self, span: &Range<usize>) -> Place {
        match span.start.checked_sub(self.text_len + 1) {
            Some(beyond) => match self.flags.get(beyond / STRETCH) {
                Some(flag) => Place::Set(flag.clone()),
                None => Place::File,
            },
            None => Place::Line(1 + self.newlines.partition_point(|&at| at < span.start)),
        }
    }

    /// The place of the value of `path`, or of the nearest table above it that was written.
    fn of_key(&self, path: &str) -> Place {
        let mut path = path;
        loop {
            if let Some(entry) = self.entries.iter().find(|entry| entry.path == path) {
                return self.of_span(&entry.key);
            }
            let Some((above, _)) = path.rsplit_once('.') else {
                return Place::File;
            };
            path = above;
        }
    }

    /// The key written at `span`, or the innermost one whose value holds it.
    fn key_at(&self, span: &Range<usize>) -> Option<&str> {
        if span.is_empty() && span.start <= self.text_len {
            return None;
        }
        let holds = |range: &Range<usize>| range.start <= span.start && span.end <= range.end;
        let exact = self.entries.iter().find(|entry| entry.key == *span);
        exact
            .or_else(|| {
                let holders = self.entries.iter().filter(|entry| holds(&entry.value));
                // Of equally tight ones the last is the innermost: tables are indexed before what they hold.
                holders.rev().min_by_key(|entry| entry.value.len())
            })
            .map(|entry| entry.path.as_str())
    }

    fn index_table(&mut self, above: &str, table: &DeTable<'_>) {
        for (key, value) in table {
            let name = key.get_ref();
            let path = match above {
                "" => name.to_string(),
                above => format!("{above}.{name}"),
            };
            self.index_value(path, key.span(), value.span(), value.get_ref());
        }
    }

    fn index_value(&mut self, path: String, key: Range<usize>, span: Range<usize>, value: &DeValue<'_>) {
        self.entries.push(Indexed { path: path.clone(), key, value: span });
        match value {
            DeValue::Table(table) => self.index_table(&path, table),
            DeValue::Array(items) => {
                for (number, item) in items.iter().enumerate() {
                    if let DeValue::Table(_) = item.get_ref() {
                        let path = format!("{path}[{number}]");
                        self.index_value(path, item.span(), item.span(), item.get_ref());
                    }
                }
            }
            _ => {}
        }
    }
}
