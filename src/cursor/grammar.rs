//! What may be read out of an event id.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The form of a server's event ids: what of them may be compared.
///
/// A sequence number is a decimal `u64` in its one canonical form: no sign, no space, no leading zero, no overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Grammar {
    /// `8412`: a number. Nothing tells one life of the counter from the next.
    #[serde(rename = "integer")]
    Integer,
    /// `a1b2:8412`: the tag of the counter's life, then the number. The last colon divides; the tag is not empty.
    #[serde(rename = "epoch:seq")]
    EpochSeq,
    /// `get_8412`: the stream, then the number. The last underscore divides; the stream may be empty, as the official
    /// Go SDK writes its GET stream.
    #[serde(rename = "stream_seq")]
    StreamSeq,
    /// `8412/3`: the number, then the stream. The first slash divides; without a slash the id is of the one unnamed
    /// stream, as the official Rust SDK writes its GET stream.
    #[serde(rename = "seq/stream")]
    SeqStream,
    /// Any text: a UUID, a time with a random tail. Nothing may be compared.
    #[serde(rename = "opaque")]
    Opaque,
}

/// What an event id says about its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position<'a> {
    /// The life of the counter, in grammars that name it.
    pub epoch: Option<&'a str>,
    /// The stream, in grammars that name it.
    pub stream: Option<&'a str>,
    /// The number.
    pub seq: u64,
}

impl Position<'_> {
    /// The position that must come next: none after the last `u64`.
    pub fn successor(self) -> Option<Self> {
        Some(Position { seq: self.seq.checked_add(1)?, ..self })
    }
}

impl Grammar {
    /// Every grammar.
    pub const ALL: [Grammar; 5] =
        [Grammar::Integer, Grammar::EpochSeq, Grammar::StreamSeq, Grammar::SeqStream, Grammar::Opaque];

    /// The grammar's name in scenario files, which also shows its form.
    pub const fn name(self) -> &'static str {
        match self {
            Grammar::Integer => "integer",
            Grammar::EpochSeq => "epoch:seq",
            Grammar::StreamSeq => "stream_seq",
            Grammar::SeqStream => "seq/stream",
            Grammar::Opaque => "opaque",
        }
    }

    /// Reads an id. None where it is not of this grammar, and always under [`Grammar::Opaque`].
    pub fn parse<'a>(&self, id: &'a str) -> Option<Position<'a>> {
        let (epoch, stream, seq) = match self {
            Grammar::Integer => (None, None, id),
            Grammar::EpochSeq => {
                let (epoch, seq) = id.rsplit_once(':').filter(|(epoch, _)| !epoch.is_empty())?;
                (Some(epoch), None, seq)
            }
            Grammar::StreamSeq => {
                let (stream, seq) = id.rsplit_once('_')?;
                (None, Some(stream), seq)
            }
            Grammar::SeqStream => match id.split_once('/') {
                Some((_, "")) => return None,
                Some((seq, stream)) => (None, Some(stream), seq),
                None => (None, None, id),
            },
            Grammar::Opaque => return None,
        };
        Some(Position { epoch, stream, seq: canonical_number(seq)? })
    }

    /// Writes an id: [`Grammar::parse`] reads it back. A component that the grammar names and the position lacks is
    /// written empty; an opaque id is written as its number.
    pub fn write(&self, position: Position<'_>) -> String {
        let Position { epoch, stream, seq } = position;
        match self {
            Grammar::Integer | Grammar::Opaque => seq.to_string(),
            Grammar::EpochSeq => format!("{}:{seq}", epoch.unwrap_or_default()),
            Grammar::StreamSeq => format!("{}_{seq}", stream.unwrap_or_default()),
            Grammar::SeqStream => match stream {
                Some(stream) => format!("{seq}/{stream}"),
                None => seq.to_string(),
            },
        }
    }
}

/// `str::parse` alone would take `+5` and `007`, and two spellings of one number would then be two ids of one event.
fn canonical_number(text: &str) -> Option<u64> {
    match text.as_bytes() {
        [b'0'] => Some(0),
        [b'1'..=b'9', ..] => text.parse().ok(),
        _ => None,
    }
}

impl fmt::Display for Grammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Grammar {
    type Err = UnknownGrammar;

    fn from_str(name: &str) -> Result<Grammar, UnknownGrammar> {
        Grammar::ALL
            .into_iter()
            .find(|grammar| grammar.name() == name)
            .ok_or_else(|| UnknownGrammar { name: name.to_owned() })
    }
}

/// A name that is no grammar's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no id grammar `{name}`: expected one of {}", Grammar::ALL.map(Grammar::name).join(", "))]
pub struct UnknownGrammar {
    name: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(grammar: Grammar, id: &str) -> Option<(Option<&str>, Option<&str>, u64)> {
        grammar.parse(id).map(|position| (position.epoch, position.stream, position.seq))
    }

    #[test]
    fn each_grammar_reads_its_own_form() {
        assert_eq!(read(Grammar::Integer, "8412"), Some((None, None, 8412)));
        assert_eq!(read(Grammar::EpochSeq, "a1b2:8412"), Some((Some("a1b2"), None, 8412)));
        assert_eq!(read(Grammar::EpochSeq, "host:a1b2:0"), Some((Some("host:a1b2"), None, 0)));
        assert_eq!(read(Grammar::StreamSeq, "a_b_7"), Some((None, Some("a_b"), 7)));
        assert_eq!(read(Grammar::StreamSeq, "_7"), Some((None, Some(""), 7)));
        assert_eq!(read(Grammar::SeqStream, "7/3/x"), Some((None, Some("3/x"), 7)));
        assert_eq!(read(Grammar::SeqStream, "7"), Some((None, None, 7)));
        assert_eq!(read(Grammar::Opaque, "8412"), None);
    }

    #[test]
    fn a_number_has_one_spelling() {
        for id in ["", "+5", "-5", " 5", "5 ", "05", "00", "5.0", "0x5", "1_000", "٥", "five"] {
            assert_eq!(Grammar::Integer.parse(id), None, "{id:?}");
        }
        assert_eq!(read(Grammar::Integer, "0"), Some((None, None, 0)));
        let last = u64::MAX.to_string();
        assert_eq!(read(Grammar::Integer, &last), Some((None, None, u64::MAX)));
        assert_eq!(Grammar::Integer.parse("18446744073709551616"), None);
    }

    #[test]
    fn an_id_without_its_parts_does_not_parse() {
        for id in ["8412", ":8412", "a1b2:", "a1b2:x", "a1b2:05"] {
            assert_eq!(Grammar::EpochSeq.parse(id), None, "{id:?}");
        }
        for id in ["8412", "get_", "get_x"] {
            assert_eq!(Grammar::StreamSeq.parse(id), None, "{id:?}");
        }
        for id in ["7/", "/3", "x/3"] {
            assert_eq!(Grammar::SeqStream.parse(id), None, "{id:?}");
        }
    }

    #[test]
    fn the_last_number_has_no_successor() {
        let last = Position { epoch: None, stream: None, seq: u64::MAX };
        assert_eq!(last.successor(), None);
    }

    #[test]
    fn names_are_the_same_in_files_and_on_the_command_line() {
        for grammar in Grammar::ALL {
            assert_eq!(grammar.to_string().parse(), Ok(grammar));
            assert_eq!(serde_json::to_value(grammar).unwrap(), grammar.name());
        }
        assert_eq!(
            "uuid".parse::<Grammar>().unwrap_err().to_string(),
            "there is no id grammar `uuid`: expected one of integer, epoch:seq, stream_seq, seq/stream, opaque"
        );
    }
}
