use super::history::{History, ME, OTHER, seconds};
use crate::observe::event::{Cause, DetectedBy, Purpose};
use crate::observe::verdict::{Detection, Signature};

// ---- what is no desync ----

#[test]
fn the_successor_in_the_same_life_is_coherent() {
    let mut history = History::cut_off();
    let leg = history.resume("8412", Some((1, 3)));
    history.append(1, 3, 3).data(leg, "8413");
    let run = history.verdicts().run;
    assert_eq!((run.resumes, run.desyncs), (1, 0));
}

#[test]
fn legal_gaps_in_the_ids_of_a_coherent_leg_are_no_desync() {
    let mut history = History::cut_off();
    let leg = history.resume("8412", Some((1, 3)));
    history.append(1, 3, 3).data(leg, "8500");
    assert_eq!(history.verdicts().run.desyncs, 0);
}

#[test]
fn without_a_cursor_there_is_neither_a_resume_nor_a_desync() {
    let mut history = History::recycled();
    let leg = history.at(30).open(Purpose::Listen, Some((2, 16)));
    history.append(2, 16, 16).data(leg, "17");
    let run = history.verdicts().run;
    assert_eq!((run.resumes, run.desyncs, run.missed), (0, 0, 0));
}

#[test]
fn a_fresh_leg_that_moves_to_another_life_is_no_desync() {
    let mut history = History::listening();
    history.log(2, 1, 0).rebase(0, 3, 2, 0).data(0, "1");
    let run = history.verdicts().run;
    assert_eq!((run.desyncs, run.missed), (0, 0));
}

#[test]
fn a_request_that_is_not_answered_200_is_no_resume() {
    for status in [400, 404, 409, 503] {
        let mut history = History::recycled();
        history.request(Purpose::Listen, Some("8412"), status, None);
        let run = history.verdicts().run;
        assert_eq!((run.resumes, run.desyncs), (0, 0), "{status}");
    }
}

#[test]
fn the_cursor_of_a_priming_event_expects_what_its_leg_would_have_brought() {
    for (next, desyncs) in [(0, 0), (1, 1)] {
        let mut history = History::new();
        history.life(1, ME).log(1, 1, 0);
        let first = history.open(Purpose::Listen, Some((1, 0)));
        history.primer(first, "1").leg_ends(first);
        history.append(1, 0, 1);
        let leg = history.resume("1", Some((1, next)));
        history.data(leg, "2");
        assert_eq!(history.verdicts().run.desyncs, desyncs, "attached at {next}");
    }
}

#[test]
fn after_a_desync_the_stream_goes_on_in_its_new_life() {
    let mut history = History::recycled();
    let leg = history.at(30).resume("8412", Some((2, 16)));
    history.append(2, 0, 16).data(leg, "17").leg_ends(leg);
    let leg = history.at(40).resume("17", Some((2, 17)));
    history.append(2, 17, 17).data(leg, "18");
    let run = history.verdicts().run;
    assert_eq!((run.resumes, run.desyncs), (2, 1));
}

// ---- signatures ----

#[test]
fn a_smaller_id_is_a_regression() {
    let mut history = History::recycled();
    let leg = history.at(30).resume("8412", Some((2, 16)));
    history.append(2, 0, 16).at(31).data(leg, "17");
    let desync = history.desync();
    assert_eq!(desync.signature, Signature::Regression);
    assert_eq!(desync.fault, Some(Cause::SessionRecycle));
    assert_eq!(desync.lost_at, Some(seconds(20)));
    assert_eq!(desync.exposed_at, seconds(30));
    assert_eq!(desync.detected, None);
    assert!(desync.harmful);
}

#[test]
fn an_id_beyond_the_successor_is_a_gap_lost_when_it_was_evicted() {
    let mut history = History::cut_off();
    history.append(1, 3, 9).at(15).evict(1, 2, Cause::Churn);
    history.at(16).evict(1, 3, Cause::Churn);
    history.at(17).evict(1, 6, Cause::Expired);
    let leg = history.at(30).resume("8412", Some((1, 7)));
    history.data(leg, "8417");
    let desync = history.desync();
    assert_eq!(desync.signature, Signature::Gap);
    assert_eq!(desync.fault, Some(Cause::Churn));
    assert_eq!(desync.lost_at, Some(seconds(16)));
}

#[test]
fn what_was_evicted_before_its_life_ended_was_lost_to_the_eviction() {
    let mut history = History::cut_off();
    history.append(1, 3, 9).at(15).evict(1, 3, Cause::Churn);
    history.at(20).close(1, Cause::SessionRecycle).log(2, 1, 0);
    history.at(30).resume("8412", Some((2, 0)));
    let desync = history.desync();
    assert_eq!(desync.fault, Some(Cause::Churn));
    assert_eq!(desync.lost_at, Some(seconds(15)));
}

#[test]
fn a_server_that_skips_events_it_still_has_loses_them_at_its_answer() {
    let mut history = History::cut_off();
    history.append(1, 3, 9);
    let leg = history.at(30).resume("8412", Some((1, 10)));
    history.append(1, 10, 10).data(leg, "8420");
    let desync = history.desync();
    assert_eq!(desync.signature, Signature::Gap);
    assert_eq!((desync.fault, desync.lost_at), (None, Some(seconds(30))));
}

#[test]
fn another_epoch_is_an_epoch_change() {
    let mut history = History::recycled();
    let leg = history.resume("a:8412", Some((2, 0)));
    history.data(leg, "b:1");
    assert_eq!(history.desync().signature, Signature::EpochChange);
}

#[test]
fn an_id_that_cannot_be_compared_is_a_missing_replay() {
    let mut history = History::recycled();
    let leg = history.resume("8412", Some((2, 0)));
    history.data(leg, "f3c1-77");
    assert_eq!(history.desync().signature, Signature::NoReplay);
}

#[test]
fn the_successors_id_on_another_event_is_an_alias() {
    let mut history = History::recycled();
    let leg = history.resume("8412", Some((2, 8412)));
    history.data(leg, "8413");
    let desync = history.desync();
    assert_eq!(desync.signature, Signature::Alias);
    assert!(desync.harmful);
}

#[test]
fn another_tenants_stream_is_foreign_whatever_its_ids_say() {
    let mut history = History::cut_off();
    history.at(20).close(1, Cause::SessionRecycle);
    history.life(2, OTHER).log(2, 2, 0);
    let leg = history.at(30).resume("8412", Some((2, 8412)));
    history.data(leg, "8413");
    let desync = history.desync();
    assert_eq!(desync.signature, Signature::Foreign);
    assert_eq!(desync.fault, Some(Cause::SessionRecycle));
    assert_eq!(desync.lost_at, Some(seconds(20)));
    assert!(desync.harmful);
}

#[test]
fn another_stream_of_the_same_session_is_foreign() {
    let mut history = History::new();
    history.life(1, ME).log(1, 1, 1).log(2, 1, 2).call();
    let first = history.open(Purpose::Call { call: 0 }, Some((1, 0)));
    history.append(1, 0, 0).data(first, "5").leg_ends(first);
    history.request(Purpose::Resume { call: 0 }, Some("5"), 200, Some(Some((2, 0))));
    assert_eq!(history.desync().signature, Signature::Foreign);
}

#[test]
fn a_calls_stream_that_continues_on_the_sessions_stream_is_foreign() {
    let mut history = History::new();
    history.life(1, ME).log(1, 1, 1).call();
    let first = history.open(Purpose::Call { call: 0 }, Some((1, 0)));
    history.append(1, 0, 0).data(first, "5").leg_ends(first);
    history.close(1, Cause::SessionRecycle).life(2, ME).log(2, 2, 0);
    history.request(Purpose::Resume { call: 0 }, Some("5"), 200, Some(Some((2, 0))));
    assert_eq!(history.desync().signature, Signature::Foreign);
}

#[test]
fn events_that_come_again_are_a_duplicate_and_lose_nothing() {
    let mut history = History::cut_off();
    let leg = history.at(30).resume("8412", Some((1, 2)));
    history.data(leg, "8412");
    let desync = history.desync();
    assert_eq!(desync.signature, Signature::Duplicate);
    assert_eq!((desync.fault, desync.lost_at), (None, None));
    assert!(!desync.harmful);
}

#[test]
fn a_leg_that_ends_without_an_event_is_empty() {
    let mut history = History::recycled();
    let leg = history.resume("8412", None);
    history.leg_ends(leg);
    let desync = history.desync();
    assert_eq!(desync.signature, Signature::EmptyLeg);
    assert!(desync.harmful, "the life that the client waits for is over");
}

#[test]
fn an_empty_leg_that_withholds_nothing_is_harmless() {
    let mut history = History::cut_off();
    let leg = history.resume("8412", None);
    history.leg_ends(leg);
    let desync = history.desync();
    assert_eq!(desync.signature, Signature::EmptyLeg);
    assert!(!desync.harmful);
    assert_eq!(desync.lost_at, None);
}

#[test]
fn a_leg_that_stays_open_and_says_nothing_is_silence() {
    let mut history = History::recycled();
    history.resume("8412", Some((2, 0)));
    assert_eq!(history.desync().signature, Signature::Silence);
}

#[test]
fn a_priming_event_and_nothing_else_is_a_missing_replay() {
    for ends in [false, true] {
        let mut history = History::recycled();
        let leg = history.resume("8412", Some((2, 0)));
        history.primer(leg, "1");
        if ends {
            history.leg_ends(leg);
        }
        assert_eq!(history.desync().signature, Signature::NoReplay);
    }
}

#[test]
fn a_leg_without_data_is_judged_when_another_takes_its_place() {
    let mut history = History::recycled();
    let old = history.at(30).resume("8412", Some((2, 0)));
    let new = history.at(40).resume("8412", Some((2, 0)));
    history.data(new, "1").data(old, "1");
    let signatures: Vec<_> = history.verdicts().desyncs.iter().map(|desync| desync.signature).collect();
    assert_eq!(signatures, [Signature::Silence, Signature::Regression]);
}

// ---- legs that move ----

#[test]
fn data_on_its_way_when_a_leg_moves_belongs_to_the_old_life() {
    let mut history = History::listening();
    // Two more events are on their way when the counter wraps; then the leg goes on in life 2.
    history.append(1, 3, 4).log(2, 1, 0).rebase(0, 5, 2, 0);
    history.data(0, "8413").data(0, "8414").at(10).leg_ends(0);
    // The client has seen all of life 1 and nothing of life 2.
    let leg = history.at(30).resume("8414", Some((1, 5)));
    history.append(1, 5, 5).data(leg, "8415");
    assert_eq!(history.verdicts().run.desyncs, 0);
}

#[test]
fn data_sent_after_a_leg_moved_belongs_to_the_new_life() {
    let mut history = History::listening();
    history.log(2, 1, 0).rebase(0, 3, 2, 0).append(2, 0, 1);
    history.data(0, "1").data(0, "2").leg_ends(0);
    let leg = history.resume("2", Some((2, 2)));
    history.append(2, 2, 2).data(leg, "3");
    assert_eq!(history.verdicts().run.desyncs, 0);
}

#[test]
fn a_resume_that_moves_before_it_brought_anything_is_judged_by_where_it_goes() {
    let mut history = History::cut_off();
    let leg = history.at(30).resume("8412", Some((1, 3)));
    history.at(40).close(1, Cause::CounterWrap).log(2, 1, 0);
    history.rebase(leg, 0, 2, 0).at(41).data(leg, "1");
    let desync = history.desync();
    assert_eq!(desync.signature, Signature::Regression);
    assert_eq!(desync.fault, Some(Cause::CounterWrap));
    assert_eq!((desync.lost_at, desync.exposed_at), (Some(seconds(40)), seconds(40)));
}

#[test]
fn a_resume_that_moves_after_its_first_event_did_resume_coherently() {
    let mut history = History::cut_off();
    let leg = history.resume("8412", Some((1, 3)));
    history.append(1, 3, 3).log(2, 1, 0).rebase(leg, 1, 2, 0);
    history.data(leg, "8413").data(leg, "1");
    assert_eq!(history.verdicts().run.desyncs, 0);
}

#[test]
fn an_evicted_event_that_was_on_its_way_is_not_lost() {
    let mut history = History::listening();
    history.append(1, 3, 3).at(5).evict(1, 3, Cause::Churn);
    history.at(6).data(0, "8413").at(10).leg_ends(0);
    history.at(20).close(1, Cause::SessionRecycle).log(2, 1, 0);
    history.at(30).resume("8413", Some((2, 0)));
    let desync = history.desync();
    assert_eq!(desync.fault, Some(Cause::SessionRecycle));
    assert_eq!(desync.lost_at, Some(seconds(20)));
}

#[test]
fn a_session_that_closes_takes_its_streams_with_it() {
    let mut history = History::cut_off();
    history.at(20).tell(crate::observe::event::Event::SessionClosed {
        session: "key".to_owned(),
        incarnation: 1,
        cause: Cause::SessionIdle,
    });
    history.life(2, ME).log(2, 2, 0);
    history.at(30).resume("8412", Some((2, 0)));
    let desync = history.desync();
    assert_eq!(desync.fault, Some(Cause::SessionIdle));
    assert_eq!(desync.lost_at, Some(seconds(20)));
}

// ---- detection ----

#[test]
fn the_next_decision_of_the_client_detects_whatever_led_to_it() {
    for by in [DetectedBy::Regression, DetectedBy::NotFound] {
        let mut history = History::recycled();
        let leg = history.at(30).resume("8412", Some((2, 16)));
        history.data(leg, "17").at(37).alarm(leg, by);
        let verdicts = history.verdicts();
        let detection = Detection { at: seconds(37), by };
        assert_eq!(verdicts.desyncs[0].detected, Some(detection));
        let micros = |seconds: u64| seconds * 1_000_000;
        let measures = verdicts.measures;
        assert!(measures.detection_from_exposure.equivalent(measures.detection_from_exposure.max(), micros(7)));
        assert!(measures.detection_from_loss.equivalent(measures.detection_from_loss.max(), micros(17)));
    }
}

#[test]
fn a_decision_before_the_exposure_detects_nothing() {
    let mut history = History::recycled();
    history.at(25).alarm(0, DetectedBy::NotFound);
    history.at(30).resume("8412", Some((2, 16)));
    assert_eq!(history.desync().detected, None);
}

#[test]
fn a_client_that_ends_its_session_by_itself_has_detected_nothing() {
    let mut history = History::recycled();
    history.at(30).resume("8412", Some((2, 16)));
    history.at(40).request(Purpose::Delete, None, 200, None);
    history.at(50).alarm(7, DetectedBy::NotFound);
    assert_eq!(history.desync().detected, None);
}

#[test]
fn a_false_alarm_has_no_detection_latency() {
    let mut history = History::cut_off();
    let leg = history.at(30).resume("8412", Some((1, 2)));
    history.data(leg, "8412").at(31).alarm(leg, DetectedBy::Regression);
    assert_eq!(history.verdicts().measures.detection_from_exposure.len(), 0);
}
