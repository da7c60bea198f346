//! Requests of the SDK and their answers, each on a connection of its own, and what the event log is told of them.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{
    StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use send_wrapper::SendWrapper;
use tokio::time::timeout;

use super::backend::{CustomHeaders, Events, Refused};
use super::connection::Connection;
use super::error::BackendError;
use super::leg::Leg;
use super::purpose::Outgoing;
use super::streams::Carries;
use super::{answer, post, tasks};
use crate::mcp::net::Dial;
use crate::mcp::wire::header::{JSON, LAST_EVENT_ID, SESSION_ID};
use crate::observe::event::Purpose;

/// A request of the SDK, apart from its method and its body.
pub struct Envelope {
    pub(super) uri: Arc<str>,
    pub(super) session: Option<Arc<str>>,
    pub(super) token: Option<String>,
    pub(super) custom: CustomHeaders,
}

impl Envelope {
    fn into_request(self, method: Method, body: Bytes) -> Result<Request<Full<Bytes>>, Refused> {
        let mut request = Request::builder().method(method).uri(&*self.uri).header(header::HOST, "mcp");
        if let Some(session) = &self.session {
            request = request.header(SESSION_ID, &**session);
        }
        if let Some(token) = self.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let mut custom: Vec<(HeaderName, HeaderValue)> = self.custom.into_iter().collect();
        custom.sort_by(|(one, _), (other, _)| one.as_str().cmp(other.as_str()));
        for (name, value) in custom {
            if [header::ACCEPT, SESSION_ID, LAST_EVENT_ID].contains(&name) {
                return Err(StreamableHttpError::ReservedHeaderConflict(name.to_string()));
            }
            request = request.header(name, value);
        }
        Ok(request.body(Full::new(body)).map_err(BackendError::from)?)
    }
}

/// The SDK asks for either media type wherever it asks for one.
fn accept(headers: &mut HeaderMap) {
    let both = HeaderValue::from_static("text/event-stream, application/json");
    headers.insert(header::ACCEPT, both);
}

/// The requests of one client of the SDK.
pub struct Exchanges<D> {
    connection: Rc<Connection>,
    dial: D,
    connect_timeout: Duration,
}

impl<D: Dial> Exchanges<D> {
    pub(super) fn new(connection: Rc<Connection>, dial: D, connect_timeout: Duration) -> Exchanges<D> {
        Exchanges { connection, dial, connect_timeout }
    }

    pub(super) async fn get(
        &self,
        envelope: Envelope,
        cursor: Option<String>,
        max_event_bytes: usize,
    ) -> Result<Events, Refused> {
        if self.connection.is_given_up(cursor.as_deref()) {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        let session = envelope.session.clone();
        let mut request = envelope.into_request(Method::GET, Bytes::new())?;
        accept(request.headers_mut());
        if let Some(cursor) = &cursor {
            let value = HeaderValue::from_str(cursor).map_err(|error| BackendError::Request(error.into()))?;
            request.headers_mut().insert(LAST_EVENT_ID, value);
        }

        let (stream, purpose) = self.connection.stream_of(cursor.as_deref(), session.as_deref());
        let in_progress = self.connection.leaves(&mut request, purpose, session.as_deref(), cursor.as_deref());
        let response = match self.exchange(request).await {
            Ok(response) => response,
            Err(error) => {
                in_progress.unanswered(error.to_string());
                return Err(error.into());
            }
        };
        let tag = in_progress.answered(&response);
        self.connection.hears(tag, response.status());
        answer::check_stream(&response)?;
        self.connection.streams.borrow_mut().attach(stream);
        let leg = Leg::new(self.connection.clone(), tag, stream, response.into_body(), max_event_bytes);
        Ok(Box::pin(SendWrapper::new(leg)))
    }

    pub(super) async fn post(
        &self,
        envelope: Envelope,
        message: ClientJsonRpcMessage,
        limits: StreamableHttpResponseLimits,
    ) -> Result<StreamableHttpPostResponse, Refused> {
        let outgoing = Outgoing::of(&message);
        let session = envelope.session.clone();
        let body = serde_json::to_vec(&message).map_err(BackendError::from)?;
        let mut request = envelope.into_request(Method::POST, body.into())?;
        accept(request.headers_mut());
        request.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));

        let record = &self.connection.record;
        let purpose = self.connection.purpose_of(&outgoing);
        if let Outgoing::Call { arguments, .. } = &outgoing {
            record.call_leaves(arguments.call, arguments.from_part);
        }
        let in_progress = self.connection.leaves(&mut request, purpose, session.as_deref(), None);
        let answer = self.exchange(request).await;
        let response = match answer {
            Ok(response) => response,
            Err(error) => {
                in_progress.unanswered(error.to_string());
                self.note_answer(purpose);
                return Err(error.into());
            }
        };
        let tag = in_progress.answered(&response);
        self.note_answer(purpose);
        match (&session, response.status()) {
            (Some(session), StatusCode::NOT_FOUND) if !outgoing.is_control() => {
                self.connection.not_found(session, tag);
            }
            (Some(session), status) if purpose == Purpose::Initialized && status.is_success() => {
                record.session_opened(session);
            }
            _ => {}
        }
        let session = session.as_deref();
        post::read(&message, session.is_some(), response, &limits, |body| {
            let carries = match purpose {
                Purpose::Call { call } => Carries::Call(call),
                other => Carries::Other(other),
            };
            let stream = self.connection.streams.borrow_mut().open(carries, session);
            let leg = Leg::new(self.connection.clone(), tag, stream, body, limits.max_sse_event_size);
            Box::pin(SendWrapper::new(leg))
        })
        .await
    }

    pub(super) async fn delete(&self, envelope: Envelope) -> Result<(), Refused> {
        let session = envelope.session.clone();
        let mut request = envelope.into_request(Method::DELETE, Bytes::new())?;
        let in_progress = self.connection.leaves(&mut request, Purpose::Delete, session.as_deref(), None);
        match self.exchange(request).await {
            Ok(response) => {
                in_progress.answered(&response);
                answer::check_deleted(response.status())
            }
            Err(error) => {
                in_progress.unanswered(error.to_string());
                Err(error.into())
            }
        }
    }

    /// A restart waits for calls to be sent again and answered, or to fail to be.
    fn note_answer(&self, purpose: Purpose) {
        if let Purpose::Call { call } = purpose {
            self.connection.record.answered(call);
        }
    }

    /// Sends `request` on a connection of its own. Dropping what comes closes it.
    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, BackendError> {
        let dialled = timeout(self.connect_timeout, self.dial.dial()).await;
        let io = TokioIo::new(dialled.map_err(|_| BackendError::ConnectTimedOut(self.connect_timeout))??);
        let (mut sender, connection) = http1::handshake(io).await?;
        tasks::spawn(async move {
            // A broken connection shows where it is used: at the request or at the body.
            let _ = connection.await;
        });
        Ok(sender.send_request(request).await?)
    }
}
