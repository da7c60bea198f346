//! What the guard finds, and how it tells the SDK.

use std::fmt;
use std::sync::Arc;

use rmcp::model::{ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage};
use serde_json::{Value, json};
use sse_stream::Sse;

use crate::cursor::Desync;

/// The code of the error response that ends a call whose stream is lost. It lies in the range that JSON-RPC leaves to
/// implementations (JSON-RPC 2.0, 5.1), at its far end from the codes that MCP assigns.
pub const LOST: i32 = -32099;

/// One verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The session of the stream; none where the server gives none out.
    pub session: Option<Arc<str>>,
    /// The request whose response is lost; none for the standalone stream.
    pub request: Option<RequestId>,
    /// What was expected and what came.
    pub cause: Cause,
}

/// Why a stream is given up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// The resume did not continue the stream.
    #[error(transparent)]
    Desync(#[from] Desync),
    /// The resume was refused for good.
    #[error("refused: the resume from the cursor {cursor} is answered: {answer}")]
    Refused {
        /// What was presented.
        cursor: String,
        /// The answer, in the words of the SDK's error.
        answer: String,
    },
}

impl Cause {
    /// A short fixed name: [`Desync::signature`], or `refused`.
    pub const fn signature(&self) -> &'static str {
        match self {
            Cause::Desync(desync) => desync.signature(),
            Cause::Refused { .. } => "refused",
        }
    }

    /// The same for programs: `signature`, `cursor`, and what the signature has besides.
    fn to_data(&self) -> Value {
        match self {
            Cause::Desync(desync) => json!({
                "signature": desync.signature(),
                "cursor": desync.cursor(),
                "expected": desync.expected(),
                "got": desync.got(),
            }),
            Cause::Refused { cursor, answer } => {
                json!({ "signature": self.signature(), "cursor": cursor, "answer": answer })
            }
        }
    }
}

impl Finding {
    /// The error response to `request`. It has no id, so that the SDK's cursor stays where it is.
    pub(super) fn event(&self, request: RequestId) -> Sse {
        let message = format!("the response is lost: {}", self.cause);
        let error = ErrorData::new(ErrorCode(LOST), message, Some(self.cause.to_data()));
        // The message is made of text and numbers: writing it cannot fail.
        let data = serde_json::to_string(&ServerJsonRpcMessage::error(error, Some(request))).unwrap_or_default();
        Sse::default().data(data)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.request {
            Some(request) => write!(f, "the stream of request {request}: {}", self.cause),
            None => write!(f, "the standalone stream: {}", self.cause),
        }
    }
}
