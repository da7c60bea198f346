//! What is known of one client of the SDK from its requests: one of these lives as long as one transport of the SDK.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use http::{HeaderValue, StatusCode};
use hyper::body::Incoming;
use hyper::{Request, Response};
use rmcp::model::RequestId;

use super::purpose::Outgoing;
use super::record::Record;
use super::streams::{Carries, StreamNo, Streams};
use crate::mcp::client::stream::detected_by;
use crate::mcp::sdk::guard::{Cause, Finding};
use crate::mcp::wire::header::{REQUEST_ID, RequestTag, SESSION_ID};
use crate::observe::event::{CallNo, DetectedBy, Event, Purpose, RequestNo};

/// The requests of calls whose cancellation may still come. An answered call is never cancelled, and nothing says at the
/// boundary of the SDK that it is answered, so the oldest are forgotten.
const CALLS_KEPT: usize = 256;

/// One client of the SDK, seen from its HTTP backend.
pub struct Connection {
    pub(super) record: Rc<Record>,
    pub(super) streams: RefCell<Streams>,
    calls: RefCell<Vec<(RequestId, CallNo)>>,
    /// What has last been heard from the server, on a leg or as an answer: what a verdict of the guard is about.
    heard: Cell<Heard>,
    /// The cursor of the stream that has just brought an event that is too long.
    oversized: RefCell<Option<Option<String>>>,
}

impl Connection {
    /// A client of the SDK that has sent nothing.
    pub fn new(record: Rc<Record>) -> Connection {
        Connection {
            record,
            streams: RefCell::default(),
            calls: RefCell::default(),
            heard: Cell::default(),
            oversized: RefCell::default(),
        }
    }

    // ---- requests ----

    /// What a POST is for. A `tools/call` is noted, so that its cancellation is known for one.
    pub(super) fn purpose_of(&self, outgoing: &Outgoing) -> Purpose {
        match outgoing {
            Outgoing::Open => Purpose::Initialize,
            Outgoing::Initialized => Purpose::Initialized,
            Outgoing::ListTools => Purpose::ListTools,
            Outgoing::Call { id, arguments } => {
                let mut calls = self.calls.borrow_mut();
                calls.retain(|(known, _)| known != id);
                if calls.len() == CALLS_KEPT {
                    calls.remove(0);
                }
                calls.push((id.clone(), arguments.call));
                Purpose::Call { call: arguments.call }
            }
            Outgoing::Cancelled { id } => {
                let calls = self.calls.borrow();
                let call = calls.iter().find(|(known, _)| Some(known) == id.as_ref());
                call.map_or(Purpose::Other, |(_, call)| Purpose::Cancel { call: *call })
            }
            Outgoing::Other => Purpose::Other,
        }
    }

    /// The stream that a GET opens or resumes, and what the GET is for.
    pub(super) fn stream_of(&self, cursor: Option<&str>, session: Option<&str>) -> (StreamNo, Purpose) {
        let mut streams = self.streams.borrow_mut();
        let resumed = cursor.and_then(|cursor| streams.resumed(cursor, session));
        resumed.unwrap_or_else(|| (streams.open(Carries::Standalone, session), Purpose::Listen))
    }

    /// Tags `request` and tells the log that it leaves.
    pub(super) fn leaves<B>(
        &self,
        request: &mut Request<B>,
        purpose: Purpose,
        session: Option<&str>,
        cursor: Option<&str>,
    ) -> InProgress {
        let tag = self.record.take_tag();
        let value = HeaderValue::try_from(tag.to_string()).expect("a tag is visible ASCII");
        request.headers_mut().insert(REQUEST_ID, value);
        self.record.report(Event::RequestSent {
            client: tag.client,
            request: tag.request,
            purpose,
            session: session.map(str::to_owned),
            cursor: cursor.map(str::to_owned),
        });
        InProgress { record: self.record.clone(), tag, purpose, is_over: false }
    }

    // ---- sessions ----

    /// The guard has found a stream lost. It judges within the poll of the leg, and right after the answer, that it is
    /// about.
    pub(super) fn found(&self, finding: &Finding) {
        let Some(session) = &finding.session else { return };
        let Heard { request, status } = self.heard.get();
        let by = match &finding.cause {
            Cause::Desync(desync) => detected_by(desync),
            Cause::Refused { .. } if status == Some(StatusCode::NOT_FOUND) => DetectedBy::NotFound,
            Cause::Refused { .. } => DetectedBy::Refused,
        };
        self.record.lose_session(session, request, by, finding.cause.to_string());
    }

    /// The leg of `tag` is polled.
    pub(super) fn listens(&self, tag: RequestTag) {
        self.heard.set(Heard { request: tag.request, status: None });
    }

    /// `tag` has been answered.
    pub(super) fn hears(&self, tag: RequestTag, status: StatusCode) {
        self.heard.set(Heard { request: tag.request, status: Some(status) });
    }

    /// A POST that wants an answer has been answered 404 in `session`.
    pub(super) fn not_found(&self, session: &str, tag: RequestTag) {
        self.record.lose_session(session, tag.request, DetectedBy::NotFound, "the session is answered 404".to_owned());
    }

    // ---- events that are too long ----

    /// The SDK opens no stream again that has brought an event that is too long, but it knows so only of its stock
    /// backends: the error is a private type of theirs. Of any other backend's it knows the attempt that follows at
    /// once, within the same poll. That one is told what ends it.
    pub(super) fn oversized(&self, stream: StreamNo) {
        let streams = self.streams.borrow();
        if streams.is_resumable(stream) {
            *self.oversized.borrow_mut() = Some(streams.cursor(stream));
        }
    }

    /// Whether a GET with `cursor` is that attempt.
    pub(super) fn is_given_up(&self, cursor: Option<&str>) -> bool {
        let mut oversized = self.oversized.borrow_mut();
        let is_it = oversized.as_ref().is_some_and(|given_up| given_up.as_deref() == cursor);
        if is_it {
            *oversized = None;
        }
        is_it
    }
}

/// Something heard from the server.
#[derive(Clone, Copy, Default)]
struct Heard {
    request: RequestNo,
    /// None where it was on a leg.
    status: Option<StatusCode>,
}

/// A request that has left and has no answer yet.
pub struct InProgress {
    record: Rc<Record>,
    tag: RequestTag,
    purpose: Purpose,
    is_over: bool,
}

impl InProgress {
    /// The status line and the headers of its answer have come.
    pub fn answered(mut self, response: &Response<Incoming>) -> RequestTag {
        self.is_over = true;
        let key = response.headers().get(SESSION_ID).and_then(|key| key.to_str().ok());
        self.record.report(Event::Answered {
            client: self.tag.client,
            request: self.tag.request,
            status: response.status().as_u16(),
            session: key.filter(|_| self.purpose == Purpose::Initialize).map(str::to_owned),
        });
        self.tag
    }

    /// No answer will come.
    pub fn unanswered(mut self, why: String) {
        self.report_unanswered(why);
    }

    fn report_unanswered(&mut self, why: String) {
        if !self.is_over {
            self.is_over = true;
            let RequestTag { client, request } = self.tag;
            self.record.report(Event::Unanswered { client, request, why });
        }
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        self.report_unanswered("the client gave it up".to_owned());
    }
}
