//! Why the HTTP backend has no answer for the SDK.

use std::time::Duration;

use http::StatusCode;
use rmcp::transport::streamable_http_client::StreamableHttpError;

/// An error of the backend: what the SDK's stock backend has `reqwest::Error` for.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// No connection could be made.
    #[error("no connection: {0}")]
    Connect(#[from] std::io::Error),
    /// No connection was made in time.
    #[error("no connection within {} s", .0.as_secs_f64())]
    ConnectTimedOut(Duration),
    /// The connection broke, or what came was no HTTP.
    #[error("the connection broke: {0}")]
    Broken(#[from] hyper::Error),
    /// The SDK asks for a request that HTTP cannot carry, such as one with a cursor that is no header value.
    #[error("not a request: {0}")]
    Request(#[from] http::Error),
    /// A message that cannot be written as JSON.
    #[error("not a message: {0}")]
    Message(#[from] serde_json::Error),
    /// An answer whose status says that it is none.
    #[error("HTTP {0}")]
    Status(StatusCode),
}

impl BackendError {
    /// Whether a resume that fails so would fail again: the server knows neither the session (404) nor the cursor (400).
    pub fn refuses_resume(&self) -> bool {
        matches!(self, BackendError::Status(StatusCode::NOT_FOUND | StatusCode::BAD_REQUEST))
    }
}

impl From<BackendError> for StreamableHttpError<BackendError> {
    fn from(error: BackendError) -> StreamableHttpError<BackendError> {
        StreamableHttpError::Client(error)
    }
}
