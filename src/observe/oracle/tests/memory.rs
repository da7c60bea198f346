use super::history::{History, ME};
use crate::observe::event::{CallReport, Cause, Event, Purpose};

/// What the oracle holds must not grow with the rounds. Numbers grow by a digit or two; a leg or a log that is kept would
/// add hundreds of characters a round.
fn assert_bounded(history: &mut History, mut round: impl FnMut(&mut History, u32)) {
    round(history, 1);
    let bound = history.held() + 200;
    for number in 2..=50 {
        round(history, number);
        assert!(history.held() < bound, "round {number}");
    }
}

#[test]
fn what_is_closed_is_forgotten() {
    let mut history = History::new();
    history.life(1, ME).log(1, 1, 0);
    let mut newest = history.open(Purpose::Listen, Some((1, 0)));
    assert_bounded(&mut history, |history, round| {
        let position = u64::from(round);
        history.append(1, position - 1, position - 1);
        history.data(newest, &round.to_string()).leg_ends(newest);
        newest = history.resume(&round.to_string(), Some((1, position)));

        let (log, call) = (100 + round, round);
        history.tell(Event::CallStarted { client: ME, call });
        history.log(log, 1, round);
        let leg = history.open(Purpose::Call { call }, Some((log, 0)));
        history.data(leg, "1").close(log, Cause::Finished);
        history.tell(Event::CallEnded { client: ME, call, report: CallReport::TimedOut, parts: 1, restarts: 0 });
    });
}

#[test]
fn a_leg_that_ends_after_another_took_its_place_is_forgotten() {
    let mut history = History::new();
    history.life(1, ME).log(1, 1, 0);
    let mut newest = history.open(Purpose::Listen, Some((1, 0)));
    assert_bounded(&mut history, |history, _| {
        let old = std::mem::replace(&mut newest, history.resume("0", Some((1, 0))));
        history.leg_ends(old);
    });
}

#[test]
fn a_session_that_closes_is_forgotten_with_its_streams() {
    let mut history = History::new();
    assert_bounded(&mut history, |history, round| {
        history.life(round, ME).log(round, round, 0);
        history.tell(Event::SessionClosed { session: "key".to_owned(), incarnation: round, cause: Cause::Deleted });
    });
}
