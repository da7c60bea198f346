//! What the SDK's client holds in memory under peers that send without end.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::time::Duration;

use desync_sim::mcp::client::Agent;
use desync_sim::mcp::client::workload::Workload;
use desync_sim::mcp::net::Dial;
use desync_sim::mcp::sdk::client::SdkClient;
use desync_sim::mcp::wire::message::{RpcId, initialize_result, list_tools_result};
use desync_sim::observe::event::Event;
use desync_sim::observe::witness::{Sink, Witness};
use desync_sim::world::draw::Draws;
use desync_sim::world::time::SimTime;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_local;
use tokio::time::sleep;

use crate::allocated::{alone, live_bytes};
use crate::runs::scenario;
use crate::world::{clock, simulated};

const SCENARIO: &str = r#"format = 1
name = "rmcp"
summary = "one client of the SDK, answered by peers that send without end"
seeds = "0..1"
arms = ["rmcp"]
horizon_s = 100

[client]
call_interval_s = 20
call_timeout_s = 10
ramp_up_s = 0
"#;

/// What a peer does where it is asked for `method`, `GET` for the standing stream; everything else it answers as it
/// should.
#[derive(Clone)]
struct Flood {
    method: &'static str,
    head: &'static [u8],
    piece: Rc<Vec<u8>>,
    pieces: u32,
    sent: Rc<Cell<u64>>,
    most: Rc<Cell<i64>>,
}

const STREAM: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

const EVENT: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: ";

impl Flood {
    fn new(method: &'static str, head: &'static [u8], piece: Vec<u8>, pieces: u32) -> Flood {
        Flood { method, head, piece: Rc::new(piece), pieces, sent: Rc::default(), most: Rc::default() }
    }

    async fn serve(self, mut pipe: DuplexStream) -> io::Result<()> {
        let (method, id) = read(&mut pipe).await?;
        if method == self.method {
            pipe.write_all(self.head).await?;
            for _ in 0..self.pieces {
                pipe.write_all(&self.piece).await?;
                self.sent.set(self.sent.get() + self.piece.len() as u64);
                self.most.set(self.most.get().max(live_bytes()));
            }
            return std::future::pending().await;
        }
        let answer = match (method.as_str(), id) {
            ("initialize", Some(id)) => initialize_result(&id).to_string(),
            ("tools/list", Some(id)) => list_tools_result(&id, true, true).to_string(),
            ("GET", _) => {
                pipe.write_all(STREAM).await?;
                return std::future::pending().await;
            }
            _ => return pipe.write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n").await,
        };
        let head = "HTTP/1.1 200 OK\r\nmcp-session-id: s\r\ncontent-type: application/json\r\ncontent-length: ";
        pipe.write_all(format!("{head}{}\r\n\r\n{answer}", answer.len()).as_bytes()).await
    }
}

/// The method of a request, or of the message that it posts, and the message's id.
async fn read(pipe: &mut DuplexStream) -> io::Result<(String, Option<RpcId>)> {
    let mut bytes = Vec::new();
    loop {
        if pipe.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        if body.len() < length.map_or(0, |length| length.parse().expect("a length")) {
            continue;
        }
        let message: Value = serde_json::from_str(body).unwrap_or_default();
        let method = message["method"].as_str().or(head.split(' ').next()).unwrap_or_default().to_owned();
        return Ok((method, serde_json::from_value(message["id"].clone()).ok()));
    }
}

/// A dial for tasks that no local set runs: another task makes the connections, a millisecond later.
#[derive(Clone)]
struct Elsewhere(mpsc::UnboundedSender<oneshot::Sender<DuplexStream>>);

impl Elsewhere {
    fn to(flood: Flood) -> Elsewhere {
        let (asked, mut asking) = mpsc::unbounded_channel::<oneshot::Sender<DuplexStream>>();
        spawn_local(async move {
            while let Some(answer) = asking.recv().await {
                sleep(Duration::from_millis(1)).await;
                let (near, far) = tokio::io::duplex(64 << 10);
                // The client hangs up when it pleases.
                spawn_local(flood.clone().serve(far));
                let _ = answer.send(near);
            }
        });
        Elsewhere(asked)
    }
}

impl Dial for Elsewhere {
    type Io = DuplexStream;

    async fn dial(&self) -> io::Result<DuplexStream> {
        let (answer, answered) = oneshot::channel();
        let refused = || io::Error::from(io::ErrorKind::ConnectionRefused);
        self.0.send(answer).map_err(|_| refused())?;
        answered.await.map_err(|_| refused())
    }
}

/// Counts calls that have ended.
#[derive(Default)]
struct Calls(u32);

impl Sink for Calls {
    fn record(&mut self, _at: SimTime, _host: &str, event: Event) {
        self.0 += u32::from(matches!(event, Event::CallEnded { .. }));
    }
}

/// The bytes that are held at most beyond those of before, and the bytes that were sent.
fn most_held(flood: &Flood) -> (i64, u64) {
    let before = live_bytes();
    let settings = Rc::new(scenario("rmcp", SCENARIO, &[]).settings.client);
    let calls = Rc::new(RefCell::new(Calls::default()));
    let draws = Draws::new("client", 0);
    simulated(&draws.clone(), async {
        let horizon = Duration::from_secs(100);
        let workload = Workload::draw(0, &settings, horizon, Duration::from_secs(10), &draws);
        let witness = Witness::new("site", clock, calls.clone());
        let dial = Elsewhere::to(flood.clone());
        let client = SdkClient::new(0, None, settings.clone(), dial, Rc::default(), witness);
        spawn_local(client.clone().run(workload));
        sleep(horizon).await;
        drop(client);
    });
    assert!(calls.borrow().0 > 3, "{} calls have ended", calls.borrow().0);
    (flood.most.get() - before, flood.sent.get())
}

#[test]
fn two_hundred_thousand_events_at_once_are_not_held() {
    let _alone = alone();
    let event = b"id: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n";
    for method in ["tools/call", "GET"] {
        let flood = Flood::new(method, STREAM, event.repeat(100), 2_000);
        let (most, sent) = most_held(&flood);
        assert!(sent >= 10_000_000, "{method}: {sent} bytes were taken");
        assert!(most < 4 << 20, "{method}: {most} bytes were held of {sent}");
    }
}

#[test]
fn what_has_no_end_is_held_up_to_its_limit() {
    let _alone = alone();
    let json = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n";
    let mib = vec![b'y'; 1 << 20];
    for (name, flood, limit) in [
        ("a header", Flood::new("tools/call", b"HTTP/1.1 200 OK\r\nx: ", mib.clone(), 1000), 4 << 20),
        ("an event", Flood::new("tools/call", EVENT, mib.clone(), 1000), 60 << 20),
        ("an event of the standing stream", Flood::new("GET", EVENT, mib.clone(), 1000), 60 << 20),
        ("a line that is no field", Flood::new("tools/call", STREAM, mib.clone(), 1000), 60 << 20),
        ("a body", Flood::new("tools/call", json, mib.clone(), 1000), 60 << 20),
    ] {
        let (most, sent) = most_held(&flood);
        assert!(most < limit, "{name}: {most} bytes were held of {sent}");
    }
}
