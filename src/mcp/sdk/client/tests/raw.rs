//! A peer that answers with bytes, whatever they are.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::task::spawn_local;

use crate::mcp::net::Dial;
use crate::mcp::wire::message::{self, RpcId};

/// A request, as far as tests ask.
pub struct Asked {
    /// GET, POST or DELETE.
    pub method: String,
    /// The message that a POST carries.
    pub body: Value,
}

impl Asked {
    /// The JSON-RPC method that it posts; empty where it posts none.
    pub fn rpc(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }
}

/// What comes after the bytes of an answer.
pub enum After {
    /// The end of the connection.
    Close,
    /// Nothing, for ever.
    Silence,
    /// These bytes, for as long as somebody takes them.
    Repeat(Vec<u8>),
}

type Answer = dyn FnMut(&Asked) -> Option<(Vec<u8>, After)>;

/// The peer: a dial whose other end writes what the test says, or what an ordinary server would.
#[derive(Clone)]
pub struct RawPeer {
    answer: Rc<RefCell<Answer>>,
    written: Rc<Cell<u64>>,
    asked: Rc<Cell<u32>>,
}

impl RawPeer {
    pub fn new(answer: impl FnMut(&Asked) -> Option<(Vec<u8>, After)> + 'static) -> RawPeer {
        RawPeer { answer: Rc::new(RefCell::new(answer)), written: Rc::default(), asked: Rc::default() }
    }

    /// Bytes of the test's answers that somebody took, or that lie in a pipe.
    pub fn written(&self) -> u64 {
        self.written.get()
    }

    /// Requests that came.
    pub fn asked(&self) -> u32 {
        self.asked.get()
    }

    async fn serve(self, mut pipe: DuplexStream) -> io::Result<()> {
        let asked = read(&mut pipe).await?;
        self.asked.set(self.asked.get() + 1);
        let answer = (self.answer.borrow_mut())(&asked);
        let Some((bytes, after)) = answer else {
            pipe.write_all(ordinary(&asked).as_bytes()).await?;
            // The standing stream stays open.
            return if asked.method == "GET" { std::future::pending().await } else { Ok(()) };
        };
        self.write(&mut pipe, &bytes).await?;
        match after {
            After::Close => Ok(()),
            After::Silence => std::future::pending().await,
            After::Repeat(bytes) => loop {
                self.write(&mut pipe, &bytes).await?;
            },
        }
    }

    async fn write(&self, pipe: &mut DuplexStream, bytes: &[u8]) -> io::Result<()> {
        pipe.write_all(bytes).await?;
        self.written.set(self.written.get() + bytes.len() as u64);
        Ok(())
    }
}

impl Dial for RawPeer {
    type Io = DuplexStream;

    async fn dial(&self) -> io::Result<DuplexStream> {
        let (near, far) = tokio::io::duplex(64 << 10);
        let peer = self.clone();
        spawn_local(async move {
            // The client hangs up when it pleases.
            let _ = peer.serve(far).await;
        });
        Ok(near)
    }
}

/// One request: the SDK's client sends no other on the same connection.
async fn read(pipe: &mut DuplexStream) -> io::Result<Asked> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = memchr::memmem::find(&bytes, b"\r\n\r\n") {
            break at;
        }
        read_some(pipe, &mut bytes).await?;
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let length: usize = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |length| length.parse().expect("a length"));
    while bytes.len() < end + 4 + length {
        read_some(pipe, &mut bytes).await?;
    }
    Ok(Asked {
        method: head.split(' ').next().unwrap_or_default().to_owned(),
        body: serde_json::from_slice(&bytes[end + 4..]).unwrap_or_default(),
    })
}

async fn read_some(pipe: &mut DuplexStream, bytes: &mut Vec<u8>) -> io::Result<()> {
    match pipe.read_buf(bytes).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}

/// A whole answer as it stands on the wire.
pub fn http(status: &str, media_type: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\ncontent-type: {media_type}\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes()
}

/// The beginning of an answer that is a stream.
pub fn stream_head() -> Vec<u8> {
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n".to_vec()
}

fn ordinary(asked: &Asked) -> String {
    let id = || serde_json::from_value::<RpcId>(asked.body["id"].clone()).expect("a request has an id");
    let json = |value: Value| {
        let body = value.to_string();
        let length = body.len();
        format!(
            "HTTP/1.1 200 OK\r\nmcp-session-id: s\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        )
    };
    match (asked.method.as_str(), asked.rpc()) {
        ("POST", "initialize") => json(message::initialize_result(&id())),
        ("POST", "tools/list") => json(message::list_tools_result(&id(), true, true)),
        ("POST", _) => "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n".to_owned(),
        ("GET", _) => String::from_utf8(stream_head()).expect("text"),
        _ => "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_owned(),
    }
}
