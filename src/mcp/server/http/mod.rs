//! Requests and answers: the endpoint of the streamable HTTP transport (2025-11-25, transports, "Streamable HTTP").

mod get;
mod post;
mod refusal;

use std::convert::Infallible;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use serde_json::Value;

use self::refusal::Refusal;
use super::Server;
use super::leg::Leg;
use super::settings::UnknownSession;
use super::table::SharedSession;
use crate::mcp::wire::header::{ENDPOINT, EVENT_STREAM, JSON, PROTOCOL_VERSION, REVISION, RequestTag, SESSION_ID};
use crate::mcp::wire::message::{self, RpcId};
use crate::observe::event::{Cause, Origin};

/// The revisions of the transport that this server accepts; a client that names none speaks the first
/// (2025-11-25, transports, "Protocol Version Header").
const REVISIONS: [&str; 3] = ["2025-03-26", "2025-06-18", REVISION];

/// The longest session key that a client may have adopted.
const KEY_BYTES: usize = 256;

/// JSON-RPC 2.0: the bytes are no JSON.
const PARSE_ERROR: i64 = -32700;
/// JSON-RPC 2.0: the JSON is no request.
const INVALID_REQUEST: i64 = -32600;
/// JSON-RPC 2.0: there is no such method.
const METHOD_NOT_FOUND: i64 = -32601;
/// JSON-RPC 2.0: the parameters are not the method's.
const INVALID_PARAMS: i64 = -32602;
/// The code that the field's servers use for a refusal by the transport.
const REFUSED: i64 = -32000;

/// Answers one request.
pub async fn answer<B>(server: Rc<Server>, request: Request<B>) -> Result<Response<Reply>, Infallible>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let (head, body) = request.into_parts();
    let answered = match (head.uri.path() == ENDPOINT, &head.method) {
        (false, _) => Err(Refusal::new(StatusCode::NOT_FOUND, "there is only /mcp here")),
        (true, &Method::POST) => post::answer(&server, &head.headers, body).await,
        (true, &Method::GET) => get::answer(&server, &head.headers),
        (true, &Method::DELETE) => delete(&server, &head.headers),
        (true, _) => Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "expected POST, GET or DELETE")),
    };
    Ok(answered.unwrap_or_else(Refusal::into_response))
}

/// An answer, or a refusal: both are sent.
type Answer = Result<Response<Reply>, Refusal>;

/// DELETE ends the session (2025-11-25, transports, "Session Management", item 5) and cancels its calls.
fn delete(server: &Rc<Server>, headers: &HeaderMap) -> Answer {
    check_revision(headers)?;
    let key = session_key(headers)?;
    let closed = server.table.borrow_mut().close(key, Cause::Deleted);
    server.base.fleet.forget(key);
    let session = closed.ok_or_else(Refusal::session_not_found)?;
    server.cancel_all(&session);
    let status = StatusCode::from_u16(server.base.settings.delete_status).unwrap_or(StatusCode::OK);
    Ok(whole(status, Bytes::new()))
}

/// The session that a request names, and who asks for it.
fn session_of(server: &Rc<Server>, headers: &HeaderMap) -> Result<(SharedSession, RequestTag), Refusal> {
    check_revision(headers)?;
    let key = session_key(headers)?;
    let tag = RequestTag::of(headers);
    let known = server.table.borrow().get(key);
    let session = match (known, server.base.settings.unknown_session) {
        (Some(session), _) => session,
        (None, UnknownSession::Recreate) => open_again(server, key, tag, Origin::Recreated),
        (None, UnknownSession::Restore) if server.base.fleet.remembers(key) => {
            open_again(server, key, tag, Origin::Restored)
        }
        (None, UnknownSession::NotFound | UnknownSession::Restore) => return Err(Refusal::session_not_found()),
    };
    let owner = session.borrow().owner;
    let tag = tag.unwrap_or_else(|| server.base.fleet.stranger(Some(owner)));
    session.borrow().activity.touch(server.base.now());
    Ok((session, tag))
}

/// A new incarnation under a key that is not in the table.
fn open_again(server: &Rc<Server>, key: &str, tag: Option<RequestTag>, origin: Origin) -> SharedSession {
    let owner = tag.unwrap_or_else(|| server.base.fleet.stranger(None)).client;
    let session = server.table.borrow_mut().open(key.into(), owner, origin);
    server.start_churn(owner);
    session
}

fn session_key(headers: &HeaderMap) -> Result<&str, Refusal> {
    let value = headers
        .get(SESSION_ID)
        .ok_or_else(|| Refusal::new(StatusCode::BAD_REQUEST, "expected an Mcp-Session-Id header"))?;
    value
        .to_str()
        .ok()
        .filter(|key| key.len() <= KEY_BYTES && key.bytes().all(|byte| byte.is_ascii_graphic()))
        .ok_or_else(|| {
            Refusal::new(StatusCode::BAD_REQUEST, "expected an Mcp-Session-Id of at most 256 visible ASCII characters")
        })
}

fn check_revision(headers: &HeaderMap) -> Result<(), Refusal> {
    match headers.get(PROTOCOL_VERSION) {
        Some(revision) if !REVISIONS.iter().any(|known| revision == known) => Err(Refusal::new(
            StatusCode::BAD_REQUEST,
            "expected an MCP-Protocol-Version of 2025-03-26, 2025-06-18 or 2025-11-25",
        )),
        _ => Ok(()),
    }
}

/// Whether the client takes answers of `media_type`.
fn accepts(headers: &HeaderMap, media_type: &str) -> bool {
    let class = media_type.split('/').next().unwrap_or_default();
    headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|range| range.split(';').next())
        .map(str::trim)
        .any(|range| {
            range == "*/*"
                || range.eq_ignore_ascii_case(media_type)
                || range.strip_suffix("/*").is_some_and(|of| of.eq_ignore_ascii_case(class))
        })
}

/// A JSON-RPC error that answers a request.
fn rpc_error(id: &RpcId, code: i64, reason: &str) -> Response<Reply> {
    json(StatusCode::OK, &message::error(Some(id), code, reason))
}

fn json(status: StatusCode, value: &Value) -> Response<Reply> {
    let mut response = whole(status, value.to_string().into());
    let media_type = HeaderValue::from_static(JSON);
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    response
}

fn whole(status: StatusCode, body: Bytes) -> Response<Reply> {
    let mut response = Response::new(Reply::Whole(body));
    *response.status_mut() = status;
    response
}

fn event_stream(body: Reply) -> Response<Reply> {
    let mut response = Response::new(body);
    let media_type = HeaderValue::from_static(EVENT_STREAM);
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    response
}

/// The body of an answer.
pub enum Reply {
    /// Bytes that are there.
    Whole(Bytes),
    /// A leg of a stream.
    Leg(Leg),
}

impl Body for Reply {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Reply::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Reply::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Reply::Leg(leg) => Pin::new(leg).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Reply::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Reply::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Reply::Leg(_) => SizeHint::default(),
        }
    }
}
