//! A scripted peer: it answers each request as the test says, and remembers what it was asked.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response, header};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::io::DuplexStream;
use tokio::task::spawn_local;
use tokio::time::{Sleep, sleep};

use crate::mcp::net::Dial;
use crate::mcp::wire::header::{EVENT_STREAM, JSON, LAST_EVENT_ID, SESSION_ID};
use crate::mcp::wire::message::{self, RpcId};
use crate::world::time::SimTime;

/// A request as the peer saw it.
#[derive(Clone, Debug)]
pub struct Seen {
    pub at: SimTime,
    pub method: String,
    pub session: Option<String>,
    pub cursor: Option<String>,
    pub body: Value,
}

impl Seen {
    /// The JSON-RPC method that it posts; empty where it posts none.
    pub fn rpc(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }

    /// A part of this call as it stands on the wire.
    pub fn part(&self, id: &str, index: u32) -> String {
        let token = &self.body["params"]["_meta"]["progressToken"];
        assert!(!token.is_null(), "a call has a token");
        let message = format!("{:08x}", 0xa0 + index);
        let part = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {
            "progressToken": token, "progress": index + 1, "total": 9, "message": message,
        }});
        super::event(id, &part.to_string())
    }

    /// The response to this call as it stands on the wire.
    pub fn response(&self, id: &str) -> String {
        super::event(id, &message::call_tool_result(&self.rpc_id(), 2).to_string())
    }

    fn rpc_id(&self) -> RpcId {
        serde_json::from_value(self.body["id"].clone()).expect("a request has an id")
    }
}

/// How the peer answers.
pub enum Reply {
    /// A status without a body.
    Status(u16),
    /// 200 with a JSON body.
    Json(String),
    /// 200 with a stream.
    Stream(Vec<Piece>, End),
}

impl Reply {
    /// A stream that says `text` at once and ends a moment later: bytes on their way are lost where the end is a break.
    pub fn says(text: impl Into<String>, end: End) -> Option<Reply> {
        Some(Reply::Stream(vec![Piece::Text(text.into()), Piece::Wait(Duration::from_millis(10))], end))
    }
}

/// A piece of a stream.
pub enum Piece {
    /// Bytes.
    Text(String),
    /// Silence.
    Wait(Duration),
}

/// How a stream ends.
pub enum End {
    /// As HTTP says it should.
    Clean,
    /// The connection breaks.
    Broken,
    /// It does not.
    Open,
}

type Answer = Box<dyn FnMut(&Seen) -> Option<Reply>>;

/// The peer: a dial whose other end answers.
#[derive(Clone)]
pub struct Peer {
    answer: Rc<RefCell<Answer>>,
    seen: Rc<RefCell<Vec<Seen>>>,
}

impl Peer {
    pub fn new(answer: impl FnMut(&Seen) -> Option<Reply> + 'static) -> Peer {
        Peer { answer: Rc::new(RefCell::new(Box::new(answer))), seen: Rc::default() }
    }

    /// The requests, in the order of their coming.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.borrow().clone()
    }

    async fn serve(&self, request: Request<Incoming>) -> Response<Pieces> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
        let text = |headers: &HeaderMap, name| {
            headers.get(name).map(|value: &http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let seen = Seen {
            at: super::clock(),
            method: head.method.to_string(),
            session: text(&head.headers, SESSION_ID),
            cursor: text(&head.headers, LAST_EVENT_ID),
            body: serde_json::from_slice(&body).unwrap_or_default(),
        };
        let session = format!("session-{}", 1 + self.count("initialize"));
        let reply = (self.answer.borrow_mut())(&seen).unwrap_or_else(|| ordinary(&seen));
        self.seen.borrow_mut().push(seen);
        let response = Response::builder().header(SESSION_ID, session);
        let built = match reply {
            Reply::Status(status) => response.status(status).body(Pieces::default()),
            Reply::Json(text) => response
                .header(header::CONTENT_TYPE, JSON)
                .body(Pieces { pieces: [Piece::Text(text)].into(), ..Pieces::default() }),
            Reply::Stream(pieces, end) => response.header(header::CONTENT_TYPE, EVENT_STREAM).body(Pieces {
                pieces: pieces.into(),
                end: Some(end),
                pause: None,
            }),
        };
        built.expect("a response")
    }

    fn count(&self, rpc: &str) -> usize {
        self.seen.borrow().iter().filter(|seen| seen.rpc() == rpc).count()
    }
}

/// What a well-behaved server that has nothing to say answers.
fn ordinary(seen: &Seen) -> Reply {
    match (seen.method.as_str(), seen.rpc()) {
        ("POST", "initialize") => Reply::Json(message::initialize_result(&seen.rpc_id()).to_string()),
        ("POST", "tools/list") => Reply::Json(message::list_tools_result(&seen.rpc_id(), true, true).to_string()),
        ("POST", _) => Reply::Status(202),
        ("GET", _) => Reply::Stream(Vec::new(), End::Open),
        _ => Reply::Status(200),
    }
}

impl Dial for Peer {
    type Io = DuplexStream;

    async fn dial(&self) -> io::Result<DuplexStream> {
        let (near, far) = tokio::io::duplex(64 << 10);
        let peer = self.clone();
        spawn_local(async move {
            let service = service_fn(|request| {
                let peer = peer.clone();
                async move { Ok::<_, Infallible>(peer.serve(request).await) }
            });
            let _ = http1::Builder::new().auto_date_header(false).serve_connection(TokioIo::new(far), service).await;
        });
        Ok(near)
    }
}

/// A body of pieces.
#[derive(Default)]
struct Pieces {
    pieces: VecDeque<Piece>,
    end: Option<End>,
    pause: Option<Pin<Box<Sleep>>>,
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        loop {
            if let Some(pause) = &mut self.pause {
                std::task::ready!(pause.as_mut().poll(cx));
                self.pause = None;
            }
            match self.pieces.pop_front() {
                Some(Piece::Text(text)) => return Poll::Ready(Some(Ok(Frame::data(text.into())))),
                Some(Piece::Wait(time)) => self.pause = Some(Box::pin(sleep(time))),
                None => {
                    return match self.end {
                        None | Some(End::Clean) => Poll::Ready(None),
                        Some(End::Broken) => Poll::Ready(Some(Err(io::ErrorKind::ConnectionReset.into()))),
                        Some(End::Open) => Poll::Pending,
                    };
                }
            }
        }
    }
}
