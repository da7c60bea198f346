use super::{Focus, Story};
use crate::observe::event::{
    CallReport, Cause, ClientNo, CursorFound, DetectedBy, Event, FrameKind, LegEnd, LogNo, Origin, Position, Purpose,
    RequestNo,
};
use crate::observe::verdict::Verdicts;
use crate::world::fault::{DisconnectMode, Fault, RecycleTo};
use crate::world::time::SimTime;

/// Entries as (milliseconds, host, event).
#[derive(Default)]
struct Log(Vec<(u64, &'static str, Event)>);

impl Log {
    fn at(&mut self, millis: u64, host: &'static str, event: Event) {
        self.0.push((millis, host, event));
    }

    fn get(&mut self, millis: u64, client: ClientNo, request: RequestNo, cursor: Option<&str>) {
        let cursor = cursor.map(str::to_owned);
        self.at(
            millis,
            "site-1",
            Event::RequestSent { client, request, purpose: Purpose::Listen, session: Some("s-3f".to_owned()), cursor },
        );
    }

    fn attach(
        &mut self,
        millis: u64,
        (client, request): (ClientNo, RequestNo),
        (log, next): (LogNo, Position),
        found: CursorFound,
    ) {
        let log = Some(log);
        self.at(millis, "server-1", Event::Attached { client, request, log, next, found });
    }

    fn answer(&mut self, millis: u64, client: ClientNo, request: RequestNo) {
        self.at(millis, "site-1", Event::Answered { client, request, status: 200, session: None });
    }

    fn frame(&mut self, millis: u64, client: ClientNo, request: RequestNo, id: u64) {
        self.at(
            millis,
            "site-1",
            Event::FrameReceived { client, request, id: Some(id.to_string()), kind: FrameKind::Part },
        );
    }

    fn append(&mut self, millis: u64, log: LogNo, (first, last): (Position, Position), id: u64) {
        self.at(
            millis,
            "server-1",
            Event::Appended { log, first, last, first_id: None, last_id: Some(id.to_string()), kind: FrameKind::Part },
        );
    }

    fn open(&mut self, millis: u64, client: ClientNo, life: u32, origin: Origin) {
        let (session, incarnation) = ("s-3f".to_owned(), life);
        self.at(millis, "server-1", Event::SessionOpened { server: 0, session, incarnation, owner: client, origin });
        self.at(millis, "server-1", Event::LogOpened { log: life, incarnation, stream: 0 });
    }

    fn tell(&self, focus: Focus) -> (String, Verdicts) {
        let mut text = Vec::new();
        let mut story = Story::new(&mut text, focus);
        for (millis, host, event) in &self.0 {
            story.tell(SimTime::from_micros(millis * 1000), host, event).unwrap();
        }
        let verdicts = story.finish(SimTime::from_micros(900_000_000)).unwrap();
        (String::from_utf8(text).unwrap(), verdicts)
    }
}

/// The incident: client 3 is cut off by an idle timeout, its session is recycled, it comes back with cursor 8412.
/// Client 5 listens all the while and notices nothing, because nothing happens to it.
fn incident(validating: bool) -> Log {
    let mut log = Log::default();
    log.open(0, 3, 1, Origin::Initialized);
    log.get(10, 3, 0, None);
    log.attach(20, (3, 0), (1, 0), CursorFound::Absent);
    log.answer(30, 3, 0);
    log.at(700_000, "site-1", Event::CallStarted { client: 3, call: 7 });
    log.at(
        700_020,
        "server-1",
        Event::ExecutionStarted { client: 3, call: 7, execution: 1, from_part: 0, checks: vec![1, 2, 3] },
    );
    for n in 0..5 {
        log.append(700_100 + n, 1, (n, n), 8408 + n);
        log.frame(700_200 + n, 3, 0, 8408 + n);
        log.frame(700_200 + n, 5, 0, n);
    }
    log.at(
        760_204,
        "gateway",
        Event::LegCut { client: 3, request: 0, cause: Cause::IdleTimeout, mode: DisconnectMode::CleanEnd },
    );
    log.at(760_224, "site-1", Event::LegEnded { client: 3, request: 0, how: LegEnd::Clean });
    log.at(
        760_300,
        "world",
        Event::FaultStruck { fault: Fault::SessionRecycle { client: 3, to: RecycleTo::Same }, took_effect: true },
    );
    log.append(760_290, 1, (5, 5), 8413);
    log.at(760_300, "server-1", Event::LogClosed { log: 1, cause: Cause::SessionRecycle });
    log.at(
        760_300,
        "server-1",
        Event::SessionClosed { session: "s-3f".to_owned(), incarnation: 1, cause: Cause::SessionRecycle },
    );
    log.open(760_300, 3, 2, Origin::Recycled);
    log.append(760_900, 2, (0, 15), 16);
    log.get(761_224, 3, 9, Some("8412"));
    log.attach(761_260, (3, 9), (2, 16), CursorFound::Ahead);
    log.answer(761_300, 3, 9);
    log.append(762_000, 2, (16, 16), 17);
    log.frame(762_040, 3, 9, 17);
    if validating {
        log.at(
            762_040,
            "site-1",
            Event::SessionLost {
                client: 3,
                request: 9,
                session: "s-3f".to_owned(),
                by: DetectedBy::Regression,
                detail: "expected 8413, got 17".to_owned(),
                in_flight: 1,
            },
        );
        log.at(762_140, "site-1", Event::CallReplayed { client: 3, call: 7, from_part: 2, held: 2 });
        log.at(
            762_160,
            "server-1",
            Event::ExecutionStarted { client: 3, call: 7, execution: 2, from_part: 2, checks: vec![1, 2, 3] },
        );
        log.at(
            762_200,
            "site-1",
            Event::SessionRestored { client: 3, session: "s-40".to_owned(), requests: 4, bytes: 2100 },
        );
    } else {
        log.frame(763_000, 3, 9, 18);
        log.frame(764_000, 3, 9, 19);
    }
    let report = if validating { CallReport::Success { checks: vec![1, 2, 3] } } else { CallReport::TimedOut };
    log.at(
        820_000,
        "site-1",
        Event::CallEnded {
            client: 3,
            call: 7,
            report,
            parts: if validating { 3 } else { 2 },
            restarts: validating.into(),
        },
    );
    log.at(900_000, "world", Event::Horizon);
    log
}

#[test]
fn the_incident_as_a_trusting_client_lives_it() {
    let (text, _) = incident(false).tell(Focus::client(3));
    for literal in ["Last-Event-ID: 8412", "200", "id: 17"] {
        assert!(text.contains(literal), "{literal} is not in\n{text}");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn the_incident_as_a_validating_client_lives_it() {
    let (text, _) = incident(true).tell(Focus::client(3));
    insta::assert_snapshot!(text);
}

#[test]
fn the_affected_clients_are_those_of_the_verdicts() {
    let log = incident(false);
    let (all, verdicts) = log.tell(Focus::All);
    assert!(all.contains("client 5 receives 5 events, ids 0 to 4"));
    let (affected, _) = log.tell(Focus::affected(&verdicts));
    assert_eq!(affected, log.tell(Focus::client(3)).0);
}

#[test]
fn faults_that_hit_everybody_are_told_whatever_the_focus() {
    let mut log = Log::default();
    let fault =
        Fault::ServerShutdown { server: 0, down_s: crate::world::time::Seconds::new(5), keep: Default::default() };
    let took_effect = true;
    log.at(1_000, "world", Event::FaultStruck { fault, took_effect });
    let fault = Fault::CounterWrap { client: 3 };
    log.at(2_000, "world", Event::FaultStruck { fault, took_effect });
    let (text, _) = log.tell(Focus::client(8));
    assert_eq!(text, "       1.000 s  world     fault strikes: server-shutdown (server 0, down for 5 s)\n");
}
