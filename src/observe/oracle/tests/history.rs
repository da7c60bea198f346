//! A small language for histories: what hosts report, one short line each.

use crate::observe::event::{
    CallReport, Cause, ClientNo, CursorFound, DetectedBy, Event, FrameKind, LegEnd, LogNo, Origin, Position, Purpose,
    RequestNo,
};
use crate::observe::oracle::Oracle;
use crate::observe::verdict::{DesyncVerdict, Verdicts};
use crate::world::time::SimTime;

/// The client that most histories are about.
pub const ME: ClientNo = 0;
/// Another tenant.
pub const OTHER: ClientNo = 9;

/// An oracle and what it is told. Times are whole seconds.
pub struct History {
    oracle: Oracle,
    now: SimTime,
    next_request: RequestNo,
}

pub fn seconds(seconds: u64) -> SimTime {
    SimTime::from_micros(seconds * 1_000_000)
}

impl History {
    pub fn new() -> History {
        History { oracle: Oracle::new(), now: SimTime::ZERO, next_request: 0 }
    }

    /// My session's life 1 with stream life 1; my GET stream has brought three events, `8410` to `8412`, at positions 0
    /// to 2.
    pub fn listening() -> History {
        let mut history = History::new();
        history.life(1, ME).log(1, 1, 0);
        let leg = history.open(Purpose::Listen, Some((1, 0)));
        history.append(1, 0, 2);
        history.data(leg, "8410").data(leg, "8411").data(leg, "8412");
        history
    }

    /// The same, and then the leg has ended at 10 s.
    pub fn cut_off() -> History {
        let mut history = History::listening();
        history.at(10).leg_ends(0);
        history
    }

    /// The same, and then at 20 s the session was torn down and recreated under its key: life 2 with stream life 2.
    pub fn recycled() -> History {
        let mut history = History::cut_off();
        history.at(20).close(1, Cause::SessionRecycle);
        history.life(2, ME).log(2, 2, 0);
        history
    }

    pub fn at(&mut self, at: u64) -> &mut History {
        self.now = seconds(at);
        self
    }

    pub fn tell(&mut self, event: Event) -> &mut History {
        self.oracle.observe(self.now, &event);
        self
    }

    // ---- servers ----

    pub fn life(&mut self, incarnation: u32, owner: ClientNo) -> &mut History {
        self.tell(Event::SessionOpened {
            server: 0,
            session: "key".to_owned(),
            incarnation,
            owner,
            origin: Origin::Initialized,
        })
    }

    pub fn log(&mut self, log: LogNo, incarnation: u32, stream: u32) -> &mut History {
        self.tell(Event::LogOpened { log, incarnation, stream })
    }

    pub fn append(&mut self, log: LogNo, first: Position, last: Position) -> &mut History {
        self.tell(Event::Appended { log, first, last, first_id: None, last_id: None, kind: FrameKind::Part })
    }

    pub fn evict(&mut self, log: LogNo, through: Position, cause: Cause) -> &mut History {
        self.tell(Event::Evicted { log, through, cause })
    }

    pub fn close(&mut self, log: LogNo, cause: Cause) -> &mut History {
        self.tell(Event::LogClosed { log, cause })
    }

    pub fn rebase(&mut self, request: RequestNo, sent: u64, log: LogNo, next: Position) -> &mut History {
        self.tell(Event::Rebased { client: ME, request, sent, log, next, cause: Cause::CounterWrap })
    }

    pub fn execute(&mut self, execution: u32, from_part: u32, checks: &[u32]) -> &mut History {
        self.tell(Event::ExecutionStarted { client: ME, call: 0, execution, from_part, checks: checks.to_vec() })
    }

    // ---- the client ----

    /// A request without a cursor, answered 200 with a leg.
    pub fn open(&mut self, purpose: Purpose, attached: Option<(LogNo, Position)>) -> RequestNo {
        self.request(purpose, None, 200, Some(attached))
    }

    /// A request with a cursor, answered 200 with a leg.
    pub fn resume(&mut self, cursor: &str, attached: Option<(LogNo, Position)>) -> RequestNo {
        self.request(Purpose::Listen, Some(cursor), 200, Some(attached))
    }

    pub fn request(
        &mut self,
        purpose: Purpose,
        cursor: Option<&str>,
        status: u16,
        leg: Option<Option<(LogNo, Position)>>,
    ) -> RequestNo {
        let request = self.next_request;
        self.next_request += 1;
        self.tell(Event::RequestSent {
            client: ME,
            request,
            purpose,
            session: None,
            cursor: cursor.map(str::to_owned),
        });
        if let Some(attached) = leg {
            self.tell(Event::Attached {
                client: ME,
                request,
                log: attached.map(|(log, _)| log),
                next: attached.map_or(0, |(_, next)| next),
                found: CursorFound::Unknown,
            });
        }
        self.tell(Event::Answered { client: ME, request, status, session: None });
        request
    }

    pub fn data(&mut self, request: RequestNo, id: &str) -> &mut History {
        self.frame(request, id, FrameKind::Part)
    }

    pub fn primer(&mut self, request: RequestNo, id: &str) -> &mut History {
        self.frame(request, id, FrameKind::Priming)
    }

    fn frame(&mut self, request: RequestNo, id: &str, kind: FrameKind) -> &mut History {
        self.tell(Event::FrameReceived { client: ME, request, id: Some(id.to_owned()), kind })
    }

    pub fn leg_ends(&mut self, request: RequestNo) -> &mut History {
        self.tell(Event::LegEnded { client: ME, request, how: LegEnd::Clean })
    }

    pub fn alarm(&mut self, request: RequestNo, by: DetectedBy) -> &mut History {
        self.tell(Event::SessionLost {
            client: ME,
            request,
            session: "key".to_owned(),
            by,
            detail: String::new(),
            in_flight: 1,
        })
    }

    pub fn call(&mut self) -> &mut History {
        self.tell(Event::CallStarted { client: ME, call: 0 })
    }

    pub fn replay(&mut self, from_part: u32, held: u32) -> &mut History {
        self.tell(Event::CallReplayed { client: ME, call: 0, from_part, held })
    }

    pub fn restored(&mut self, requests: u32, bytes: u64) -> &mut History {
        self.tell(Event::SessionRestored { client: ME, session: "new".to_owned(), requests, bytes })
    }

    pub fn success(&mut self, checks: &[u32], restarts: u32) -> &mut History {
        let report = CallReport::Success { checks: checks.to_vec() };
        self.call_ends(report, u32::try_from(checks.len()).unwrap(), restarts)
    }

    pub fn call_ends(&mut self, report: CallReport, parts: u32, restarts: u32) -> &mut History {
        self.tell(Event::CallEnded { client: ME, call: 0, report, parts, restarts })
    }

    // ---- the end ----

    pub fn verdicts(self) -> Verdicts {
        self.oracle.finish(seconds(100))
    }

    /// What the oracle holds besides the rows of what has ended, as the length of its debug text.
    pub fn held(&self) -> usize {
        format!("{:?}", self.oracle.resumes).len()
    }

    /// The verdicts' one desync.
    pub fn desync(self) -> DesyncVerdict {
        let desyncs = self.verdicts().desyncs;
        assert_eq!(desyncs.len(), 1, "{desyncs:#?}");
        desyncs.into_iter().next().unwrap()
    }

    /// True alarms, false alarms, missed.
    pub fn alarms(self) -> (u32, u32, u32) {
        let run = self.verdicts().run;
        (run.true_alarms, run.false_alarms, run.missed)
    }
}
