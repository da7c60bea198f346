//! One response body as the SDK reads it: its events, told to the log as the SDK polls them.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures::Stream;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::{Sse, SseStream};

use super::connection::Connection;
use super::limit::EventLimit;
use super::streams::StreamNo;
use crate::mcp::client::stream::frame_kind;
use crate::mcp::wire::header::RequestTag;
use crate::mcp::wire::message;
use crate::observe::event::{Event, LegEnd};

/// A leg: the SDK's own parser over a bounded body.
pub struct Leg {
    tag: RequestTag,
    stream: StreamNo,
    connection: Rc<Connection>,
    events: SseStream<Bounded>,
    ended: bool,
}

impl Leg {
    /// The leg of `stream` that answers `tag`. No event of it is longer than `max_event_bytes`.
    pub fn new(
        connection: Rc<Connection>,
        tag: RequestTag,
        stream: StreamNo,
        body: Incoming,
        max_event_bytes: usize,
    ) -> Leg {
        let events = SseStream::new(Bounded { body, limit: EventLimit::new(max_event_bytes) });
        Leg { tag, stream, connection, events, ended: false }
    }

    fn received(&self, event: &Sse) {
        if let Some(id) = &event.id {
            self.connection.streams.borrow_mut().saw(self.stream, id);
        }
        // Without a data field there is no event (WHATWG HTML, 9.2.6); the SDK takes its id all the same.
        let Some(data) = &event.data else { return };
        let message = message::Incoming::parse(data.as_bytes()).ok();
        if let Some(message::Incoming::Response { .. }) = message {
            self.connection.streams.borrow_mut().answered(self.stream);
        }
        self.connection.record.report(Event::FrameReceived {
            client: self.tag.client,
            request: self.tag.request,
            id: event.id.clone(),
            kind: frame_kind(!data.is_empty(), message.as_ref()),
        });
    }

    fn end(&mut self, how: LegEnd) {
        if !self.ended {
            self.ended = true;
            self.connection.streams.borrow_mut().detach(self.stream);
            let RequestTag { client, request } = self.tag;
            self.connection.record.report(Event::LegEnded { client, request, how });
        }
    }
}

impl Stream for Leg {
    type Item = Result<Sse, SseError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.ended {
            return Poll::Ready(None);
        }
        self.connection.listens(self.tag);
        let item = ready!(Pin::new(&mut self.events).poll_next(cx));
        match &item {
            Some(Ok(event)) => self.received(event),
            Some(Err(error)) => {
                if is_too_large(error) {
                    self.connection.oversized(self.stream);
                }
                self.end(LegEnd::Broken);
            }
            None => self.end(LegEnd::Clean),
        }
        Poll::Ready(item)
    }
}

impl Drop for Leg {
    fn drop(&mut self) {
        self.end(LegEnd::Left);
    }
}

fn is_too_large(error: &SseError) -> bool {
    matches!(error, SseError::Body(error) if matches!(error.downcast_ref(), Some(BodyError::EventTooLarge { .. })))
}

/// What is wrong with the body of a leg.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// The connection broke.
    #[error(transparent)]
    Broken(#[from] hyper::Error),
    /// The peer does not end an event.
    #[error("an event of more than {max_bytes} bytes")]
    EventTooLarge {
        /// The limit.
        max_bytes: usize,
    },
}

/// A body whose events are bounded before they are put together.
struct Bounded {
    body: Incoming,
    limit: EventLimit,
}

impl Body for Bounded {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let frame = match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
            Some(Ok(frame)) => frame,
            Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
            None => return Poll::Ready(None),
        };
        let within = frame.data_ref().is_none_or(|bytes| self.limit.admits(bytes));
        Poll::Ready(Some(match within {
            true => Ok(frame),
            false => Err(BodyError::EventTooLarge { max_bytes: self.limit.max_bytes() }),
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
