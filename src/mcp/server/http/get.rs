//! GET: the standalone stream, or the resumption of any stream (2025-11-25, transports, "Listening for Messages from
//! the Server", "Resumability and Redelivery").

use std::rc::Rc;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use super::{Answer, Refusal, Reply, accepts, event_stream, session_of};
use crate::mcp::server::Server;
use crate::mcp::server::leg::Leg;
use crate::mcp::server::resume::{Judged, judge};
use crate::mcp::server::session::Activity;
use crate::mcp::server::settings::{CursorAnswer, FreshGet, GetSlot};
use crate::mcp::server::stream::{Place, SharedStream};
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
    let opening = Opening { server, tag, activity: &session.activity, standalone: session.standalone() };
    // An empty id is the absence of one (WHATWG HTML, "Server-sent events": the last event ID string).
    let cursor = headers.get(LAST_EVENT_ID).filter(|id| !id.is_empty());
    let judged = match cursor {
        None => return opening.fresh(),
        Some(cursor) => match cursor.to_str() {
            Ok(cursor) => judge(&server.base, &session, cursor),
            Err(_) => Judged::Lost(CursorFound::Unknown, session.standalone().clone()),
        },
    };
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

/// A leg about to be opened.
struct Opening<'a> {
    server: &'a Server,
    tag: RequestTag,
    activity: &'a Rc<Activity>,
    standalone: &'a SharedStream,
}

impl Opening<'_> {
    fn fresh(&self) -> Answer {
        let settings = &self.server.base.settings;
        let stream = self.standalone.clone();
        self.check_slot(&stream)?;
        let greeting = stream.borrow_mut().greeting(settings.priming, true);
        if self.is_shadow(&stream) {
            return self.silent(CursorFound::Absent, greeting);
        }
        let place = match settings.fresh_get {
            FreshGet::Live => stream.borrow_mut().live(),
            FreshGet::Oldest => stream.borrow_mut().oldest(),
        };
        self.attach(stream, place, CursorFound::Absent, greeting)
    }

    fn resumed(&self, stream: SharedStream, place: Place, found: CursorFound, greeting: Option<Bytes>) -> Answer {
        self.check_slot(&stream)?;
        if self.is_shadow(&stream) {
            return self.silent(found, None);
        }
        self.attach(stream, place, found, greeting)
    }

    /// A cursor that cannot be honoured gets the answer that the settings choose.
    fn lost(&self, found: CursorFound, stream: SharedStream, answer: CursorAnswer) -> Answer {
        let settings = &self.server.base.settings;
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
                self.report_answered(found);
                Ok(event_stream(Reply::Whole(Bytes::new())))
            }
            CursorAnswer::Silent => self.silent(found, None),
            CursorAnswer::Reject => {
                Err(Refusal::new(StatusCode::BAD_REQUEST, "this server cannot resume after that event"))
            }
        }
    }

    fn attach(&self, stream: SharedStream, place: Place, found: CursorFound, greeting: Option<Bytes>) -> Answer {
        let leg = Leg::attach(&self.server.base, self.activity, self.tag, stream, place, found);
        Ok(event_stream(Reply::Leg(leg.greeted(greeting))))
    }

    fn silent(&self, found: CursorFound, greeting: Option<Bytes>) -> Answer {
        let leg = Leg::silent(&self.server.base, self.activity, self.tag, found);
        Ok(event_stream(Reply::Leg(leg.greeted(greeting))))
    }

    fn report_answered(&self, found: CursorFound) {
        let RequestTag { client, request } = self.tag;
        self.server.base.report(Event::Attached { client, request, log: None, next: 0, found });
        self.server.base.report(Event::Detached { client, request, why: "answered".to_owned() });
    }

    /// Whether a leg on `stream` would be a second one beside the first. On a POST stream the newer leg takes over.
    fn is_shadow(&self, stream: &SharedStream) -> bool {
        self.server.base.settings.get_slot == GetSlot::Shadow
            && Rc::ptr_eq(stream, self.standalone)
            && stream.borrow().is_held()
    }

    /// Only the standalone stream can refuse a second leg; on a POST stream the newer leg takes over.
    fn check_slot(&self, stream: &SharedStream) -> Result<(), Refusal> {
        let refuses = self.server.base.settings.get_slot == GetSlot::Conflict
            && Rc::ptr_eq(stream, self.standalone)
            && stream.borrow().is_held();
        match refuses {
            true => Err(Refusal::new(StatusCode::CONFLICT, "the session's stream is open already")),
            false => Ok(()),
        }
    }
}
