//! A response body on its way to the client, and the ways in which the gateway cuts it.

use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::alarm::{Alarm, Due};
use super::legs::Leg;
use super::settings::{GatewayCut, GatewaySettings};
use super::truncate::middle_of_first_event;
use crate::observe::event::Cause;
use crate::world::fault::DisconnectMode;

/// How long an armed `truncated-event` waits for an event to cut before it settles for a clean end.
const TRUNCATION_PATIENCE: Duration = Duration::from_secs(30);

pub(super) type BoxError = Box<dyn Error + Send + Sync>;

type Polled = Option<Result<Frame<Bytes>, BoxError>>;

/// The gateway breaks the connection. hyper closes it without the end of the body, which is all that a client sees.
#[derive(Debug, thiserror::Error)]
#[error("the gateway cuts the response")]
struct CutShort;

/// What happens to bytes from the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    /// They pass.
    Passing,
    /// They pass up to the middle of the next event, which is the last of them.
    Truncating,
    /// They are swallowed.
    HalfOpen,
    /// There are no more.
    Over,
}

/// A response body from a server, on its way to the client.
///
/// Frames pass as they come, uncopied. Where `leg` is none, the body is no event stream: it keeps the timeouts, but
/// no fault strikes it and no cut of it is reported.
pub(super) struct GatewayBody<B> {
    server: B,
    server_done: bool,
    flow: Flow,
    alarm: Alarm,
    cut: GatewayCut,
    leg: Option<Leg>,
}

impl<B> GatewayBody<B> {
    /// The body of a response that begins now.
    pub(super) fn new(server: B, leg: Option<Leg>, settings: &GatewaySettings) -> GatewayBody<B> {
        GatewayBody {
            server,
            server_done: false,
            flow: Flow::Passing,
            alarm: Alarm::new(settings),
            cut: settings.cut,
            leg,
        }
    }

    /// Begins to carry out the order of a scheduled disconnect. What the client gets at once, if it gets anything.
    fn obey(&mut self, mode: DisconnectMode) -> Option<Polled> {
        match mode {
            DisconnectMode::CleanEnd | DisconnectMode::Reset => Some(self.end(Cause::Disconnect, mode)),
            DisconnectMode::TruncatedEvent => {
                self.flow = Flow::Truncating;
                self.alarm.wait_at_most(TRUNCATION_PATIENCE);
                None
            }
            DisconnectMode::HalfOpen => {
                self.report(Cause::Disconnect, mode);
                self.flow = Flow::HalfOpen;
                self.alarm.wait_no_more();
                None
            }
        }
    }

    /// Ends the body because something is due.
    fn expire(&mut self, due: Due) -> Polled {
        let own_cut = match self.cut {
            GatewayCut::Reset => DisconnectMode::Reset,
            GatewayCut::CleanEnd => DisconnectMode::CleanEnd,
        };
        match due {
            Due::Idle => self.end(Cause::IdleTimeout, own_cut),
            Due::Life => self.end(Cause::MaxLife, own_cut),
            Due::Patience => self.end(Cause::Disconnect, DisconnectMode::CleanEnd),
        }
    }

    /// Passes on what came from the server.
    fn pass(&mut self, polled: Polled) -> Polled {
        match &polled {
            Some(Ok(frame)) if frame.data_ref().is_some_and(|data| !data.is_empty()) => {
                self.alarm.bytes_passed();
            }
            Some(Ok(_)) => {}
            // The server ended it, or its connection broke: the client sees the same.
            Some(Err(_)) | None => self.finish(),
        }
        polled
    }

    /// Passes on half of the first event of what came from the server, and ends the body; passes on everything
    /// where there is no event in it.
    fn truncate(&mut self, polled: Polled) -> Polled {
        let Some(Ok(frame)) = &polled else {
            return self.pass(polled);
        };
        let cut = frame.data_ref().and_then(|data| Some(data.slice(..middle_of_first_event(data)?)));
        match cut {
            None => self.pass(polled),
            Some(half) => {
                let end = self.end(Cause::Disconnect, DisconnectMode::TruncatedEvent);
                if half.is_empty() { end } else { Some(Ok(Frame::data(half))) }
            }
        }
    }

    fn end(&mut self, cause: Cause, mode: DisconnectMode) -> Polled {
        self.report(cause, mode);
        self.finish();
        (mode == DisconnectMode::Reset).then(|| Err(CutShort.into()))
    }

    fn finish(&mut self) {
        self.flow = Flow::Over;
        self.leg = None;
    }

    fn report(&self, cause: Cause, mode: DisconnectMode) {
        if let Some(leg) = &self.leg {
            leg.report_cut(cause, mode);
        }
    }
}

impl<B> Body for GatewayBody<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Polled> {
        let this = self.get_mut();
        if this.flow == Flow::Over {
            return Poll::Ready(None);
        }
        while let Some(mode) = this.leg.as_mut().and_then(|leg| leg.next_order(cx)) {
            if let Some(end) = this.obey(mode) {
                return Poll::Ready(end);
            }
        }
        while !this.server_done
            && let Poll::Ready(polled) = Pin::new(&mut this.server).poll_frame(cx)
        {
            let polled = polled.map(|frame| frame.map_err(Into::into));
            match this.flow {
                Flow::Passing => return Poll::Ready(this.pass(polled)),
                Flow::Truncating => return Poll::Ready(this.truncate(polled)),
                Flow::HalfOpen | Flow::Over => {
                    this.server_done = !matches!(polled, Some(Ok(_)));
                }
            }
        }
        let due = ready!(this.alarm.poll(cx));
        Poll::Ready(this.expire(due))
    }

    fn is_end_stream(&self) -> bool {
        match self.flow {
            Flow::Passing | Flow::Truncating => self.server.is_end_stream(),
            Flow::HalfOpen => false,
            Flow::Over => true,
        }
    }

    fn size_hint(&self) -> SizeHint {
        self.server.size_hint()
    }
}
