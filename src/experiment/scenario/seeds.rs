//! Seed ranges.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A half-open range of seeds, written `A..B` as in Rust: A is in it, B is not. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeedRange(Range<u64>);

impl SeedRange {
    /// The most seeds that one experiment may have.
    pub const MAX_LEN: u64 = 1_000_000;

    /// The seeds from `start` up to but not including `end`.
    ///
    /// # Errors
    /// Where there is none, or more than [`SeedRange::MAX_LEN`].
    pub fn new(start: u64, end: u64) -> Result<SeedRange, BadSeedRange> {
        if start >= end {
            return Err(BadSeedRange::Empty { start, end });
        }
        if end - start > SeedRange::MAX_LEN {
            return Err(BadSeedRange::TooLong { start, end });
        }
        Ok(SeedRange(start..end))
    }

    /// The first seed.
    pub fn first(&self) -> u64 {
        self.0.start
    }

    /// The first number after the last seed.
    pub fn end(&self) -> u64 {
        self.0.end
    }

    /// How many seeds there are, at least one.
    #[expect(clippy::len_without_is_empty, reason = "a seed range is never empty, so there is nothing to ask")]
    pub fn len(&self) -> u64 {
        self.0.end - self.0.start
    }

    /// Every seed, in order.
    pub fn iter(&self) -> Range<u64> {
        self.0.clone()
    }
}

impl IntoIterator for &SeedRange {
    type Item = u64;
    type IntoIter = Range<u64>;

    fn into_iter(self) -> Range<u64> {
        self.iter()
    }
}

impl fmt::Display for SeedRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.0.start, self.0.end)
    }
}

impl FromStr for SeedRange {
    type Err = BadSeedRange;

    fn from_str(text: &str) -> Result<SeedRange, BadSeedRange> {
        let bad = || BadSeedRange::NotARange { text: text.to_owned() };
        let (start, end) = text.split_once("..").ok_or_else(bad)?;
        let number = |part: &str| part.trim().parse().map_err(|_| bad());
        SeedRange::new(number(start)?, number(end)?)
    }
}

/// Why something is not a seed range.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSeedRange {
    /// Not of the form `A..B`.
    #[error("`{text}` is not a range of seeds: expected A..B with whole numbers, such as 0..24 for the seeds 0 to 23")]
    NotARange {
        /// What was given.
        text: String,
    },
    /// No seed lies in it.
    #[error(
        "the seed range {start}..{end} is empty: the end is not part of a range, so {start}..{} would be one seed",
        start.saturating_add(1)
    )]
    Empty {
        /// Its start.
        start: u64,
        /// Its end.
        end: u64,
    },
    /// More seeds than anybody can mean.
    #[error("the seed range {start}..{end} has {} seeds: at most {} are accepted", end - start, SeedRange::MAX_LEN)]
    TooLong {
        /// Its start.
        start: u64,
        /// Its end.
        end: u64,
    },
}

impl Serialize for SeedRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SeedRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SeedRange, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = SeedRange;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a range of seeds in quotes, such as \"0..24\"")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<SeedRange, E> {
                text.parse().map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_holds_its_start_and_not_its_end() {
        let seeds: SeedRange = "3..6".parse().unwrap();
        assert_eq!(seeds.iter().collect::<Vec<_>>(), [3, 4, 5]);
        assert_eq!((seeds.len(), seeds.first(), seeds.end()), (3, 3, 6));
        assert_eq!(seeds.to_string(), "3..6");
    }

    #[test]
    fn what_is_not_a_range_is_refused_with_a_sentence() {
        for (text, sentence) in [
            ("5..5", "the seed range 5..5 is empty: the end is not part of a range, so 5..6 would be one seed"),
            ("9..3", "the seed range 9..3 is empty: the end is not part of a range, so 9..10 would be one seed"),
            ("7", "`7` is not a range of seeds: expected A..B with whole numbers, such as 0..24 for the seeds 0 to 23"),
            (
                "0..=4",
                "`0..=4` is not a range of seeds: expected A..B with whole numbers, such as 0..24 for the seeds 0 to 23",
            ),
            (
                "-1..4",
                "`-1..4` is not a range of seeds: expected A..B with whole numbers, such as 0..24 for the seeds 0 to 23",
            ),
            (
                "0..18446744073709551615",
                "the seed range 0..18446744073709551615 has 18446744073709551615 seeds: at most 1000000 are accepted",
            ),
        ] {
            let error = text.parse::<SeedRange>().unwrap_err();
            assert_eq!(error.to_string(), sentence, "{text}");
        }
    }
}
