//! How the SDK's stock backend reads the answer to a POST.

use std::borrow::Cow;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
};

use super::answer::{check_authorization, failure, media_type_is};
use super::backend::{Events, Refused};
use super::error::BackendError;
use crate::mcp::wire::header::{EVENT_STREAM, JSON, SESSION_ID};

/// What the stock backend says of a body that broke off.
const UNREADABLE: &str = "<failed to read response body>";
/// How much the SDK quotes of a body that is no message, in bytes.
const QUOTED_BYTES: usize = 256;

/// What the SDK is told of the answer to `message`; `in_session` is whether it was sent in one. `leg` makes a stream of
/// a body.
pub async fn read(
    message: &ClientJsonRpcMessage,
    in_session: bool,
    response: Response<Incoming>,
    limits: &StreamableHttpResponseLimits,
    leg: impl FnOnce(Incoming) -> Events,
) -> Result<StreamableHttpPostResponse, Refused> {
    let (head, body) = response.into_parts();
    let status = head.status;
    check_authorization(status, &head.headers)?;
    if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    if status == StatusCode::NOT_FOUND && in_session {
        return Err(StreamableHttpError::SessionExpired);
    }
    let text = |name| head.headers.get(name).map(|value: &http::HeaderValue| value.as_bytes());
    let media_type = text(CONTENT_TYPE);
    let is = |expected| media_type.is_some_and(|media_type| media_type_is(media_type, expected));
    let session = head.headers.get(SESSION_ID).and_then(|key| key.to_str().ok()).map(str::to_owned);
    let length = text(CONTENT_LENGTH).and_then(|length| std::str::from_utf8(length).ok()?.parse::<u64>().ok());
    // A POST without a request in it waits for nothing that an answer could say.
    let wants_answer = matches!(message, ClientJsonRpcMessage::Request(_));

    if !status.is_success() {
        let failure = failure(status, &head.headers);
        let body = Body { body, length };
        return read_refusal(message, in_session, (status, failure), session, is(JSON), body, limits).await;
    }
    if !wants_answer && length == Some(0) {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    if is(EVENT_STREAM) {
        return Ok(StreamableHttpPostResponse::Sse(leg(body), session));
    }
    if is(JSON) {
        let body = Body { body, length }.whole(limits.max_json_response_size).await?;
        return match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
            Ok(message) => Ok(StreamableHttpPostResponse::Json(message, session)),
            Err(_) if !wants_answer => Ok(StreamableHttpPostResponse::Accepted),
            Err(error) => Err(unexpected(format!(
                "could not parse JSON response as ServerJsonRpcMessage: {error}: {}",
                quoted(&body)
            ))),
        };
    }
    if !wants_answer {
        return Ok(StreamableHttpPostResponse::Accepted);
    }
    let text = media_type.map(|media_type| String::from_utf8_lossy(media_type).into_owned());
    Err(StreamableHttpError::UnexpectedContentType(text))
}

/// An answer whose status is no success: a JSON-RPC error in it is an answer all the same.
async fn read_refusal(
    message: &ClientJsonRpcMessage,
    in_session: bool,
    (status, failure): (StatusCode, Option<rmcp::transport::streamable_http_client::HttpStatusError>),
    session: Option<String>,
    is_json: bool,
    body: Body,
    limits: &StreamableHttpResponseLimits,
) -> Result<StreamableHttpPostResponse, Refused> {
    let failure = match failure {
        Some(failure) if !is_json || status == StatusCode::TOO_MANY_REQUESTS => return Err(failure.into()),
        failure => failure,
    };
    let may_be_rpc = is_json && !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    let text = if may_be_rpc {
        match body.whole(limits.max_json_response_size).await {
            Ok(bytes) => {
                if let Ok(error @ ServerJsonRpcMessage::Error(_)) = serde_json::from_slice(&bytes) {
                    let discover = legacy_discover(message, in_session, status, &String::from_utf8_lossy(&bytes));
                    return Ok(discover.unwrap_or(StreamableHttpPostResponse::Json(error, session)));
                }
                lossy(&bytes[..bytes.len().min(limits.max_error_response_size)])
            }
            Err(error @ StreamableHttpError::ResponseBodyTooLarge { .. }) => {
                return Err(failure.map_or(error, StreamableHttpError::from));
            }
            Err(StreamableHttpError::Client(_)) => UNREADABLE.to_owned(),
            Err(error) => return Err(error),
        }
    } else {
        match body.beginning(limits.max_error_response_size).await {
            Ok(bytes) => lossy(&bytes),
            Err(_) => UNREADABLE.to_owned(),
        }
    };
    if let Some(answer) = legacy_discover(message, in_session, status, &text) {
        return Ok(answer);
    }
    Err(failure.map_or_else(|| unexpected(format!("HTTP {status}: {text}")), StreamableHttpError::from))
}

/// A server of before 2026-07-28 does not know `server/discover`: its refusal is the answer, whatever its form.
fn legacy_discover(
    message: &ClientJsonRpcMessage,
    in_session: bool,
    status: StatusCode,
    body: &str,
) -> Option<StreamableHttpPostResponse> {
    let ClientJsonRpcMessage::Request(request) = message else { return None };
    let is_discover = matches!(request.request, ClientRequest::DiscoverRequest(_));
    let is_about_authorization = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    if in_session || !is_discover || !status.is_client_error() || is_about_authorization {
        return None;
    }
    let error = match serde_json::from_str(body) {
        Ok(ServerJsonRpcMessage::Error(error)) => error.error,
        _ => ErrorData::invalid_request(format!("server/discover rejected with HTTP {status}: {body}"), None),
    };
    let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
    Some(StreamableHttpPostResponse::Json(answer, None))
}

/// A body that is not a stream.
struct Body {
    body: Incoming,
    length: Option<u64>,
}

impl Body {
    /// All of it, if it is no longer than `max` bytes.
    async fn whole(mut self, max: usize) -> Result<Vec<u8>, Refused> {
        let too_large = || StreamableHttpError::ResponseBodyTooLarge { max_size: max };
        if self.length.is_some_and(|length| length > max as u64) {
            return Err(too_large());
        }
        let mut whole = Vec::new();
        while let Some(bytes) = self.next().await? {
            if bytes.len() > max - whole.len() {
                return Err(too_large());
            }
            whole.extend_from_slice(&bytes);
        }
        Ok(whole)
    }

    /// Its first `max` bytes.
    async fn beginning(mut self, max: usize) -> Result<Vec<u8>, BackendError> {
        let mut beginning = Vec::new();
        while beginning.len() < max {
            let Some(bytes) = self.next().await? else { break };
            let wanted = bytes.len().min(max - beginning.len());
            beginning.extend_from_slice(&bytes[..wanted]);
        }
        Ok(beginning)
    }

    async fn next(&mut self) -> Result<Option<Bytes>, BackendError> {
        while let Some(frame) = self.body.frame().await {
            if let Ok(bytes) = frame?.into_data() {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }
}

fn unexpected(text: String) -> Refused {
    StreamableHttpError::UnexpectedServerResponse(Cow::Owned(text))
}

fn quoted(body: &[u8]) -> String {
    match body {
        [] => "<empty>".to_owned(),
        body => lossy(&body[..body.len().min(QUOTED_BYTES)]),
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
