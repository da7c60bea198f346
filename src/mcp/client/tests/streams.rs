//! The GET stream: cursors, delays, and what a client makes of each answer.

use std::time::Duration;

use super::peer::{End, Piece};
use super::*;
use crate::observe::event::DetectedBy;

/// Answers the GETs one after the other with `replies`, then with an open silent stream.
fn gets(replies: Vec<Option<Reply>>) -> impl FnMut(&Seen) -> Option<Reply> {
    let mut replies = replies.into_iter();
    move |seen| if seen.method == "GET" { replies.next().flatten() } else { None }
}

#[test]
fn a_broken_stream_is_resumed_from_the_last_id_and_a_fresh_one_carries_none() {
    for end in [|| End::Clean, || End::Broken] {
        let text = notification("8411") + &notification("8412");
        let told = Setup::arm(Arm::Trusting).run(gets(vec![Reply::says(text, end())]));
        assert_eq!(told.cursors(), [None, Some("8412")]);
    }
}

#[test]
fn a_priming_event_moves_the_cursor() {
    let told = Setup::arm(Arm::Trusting).run(gets(vec![Reply::says(event("3", ""), End::Clean)]));
    assert_eq!(told.cursors(), [None, Some("3")]);
}

#[test]
fn an_event_that_the_end_cuts_short_moves_nothing() {
    let text = notification("5") + "id: 6\ndata: {\"jsonrpc\"";
    let told = Setup::arm(Arm::Trusting).run(gets(vec![Reply::says(text, End::Clean)]));
    assert_eq!(told.cursors(), [None, Some("5")]);
}

/// The client of S9 forgets its cursor here; this one must not.
#[test]
fn the_cursor_is_carried_over_legs_that_bring_no_id() {
    let silent = || Reply::says(": nothing\n\n", End::Broken);
    let told =
        Setup::arm(Arm::Trusting).run(gets(vec![Reply::says(notification("7"), End::Broken), silent(), silent()]));
    assert_eq!(told.cursors(), [None, Some("7"), Some("7"), Some("7")]);
}

#[test]
fn an_empty_id_clears_the_cursor() {
    let text = notification("7") + &notification("");
    let told = Setup::arm(Arm::Trusting).run(gets(vec![Reply::says(text, End::Clean)]));
    assert_eq!(told.cursors(), [None, None]);
}

#[test]
fn a_client_without_a_cursor_asks_for_a_fresh_stream() {
    let told = Setup::arm(Arm::NoCursor).run(gets(vec![Reply::says(notification("7"), End::Clean)]));
    assert_eq!(told.cursors(), [None, None]);
    assert!(told.losses().is_empty());
}

#[test]
fn retry_is_honoured_and_spread_by_at_most_a_quarter() {
    let told = Setup::arm(Arm::Trusting).run(gets(vec![Reply::says("retry: 8000\nid: 1\ndata:\n\n", End::Clean)]));
    let at: Vec<_> = told.gets().map(|seen| seen.at).collect();
    let delay = at[1] - at[0];
    assert!((Duration::from_secs(8)..=Duration::from_secs(10)).contains(&delay), "{delay:?}");
}

#[test]
fn a_retry_of_ages_is_an_hour() {
    let ages = || gets(vec![Reply::says("retry: 99999999999999999999\nid: 1\ndata:\n\n", End::Clean)]);
    let attempts = |horizon_s| {
        let setup = Setup::arm(Arm::Trusting).with(|settings| settings.call_interval_s = seconds((100_000, 100_000)));
        setup.until(horizon_s).run(ages()).gets().count()
    };
    assert_eq!((attempts(3590), attempts(4600)), (1, 2));
}

#[test]
fn delays_double_while_attempts_fail_and_a_200_resets_them() {
    let failing = || Some(Reply::Status(503));
    let told = Setup::arm(Arm::Trusting).run(gets(vec![
        failing(),
        failing(),
        failing(),
        Reply::says(notification("1"), End::Clean),
    ]));
    let at: Vec<_> = told.gets().map(|seen| seen.at).collect();
    for (gap, (low, high)) in at.windows(2).map(|pair| pair[1] - pair[0]).zip([(2, 3), (4, 5), (8, 10), (1, 2)]) {
        assert!((Duration::from_secs(low)..=Duration::from_secs(high)).contains(&gap), "{gap:?}, expected {low} s");
    }
}

#[test]
fn what_each_status_means() {
    let after_a_leg = |status| gets(vec![Reply::says(notification("7"), End::Clean), Some(Reply::Status(status))]);
    let outcome = |status| {
        let told = Setup::arm(Arm::Trusting).run(after_a_leg(status));
        (told.losses(), told.gets().count())
    };
    // The session is gone; the cursor is refused: both are explicit, and a new session is opened and listened to.
    assert_eq!(outcome(404), (vec![(DetectedBy::NotFound, 0)], 3));
    assert_eq!(outcome(400), (vec![(DetectedBy::Refused, 0)], 3));
    // No stream is offered: nobody asks again.
    assert_eq!(outcome(405), (vec![], 2));
    // The slot is taken, or a proxy is ill: later.
    for status in [409, 429, 500, 502, 503, 504] {
        assert_eq!(outcome(status), (vec![], 3), "{status}");
    }
}

#[test]
fn only_the_validating_client_sees_that_17_does_not_follow_8412() {
    let incident =
        || gets(vec![Reply::says(notification("8412"), End::Clean), Reply::says(notification("17"), End::Clean), None]);
    let trusting = Setup::arm(Arm::Trusting).run(incident());
    assert_eq!(trusting.cursors(), [None, Some("8412"), Some("17")]);
    assert!(trusting.losses().is_empty());

    let validating = Setup::arm(Arm::Validating).run(incident());
    assert_eq!(validating.cursors(), [None, Some("8412"), None]);
    assert_eq!(validating.losses(), [(DetectedBy::Regression, 0)]);
    let sessions: Vec<_> = validating.gets().map(|seen| seen.session.as_deref().unwrap()).collect();
    assert_eq!(sessions, ["session-1", "session-1", "session-2"]);
    assert!(validating.seen.iter().all(|seen| seen.method != "DELETE"), "the key may be somebody else's by now");
}

#[test]
fn opaque_ids_are_never_compared_and_that_is_said_once() {
    let mut setup = Setup::arm(Arm::Validating);
    setup.grammar = Grammar::Opaque;
    let leg = |id: &str| Reply::says(notification(id), End::Clean);
    let told = setup.run(gets(vec![leg("8412"), leg("17"), leg("4")]));
    assert!(told.losses().is_empty());
    let notes = told.events.iter().filter(|(_, event)| matches!(event, Event::NotApplicable { .. })).count();
    assert_eq!(notes, 1);
}

#[test]
fn a_resumed_leg_that_stays_silent_beyond_its_grace_is_a_loss() {
    let setup = Setup::arm(Arm::Validating).with(|settings| settings.rules.grace_s = Some(20.0));
    let told = setup.run(gets(vec![Reply::says(notification("7"), End::Clean), None]));
    assert_eq!(told.losses(), [(DetectedBy::Silence, 0)]);
}

#[test]
fn a_peer_that_sends_garbage_ends_in_another_attempt_and_never_in_a_panic() {
    let long = "x".repeat(300);
    let cases = [
        "\u{feff}id: 1\r\rdata: \0\n\ndata: [[[[\n\n".to_owned(),
        event(&long, "{}"),
        format!("id: {long}\ndata: {}\n\n", "y".repeat(2 << 20)),
        "retry: -1\nretry: 1e3\nid: ü\ndata: {\"jsonrpc\":\"2.0\",\"id\":{},\"result\":1}\n\n".to_owned(),
        ":\n".repeat(1000),
    ];
    for text in cases {
        let told = Setup::arm(Arm::Validating).run(gets(vec![Some(Reply::Stream(
            vec![Piece::Text(text.clone()), Piece::Wait(Duration::from_millis(1))],
            End::Clean,
        ))]));
        assert_eq!(told.gets().count(), 2, "{}", text.chars().take(40).collect::<String>());
    }
}
