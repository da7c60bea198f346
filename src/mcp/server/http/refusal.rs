//! Refusals: a status, and a JSON-RPC error that says to a person what was expected.

use std::borrow::Cow;

use http::header::ALLOW;
use http::{HeaderValue, Response, StatusCode};

use super::{REFUSED, Reply, json};
use crate::mcp::wire::message;

/// A request that is refused.
#[derive(Debug)]
pub struct Refusal {
    status: StatusCode,
    code: i64,
    reason: Cow<'static, str>,
}

impl Refusal {
    /// A refusal by the transport.
    pub fn new(status: StatusCode, reason: &'static str) -> Refusal {
        Refusal { status, code: REFUSED, reason: reason.into() }
    }

    /// A refusal of something that is no message, with JSON-RPC's own code.
    pub fn unreadable(code: i64, reason: String) -> Refusal {
        Refusal { status: StatusCode::BAD_REQUEST, code, reason: reason.into() }
    }

    /// The session is not in the table (2025-11-25, transports, "Session Management", item 3).
    pub fn session_not_found() -> Refusal {
        Refusal::new(StatusCode::NOT_FOUND, "session not found")
    }

    /// The stream has a leg, which keeps it.
    pub fn busy() -> Refusal {
        Refusal::new(StatusCode::CONFLICT, "the stream is open already")
    }

    /// The refusal as it is sent.
    pub fn into_response(self) -> Response<Reply> {
        let mut response = json(self.status, &message::error(None, self.code, &self.reason));
        if self.status == StatusCode::METHOD_NOT_ALLOWED {
            let allowed = HeaderValue::from_static("GET, POST, DELETE");
            response.headers_mut().insert(ALLOW, allowed);
        }
        response
    }
}
