use super::history::{History, ME, seconds};
use crate::observe::event::{CallReport, DetectedBy, Event};
use crate::observe::verdict::RestartVerdict;

const CHECKS: [u32; 4] = [1, 2, 3, 4];

/// A call with three of its parts there when an alarm is raised at 10 s; the tool starts again from `from_part`.
fn restarted(from_part: u32) -> History {
    let mut history = History::new();
    history.at(1).call().execute(1, 0, &CHECKS);
    history.at(10).alarm(0, DetectedBy::Regression).replay(3, 3);
    history.at(12).execute(2, from_part, &CHECKS).restored(5, 900);
    history
}

fn restart(history: History) -> RestartVerdict {
    history.verdicts().restarts.remove(0)
}

#[test]
fn a_restart_lasts_until_the_replayed_call_has_its_response() {
    let mut history = restarted(3);
    history.at(17).success(&CHECKS, 1);
    let verdicts = history.verdicts();
    assert_eq!(
        verdicts.restarts,
        [RestartVerdict {
            client: 0,
            by: DetectedBy::Regression,
            alarm_at: seconds(10),
            restored_at: Some(seconds(12)),
            response_at: Some(seconds(17)),
            requests: 5,
            bytes: 900,
            interrupted: 1,
            duplicate_executions: 1,
            parts_again: 0,
        }]
    );
    assert_eq!(verdicts.run.restarts, 1);
    assert_eq!(verdicts.measures.restart.len(), 1);
}

#[test]
fn a_tool_that_starts_from_its_beginning_sends_parts_again() {
    let mut history = restarted(0);
    history.success(&CHECKS, 1);
    assert_eq!(restart(history).parts_again, 3);
}

#[test]
fn a_replay_whose_call_times_out_has_no_response() {
    let mut history = restarted(3);
    history.at(17).call_ends(CallReport::TimedOut, 3, 1);
    assert_eq!(restart(history).response_at, None);
}

#[test]
fn a_restart_that_the_horizon_cuts_short_is_not_complete() {
    let mut history = History::new();
    history.at(10).alarm(0, DetectedBy::NotFound);
    let restart = restart(history);
    assert_eq!((restart.restored_at, restart.response_at), (None, None));
}

#[test]
fn a_response_before_the_session_is_fully_restored_counts() {
    let mut history = History::new();
    history.call().execute(1, 0, &CHECKS);
    history.at(10).alarm(0, DetectedBy::Gap).replay(0, 0);
    history.at(11).success(&CHECKS, 1).at(12).restored(3, 9);
    assert_eq!(restart(history).response_at, Some(seconds(11)));
}

#[test]
fn a_second_loss_before_the_response_leaves_the_first_restart_without_one() {
    let mut history = restarted(3);
    history.at(20).alarm(1, DetectedBy::Silence).replay(3, 3);
    history.at(21).execute(3, 3, &CHECKS).restored(5, 900);
    history.at(25).success(&CHECKS, 2);
    let restarts = history.verdicts().restarts;
    let responses: Vec<_> = restarts.iter().map(|restart| restart.response_at).collect();
    assert_eq!(responses, [None, Some(seconds(25))]);
}

#[test]
fn a_replay_of_a_call_that_had_never_run_repeats_nothing() {
    let mut history = History::new();
    history.call().alarm(0, DetectedBy::NotFound).replay(0, 0);
    history.execute(1, 0, &CHECKS);
    assert_eq!(restart(history).duplicate_executions, 0);
}

#[test]
fn one_replayed_call_without_a_response_leaves_the_restart_without_one() {
    let mut history = History::new();
    history.at(1).call();
    let (client, call) = (ME, 1);
    history.tell(Event::CallStarted { client, call });
    history.at(10).alarm(0, DetectedBy::Gap).replay(0, 0);
    history.tell(Event::CallReplayed { client, call, from_part: 0, held: 0 });
    history.at(12).restored(5, 900);
    history.at(20).tell(Event::CallEnded { client, call, report: CallReport::TimedOut, parts: 0, restarts: 1 });
    history.at(30).success(&CHECKS, 1);
    assert_eq!(restart(history).response_at, None);
}
