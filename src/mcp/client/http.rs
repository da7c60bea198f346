//! The client's HTTP/1.1 connections: one that is kept for short exchanges, a new one for each stream.

use std::cell::RefCell;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::task::spawn_local;
use tokio::time::timeout;

use crate::mcp::net::Dial;
use crate::mcp::wire::sse::{Decoder, Item, Limits};

/// The longest body of a single message that a client reads, in bytes.
const MAX_MESSAGE_BYTES: usize = 1 << 20;

type Sender = SendRequest<Full<Bytes>>;

/// Why a request has no response.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// No connection could be made.
    #[error("no connection: {0}")]
    Connect(#[from] std::io::Error),
    /// The connection broke before the response began, or what came was no HTTP.
    #[error("the connection broke before an answer: {0}")]
    Broken(#[from] hyper::Error),
    /// Nothing came in time.
    #[error("no answer within {} s", .0.as_secs_f64())]
    TimedOut(Duration),
}

/// A response whose status line and headers have come. Its connection is used again once the body has been read whole.
pub struct Answer {
    response: Response<Incoming>,
    sender: Sender,
}

/// Sends requests over connections that `dial` opens.
pub struct Http<D: Dial> {
    dial: D,
    answer_timeout: Duration,
    idle: RefCell<Option<Sender>>,
}

impl<D: Dial> Http<D> {
    /// A client whose requests are answered within `answer_timeout`, connecting included, or not at all.
    pub fn new(dial: D, answer_timeout: Duration) -> Http<D> {
        Http { dial, answer_timeout, idle: RefCell::new(None) }
    }

    /// Sends `request` and waits for the head of its response.
    pub async fn send(&self, request: Request<Full<Bytes>>) -> Result<Answer, SendError> {
        timeout(self.answer_timeout, self.exchange(request))
            .await
            .unwrap_or(Err(SendError::TimedOut(self.answer_timeout)))
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<Answer, SendError> {
        let mut sender = self.connection().await?;
        let response = sender.send_request(request).await?;
        Ok(Answer { response, sender })
    }

    /// The kept connection, if it is still open, or a new one.
    async fn connection(&self) -> Result<Sender, SendError> {
        let kept = self.idle.borrow_mut().take();
        if let Some(mut sender) = kept
            && sender.ready().await.is_ok()
        {
            return Ok(sender);
        }
        let io = TokioIo::new(self.dial.dial().await?);
        let (sender, connection) = http1::handshake(io).await?;
        spawn_local(async move {
            // A broken connection shows where it is used: at the request or at the body.
            let _ = connection.await;
        });
        Ok(sender)
    }

    /// Reads the body of an answer that carries a single message and keeps the connection for the next exchange. In an
    /// event stream it is the first event's that has data: its priming event comes before it (2025-11-25, transports,
    /// "Sending Messages to the Server", items 5 and 6).
    ///
    /// A body that breaks off or is longer than 1 MiB reads as what is known of it: nothing.
    pub async fn message(&self, answer: Answer) -> Bytes {
        let is_event_stream = answer.is_event_stream();
        let body = Limited::new(answer.response.into_body(), MAX_MESSAGE_BYTES);
        match timeout(self.answer_timeout, body.collect()).await {
            Ok(Ok(collected)) => {
                self.idle.borrow_mut().get_or_insert(answer.sender);
                let body = collected.to_bytes();
                if is_event_stream { first_data(&body) } else { body }
            }
            Ok(Err(_)) | Err(_) => Bytes::new(),
        }
    }
}

/// The data of the first event that has any.
fn first_data(stream: &[u8]) -> Bytes {
    let mut decoder = Decoder::new(Limits::default());
    decoder.push(stream);
    decoder
        .find_map(|item| match item {
            Ok(Item::Event(event)) if !event.data.is_empty() => Some(Bytes::from(event.data)),
            _ => None,
        })
        .unwrap_or_default()
}

impl Answer {
    /// The status code.
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// A header's value, where it is visible ASCII.
    pub fn header(&self, name: &http::HeaderName) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }

    /// Whether the body is an event stream.
    pub fn is_event_stream(&self) -> bool {
        self.header(&http::header::CONTENT_TYPE)
            .is_some_and(|media_type| media_type.trim_start().starts_with(crate::mcp::wire::header::EVENT_STREAM))
    }

    /// The body of a stream. Dropping it closes the connection.
    pub fn into_body(self) -> Incoming {
        self.response.into_body()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_of_a_stream_is_its_first_event_with_data() {
        for (stream, expected) in [
            ("id: 0\nretry: 3000\ndata:\n\nid: 1/0\ndata: {}\n\n", "{}"),
            ("data: 1\n\ndata: 2\n\n", "1"),
            ("data:\n\n", ""),
            ("data: cut", ""),
        ] {
            assert_eq!(first_data(stream.as_bytes()), expected, "{stream:?}");
        }
    }
}
