//! The SDK's HTTP backend: what its trait asks for, over hyper on the simulated network.
//!
//! It stands where the SDK's stock `reqwest` backend stands and answers the SDK as that one does: the same headers, the
//! same reading of every status and media type, the same limits, a connection for each request (the SDK switches
//! `reqwest`'s pool off), and no time limit of its own but one: a connection must be made within the scenario's
//! `answer_timeout_s`. An operating system gives a connect up after a minute or two; the simulated network never does.
//! It follows no redirects, and nothing in the simulated world sends any.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::BoxStream;
use http::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use send_wrapper::SendWrapper;
use sse_stream::Sse;

use super::connection::Connection;
use super::error::BackendError;
use super::exchange::{Envelope, Exchanges};
use crate::mcp::net::Dial;

/// What the SDK gets where it asks for a stream.
pub type Events = BoxStream<'static, Result<Sse, SseError>>;
/// What the SDK gets where there is no answer.
pub type Refused = StreamableHttpError<BackendError>;
/// The SDK's trait names this type.
#[expect(clippy::disallowed_types, reason = "the SDK hands headers over in it; they are sorted before they are sent")]
pub type CustomHeaders = std::collections::HashMap<HeaderName, HeaderValue>;

/// The backend of one client of the SDK.
pub struct Backend<D: Dial> {
    exchanges: SendWrapper<Rc<Exchanges<D>>>,
}

impl<D: Dial> Clone for Backend<D> {
    fn clone(&self) -> Backend<D> {
        Backend { exchanges: self.exchanges.clone() }
    }
}

impl<D: Dial> Backend<D> {
    /// A backend whose connections `dial` makes, each within `connect_timeout`.
    pub fn new(connection: Rc<Connection>, dial: D, connect_timeout: Duration) -> Backend<D> {
        Backend { exchanges: SendWrapper::new(Rc::new(Exchanges::new(connection, dial, connect_timeout))) }
    }
}

impl<D: Dial> StreamableHttpClient for Backend<D> {
    type Error = BackendError;

    fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: CustomHeaders,
    ) -> impl Future<Output = Result<StreamableHttpPostResponse, Refused>> + Send + '_ {
        let limits = StreamableHttpResponseLimits::default();
        self.post_message_with_response_limits(uri, message, session_id, auth_header, custom_headers, limits)
    }

    fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: CustomHeaders,
        max_sse_event_size: usize,
    ) -> impl Future<Output = Result<StreamableHttpPostResponse, Refused>> + Send + '_ {
        let mut limits = StreamableHttpResponseLimits::default();
        limits.max_sse_event_size = max_sse_event_size;
        self.post_message_with_response_limits(uri, message, session_id, auth_header, custom_headers, limits)
    }

    fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: CustomHeaders,
        limits: StreamableHttpResponseLimits,
    ) -> impl Future<Output = Result<StreamableHttpPostResponse, Refused>> + Send + '_ {
        let envelope = Envelope { uri, session: session_id, token: auth_header, custom: custom_headers };
        SendWrapper::new(self.exchanges.post(envelope, message, limits))
    }

    fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: CustomHeaders,
    ) -> impl Future<Output = Result<(), Refused>> + Send + '_ {
        let envelope = Envelope { uri, session: Some(session_id), token: auth_header, custom: custom_headers };
        SendWrapper::new(self.exchanges.delete(envelope))
    }

    fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: CustomHeaders,
    ) -> impl Future<Output = Result<Events, Refused>> + Send + '_ {
        let max = StreamableHttpResponseLimits::default().max_sse_event_size;
        self.get_stream_with_max_sse_event_size(uri, session_id, last_event_id, auth_header, custom_headers, max)
    }

    fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: CustomHeaders,
        max_sse_event_size: usize,
    ) -> impl Future<Output = Result<Events, Refused>> + Send + '_ {
        let envelope = Envelope { uri, session: session_id, token: auth_header, custom: custom_headers };
        SendWrapper::new(self.exchanges.get(envelope, last_event_id, max_sse_event_size))
    }
}
