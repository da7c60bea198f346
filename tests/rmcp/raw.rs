//! Peers that send bytes, whatever they are.

use std::cell::Cell;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::timeout;

use crate::world::World;

/// What a peer keeps of an answer, in bytes. It reads on all the same.
const KEPT: usize = 64 << 10;
/// What one direction of a connection holds.
const BUFFER: usize = 16 << 10;

/// What a peer does when its bytes are sent.
pub enum After {
    /// It sends no more, says so, and reads on.
    Close,
    /// It sends no more and says nothing, for so many seconds; then it hangs up.
    Silence(u64),
    /// It sends these for as long as somebody takes them, up to 64 MiB.
    Repeat(Vec<u8>),
}

/// What became of it.
#[derive(Debug)]
pub struct Told {
    /// The beginning of what the server sent.
    pub text: String,
    /// The statuses of its answers, as far as they stand in that.
    pub statuses: Vec<u16>,
    /// Answers in all.
    pub answers: u64,
    /// Bytes that the server took.
    pub taken: u64,
    /// Whether it ended the connection.
    pub closed: bool,
}

impl World {
    /// Sends `bytes`, and reads what is answered.
    pub async fn tell(&self, bytes: &[u8], after: After) -> Told {
        let (mut from, mut to) = tokio::io::split(self.pipe.dial(BUFFER));
        let taken = Cell::new(0);
        let patience = match after {
            After::Silence(seconds) => seconds,
            _ => 3000,
        };
        let write = async {
            if send(&mut to, bytes, &taken).await.is_ok() {
                match &after {
                    After::Close => _ = to.shutdown().await,
                    After::Silence(_) => {}
                    After::Repeat(more) => while taken.get() < 64 << 20 && send(&mut to, more, &taken).await.is_ok() {},
                }
            }
            std::future::pending::<()>().await;
        };
        let mut kept = Vec::new();
        let mut answers = 0;
        let read = async {
            let mut buffer = vec![0; BUFFER];
            while let Ok(count @ 1..) = from.read(&mut buffer).await {
                answers += buffer[..count].windows(9).filter(|window| window == b"HTTP/1.1 ").count() as u64;
                kept.extend_from_slice(&buffer[..count.min(KEPT - kept.len().min(KEPT))]);
            }
        };
        let closed = timeout(Duration::from_secs(patience), async {
            tokio::select! {
                biased;
                () = read => {}
                () = write => {}
            }
        });
        let closed = closed.await.is_ok();
        let text = String::from_utf8_lossy(&kept).into_owned();
        let statuses = text.split("HTTP/1.1 ").skip(1).filter_map(|rest| rest.get(..3)?.parse().ok()).collect();
        Told { text, statuses, answers, taken: taken.get(), closed }
    }

    /// Sends `bytes` and hangs up at once, or after `seconds`, without reading anything.
    pub async fn throw(&self, bytes: &[u8], seconds: u64) -> u64 {
        let (from, mut to) = tokio::io::split(self.pipe.dial(BUFFER));
        let taken = Cell::new(0);
        let _ = timeout(Duration::from_secs(seconds), async {
            let _ = send(&mut to, bytes, &taken).await;
            std::future::pending::<()>().await;
        })
        .await;
        drop(from);
        taken.get()
    }

    /// Sends a whole request, and reads until the server has answered and ends the connection.
    pub async fn ask(&self, request: &[u8]) -> Told {
        let told = self.tell(request, After::Silence(600)).await;
        assert!(told.closed, "{}: not ended: {told:?}", String::from_utf8_lossy(request));
        told
    }

    /// Opens a session as client `client` and returns its key.
    pub async fn session(&self, client: u32) -> String {
        let told = self.ask(&post(None, client, INITIALIZE)).await;
        let key = told.text.split("mcp-session-id: ").nth(1).and_then(|rest| rest.lines().next());
        let key = key.unwrap_or_else(|| panic!("no session: {told:?}")).to_owned();
        let told = self.ask(&post(Some(&key), client, INITIALIZED)).await;
        assert_eq!(told.statuses, [202], "{told:?}");
        key
    }

    /// Fails where a client that behaves is not served.
    pub async fn serves(&self) {
        let key = self.session(0).await;
        let told = self.ask(&post(Some(&key), 0, &call(1, "t", 0))).await;
        assert_eq!(told.statuses, [200], "{told:?}");
        assert!(told.text.contains(r#""progress":2"#), "{told:?}");
        assert!(told.text.contains(r#""id":1,"result""#), "{told:?}");
    }
}

async fn send(to: &mut tokio::io::WriteHalf<DuplexStream>, bytes: &[u8], taken: &Cell<u64>) -> std::io::Result<()> {
    for chunk in bytes.chunks(4096) {
        to.write_all(chunk).await?;
        taken.set(taken.get() + chunk.len() as u64);
    }
    Ok(())
}

pub const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#;
pub const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
pub const LIST: &str = r#"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#;

/// A call of the tool under the id `id`, whose parts come with `token`.
pub fn call(id: u32, token: &str, number: u32) -> String {
    call_with(&id.to_string(), &format!("{token:?}"), number)
}

/// The same, where id and token are JSON.
pub fn call_with(id: &str, token: &str, number: u32) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"report","arguments":{{"client":0,"call":{number},"from_part":0}},"_meta":{{"progressToken":{token}}}}}}}"#
    )
}

/// The head of a request, without its last line. The connection is to end with the answer.
pub fn head(method: &str, session: Option<&str>) -> String {
    format!("{}connection: close\r\n", lasting_head(method, session))
}

fn lasting_head(method: &str, session: Option<&str>) -> String {
    let session = session.map(|key| format!("mcp-session-id: {key}\r\nmcp-protocol-version: 2025-11-25\r\n"));
    format!(
        "{method} /mcp HTTP/1.1\r\nhost: mcp\r\naccept: application/json, text/event-stream\r\n{}",
        session.unwrap_or_default()
    )
}

/// A POST as it stands on the wire, tagged as the first request of `client`.
pub fn post(session: Option<&str>, client: u32, body: &str) -> Vec<u8> {
    whole_post(head("POST", session), client, body)
}

/// The same on a connection that goes on.
pub fn lasting_post(session: Option<&str>, client: u32, body: &str) -> Vec<u8> {
    whole_post(lasting_head("POST", session), client, body)
}

fn whole_post(head: String, client: u32, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "{head}x-request-id: c{client}-r0\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// A GET with these further header lines.
pub fn get(session: Option<&str>, lines: &[u8]) -> Vec<u8> {
    [head("GET", session).as_bytes(), lines, b"\r\n"].concat()
}
