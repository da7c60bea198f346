//! Header names, and the tag that ties a request to its sender in the event log.

use std::fmt;
use std::str::FromStr;

use http::HeaderName;

use crate::observe::event::{ClientNo, RequestNo};

/// The session key (2025-11-25, transports, "Session Management").
pub const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
/// The negotiated revision (2025-11-25, transports, "Protocol Version Header").
pub const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The client's cursor (WHATWG HTML, server-sent events; 2025-11-25, transports, "Resumability and Redelivery").
pub const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// The tracing tag, as gateways commonly pass it on. No behaviour depends on it.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The revision that the models speak.
pub const REVISION: &str = "2025-11-25";
/// The path of the protocol's endpoint.
pub const ENDPOINT: &str = "/mcp";
/// The media type of a stream.
pub const EVENT_STREAM: &str = "text/event-stream";
/// The media type of a single message.
pub const JSON: &str = "application/json";

/// Which client sent which request: `c3-r12`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestTag {
    /// The client.
    pub client: ClientNo,
    /// Its request.
    pub request: RequestNo,
}

impl fmt::Display for RequestTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c{}-r{}", self.client, self.request)
    }
}

/// A text that is no request tag.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a request tag such as c3-r12")]
pub struct NotATag;

impl FromStr for RequestTag {
    type Err = NotATag;

    fn from_str(text: &str) -> Result<RequestTag, NotATag> {
        let (client, request) = text.strip_prefix('c').and_then(|rest| rest.split_once("-r")).ok_or(NotATag)?;
        Ok(RequestTag { client: client.parse().map_err(|_| NotATag)?, request: request.parse().map_err(|_| NotATag)? })
    }
}

impl RequestTag {
    /// The tag that a request carries, if it carries one.
    pub fn of(headers: &http::HeaderMap) -> Option<RequestTag> {
        headers.get(REQUEST_ID)?.to_str().ok()?.parse().ok()
    }
}
