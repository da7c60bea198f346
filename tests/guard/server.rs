//! A server on the loopback that loses streams: as much of HTTP and MCP as the SDK's client asks for.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// How the server answers the resume of the stream that it has lost.
#[derive(Clone, Copy, Debug)]
pub enum Resume {
    /// With the first events of another life of its counter: 17 after 8412, and then silence.
    Restarted,
    /// With nothing, at once, each time.
    Empty,
}

/// The server, and what it has been asked.
pub struct Server {
    resume: Resume,
    asked: Mutex<Vec<String>>,
    /// Lets the call of the tool `slow` end.
    pub finish: Notify,
}

impl Server {
    /// Starts a server and says where it listens.
    pub async fn start(resume: Resume) -> (Arc<Server>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let server = Arc::new(Server { resume, asked: Mutex::default(), finish: Notify::new() });
        let serving = server.clone();
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let server = serving.clone();
                // Who hangs up in the middle is answered no more.
                tokio::spawn(async move { server.answer(stream).await.ok() });
            }
        });
        (server, url)
    }

    /// How many requests looked like this: the method, the session, and of a POST the method of the message and the tool.
    pub fn count(&self, request: &str) -> usize {
        self.asked.lock().unwrap().iter().filter(|asked| *asked == request).count()
    }

    async fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let (head, body) = read_request(&mut stream).await?;
        let http_method = head.split(' ').next().unwrap_or_default().to_owned();
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let method = message["method"].as_str().unwrap_or_default();
        let tool = message["params"]["name"].as_str().unwrap_or_default();
        let session = header(&head, "mcp-session-id").unwrap_or("-").to_owned();
        let asked = format!("{http_method} {session} {method} {tool}").trim_end().to_owned();
        self.asked.lock().unwrap().push(asked);

        let response = |result: Value| json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string();
        let done = response(json!({ "content": [{ "type": "text", "text": "done" }] }));
        let part = json!({
            "jsonrpc": "2.0", "method": "notifications/progress",
            "params": { "progressToken": message["params"]["_meta"]["progressToken"], "progress": 1 },
        });
        match (http_method.as_str(), method, tool) {
            ("POST", "initialize", _) => {
                let key = format!("s{}", self.count("POST - initialize"));
                let result = json!({
                    "protocolVersion": message["params"]["protocolVersion"], "capabilities": { "tools": {} },
                    "serverInfo": { "name": "loser", "version": "1" },
                });
                let headers = format!("mcp-session-id: {key}\r\ncontent-type: application/json\r\n");
                respond(&mut stream, "200 OK", &headers, &response(result)).await
            }
            ("POST", "tools/list", _) => {
                let tool = json!({ "name": "slow", "inputSchema": { "type": "object" } });
                respond(&mut stream, "200 OK", JSON, &response(json!({ "tools": [tool] }))).await
            }
            ("POST", "tools/call", "lost") if session == "s1" => {
                let events = format!("retry: 20\nid: 8411\ndata: {part}\n\nid: 8412\ndata: {part}\n\n");
                respond(&mut stream, "200 OK", EVENTS, &events).await
            }
            ("POST", "tools/call", "slow") => {
                respond(&mut stream, "200 OK", EVENTS, &format!("id: 1\ndata: {part}\n\n")).await?;
                self.finish.notified().await;
                stream.write_all(format!("id: 2\ndata: {done}\n\n").as_bytes()).await
            }
            ("POST", "tools/call", _) => respond(&mut stream, "200 OK", JSON, &done).await,
            ("POST", ..) => respond(&mut stream, "202 Accepted", "content-length: 0\r\n", "").await,
            ("GET", ..) => match (header(&head, "last-event-id"), self.resume) {
                (None, _) => respond(&mut stream, "405 Method Not Allowed", "content-length: 0\r\n", "").await,
                (Some(_), Resume::Restarted) => {
                    respond(&mut stream, "200 OK", EVENTS, &format!("id: 17\ndata: {part}\n\n")).await?;
                    // Until the client hangs up.
                    stream.read_u8().await.map(|_| ())
                }
                (Some(_), Resume::Empty) => respond(&mut stream, "200 OK", EVENTS, "retry: 20\n\n").await,
            },
            _ => respond(&mut stream, "200 OK", "content-length: 0\r\n", "").await,
        }
    }
}

const JSON: &str = "content-type: application/json\r\n";
const EVENTS: &str = "content-type: text/event-stream\r\n";

/// The body ends with the connection.
async fn respond(stream: &mut TcpStream, status: &str, headers: &str, body: &str) -> std::io::Result<()> {
    let answer = format!("HTTP/1.1 {status}\r\nconnection: close\r\n{headers}\r\n{body}");
    stream.write_all(answer.as_bytes()).await
}

async fn read_request(stream: &mut TcpStream) -> std::io::Result<(String, Vec<u8>)> {
    let mut read = Vec::new();
    loop {
        read.push(stream.read_u8().await?);
        if read.ends_with(b"\r\n\r\n") {
            break;
        }
    }
    let head = String::from_utf8_lossy(&read).into_owned();
    let length = header(&head, "content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok((head, body))
}

fn header<'h>(head: &'h str, name: &str) -> Option<&'h str> {
    head.lines()
        .filter_map(|line| line.split_once(": "))
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, v)| v)
}
