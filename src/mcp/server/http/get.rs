//! GET: the standalone stream, or the resumption of any stream (2025-11-25, transports, "Listening for Messages from
//! the Server", "Resumability and Redelivery").

use std::rc::Rc;

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};

use super::{Answer, Refusal, Reply, accepts, event_stream, session_of, whole};
use crate::mcp::server::Server;
use crate::mcp::server::leg::Leg;
use crate::mcp::server::resume::{Judged, judge};
use crate::mcp::server::session::Activity;
use crate::mcp::server::settings::{
    BusyCursor, CursorAnswer, ForeignCursor, FreshGet, FreshGetAnswer, GetPriming, GetSlot, ResumedLegEnds,
    ServerSettings,
};
use crate::mcp::server::stream::{Place, SharedStream, State};
use crate::mcp::wire::header::{EVENT_STREAM, LAST_EVENT_ID, RequestTag};
use crate::observe::event::{CursorFound, Event};

/// Answers a GET.
pub fn answer(server: &Rc<Server>, headers: &HeaderMap) -> Answer {
    if !accepts(headers, EVENT_STREAM) {
        return Err(Refusal::new(StatusCode::NOT_ACCEPTABLE, "expected an Accept header with text/event-stream"));
    }
    let (session, tag) = session_of(server, headers)?;
    session.borrow().trim();
    let session = session.borrow();
    let settings = &server.base.settings;
    // An empty id is the absence of one (WHATWG HTML, "Server-sent events": the last event ID string).
    let cursor = headers.get(LAST_EVENT_ID).filter(|id| !id.is_empty());
    let number = cursor.and_then(|cursor| server.base.ids.parse(cursor.to_str().ok()?)).map(|id| id.number);
    let opening = Opening { server, tag, activity: &session.activity, standalone: session.standalone(), number };
    let judged = match cursor {
        None => return opening.fresh(CursorFound::Absent),
        Some(cursor) => match cursor.to_str() {
            Ok(cursor) => match judge(&server.base, &session, cursor) {
                Judged::Lost(CursorFound::Unknown, standalone) if settings.foreign_cursor == ForeignCursor::Deliver => {
                    foreign(server, cursor).unwrap_or(Judged::Lost(CursorFound::Unknown, standalone))
                }
                judged => judged,
            },
            Err(_) => Judged::Lost(CursorFound::Unknown, session.standalone().clone()),
        },
    };
    if let Some(answer) = settings.standalone_cursor
        && let Some(found) = judged.of(session.standalone())
    {
        return opening.lost(found, session.standalone().clone(), answer);
    }
    match judged {
        Judged::Known(stream, place, primer) => opening.resumed(stream, place, CursorFound::Known, primer),
        Judged::Next(stream) => {
            let answer = settings.next_cursor.unwrap_or(settings.ahead_cursor);
            opening.lost(CursorFound::Ahead, stream, answer)
        }
        Judged::Lost(found, stream) => {
            let answer = match found {
                CursorFound::Purged => settings.purged_cursor,
                CursorFound::Ahead => settings.ahead_cursor,
                CursorFound::Unknown | CursorFound::Absent | CursorFound::Known => settings.unknown_cursor,
            };
            opening.lost(found, stream, answer)
        }
    }
}

/// The stream of any session that knows `cursor`.
fn foreign(server: &Server, cursor: &str) -> Option<Judged> {
    let table = server.table.borrow();
    table.sessions().find_map(|session| {
        // The session that asks is borrowed too: both only read.
        match judge(&server.base, &session.borrow(), cursor) {
            known @ Judged::Known(..) => Some(known),
            Judged::Next(_) | Judged::Lost(..) => None,
        }
    })
}

/// A leg about to be opened.
struct Opening<'a> {
    server: &'a Server,
    tag: RequestTag,
    activity: &'a Rc<Activity>,
    standalone: &'a SharedStream,
    /// The cursor's number, where it is an id of this server.
    number: Option<u64>,
}

impl Opening<'_> {
    /// What a GET without a cursor is answered with; `found` is what became of the cursor where there is one.
    fn fresh(&self, found: CursorFound) -> Answer {
        let settings = self.settings();
        match settings.fresh_get_answer {
            FreshGetAnswer::Stream => {}
            FreshGetAnswer::NotAllowed => {
                return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "there is no standalone stream here"));
            }
            FreshGetAnswer::Accepted => return Ok(whole(StatusCode::ACCEPTED, Bytes::new())),
        }
        let stream = self.standalone.clone();
        self.check_slot(&stream)?;
        let priming = settings.priming && settings.get_priming != GetPriming::None;
        let greeting = stream.borrow_mut().greeting(priming, true);
        if self.is_shadow(&stream) {
            return self.silent(found, greeting);
        }
        let place = match settings.fresh_get {
            FreshGet::Live => stream.borrow_mut().live(),
            FreshGet::Oldest => stream.borrow_mut().oldest(),
        };
        self.attach(stream, place, found, greeting)
    }

    fn resumed(&self, stream: SharedStream, place: Place, found: CursorFound, greeting: Option<Bytes>) -> Answer {
        match self.settings().busy_cursor.filter(|_| stream.borrow().is_held()) {
            Some(BusyCursor::Conflict) => return Err(Refusal::busy()),
            Some(BusyCursor::EmptyClosed) => return Ok(self.empty_closed(found)),
            None => self.check_slot(&stream)?,
        }
        if self.is_shadow(&stream) {
            return self.silent(found, None);
        }
        let stays_open = match self.settings().resumed_leg_ends {
            ResumedLegEnds::AfterResponse => false,
            ResumedLegEnds::AfterLiveResponse => stream.borrow().state() != State::Open,
            ResumedLegEnds::Never => true,
        };
        let afterword = self.settings().resume_primer.then(|| stream.borrow_mut().greeting(true, false)).flatten();
        let leg = self.leg(stream, place, found).greeted(greeting).followed_by(afterword);
        Ok(event_stream(Reply::Leg(leg.staying_open(stays_open))))
    }

    /// A cursor that cannot be honoured gets the answer that the settings choose.
    fn lost(&self, found: CursorFound, stream: SharedStream, answer: CursorAnswer) -> Answer {
        let settings = self.settings();
        let is_known = found != CursorFound::Unknown;
        if is_known && self.is_shadow(&stream) {
            return self.silent(found, None);
        }
        let of_empty = settings.empty_buffer_cursor.filter(|_| is_known && stream.borrow().is_empty());
        match of_empty.unwrap_or(answer) {
            CursorAnswer::Oldest => {
                let place = stream.borrow_mut().oldest();
                self.resumed(stream, place, found, None)
            }
            CursorAnswer::Live => {
                let place = stream.borrow_mut().live();
                self.resumed(stream, place, found, None)
            }
            CursorAnswer::Primer => {
                self.check_slot(&stream)?;
                let (greeting, place) = {
                    let mut stream = stream.borrow_mut();
                    (stream.greeting(true, false), stream.live())
                };
                self.attach(stream, place, found, greeting)
            }
            CursorAnswer::EmptyClosed => {
                if is_known && settings.failed_resume_ends_leg {
                    stream.borrow_mut().expel();
                }
                Ok(self.empty_closed(found))
            }
            CursorAnswer::Silent => self.silent(found, None),
            CursorAnswer::Fresh => self.fresh(found),
            CursorAnswer::Adopt => {
                if let Some(number) = self.number {
                    stream.borrow().numbering().adopt(number);
                }
                let place = stream.borrow_mut().live();
                self.resumed(stream, place, found, None)
            }
            CursorAnswer::Accepted => Ok(whole(StatusCode::ACCEPTED, Bytes::new())),
            CursorAnswer::Reject => {
                Err(Refusal::new(StatusCode::BAD_REQUEST, "this server cannot resume after that event"))
            }
            CursorAnswer::Gone => Err(Refusal::new(StatusCode::GONE, "what followed that event is gone")),
        }
    }

    fn attach(&self, stream: SharedStream, place: Place, found: CursorFound, greeting: Option<Bytes>) -> Answer {
        Ok(event_stream(Reply::Leg(self.leg(stream, place, found).greeted(greeting))))
    }

    fn leg(&self, stream: SharedStream, place: Place, found: CursorFound) -> Leg {
        Leg::attach(&self.server.base, self.activity, self.tag, stream, place, found)
    }

    fn settings(&self) -> &ServerSettings {
        &self.server.base.settings
    }

    fn silent(&self, found: CursorFound, greeting: Option<Bytes>) -> Answer {
        let leg = Leg::silent(&self.server.base, self.activity, self.tag, found);
        Ok(event_stream(Reply::Leg(leg.greeted(greeting))))
    }

    /// 200, an empty body, closed at once.
    fn empty_closed(&self, found: CursorFound) -> Response<Reply> {
        let RequestTag { client, request } = self.tag;
        self.server.base.report(Event::Attached { client, request, log: None, next: 0, found });
        self.server.base.report(Event::Detached { client, request, why: "answered".to_owned() });
        event_stream(Reply::Whole(Bytes::new()))
    }

    /// Whether a leg on `stream` would be a second one beside the first. On a POST stream the newer leg takes over.
    fn is_shadow(&self, stream: &SharedStream) -> bool {
        self.settings().get_slot == GetSlot::Shadow && Rc::ptr_eq(stream, self.standalone) && stream.borrow().is_held()
    }

    /// Only the standalone stream can refuse a second leg; on a POST stream the newer leg takes over.
    fn check_slot(&self, stream: &SharedStream) -> Result<(), Refusal> {
        let refuses = self.settings().get_slot == GetSlot::Conflict
            && Rc::ptr_eq(stream, self.standalone)
            && stream.borrow().is_held();
        match refuses {
            true => Err(Refusal::busy()),
            false => Ok(()),
        }
    }
}
