use super::history::{History, seconds};
use crate::observe::event::CallReport;
use crate::observe::verdict::{CallVerdict, Outcome};

const CHECKS: [u32; 4] = [11, 12, 13, 14];

fn executed() -> History {
    let mut history = History::new();
    history.at(1).call().execute(1, 0, &CHECKS).at(9);
    history
}

fn call(history: History) -> CallVerdict {
    history.verdicts().calls.remove(0)
}

#[test]
fn every_part_once_and_in_order_is_completed() {
    let mut history = executed();
    history.success(&CHECKS, 0);
    let verdicts = history.verdicts();
    let call = &verdicts.calls[0];
    assert_eq!(call.outcome, Outcome::Completed);
    assert_eq!((call.started, call.ended), (seconds(1), seconds(9)));
    assert_eq!((call.parts, call.executions), (4, 1));
    assert_eq!((verdicts.run.calls, verdicts.run.completed), (1, 1));
    assert_eq!(verdicts.measures.completion.len(), 1);
}

#[test]
fn the_same_after_a_restart_is_recovered_and_the_second_execution_a_duplicate() {
    let mut history = executed();
    history.execute(2, 2, &CHECKS).success(&CHECKS, 1);
    let verdicts = history.verdicts();
    assert_eq!(verdicts.calls[0].outcome, Outcome::Recovered);
    assert_eq!(verdicts.calls[0].executions, 2);
    assert_eq!(verdicts.run.duplicate_executions, 1);
}

#[test]
fn an_error_is_failed_and_keeps_its_words() {
    let mut history = executed();
    let reason = "400: unknown cursor".to_owned();
    history.call_ends(CallReport::Error { reason }, 1, 0);
    let call = call(history);
    assert_eq!(call.outcome, Outcome::Failed);
    assert_eq!(call.reason, "400: unknown cursor");
    assert_eq!(call.parts, 1);
}

#[test]
fn a_timeout_is_hung_and_does_not_count_as_completion() {
    let mut history = executed();
    history.call_ends(CallReport::TimedOut, 3, 0);
    let verdicts = history.verdicts();
    let call = &verdicts.calls[0];
    assert_eq!((call.outcome, call.censored), (Outcome::Hung, false));
    assert_eq!(call.reason, "tool did not complete");
    assert_eq!(verdicts.measures.completion.len(), 0);
}

#[test]
fn pending_at_the_horizon_is_hung_and_censored() {
    let mut history = executed();
    history.replay(2, 2);
    let verdicts = history.verdicts();
    let call = &verdicts.calls[0];
    assert_eq!((call.outcome, call.censored), (Outcome::Hung, true));
    assert_eq!((call.ended, call.reason.as_str()), (seconds(100), "censored"));
    assert_eq!((call.parts, call.restarts), (2, 1));
    assert_eq!((verdicts.run.hung, verdicts.run.censored), (1, 1));
}

#[test]
fn success_with_other_parts_is_wrong_and_says_how() {
    let cases: [(&[u32], &str); 7] = [
        (&[11, 12, 14], "parts missing"),
        (&[], "parts missing"),
        (&[11, 12, 12, 13, 14], "parts repeated"),
        (&[11, 12, 13, 14, 99], "parts of another call"),
        (&[11, 12, 99, 14], "parts missing, parts of another call"),
        (&[11, 12, 12, 14], "parts missing, parts repeated"),
        (&[12, 11, 13, 14], "parts out of order"),
    ];
    for (got, reason) in cases {
        let mut history = executed();
        history.success(got, 1);
        let call = call(history);
        assert_eq!((call.outcome, call.reason.as_str()), (Outcome::Wrong, reason), "{got:?}");
    }
}

#[test]
fn success_without_an_execution_is_wrong() {
    let mut history = History::new();
    history.call().success(&[], 0);
    let call = call(history);
    assert_eq!(call.outcome, Outcome::Wrong);
    assert_eq!(call.reason, "success without an execution");
}

#[test]
fn two_parts_with_equal_checks_are_two_parts() {
    let mut history = History::new();
    history.call().execute(1, 0, &[5, 5]).success(&[5, 5], 0);
    assert_eq!(call(history).outcome, Outcome::Completed);
}

#[test]
fn an_execution_that_starts_after_the_timeout_is_counted() {
    let mut history = executed();
    history.call_ends(CallReport::TimedOut, 0, 0);
    history.execute(2, 0, &CHECKS);
    let verdicts = history.verdicts();
    assert_eq!(verdicts.calls[0].executions, 2);
    assert_eq!(verdicts.run.duplicate_executions, 1);
}
