//! The base rule, as a pure function.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use super::{Desync, Grammar};

/// What the base rule says of a resume that it does not refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The first event is the successor of the cursor in the same epoch.
    Continue,
    /// No cursor was kept, so nothing is owed.
    Fresh,
    /// The ids cannot be compared: neither proof nor alarm.
    NotApplicable(NotApplicable),
}

/// Why two ids cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotApplicable {
    /// The grammar is opaque.
    #[error("the server's ids are opaque")]
    Opaque,
    /// The cursor is not of the grammar.
    #[error("the cursor is not of the server's id grammar")]
    CursorNotOfGrammar,
    /// The first event's id is not of the grammar.
    #[error("the first event's id is not of the server's id grammar")]
    FirstNotOfGrammar,
    /// The ids name different streams, whose numbers have nothing to do with each other. With
    /// [`Rules::foreign`](super::Rules::foreign) this is [`Desync::Foreign`] instead.
    #[error("the first event's id is of another stream")]
    AnotherStream,
}

/// The base rule: does a stream that broke off at `last_seen` go on with `first`?
///
/// In this order: another epoch is [`Desync::EpochChanged`]; `first` ≤ `last_seen` is [`Desync::Regression`];
/// `first` ≠ `last_seen` + 1 is [`Desync::Gap`]; else the stream continues. No cursor, or the empty one that the
/// SSE standard does not send, is [`Verdict::Fresh`].
///
/// # Errors
/// The desync, with what was expected and what came.
pub fn judge(grammar: Grammar, last_seen: Option<&str>, first: &str) -> Result<Verdict, Desync> {
    let Some(last_seen) = last_seen.filter(|id| !id.is_empty()) else {
        return Ok(Verdict::Fresh);
    };
    let relation = Relation::of(grammar, last_seen, first);
    if let Relation::Incomparable(reason) = relation {
        return Ok(Verdict::NotApplicable(reason));
    }
    match relation.desync(grammar, last_seen, first) {
        Some(desync) => Err(desync),
        None => Ok(Verdict::Continue),
    }
}

/// How an id stands to an earlier one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Incomparable(NotApplicable),
    OtherEpoch,
    Behind,
    Same,
    Successor,
    Ahead { lost: RangeInclusive<u64> },
}

impl Relation {
    pub(super) fn of(grammar: Grammar, earlier: &str, later: &str) -> Relation {
        use NotApplicable::{AnotherStream, CursorNotOfGrammar, FirstNotOfGrammar, Opaque};

        if grammar == Grammar::Opaque {
            return Relation::Incomparable(Opaque);
        }
        let Some(earlier) = grammar.parse(earlier) else {
            return Relation::Incomparable(CursorNotOfGrammar);
        };
        let Some(later) = grammar.parse(later) else {
            return Relation::Incomparable(FirstNotOfGrammar);
        };
        if earlier.epoch != later.epoch {
            return Relation::OtherEpoch;
        }
        if earlier.stream != later.stream {
            return Relation::Incomparable(AnotherStream);
        }
        match later.seq.cmp(&earlier.seq) {
            Ordering::Less => Relation::Behind,
            Ordering::Equal => Relation::Same,
            Ordering::Greater if later.seq - earlier.seq == 1 => Relation::Successor,
            // Neither end can overflow: `later` is above `earlier` by two or more.
            Ordering::Greater => Relation::Ahead { lost: earlier.seq + 1..=later.seq - 1 },
        }
    }

    /// The alarm of the base rule, if it raises one. `earlier` and `later` are the ids of [`Relation::of`].
    pub(super) fn desync(self, grammar: Grammar, earlier: &str, later: &str) -> Option<Desync> {
        let cursor = || earlier.to_owned();
        let expected = || successor(grammar, earlier);
        let got = || later.to_owned();
        Some(match self {
            Relation::Incomparable(_) | Relation::Successor => return None,
            Relation::OtherEpoch => Desync::EpochChanged { cursor: cursor(), expected: expected(), got: got() },
            Relation::Behind | Relation::Same => {
                Desync::Regression { cursor: cursor(), expected: expected(), got: got() }
            }
            Relation::Ahead { lost } => Desync::Gap { cursor: cursor(), expected: expected(), got: got(), lost },
        })
    }
}

/// The text of the id that must follow `id`.
pub(super) fn successor(grammar: Grammar, id: &str) -> Option<String> {
    Some(grammar.write(grammar.parse(id)?.successor()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_incident() {
        let desync = judge(Grammar::Integer, Some("8412"), "17").unwrap_err();
        assert_eq!(
            desync,
            Desync::Regression { cursor: "8412".into(), expected: Some("8413".into()), got: "17".into() }
        );
        assert_eq!(
            desync.to_string(),
            "regression: the cursor is 8412, so 8413 was expected, but the server answered with 17"
        );
    }

    #[test]
    fn a_repeated_id_is_a_regression() {
        assert!(matches!(judge(Grammar::Integer, Some("8412"), "8412"), Err(Desync::Regression { .. })));
    }

    #[test]
    fn a_gap_names_the_lost_range() {
        let desync = judge(Grammar::EpochSeq, Some("a:7"), "a:9").unwrap_err();
        assert_eq!(
            desync.to_string(),
            "gap: the cursor is a:7, so a:8 was expected, but the server answered with a:9; lost: 8 to 8"
        );
    }

    #[test]
    fn another_epoch_is_told_even_where_the_number_fits() {
        let desync = judge(Grammar::EpochSeq, Some("a:7"), "b:8").unwrap_err();
        assert_eq!(desync.signature(), "epoch-change");
        assert_eq!((desync.expected(), desync.got()), (Some("a:8"), Some("b:8")));
    }

    #[test]
    fn nothing_can_follow_the_last_number() {
        let last = u64::MAX.to_string();
        let desync = judge(Grammar::Integer, Some(&last), "0").unwrap_err();
        assert_eq!(desync.expected(), None);
        assert_eq!(desync.signature(), "regression");
    }

    #[test]
    fn ids_that_cannot_be_compared_are_never_alarms() {
        use NotApplicable::{AnotherStream, CursorNotOfGrammar, FirstNotOfGrammar, Opaque};
        for (grammar, cursor, first, reason) in [
            (Grammar::Opaque, "8412", "17", Opaque),
            (Grammar::Integer, "x", "17", CursorNotOfGrammar),
            (Grammar::Integer, "8412", "017", FirstNotOfGrammar),
            (Grammar::StreamSeq, "a_8", "b_9", AnotherStream),
            (Grammar::SeqStream, "8/1", "3", AnotherStream),
        ] {
            let verdict = judge(grammar, Some(cursor), first);
            assert_eq!(verdict, Ok(Verdict::NotApplicable(reason)), "{grammar} {cursor} {first}");
        }
    }

    #[test]
    fn an_empty_cursor_is_no_cursor() {
        assert_eq!(judge(Grammar::Integer, Some(""), "17"), Ok(Verdict::Fresh));
    }
}
