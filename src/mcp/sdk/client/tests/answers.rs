//! How the backend reads answers: as the SDK's stock backend does.

use std::sync::Arc;

use futures::StreamExt;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, InitializedNotification, PingRequest, RequestId,
};
use rmcp::transport::streamable_http_client::{StreamableHttpClient, StreamableHttpPostResponse};

use super::raw::{After, RawPeer, http};
use super::*;
use crate::mcp::sdk::client::backend::{Backend, CustomHeaders};
use crate::mcp::sdk::client::connection::Connection;
use crate::mcp::sdk::client::record::Record;

const ERROR: &str = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}"#;

/// What the backend makes of `answer`, in words.
fn ask<F, O>(answer: Vec<u8>, ask: F) -> String
where
    F: FnOnce(Backend<Local<RawPeer>>) -> O,
    O: Future<Output = String>,
{
    let peer = RawPeer::new(move |_| Some((answer.clone(), After::Close)));
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
    LocalSet::new().block_on(&runtime, async {
        let log: Rc<RefCell<dyn Sink>> = Rc::new(RefCell::new(Log::default()));
        let record = Record::new(0, Rc::new(Cell::new(0)), Witness::new("site", clock, log));
        let connection = Rc::new(Connection::new(Rc::new(record)));
        ask(Backend::new(connection, Local::new(peer), Duration::from_secs(10))).await
    })
}

fn post(message: ClientJsonRpcMessage, session: Option<&str>, answer: Vec<u8>) -> String {
    let session = session.map(Arc::from);
    ask(answer, |backend| async move {
        match backend.post_message(Arc::from("/mcp"), message, session, None, CustomHeaders::default()).await {
            Ok(StreamableHttpPostResponse::Sse(..)) => "Sse".to_owned(),
            Ok(StreamableHttpPostResponse::Json(message, _)) => {
                format!("Json {}", serde_json::to_string(&message).expect("a message"))
            }
            Ok(_) => "Accepted".to_owned(),
            Err(error) => error.to_string(),
        }
    })
}

fn request() -> ClientJsonRpcMessage {
    ClientJsonRpcMessage::request(ClientRequest::PingRequest(PingRequest::default()), RequestId::Number(1))
}

fn notification() -> ClientJsonRpcMessage {
    let notification = InitializedNotification::default();
    ClientJsonRpcMessage::notification(ClientNotification::InitializedNotification(notification))
}

fn challenge(status: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nwww-authenticate: Bearer\r\ncontent-length: 0\r\n\r\n").into_bytes()
}

#[test]
fn an_answer_to_a_request() {
    let json = "application/json";
    for (answer, told) in [
        (http("202 Accepted", "", ""), "Accepted"),
        (http("204 No Content", "", ""), "Accepted"),
        (http("200 OK", "text/event-stream", ""), "Sse"),
        (http("200 OK", "Text/Event-Stream; charset=utf-8", ""), "Sse"),
        (
            http("200 OK", json, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
            r#"Json {"jsonrpc":"2.0","id":1,"result":{}}"#,
        ),
        (
            http("200 OK", json, ""),
            "unexpected server response: could not parse JSON response as ServerJsonRpcMessage: EOF while parsing a value at line 1 column 0: <empty>",
        ),
        (http("200 OK", "text/html", "<p>"), r#"Unexpected content type: Some("text/html")"#),
        (http("404 Not Found", json, ERROR), "Session expired (HTTP 404)"),
        (http("400 Bad Request", json, ERROR), &format!("Json {ERROR}")),
        (http("500 Internal Server Error", json, ERROR), &format!("Json {ERROR}")),
        (http("500 Internal Server Error", "text/plain", ERROR), "HTTP 500"),
        (http("429 Too Many Requests", json, ERROR), "HTTP 429"),
        (http("503 Service Unavailable", json, "{}"), "HTTP 503"),
        (http("400 Bad Request", "text/plain", "why"), "unexpected server response: HTTP 400 Bad Request: why"),
        (http("401 Unauthorized", json, ERROR), &format!("unexpected server response: HTTP 401 Unauthorized: {ERROR}")),
        (challenge("401 Unauthorized"), "Auth required"),
        (challenge("403 Forbidden"), "Insufficient scope"),
    ] {
        let text = String::from_utf8_lossy(&answer).into_owned();
        assert_eq!(post(request(), Some("s"), answer), told, "{text}");
    }
    // Without a session there is none that could have expired.
    let not_found = post(request(), None, http("404 Not Found", "text/plain", "?"));
    assert_eq!(not_found, "unexpected server response: HTTP 404 Not Found: ?");
}

#[test]
fn an_answer_to_what_wants_none() {
    for answer in [
        http("202 Accepted", "", ""),
        http("200 OK", "", ""),
        http("200 OK", "text/html", "<p>"),
        http("200 OK", "application/json", "{"),
    ] {
        let text = String::from_utf8_lossy(&answer).into_owned();
        assert_eq!(post(notification(), Some("s"), answer), "Accepted", "{text}");
    }
    assert_eq!(post(notification(), Some("s"), http("404 Not Found", "", "")), "Session expired (HTTP 404)");
}

#[test]
fn an_answer_to_a_get() {
    let get = |answer| {
        ask(answer, |backend| async move {
            let (uri, headers) = (Arc::from("/mcp"), CustomHeaders::default());
            match backend.get_stream(uri, Some("s".into()), Some("7".to_owned()), None, headers).await {
                Ok(mut events) => match events.next().await {
                    Some(Ok(event)) => event.data.unwrap_or_default(),
                    Some(Err(error)) => error.to_string(),
                    None => "nothing".to_owned(),
                },
                Err(error) => error.to_string(),
            }
        })
    };
    for (answer, told) in [
        (http("200 OK", "text/event-stream", "data: x\n\n"), "x"),
        (http("200 OK", "text/event-stream", ""), "nothing"),
        (http("200 OK", "text/event-stream", "data: x\n"), "nothing"),
        (http("200 OK", "text/event-stream", "nonsense\n"), "invalid line"),
        (http("200 OK", "application/json", "data: x\n\n"), "x"),
        (http("200 OK", "text/html", ""), r#"Unexpected content type: Some("text/html")"#),
        (http("202 Accepted", "text/html", ""), r#"Unexpected content type: Some("text/html")"#),
        (http("404 Not Found", "", ""), "Client error: HTTP 404 Not Found"),
        (http("405 Method Not Allowed", "", ""), "Server does not support SSE"),
        (http("409 Conflict", "", ""), "Client error: HTTP 409 Conflict"),
        (http("502 Bad Gateway", "", ""), "HTTP 502"),
        (challenge("401 Unauthorized"), "Auth required"),
    ] {
        let text = String::from_utf8_lossy(&answer).into_owned();
        assert_eq!(get(answer), told, "{text}");
    }
}

#[test]
fn an_answer_to_a_delete() {
    for (status, told) in [
        ("200 OK", "ended"),
        ("405 Method Not Allowed", "ended"),
        ("404 Not Found", "Client error: HTTP 404 Not Found"),
    ] {
        let ended = ask(http(status, "", ""), |backend| async move {
            let deleted = backend.delete_session("/mcp".into(), "s".into(), None, CustomHeaders::default()).await;
            deleted.map_or_else(|error| error.to_string(), |()| "ended".to_owned())
        });
        assert_eq!(ended, told, "{status}");
    }
}

/// A server of before revision 2026-07-28 refuses `server/discover` in a way of its own; the SDK reads a refusal of
/// the whole revision out of any.
#[test]
fn a_refused_discovery_is_an_answer() {
    use rmcp::model::{DiscoverRequest, DiscoverRequestParams};
    let discover = || {
        let request = DiscoverRequest::new(DiscoverRequestParams {});
        ClientJsonRpcMessage::request(ClientRequest::DiscoverRequest(request), RequestId::Number(7))
    };
    let told = post(discover(), None, http("404 Not Found", "text/plain", "?"));
    assert!(told.starts_with(r#"Json {"jsonrpc":"2.0","id":7,"error""#), "{told}");
    let told = post(discover(), None, http("400 Bad Request", "application/json", ERROR));
    assert_eq!(told, format!("Json {}", ERROR.replace(r#""id":1"#, r#""id":7"#)));
    assert_eq!(post(discover(), None, http("500 Oh", "text/plain", "")), "HTTP 500");
}
