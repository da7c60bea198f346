use super::history::{History, ME, seconds};
use crate::observe::event::{Cause, Event, Purpose};
use crate::observe::verdict::FaultOrigin;
use crate::world::fault::{DisconnectMode, Fault, StallLink};
use crate::world::time::Seconds;

fn stall() -> Fault {
    Fault::Stall { link: StallLink::Sites, duration_s: Seconds::new(5) }
}

fn struck(fault: Fault, took_effect: bool) -> Event {
    Event::FaultStruck { fault, took_effect }
}

fn cut(cause: Cause) -> Event {
    Event::LegCut { client: ME, request: 0, cause, mode: DisconnectMode::CleanEnd }
}

/// Name, from and to of each fault.
fn faults(history: History) -> Vec<(&'static str, u64, u64)> {
    history
        .verdicts()
        .faults
        .iter()
        .map(|fault| (fault.fault, fault.from.as_micros() / 1_000_000, fault.to.as_micros() / 1_000_000))
        .collect()
}

#[test]
fn a_fault_with_a_duration_lasts_until_it_is_over_or_the_run_is() {
    let mut history = History::new();
    history.at(10).tell(struck(stall(), true));
    history.at(15).tell(Event::FaultOver { fault: stall() });
    history.at(98).tell(struck(stall(), true));
    assert_eq!(faults(history), [("stall", 10, 15), ("stall", 98, 100)]);
}

#[test]
fn a_run_is_vacuous_unless_a_fault_took_effect() {
    let mut history = History::new();
    history.tell(struck(Fault::CounterWrap { client: ME }, false));
    assert!(history.verdicts().run.vacuous);
    let mut history = History::new();
    history.tell(struck(Fault::CounterWrap { client: ME }, true));
    assert!(!history.verdicts().run.vacuous);
}

#[test]
fn cuts_by_the_gateways_settings_are_emergent_and_scheduled_ones_are_not_counted_twice() {
    let mut history = History::new();
    history.at(3).tell(cut(Cause::IdleTimeout)).tell(cut(Cause::Disconnect));
    history.at(4).tell(cut(Cause::MaxLife));
    let verdicts = history.verdicts();
    assert!(verdicts.faults.iter().all(|fault| fault.origin == FaultOrigin::Emergent));
    let names: Vec<_> = verdicts.faults.iter().map(|fault| fault.fault).collect();
    assert_eq!(names, ["idle-timeout", "max-life"]);
}

#[test]
fn a_reaped_session_is_a_fault_of_its_owner() {
    let mut history = History::listening();
    history.at(7).tell(Event::SessionClosed { session: "key".to_owned(), incarnation: 1, cause: Cause::SessionIdle });
    let fault = history.verdicts().faults.remove(0);
    assert_eq!((fault.fault, fault.client, fault.from), ("session-idle", Some(ME), seconds(7)));
}

#[test]
fn an_eviction_is_a_fault_once_a_client_comes_back_for_what_is_gone() {
    let mut history = History::cut_off();
    history.append(1, 3, 9).at(15).evict(1, 3, Cause::Churn);
    history.at(16).evict(1, 6, Cause::Churn);
    let leg = history.at(30).resume("8412", Some((1, 7)));
    history.data(leg, "8417");
    assert_eq!(faults(history), [("churn", 15, 15)]);
}

#[test]
fn an_eviction_bites_a_client_that_asks_for_a_fresh_stream_too() {
    let mut history = History::cut_off();
    history.append(1, 3, 9).at(15).evict(1, 3, Cause::Expired);
    history.at(30).open(Purpose::Listen, Some((1, 10)));
    assert_eq!(faults(history), [("expired", 15, 15)]);
}

#[test]
fn an_eviction_bites_a_client_that_never_comes_back() {
    let mut history = History::cut_off();
    history.append(1, 3, 9).at(15).evict(1, 3, Cause::Churn);
    assert_eq!(faults(history), [("churn", 15, 15)]);
}

#[test]
fn an_eviction_of_what_was_consumed_or_is_on_its_way_is_no_fault() {
    let mut history = History::listening();
    history.evict(1, 2, Cause::Churn);
    history.append(1, 3, 3).evict(1, 3, Cause::Churn).data(0, "8413");
    history.append(1, 4, 4).evict(1, 4, Cause::Churn);
    assert!(history.verdicts().faults.is_empty());
}

#[test]
fn a_truncation_is_in_the_schedule_and_not_an_emergent_fault() {
    let mut history = History::cut_off();
    history.append(1, 3, 9).evict(1, 6, Cause::BufferTruncate);
    let leg = history.at(30).resume("8412", Some((1, 7)));
    history.data(leg, "8417");
    let verdicts = history.verdicts();
    assert!(verdicts.faults.is_empty());
    assert_eq!(verdicts.desyncs[0].fault, Some(Cause::BufferTruncate));
}
