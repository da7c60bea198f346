//! A leg: the body of one HTTP response that carries part of a stream.

use std::convert::Infallible;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body::Frame;
use tokio::time::{Instant, Sleep};

use super::base::Base;
use super::session::Activity;
use super::stream::{Place, SharedStream, State};
use crate::mcp::wire::header::RequestTag;
use crate::mcp::wire::sse;
use crate::observe::event::{CursorFound, Event};

/// A frame of the body stops growing at this size.
const FRAME_BYTES: usize = 64 * 1024;

/// The body of a response that carries events.
pub struct Leg {
    presence: Presence,
    /// None where it will never carry an event.
    reader: Option<Reader>,
    greeting: Option<Bytes>,
    /// What comes when all that was there at the start has been sent.
    afterword: Option<Bytes>,
    keep_alive: Option<KeepAlive>,
}

/// What a leg reads from.
struct Reader {
    stream: SharedStream,
    leg: u64,
    place: Place,
    sent: u64,
    /// Whether it stays open when the response has been sent.
    stays_open: bool,
}

impl Leg {
    /// Attaches a leg to a stream; it displaces the one that is attached.
    pub fn attach(
        base: &Rc<Base>,
        activity: &Rc<Activity>,
        tag: RequestTag,
        stream: SharedStream,
        place: Place,
        found: CursorFound,
    ) -> Leg {
        let leg = stream.borrow_mut().occupy(place);
        let presence = Presence::begin(base, activity, tag);
        base.report(Event::Attached {
            client: tag.client,
            request: tag.request,
            log: Some(place.log),
            next: place.next,
            found,
        });
        Leg {
            presence,
            reader: Some(Reader { stream, leg, place, sent: 0, stays_open: false }),
            greeting: None,
            afterword: None,
            keep_alive: KeepAlive::of(base),
        }
    }

    /// A leg that stays open and never carries an event. It holds no stream's slot; keep-alive comments come as on
    /// any other leg.
    pub fn silent(base: &Rc<Base>, activity: &Rc<Activity>, tag: RequestTag, found: CursorFound) -> Leg {
        let presence = Presence::begin(base, activity, tag);
        base.report(Event::Attached { client: tag.client, request: tag.request, log: None, next: 0, found });
        Leg { presence, reader: None, greeting: None, afterword: None, keep_alive: KeepAlive::of(base) }
    }

    /// The same leg, with these bytes first.
    pub fn greeted(mut self, greeting: Option<Bytes>) -> Leg {
        self.greeting = greeting;
        self
    }

    /// The same leg, with these bytes after everything that is there to be sent at once.
    pub fn followed_by(mut self, afterword: Option<Bytes>) -> Leg {
        self.afterword = afterword;
        self
    }

    /// The same leg, which stays open after the response where `stays_open` says so.
    pub fn staying_open(mut self, stays_open: bool) -> Leg {
        if let Some(reader) = &mut self.reader {
            reader.stays_open = stays_open;
        }
        self
    }

    fn end(&mut self, why: &'static str) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(reader) = self.reader.take() {
            reader.stream.borrow_mut().release(reader.leg);
        }
        self.presence.end(why);
        Poll::Ready(None)
    }
}

impl Reader {
    /// Collects what can be sent now, or says why nothing will ever follow.
    fn collect(&mut self, presence: &Presence, frame: &mut FrameBytes) -> Option<&'static str> {
        let mut stream = self.stream.borrow_mut();
        if !stream.is_held_by(self.leg) {
            return Some("taken-over");
        }
        if stream.state() == State::Closed {
            return Some("log-closed");
        }
        let before = self.place;
        loop {
            if let Some((place, cause)) = stream.jump(self.place) {
                self.place = place;
                presence.base.report(Event::Rebased {
                    client: presence.tag.client,
                    request: presence.tag.request,
                    sent: self.sent,
                    log: place.log,
                    next: place.next,
                    cause,
                });
                continue;
            }
            let mut taken = 0;
            for (id, lines) in stream.events(self.place) {
                if frame.is_full() {
                    break;
                }
                frame.push_event(presence.base.ids.carried(id).as_deref(), lines);
                taken += 1;
            }
            self.place.next += taken;
            self.sent += taken;
            if taken == 0 || frame.is_full() {
                break;
            }
        }
        if self.place != before {
            stream.advance(self.place);
        }
        match stream.state() {
            _ if !frame.is_empty() => None,
            State::Answered | State::Cancelled if self.stays_open => None,
            State::Answered => Some("response-sent"),
            State::Cancelled => Some("log-closed"),
            State::Open | State::Closed => None,
        }
    }
}

impl http_body::Body for Leg {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        if this.presence.ended {
            return Poll::Ready(None);
        }
        let mut frame = FrameBytes::default();
        if let Some(greeting) = this.greeting.take() {
            frame.0.extend_from_slice(&greeting);
        }
        if let Some(reader) = &mut this.reader {
            let ended = reader.collect(&this.presence, &mut frame);
            if !frame.is_full()
                && let Some(afterword) = this.afterword.take()
            {
                frame.0.extend_from_slice(&afterword);
            }
            if frame.is_empty()
                && let Some(why) = ended
            {
                return this.end(why);
            }
            if frame.is_empty() {
                reader.stream.borrow_mut().wait(cx.waker());
            }
        }
        let bytes = match &mut this.keep_alive {
            None if frame.is_empty() => return Poll::Pending,
            None => frame.0.freeze(),
            Some(keep_alive) if frame.is_empty() => {
                ready!(keep_alive.poll(cx));
                Bytes::from_static(sse::KEEP_ALIVE.as_bytes())
            }
            Some(keep_alive) => {
                keep_alive.reset();
                frame.0.freeze()
            }
        };
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }
}

impl Drop for Leg {
    fn drop(&mut self) {
        let why = match &self.reader {
            Some(reader) if !reader.stream.borrow().is_held_by(reader.leg) => "taken-over",
            Some(reader) if reader.stream.borrow().state() == State::Closed => "log-closed",
            _ if !self.presence.base.up.get() => "server-stopped",
            _ => "peer-gone",
        };
        let _ = self.end(why);
    }
}

/// That a leg is there, for the session's idle time and for the event log.
struct Presence {
    base: Rc<Base>,
    activity: Rc<Activity>,
    tag: RequestTag,
    ended: bool,
}

impl Presence {
    fn begin(base: &Rc<Base>, activity: &Rc<Activity>, tag: RequestTag) -> Presence {
        activity.leg_begins(base.now());
        Presence { base: base.clone(), activity: activity.clone(), tag, ended: false }
    }

    fn end(&mut self, why: &str) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        self.activity.leg_ends(self.base.now());
        self.base.report(Event::Detached { client: self.tag.client, request: self.tag.request, why: why.to_owned() });
    }
}

/// The bytes of one frame.
#[derive(Default)]
struct FrameBytes(BytesMut);

impl FrameBytes {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn is_full(&self) -> bool {
        self.0.len() >= FRAME_BYTES
    }

    fn push_event(&mut self, id: Option<&str>, lines: &[u8]) {
        if let Some(id) = id {
            sse::encode_id(&mut self.0, id);
        }
        self.0.extend_from_slice(lines);
    }
}

/// The timer of the comments that keep an idle leg alive: it runs from the last bytes that were sent.
struct KeepAlive {
    period: Duration,
    sleep: Pin<Box<Sleep>>,
}

impl KeepAlive {
    /// A period of zero would never let time pass: it is one millisecond then.
    fn of(base: &Base) -> Option<KeepAlive> {
        let period = base.settings.keep_alive_s?.get();
        let period = period.max(Duration::from_millis(1));
        Some(KeepAlive { period, sleep: Box::pin(tokio::time::sleep(period)) })
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        ready!(self.sleep.as_mut().poll(cx));
        self.reset();
        Poll::Ready(())
    }

    fn reset(&mut self) {
        self.sleep.as_mut().reset(Instant::now() + self.period);
    }
}
