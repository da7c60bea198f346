//! The laws of the validator, each over all ids.

use proptest::prelude::*;

use super::*;

/// Grammars whose ids can be compared.
fn comparable() -> impl Strategy<Value = Grammar> {
    prop::sample::select(&[Grammar::Integer, Grammar::EpochSeq, Grammar::StreamSeq, Grammar::SeqStream])
}

/// An id of one epoch and one stream.
fn id(grammar: Grammar, seq: u64) -> String {
    grammar.write(Position { epoch: Some("e"), stream: Some("s"), seq })
}

fn epoch_id(epoch: &str, seq: u64) -> String {
    format!("{epoch}:{seq}")
}

/// Ids that look like ids, and ids that do not.
fn any_id() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[0-9a-c:_/+ ]{0,8}", any::<u64>().prop_map(|n| n.to_string())]
}

fn any_grammar() -> impl Strategy<Value = Grammar> {
    prop::sample::select(&Grammar::ALL)
}

fn after(grammar: Grammar, consumed: &str) -> Validator {
    let mut stream = Validator::new(grammar, Rules::default());
    stream.begin_leg(false);
    stream.on_event(Some(consumed), true).unwrap();
    stream.end_leg().unwrap();
    stream.begin_leg(true);
    stream
}

proptest! {
    #[test]
    fn a_successor_always_continues(grammar in comparable(), last in 0..u64::MAX) {
        let verdict = judge(grammar, Some(&id(grammar, last)), &id(grammar, last + 1));
        prop_assert_eq!(verdict, Ok(Verdict::Continue));
    }

    #[test]
    fn not_above_the_cursor_is_always_a_regression(grammar in comparable(), a: u64, b: u64) {
        let (first, last) = (a.min(b), a.max(b));
        let verdict = judge(grammar, Some(&id(grammar, last)), &id(grammar, first));
        prop_assert!(matches!(verdict, Err(Desync::Regression { .. })), "{:?}", verdict);
    }

    #[test]
    fn a_gap_names_exactly_what_lies_between(
        grammar in comparable(), last in 0..u64::MAX - 1, jump in 2..=u64::MAX,
    ) {
        let first = last.saturating_add(jump);
        prop_assume!(first - last >= 2);
        match judge(grammar, Some(&id(grammar, last)), &id(grammar, first)) {
            Err(Desync::Gap { lost, expected, got, .. }) => {
                prop_assert_eq!(lost, last + 1..=first - 1);
                prop_assert_eq!(expected, Some(id(grammar, last + 1)));
                prop_assert_eq!(got, id(grammar, first));
            }
            other => prop_assert!(false, "{:?}", other),
        }
    }

    #[test]
    fn an_epoch_is_compared_before_any_number(last: u64, first: u64, a in "[a-z]{1,4}", b in "[0-9]{1,4}") {
        let verdict = judge(Grammar::EpochSeq, Some(&epoch_id(&a, last)), &epoch_id(&b, first));
        prop_assert!(matches!(verdict, Err(Desync::EpochChanged { .. })), "{:?}", verdict);
    }

    #[test]
    fn opaque_ids_never_alarm(last in any_id(), first in any_id()) {
        prop_assert!(judge(Grammar::Opaque, Some(&last), &first).is_ok());
    }

    #[test]
    fn an_id_that_does_not_parse_never_alarms(grammar in any_grammar(), last in any_id(), first in any_id()) {
        prop_assume!(grammar.parse(&last).is_none() || grammar.parse(&first).is_none());
        prop_assert!(judge(grammar, Some(&last), &first).is_ok());
    }

    #[test]
    fn without_a_cursor_every_stream_is_fresh(grammar in any_grammar(), first in any_id()) {
        prop_assert_eq!(judge(grammar, None, &first), Ok(Verdict::Fresh));
    }

    #[test]
    fn the_rule_is_total_and_an_alarm_says_what_came(
        grammar in any_grammar(), last in any_id(), first in any_id(),
    ) {
        if let Err(desync) = judge(grammar, Some(&last), &first) {
            prop_assert_eq!(desync.cursor(), last.as_str());
            prop_assert_eq!(desync.got(), Some(first.as_str()));
            prop_assert_ne!(desync.expected(), Some(first.as_str()));
            prop_assert!(desync.to_string().contains(&first));
        }
    }

    #[test]
    fn what_parses_is_written_back_as_it_was(grammar in any_grammar(), id in any_id()) {
        if let Some(position) = grammar.parse(&id) {
            prop_assert_eq!(grammar.write(position), id);
        }
    }

    #[test]
    fn a_stream_cut_anywhere_and_continued_never_alarms(
        grammar in any_grammar(), start in 0..u64::MAX / 2, cuts in prop::collection::vec(0_u64..4, 1..12),
    ) {
        let mut stream = Validator::new(grammar, Rules::default());
        let mut seq = start;
        for events in cuts {
            let resumed = stream.cursor().is_some();
            stream.begin_leg(resumed);
            for _ in 0..events {
                prop_assert_eq!(stream.on_event(Some(&id(grammar, seq)), true), Ok(Step::Deliver));
                seq += 1;
            }
            prop_assert_eq!(stream.end_leg(), Ok(()));
        }
    }

    /// Whatever ids primers carry, unless they count up from the reference, the verdict on the first data event is
    /// the base rule's against the last id consumed.
    #[test]
    fn primers_never_launder(
        last in 100..u64::MAX - 100, first: u64,
        primers in prop::collection::vec(any_id(), 0..4), cut in 0_usize..4,
    ) {
        let last = last.to_string();
        prop_assume!(primers.iter().all(|id| judge(Grammar::Integer, Some(&last), id) != Ok(Verdict::Continue)));
        let mut stream = after(Grammar::Integer, &last);
        for (i, primer) in primers.iter().enumerate() {
            prop_assert_eq!(stream.on_event(Some(primer), false), Ok(Step::Primer));
            if i == cut && stream.cursor().is_some() {
                stream.end_leg().unwrap();
                stream.begin_leg(true);
            }
        }
        let first = first.to_string();
        let judged = stream.on_event(Some(&first), true).err();
        prop_assert_eq!(judged, judge(Grammar::Integer, Some(&last), &first).err());
    }

    #[test]
    fn primers_that_count_up_are_part_of_the_stream(
        grammar in comparable(), last in 0..u64::MAX - 10, primers in 0_u64..4,
    ) {
        let mut stream = after(grammar, &id(grammar, last));
        for n in 1..=primers {
            stream.on_event(Some(&id(grammar, last + n)), false).unwrap();
        }
        let next = id(grammar, last + primers + 1);
        prop_assert_eq!(stream.on_event(Some(&next), true), Ok(Step::Deliver));
    }

    #[test]
    fn the_cursor_is_always_the_last_id_seen(
        events in prop::collection::vec((prop::option::of(any_id()), any::<bool>()), 0..8),
    ) {
        let mut stream = Validator::new(Grammar::Integer, Rules::none());
        stream.begin_leg(false);
        let mut last = String::new();
        for (id, has_data) in events {
            stream.on_event(id.as_deref(), has_data).unwrap();
            last = id.unwrap_or(last);
            prop_assert_eq!(stream.cursor().unwrap_or_default(), last.as_str());
        }
    }
}
