//! One logical stream as the client reads it, over all its legs.

use std::rc::Rc;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use super::Client;
use super::leg::Leg;
use super::request::{Answered, Outgoing};
use crate::cursor::{Desync, Step, Validator};
use crate::mcp::net::Dial;
use crate::mcp::wire::message::{Incoming, Progress, RpcId};
use crate::mcp::wire::sse::{self, Item};
use crate::observe::event::{DetectedBy, Event, FrameKind, LegEnd, Purpose};

/// The longest reconnection time that a client takes from a server.
const MAX_RETRY: Duration = Duration::from_secs(3600);

/// One logical stream: its cursor, its rules and its delays outlive its legs.
pub struct LogicalStream {
    purpose: Purpose,
    validator: Validator,
    /// The server's reconnection time, which replaces the client's own (WHATWG HTML, 9.2.3).
    retry: Option<Duration>,
    /// Attempts in a row that were not answered 200.
    failures: u32,
}

/// Why a stream is no longer read.
pub enum StreamEnd {
    /// The session is known to be lost.
    SessionLost,
    /// There is nothing to resume, or the server offers no stream: the reason in words.
    Over(String),
}

impl<D: Dial> Client<D> {
    /// A stream that no leg has carried yet. Resumed legs are requested for `purpose`.
    pub(super) fn logical_stream(&self, purpose: Purpose) -> LogicalStream {
        LogicalStream { purpose, validator: self.policy.validator(), retry: None, failures: 0 }
    }

    /// Opens the stream, and again whenever it breaks, until the session is lost or nothing can be resumed.
    pub(super) async fn follow(
        self: &Rc<Self>,
        stream: &mut LogicalStream,
        session: &str,
        generation: u32,
    ) -> StreamEnd {
        loop {
            let cursor = self.cursor_of(stream);
            let resumed = cursor.is_some();
            match self.send(stream.purpose, Some(session), Outgoing::Stream(cursor)).await {
                Ok(Answered { tag, answer }) => match answer.status() {
                    200 if answer.is_event_stream() => {
                        stream.failures = 0;
                        let leg = Leg::new(tag, answer.into_body(), self.witness.clone());
                        if let Err(end) = self.read_leg(stream, leg, resumed, generation).await {
                            return end;
                        }
                    }
                    404 => {
                        self.lose_session(generation, tag, DetectedBy::NotFound, "the session is answered 404".into());
                        return StreamEnd::SessionLost;
                    }
                    refusal @ (400 | 410) if resumed => {
                        let detail = format!("the cursor is answered {refusal}");
                        self.lose_session(generation, tag, DetectedBy::Refused, detail);
                        return StreamEnd::SessionLost;
                    }
                    // 409 frees itself, a proxy's 5xx passes, 429 asks for patience.
                    409 | 429 | 500..=599 => stream.failures += 1,
                    status => return StreamEnd::Over(format!("the stream is answered {status}")),
                },
                Err(_) => stream.failures += 1,
            }
            sleep(self.delay(stream)).await;
        }
    }

    /// Reads one leg to its end. An error means that the stream is over with it.
    pub(super) async fn read_leg(
        self: &Rc<Self>,
        stream: &mut LogicalStream,
        mut leg: Leg,
        resumed: bool,
        generation: u32,
    ) -> Result<LegEnd, StreamEnd> {
        stream.validator.begin_leg(resumed);
        let tag = leg.tag();
        let end = match self.read_items(stream, &mut leg, resumed).await {
            Ok(end) => stream.validator.end_leg().map(|()| end),
            Err(desync) => Err(desync),
        };
        self.note_not_applicable(stream, tag.request);
        end.map_err(|desync| {
            self.lose_session(generation, tag, detected_by(&desync), desync.to_string());
            StreamEnd::SessionLost
        })
    }

    async fn read_items(&self, stream: &mut LogicalStream, leg: &mut Leg, resumed: bool) -> Result<LegEnd, Desync> {
        let mut grace = stream.validator.grace().filter(|_| resumed);
        loop {
            let item = match grace {
                Some(within) => match timeout(within, leg.next()).await {
                    Ok(item) => item,
                    Err(_) => return Err(stream.validator.silent()),
                },
                None => leg.next().await,
            };
            match item {
                Ok(Item::Retry(delay)) => stream.retry = Some(delay.min(MAX_RETRY)),
                Ok(Item::Id(id)) => {
                    stream.validator.on_event(Some(id.as_deref().unwrap_or_default()), false)?;
                }
                Ok(Item::Event(event)) => {
                    if self.take_event(stream, leg, &event)? {
                        grace = None;
                    }
                }
                Err(end) => return Ok(end),
            }
        }
    }

    /// Judges one event and delivers it. Whether it carried data.
    fn take_event(&self, stream: &mut LogicalStream, leg: &Leg, event: &sse::Event) -> Result<bool, Desync> {
        let has_data = !event.data.is_empty();
        let message = has_data.then(|| Incoming::parse(event.data.as_bytes()).ok()).flatten();
        let id = event.id_field();
        let tag = leg.tag();
        let received = Event::FrameReceived {
            client: tag.client,
            request: tag.request,
            id: id.map(str::to_owned),
            kind: frame_kind(has_data, message.as_ref()),
        };
        self.witness.report_at(leg.arrived(), received);
        match stream.validator.on_event(id, has_data)? {
            Step::Deliver => {
                if let Some(message) = message {
                    self.dispatch(message);
                }
            }
            Step::Duplicate | Step::Primer => {}
        }
        Ok(has_data)
    }

    /// Hands a message to the call that waits for it. What nobody waits for is dropped, as every SDK does.
    pub(super) fn dispatch(&self, message: Incoming) {
        let mut state = self.state.borrow_mut();
        match message {
            Incoming::Notification { method, params } if method == "notifications/progress" => {
                let Ok(progress) = params.read::<Progress>() else { return };
                let Some(check) = progress.check() else { return };
                if let Some(call) = state.by_token(&progress.token) {
                    call.checks.push(check);
                }
            }
            Incoming::Response { id: RpcId::Number(id), result } => {
                if let Some(call) = state.by_rpc_id(id) {
                    call.response = Some(result.map(drop).map_err(|error| error.message));
                    call.done.notify_one();
                }
            }
            _ => {}
        }
    }

    /// The cursor that the next GET of `stream` presents.
    fn cursor_of(&self, stream: &LogicalStream) -> Option<String> {
        if !self.policy.keeps_cursor() {
            return None;
        }
        // An id that no header can carry cannot be presented: the field's text is UTF-8 without control characters.
        let cursor = stream.validator.cursor()?;
        http::HeaderValue::from_str(cursor).is_ok().then(|| cursor.to_owned())
    }

    /// Whether a GET can resume `stream` at all.
    pub(super) fn can_resume(&self, stream: &LogicalStream) -> bool {
        self.cursor_of(stream).is_some()
    }

    /// How long to wait before the next leg: the server's `retry` or the client's own delay, doubled for each failure
    /// up to the longest delay, and spread by up to a quarter so that clients cut together do not come back together.
    pub(super) fn delay(&self, stream: &LogicalStream) -> Duration {
        let base = stream.retry.unwrap_or(self.settings.reconnect_s.get());
        let longest = self.settings.reconnect_max_s.get().max(base);
        let delay = base.saturating_mul(1 << stream.failures.min(16)).min(longest);
        let spread = self.jitter.borrow_mut().between(0, delay.as_micros() as u64 / 4);
        delay + Duration::from_micros(spread)
    }

    fn note_not_applicable(&self, stream: &mut LogicalStream, request: u32) {
        if let Some(note) = stream.validator.take_note() {
            let mut state = self.state.borrow_mut();
            if !state.said_not_applicable {
                state.said_not_applicable = true;
                drop(state);
                self.witness.report(Event::NotApplicable { client: self.number, request, reason: note.to_string() });
            }
        }
    }
}

/// What an event carries: whether it has data, and the message that the data is.
pub(crate) fn frame_kind(has_data: bool, message: Option<&Incoming>) -> FrameKind {
    match message {
        _ if !has_data => FrameKind::Priming,
        Some(Incoming::Notification { method, .. }) if method == "notifications/progress" => FrameKind::Part,
        Some(Incoming::Notification { .. } | Incoming::Request { .. }) => FrameKind::Notification,
        Some(Incoming::Response { .. }) => FrameKind::Response,
        None => FrameKind::Garbage,
    }
}

/// The rule that a desync breaks.
pub(crate) fn detected_by(desync: &Desync) -> DetectedBy {
    match desync {
        Desync::EpochChanged { .. } => DetectedBy::EpochChanged,
        Desync::Regression { .. } => DetectedBy::Regression,
        Desync::Gap { .. } => DetectedBy::Gap,
        Desync::Foreign { .. } => DetectedBy::Foreign,
        Desync::EmptyLegs { .. } => DetectedBy::EmptyLegs,
        Desync::Silence { .. } => DetectedBy::Silence,
    }
}
