use super::history::{History, ME};
use crate::observe::event::{Cause, Event, Purpose};

#[test]
fn what_is_closed_is_forgotten() {
    let mut history = History::new();
    history.life(1, ME).log(1, 1, 0);
    let mut previous = history.open(Purpose::Listen, Some((1, 0)));
    let mut after_the_first = None;
    for round in 1..=50_u32 {
        history.append(1, round.into(), round.into());
        history
            .data(previous, &round.to_string())
            .leg_ends(previous);
        previous = history.resume(&round.to_string(), Some((1, u64::from(round))));
        history.tell(Event::CallStarted {
            client: ME,
            call: round,
        });
        history.log(100 + round, 1, round);
        let leg = history.open(Purpose::Call { call: round }, Some((100 + round, 0)));
        history.data(leg, "1").close(100 + round, Cause::Finished);
        history.tell(Event::CallEnded {
            client: ME,
            call: round,
            report: crate::observe::event::CallReport::TimedOut,
            parts: 1,
            restarts: 0,
        });
        let now = history.held();
        // Numbers grow by a digit or two; a leg or a log kept would add hundreds of characters a round.
        assert!(
            now < after_the_first.get_or_insert(now).saturating_add(200),
            "round {round}"
        );
    }
}
