use super::*;

/// A stream that consumed `cursor` and is now on a resumed leg.
fn resumed(grammar: Grammar, rules: Rules, cursor: &str) -> Validator {
    let mut stream = Validator::new(grammar, rules);
    stream.begin_leg(false);
    stream.on_event(Some(cursor), true).unwrap();
    stream.end_leg().unwrap();
    stream.begin_leg(true);
    stream
}

fn incident() -> Validator {
    resumed(Grammar::Integer, Rules::default(), "8412")
}

/// The signature of what the event exposes.
fn signature(result: Result<Step, Desync>) -> &'static str {
    result.map_or_else(|desync| desync.signature(), |_| "none")
}

#[test]
fn a_coherent_resume_is_delivered_and_moves_the_cursor() {
    let mut stream = incident();
    assert_eq!(stream.on_event(Some("8413"), true), Ok(Step::Deliver));
    assert_eq!(stream.cursor(), Some("8413"));
}

#[test]
fn a_refused_event_leaves_the_cursor_and_is_refused_again() {
    let mut stream = incident();
    for _ in 0..2 {
        assert_eq!(signature(stream.on_event(Some("17"), true)), "regression");
        assert_eq!(stream.cursor(), Some("8412"));
    }
}

#[test]
fn only_the_first_data_event_of_a_leg_is_judged() {
    let mut stream = incident();
    assert_eq!(stream.on_event(Some("8413"), true), Ok(Step::Deliver));
    assert_eq!(stream.on_event(Some("9000"), true), Ok(Step::Deliver));
    assert_eq!(stream.on_event(Some("17"), true), Ok(Step::Deliver));
}

#[test]
fn a_first_leg_is_not_judged() {
    let mut stream = Validator::new(Grammar::Integer, Rules::default());
    stream.begin_leg(true);
    assert_eq!(stream.on_event(Some("17"), true), Ok(Step::Deliver));
}

#[test]
fn a_leg_that_presents_no_cursor_starts_fresh() {
    let mut stream = incident();
    stream.begin_leg(false);
    assert_eq!(stream.cursor(), None);
    assert_eq!(stream.on_event(Some("17"), true), Ok(Step::Deliver));
}

#[test]
fn a_fresh_primer_does_not_launder_the_next_event() {
    let mut stream = incident();
    assert_eq!(stream.on_event(Some("17"), false), Ok(Step::Primer));
    assert_eq!((stream.cursor(), stream.reference()), (Some("17"), Some("8412")));
    let desync = stream.on_event(Some("18"), true).unwrap_err();
    assert_eq!(desync.signature(), "regression");
    assert_eq!((desync.cursor(), desync.expected()), ("8412", Some("8413")));
}

#[test]
fn a_fresh_primer_does_not_launder_a_later_leg() {
    let mut stream = incident();
    stream.on_event(Some("17"), false).unwrap();
    stream.end_leg().unwrap();
    assert_eq!(stream.cursor(), Some("17"), "the standard's rule for what is presented");
    stream.begin_leg(true);
    assert_eq!(signature(stream.on_event(Some("18"), true)), "regression");
}

#[test]
fn a_primer_that_is_the_successor_takes_its_number() {
    let mut stream = incident();
    stream.on_event(Some("8413"), false).unwrap();
    assert_eq!(stream.on_event(Some("8414"), true), Ok(Step::Deliver));
}

#[test]
fn a_primer_that_repeats_the_cursor_changes_nothing() {
    let mut stream = incident();
    stream.on_event(Some("8412"), false).unwrap();
    assert_eq!(stream.on_event(Some("8413"), true), Ok(Step::Deliver));
}

#[test]
fn a_primer_of_a_fresh_stream_is_where_it_starts() {
    let mut stream = Validator::new(Grammar::Integer, Rules::default());
    stream.begin_leg(false);
    stream.on_event(Some("5"), false).unwrap();
    stream.end_leg().unwrap();
    stream.begin_leg(true);
    assert_eq!(signature(stream.on_event(Some("8"), true)), "gap");
    assert_eq!(stream.on_event(Some("6"), true), Ok(Step::Deliver));
}

#[test]
fn an_event_without_an_id_puts_the_judgement_off() {
    let mut stream = incident();
    assert_eq!(stream.on_event(None, true), Ok(Step::Deliver));
    assert_eq!(stream.cursor(), Some("8412"));
    assert_eq!(signature(stream.on_event(Some("17"), true)), "regression");
}

#[test]
fn an_empty_id_clears_the_cursor() {
    for has_data in [false, true] {
        let mut stream = incident();
        stream.on_event(Some("8413"), true).unwrap();
        stream.on_event(Some(""), has_data).unwrap();
        assert_eq!((stream.cursor(), stream.reference()), (None, None));
        stream.end_leg().unwrap();
        stream.begin_leg(true);
        assert_eq!(stream.on_event(Some("1"), true), Ok(Step::Deliver));
    }
}

#[test]
fn an_empty_id_does_not_launder_the_leg_that_presented_a_cursor() {
    for has_data in [false, true] {
        let mut stream = incident();
        stream.on_event(Some(""), has_data).unwrap();
        assert_eq!(signature(stream.on_event(Some("17"), true)), "regression");
    }
}

#[test]
fn an_inclusive_replay_is_a_regression_unless_tolerated() {
    assert_eq!(signature(incident().on_event(Some("8412"), true)), "regression");

    let rules = Rules { tolerate_inclusive: true, ..Rules::default() };
    let mut stream = resumed(Grammar::Integer, rules, "8412");
    assert_eq!(stream.on_event(Some("8412"), true), Ok(Step::Duplicate));
    assert_eq!(signature(stream.on_event(Some("8420"), true)), "gap", "the event after the duplicate is judged");
    assert_eq!(stream.on_event(Some("8413"), true), Ok(Step::Deliver));
}

#[test]
fn tolerance_ends_below_the_cursor() {
    let rules = Rules { tolerate_inclusive: true, ..Rules::default() };
    let mut stream = resumed(Grammar::Integer, rules, "8412");
    assert_eq!(signature(stream.on_event(Some("8411"), true)), "regression");
}

#[test]
fn a_foreign_stream_is_told_only_where_the_rule_is_on() {
    let mut stream = resumed(Grammar::StreamSeq, Rules::default(), "a_7");
    assert_eq!(stream.on_event(Some("b_8"), true), Ok(Step::Deliver));
    assert_eq!(stream.take_note(), Some(NotApplicable::AnotherStream));

    let rules = Rules { foreign: true, ..Rules::default() };
    let mut stream = resumed(Grammar::StreamSeq, rules, "a_7");
    let desync = stream.on_event(Some("b_8"), true).unwrap_err();
    assert_eq!(desync.signature(), "foreign");
    assert_eq!(
        desync.to_string(),
        "foreign stream: the cursor is a_7, so a_8 was expected, but the server answered with b_8"
    );
}

#[test]
fn ids_that_cannot_be_compared_are_noted_once_and_counted() {
    let mut stream = Validator::new(Grammar::Opaque, Rules::default());
    stream.begin_leg(false);
    stream.on_event(Some("8412"), true).unwrap();
    for id in ["17", "16", "15"] {
        stream.begin_leg(true);
        assert_eq!(stream.on_event(Some(id), true), Ok(Step::Deliver));
        stream.on_event(Some("x"), true).unwrap();
    }
    assert_eq!(stream.not_applicable_count(), 3);
    assert_eq!(stream.take_note(), Some(NotApplicable::Opaque));
    stream.begin_leg(true);
    stream.on_event(Some("14"), true).unwrap();
    assert_eq!(stream.take_note(), None);
}

#[test]
fn one_empty_leg_too_many() {
    let rules = Rules { empty_legs: Some(2), ..Rules::default() };
    let mut stream = resumed(Grammar::Integer, rules, "8412");
    assert_eq!(stream.end_leg(), Ok(()));
    stream.begin_leg(true);
    stream.on_event(Some("17"), false).unwrap(); // a primer brings nothing
    assert_eq!(stream.end_leg(), Ok(()));
    stream.begin_leg(true);
    let desync = stream.end_leg().unwrap_err();
    assert_eq!(
        desync.to_string(),
        "empty legs: 3 resumes in a row from the cursor 8412 ended without data, and at most 2 may"
    );
}

#[test]
fn data_and_a_primer_that_advances_end_the_row_of_empty_legs() {
    let rules = Rules { empty_legs: Some(0), ..Rules::default() };
    let mut stream = resumed(Grammar::Integer, rules, "8412");
    stream.on_event(None, true).unwrap();
    assert_eq!(stream.end_leg(), Ok(()));
    stream.begin_leg(true);
    stream.on_event(Some("8413"), false).unwrap();
    assert_eq!(stream.end_leg(), Ok(()));
    stream.begin_leg(true);
    assert_eq!(stream.end_leg().unwrap_err().signature(), "empty-leg");
}

#[test]
fn legs_that_present_no_cursor_may_be_empty() {
    let rules = Rules { empty_legs: Some(0), ..Rules::default() };
    let mut stream = Validator::new(Grammar::Integer, rules);
    for resumed in [false, true] {
        stream.begin_leg(resumed);
        assert_eq!(stream.end_leg(), Ok(()));
    }
    assert_eq!(stream.end_leg(), Ok(()), "no leg is open");
}

#[test]
fn grace_runs_from_a_resume_to_its_first_data() {
    let rules = Rules { grace_s: Some(0.5), ..Rules::default() };
    let grace = Some(Duration::from_millis(500));
    let mut stream = Validator::new(Grammar::Integer, rules.clone());
    stream.begin_leg(false);
    assert_eq!(stream.grace(), None, "a fresh stream may be quiet");

    let mut stream = resumed(Grammar::Integer, rules, "8412");
    assert_eq!(stream.grace(), grace);
    stream.on_event(Some("17"), false).unwrap();
    assert_eq!(stream.grace(), grace, "a primer is no data");
    assert_eq!(stream.silent().to_string(), "silence: no data for 0.5 s since the resume from the cursor 8412");
    stream.on_event(Some("8413"), true).unwrap();
    assert_eq!(stream.grace(), None);
}

#[test]
fn without_rules_it_keeps_the_cursor_and_nothing_else() {
    let mut stream = resumed(Grammar::Integer, Rules::none(), "8412");
    assert_eq!(stream.on_event(Some("17"), true), Ok(Step::Deliver));
    assert_eq!(stream.cursor(), Some("17"));
    assert_eq!(stream.end_leg(), Ok(()));
    assert_eq!((stream.grace(), stream.not_applicable_count()), (None, 0));
}

#[test]
fn each_rule_works_without_the_base_rule() {
    let rules = Rules { foreign: true, tolerate_inclusive: true, ..Rules::none() };
    let mut stream = resumed(Grammar::SeqStream, rules, "7/1");
    assert_eq!(signature(stream.on_event(Some("8/2"), true)), "foreign");
    assert_eq!(stream.on_event(Some("7/1"), true), Ok(Step::Duplicate));
    assert_eq!(stream.on_event(Some("99/1"), true), Ok(Step::Deliver));
}

#[test]
fn a_reset_forgets_the_stream() {
    let mut stream = incident();
    stream.on_event(Some("17"), true).unwrap_err();
    stream.reset();
    assert_eq!((stream.cursor(), stream.reference()), (None, None));
    stream.begin_leg(true);
    assert_eq!(stream.on_event(Some("1"), true), Ok(Step::Deliver));
}

#[test]
fn the_good_path_does_not_allocate_once_its_buffers_have_grown() {
    let mut stream = incident();
    let buffers = |stream: &Validator| [&stream.cursor, &stream.reference].map(|kept| (kept.as_ptr(), kept.capacity()));
    let before = buffers(&stream);
    for id in ["8413", "8414", "8415"] {
        stream.begin_leg(true);
        assert_eq!(stream.on_event(Some(id), true), Ok(Step::Deliver));
        stream.end_leg().unwrap();
    }
    assert_eq!(buffers(&stream), before);
}
