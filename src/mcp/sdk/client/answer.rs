//! How the SDK's stock backend reads a status line and its headers.

use std::borrow::Cow;

use http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, Response, StatusCode};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, StreamableHttpError,
};

use super::backend::Refused;
use super::error::BackendError;
use crate::mcp::wire::header::{EVENT_STREAM, JSON};

/// Whether a GET has been answered with a stream. JSON counts as one: the SDK reads it as events.
pub fn check_stream<B>(response: &Response<B>) -> Result<(), Refused> {
    let status = response.status();
    if status == StatusCode::METHOD_NOT_ALLOWED {
        return Err(StreamableHttpError::ServerDoesNotSupportSse);
    }
    check_authorization(status, response.headers())?;
    if let Some(error) = failure(status, response.headers()) {
        return Err(error.into());
    }
    check_success(status)?;
    let media_type = response.headers().get(CONTENT_TYPE).map(|value| value.as_bytes());
    match media_type {
        Some(media_type) if media_type_is(media_type, EVENT_STREAM) || media_type_is(media_type, JSON) => Ok(()),
        other => {
            let text = other.map(|media_type| String::from_utf8_lossy(media_type).into_owned());
            Err(StreamableHttpError::UnexpectedContentType(text))
        }
    }
}

/// Whether a DELETE has ended the session, or the server leaves that to itself.
pub fn check_deleted(status: StatusCode) -> Result<(), Refused> {
    match status {
        StatusCode::METHOD_NOT_ALLOWED => Ok(()),
        status => check_success(status),
    }
}

/// A refusal that says what would be accepted (RFC 9110, 11.6.1).
pub fn check_authorization(status: StatusCode, headers: &HeaderMap) -> Result<(), Refused> {
    let Some(challenge) = headers.get(WWW_AUTHENTICATE) else { return Ok(()) };
    if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Ok(());
    }
    let Ok(challenge) = challenge.to_str() else {
        let text = "invalid www-authenticate header value";
        return Err(StreamableHttpError::UnexpectedServerResponse(Cow::Borrowed(text)));
    };
    Err(match status {
        StatusCode::UNAUTHORIZED => StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge.to_owned())),
        _ => StreamableHttpError::InsufficientScope(InsufficientScopeError::new(challenge.to_owned(), None)),
    })
}

/// What the SDK keeps of an answer 429 or 5xx.
pub fn failure(status: StatusCode, headers: &HeaderMap) -> Option<HttpStatusError> {
    if status != StatusCode::TOO_MANY_REQUESTS && !status.is_server_error() {
        return None;
    }
    let retry_after = headers.get(RETRY_AFTER).and_then(|value| std::str::from_utf8(value.as_bytes()).ok());
    Some(HttpStatusError::new(status.as_u16(), retry_after.map(str::to_owned)))
}

/// Media types are compared without their parameters and without case (RFC 9110, 8.3.1).
pub fn media_type_is(value: &[u8], expected: &str) -> bool {
    let essence = value.split(|byte| *byte == b';').next().unwrap_or_default();
    essence.trim_ascii().eq_ignore_ascii_case(expected.as_bytes())
}

fn check_success(status: StatusCode) -> Result<(), Refused> {
    match status.is_success() {
        true => Ok(()),
        false => Err(BackendError::Status(status).into()),
    }
}
