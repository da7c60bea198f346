//! Laws that hold for every history, sensible or not.

use proptest::collection::vec;
use proptest::prelude::*;

use super::history::seconds;
use crate::observe::event::{CallReport, Cause, CursorFound, DetectedBy, Event, FrameKind, LegEnd, Origin, Purpose};
use crate::observe::oracle::Oracle;
use crate::observe::verdict::Verdicts;

fn purpose() -> impl Strategy<Value = Purpose> {
    prop_oneof![
        Just(Purpose::Listen),
        (0..3_u32).prop_map(|call| Purpose::Call { call }),
        (0..3_u32).prop_map(|call| Purpose::Resume { call }),
        Just(Purpose::Delete),
    ]
}

fn cause() -> impl Strategy<Value = Cause> {
    prop_oneof![Just(Cause::Churn), Just(Cause::SessionIdle), Just(Cause::SessionRecycle), Just(Cause::Finished),]
}

fn cursor(allowed: bool) -> BoxedStrategy<Option<String>> {
    if allowed { proptest::option::of("[0-9]|[ab]:[0-9]|x").boxed() } else { Just(None).boxed() }
}

fn of_clients(cursors: bool) -> impl Strategy<Value = Event> {
    let client = 0..2_u32;
    let request = 0..6_u32;
    prop_oneof![
        3 => (client.clone(), request.clone(), purpose(), cursor(cursors)).prop_map(
            |(client, request, purpose, cursor)| Event::RequestSent {
                client, request, purpose, session: None, cursor
            }),
        3 => (client.clone(), request.clone(), prop_oneof![3 => Just(200), 1 => Just(404)]).prop_map(
            |(client, request, status)| Event::Answered { client, request, status, session: None }),
        4 => (client.clone(), request.clone(), cursor(true), any::<bool>()).prop_map(
            |(client, request, id, priming)| Event::FrameReceived {
                client, request, id,
                kind: if priming { FrameKind::Priming } else { FrameKind::Part },
            }),
        1 => (client.clone(), request.clone()).prop_map(|(client, request)| Event::LegEnded {
            client, request, how: LegEnd::Broken
        }),
        1 => (client.clone(), request, any::<bool>()).prop_map(|(client, request, rule)| {
            Event::SessionLost {
                client, request, session: String::new(),
                by: if rule { DetectedBy::Gap } else { DetectedBy::NotFound },
                detail: String::new(), in_flight: 1,
            }
        }),
        1 => (client.clone(), 0..3_u32).prop_map(|(client, call)| Event::CallStarted { client, call }),
        1 => (client.clone(), 0..3_u32, 0..4_u32).prop_map(|(client, call, held)| Event::CallReplayed {
            client, call, from_part: 0, held
        }),
        1 => (client, 0..3_u32, vec(0..3_u32, 0..3)).prop_map(|(client, call, checks)| Event::CallEnded {
            client, call, report: CallReport::Success { checks }, parts: 0, restarts: 0
        }),
    ]
}

fn of_servers() -> impl Strategy<Value = Event> {
    let client = 0..2_u32;
    let request = 0..6_u32;
    let log = 0..4_u32;
    let position = prop_oneof![9 => 0..6_u64, 1 => Just(u64::MAX)];
    prop_oneof![
        1 => (0..3_u32, client.clone()).prop_map(|(incarnation, owner)| Event::SessionOpened {
            server: 0, session: String::new(), incarnation, owner, origin: Origin::Initialized
        }),
        1 => (0..3_u32, cause()).prop_map(|(incarnation, cause)| Event::SessionClosed {
            session: String::new(), incarnation, cause
        }),
        1 => (log.clone(), 0..3_u32, 0..3_u32).prop_map(|(log, incarnation, stream)| Event::LogOpened {
            log, incarnation, stream
        }),
        1 => (log.clone(), cause()).prop_map(|(log, cause)| Event::LogClosed { log, cause }),
        1 => (log.clone(), position.clone()).prop_map(|(log, last)| Event::Appended {
            log, first: last, last, first_id: None, last_id: None, kind: FrameKind::Part
        }),
        1 => (log.clone(), position.clone(), cause()).prop_map(|(log, through, cause)| Event::Evicted {
            log, through, cause
        }),
        3 => (client.clone(), request.clone(), proptest::option::of(log.clone()), position.clone()).prop_map(
            |(client, request, log, next)| Event::Attached {
                client, request, log, next, found: CursorFound::Known
            }),
        1 => (client.clone(), request, position.clone(), log, position).prop_map(
            |(client, request, sent, log, next)| Event::Rebased {
                client, request, sent, log, next, cause: Cause::CounterWrap
            }),
        1 => (client, 0..3_u32, 1..3_u32, vec(0..3_u32, 0..3)).prop_map(
            |(client, call, execution, checks)| Event::ExecutionStarted {
                client, call, execution, from_part: 0, checks
            }),
    ]
}

fn history(cursors: bool) -> impl Strategy<Value = Vec<Event>> {
    vec(prop_oneof![of_clients(cursors), of_servers()], 0..80)
}

fn judge(history: &[Event]) -> Verdicts {
    let mut oracle = Oracle::new();
    for (second, event) in (0..).zip(history) {
        oracle.observe(seconds(second), event);
    }
    oracle.finish(seconds(200))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn every_call_has_one_outcome_and_every_alarm_one_class(history in history(true)) {
        let Verdicts { run, calls, desyncs, restarts, .. } = judge(&history);
        prop_assert_eq!(
            run.calls,
            run.completed + run.recovered + run.failed + run.hung + run.wrong
        );
        prop_assert_eq!(run.calls as usize, calls.len());
        prop_assert!(run.censored <= run.hung);
        let alarms = history
            .iter()
            .filter(|event| matches!(event, Event::SessionLost { by, .. } if by.is_rule()))
            .count();
        prop_assert_eq!((run.true_alarms + run.false_alarms) as usize, alarms);
        prop_assert_eq!(run.restarts as usize, restarts.len());
        prop_assert!(run.desyncs <= run.resumes);
        prop_assert_eq!(run.desyncs as usize, desyncs.len());
    }

    #[test]
    fn harm_is_a_loss_and_detection_follows_exposure(history in history(true)) {
        let verdicts = judge(&history);
        for desync in &verdicts.desyncs {
            prop_assert_eq!(desync.harmful, desync.lost_at.is_some());
            if let Some(detection) = desync.detected {
                prop_assert!(detection.at >= desync.exposed_at);
            }
        }
        let harmful = verdicts.desyncs.iter().filter(|desync| desync.harmful).count();
        prop_assert!(verdicts.run.missed as usize <= harmful);
    }

    #[test]
    fn a_client_that_presents_no_cursor_is_never_desynchronised(history in history(false)) {
        let run = judge(&history).run;
        prop_assert_eq!((run.resumes, run.desyncs, run.missed), (0, 0, 0));
    }
}
