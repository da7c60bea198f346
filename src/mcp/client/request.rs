//! Building and sending requests, and telling the log about them.

use bytes::Bytes;
use http::{Method, Request, header};
use http_body_util::Full;
use serde_json::Value;

use super::Client;
use super::http::{Answer, SendError};
use crate::mcp::net::Dial;
use crate::mcp::wire::header::{
    ENDPOINT, EVENT_STREAM, JSON, LAST_EVENT_ID, PROTOCOL_VERSION, REQUEST_ID, REVISION, RequestTag, SESSION_ID,
};
use crate::observe::event::{Event, Purpose};

/// What goes out: a message, the wish for a stream, or the end of a session.
pub enum Outgoing<'a> {
    /// POST with a JSON-RPC message.
    Message(&'a Value),
    /// GET, with the cursor to resume from, where the client keeps one.
    Stream(Option<String>),
    /// DELETE.
    Delete,
}

/// An answered request.
pub struct Answered {
    /// The request.
    pub tag: RequestTag,
    /// The answer.
    pub answer: Answer,
}

impl<D: Dial> Client<D> {
    /// Sends one request in `session` and waits for the head of its answer; both go into the log. The session of a server
    /// that gives no keys has the empty one.
    pub(super) async fn send(
        &self,
        purpose: Purpose,
        session: Option<&str>,
        outgoing: Outgoing<'_>,
    ) -> Result<Answered, SendError> {
        let tag = RequestTag { client: self.number, request: self.state.borrow_mut().take_request_no() };
        let session = session.filter(|key| !key.is_empty());
        let (request, cursor) = build(tag, session, outgoing);
        self.witness.report(Event::RequestSent {
            client: tag.client,
            request: tag.request,
            purpose,
            session: session.map(str::to_owned),
            cursor,
        });
        match self.http.send(request).await {
            Ok(answer) => {
                self.witness.report(Event::Answered {
                    client: tag.client,
                    request: tag.request,
                    status: answer.status(),
                    session: answer.header(&SESSION_ID).filter(|_| purpose == Purpose::Initialize).map(str::to_owned),
                });
                Ok(Answered { tag, answer })
            }
            Err(error) => {
                self.witness.report(Event::Unanswered {
                    client: tag.client,
                    request: tag.request,
                    why: error.to_string(),
                });
                Err(error)
            }
        }
    }
}

fn build(tag: RequestTag, session: Option<&str>, outgoing: Outgoing<'_>) -> (Request<Full<Bytes>>, Option<String>) {
    let mut request = Request::builder().uri(ENDPOINT).header(header::HOST, "mcp").header(REQUEST_ID, tag.to_string());
    if let Some(key) = session {
        request = request.header(SESSION_ID, key).header(PROTOCOL_VERSION, REVISION);
    }
    let (request, body, cursor) = match outgoing {
        Outgoing::Message(message) => {
            let request = request
                .method(Method::POST)
                .header(header::CONTENT_TYPE, JSON)
                .header(header::ACCEPT, format!("{JSON}, {EVENT_STREAM}"));
            (request, Bytes::from(message.to_string()), None)
        }
        Outgoing::Stream(cursor) => {
            let mut request = request.method(Method::GET).header(header::ACCEPT, EVENT_STREAM);
            if let Some(cursor) = &cursor {
                request = request.header(LAST_EVENT_ID, cursor);
            }
            (request, Bytes::new(), cursor)
        }
        Outgoing::Delete => (request.method(Method::DELETE), Bytes::new(), None),
    };
    let request = request.body(Full::new(body)).expect(
        "session keys and cursors come out of HTTP headers and of event ids that the policy has checked to be header values",
    );
    (request, cursor)
}
