//! Hosts `site-1`, `gateway` and `server-…` on a simulated network; what a client sees and what the gateway reports.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper_util::rt::TokioIo;
use tokio::time::{Interval, timeout};

use crate::mcp::net::{Accept, Bind, Dial};
use crate::observe::event::{Entry, Event};
use crate::observe::witness::{Sink, Witness};
use crate::world::draw::Draws;
use crate::world::gateway::Gateway;
use crate::world::gateway::settings::GatewaySettings;
use crate::world::net::{TurmoilBind, TurmoilDial, network, sim_now};
use crate::world::schedule::ScheduledFault;
use crate::world::time::{Seconds, SimTime};

pub type Log = Vec<Entry>;

struct Recorder(Log);

impl Sink for Recorder {
    fn record(&mut self, at: SimTime, host: &str, event: Event) {
        assert_eq!(host, "gateway");
        self.0.push(Entry { t_us: at, host: host.to_owned(), event });
    }
}

pub const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Runs `client` on `site-1` against a gateway before so many servers.
pub fn rig<T: 'static>(
    settings: GatewaySettings,
    servers: usize,
    faults: Vec<ScheduledFault>,
    client: impl Future<Output = T> + 'static,
) -> (T, Log) {
    rig_with(settings, &["server-1", "server-2"][..servers], faults, client)
}

/// The same, with the gateway's servers by their host names. `server-8` is down, `server-9` does not listen.
pub fn rig_with<T: 'static>(
    settings: GatewaySettings,
    servers: &[&str],
    faults: Vec<ScheduledFault>,
    client: impl Future<Output = T> + 'static,
) -> (T, Log) {
    let mut sim = network(Seconds::from_millis(5), Seconds::new(300), &Draws::new("gateway", 1)).build();
    for (number, name) in ["server-1", "server-2"].into_iter().enumerate() {
        sim.host(name, move || serve(number));
    }
    for name in ["server-8", "server-9"] {
        sim.host(name, std::future::pending);
    }
    sim.crash("server-8");
    let log = Rc::new(RefCell::new(Recorder(Vec::new())));
    let witness = Witness::new("gateway", sim_now, log.clone());
    let dials = servers.iter().map(|name| TurmoilDial::new(name, 80)).collect();
    let gateway = Gateway::new(settings, dials, witness);
    sim.host("gateway", move || {
        let running = gateway.clone().run(TurmoilBind::new(80), faults.clone());
        async move { Ok(running.await?) }
    });
    let output = Rc::new(RefCell::new(None));
    let put = output.clone();
    sim.client("site-1", async move {
        *put.borrow_mut() = Some(client.await);
        Ok(())
    });
    sim.run().unwrap();
    let log = std::mem::take(&mut log.borrow_mut().0);
    (output.take().expect("the client has ended"), log)
}

// ---- the client ----

/// How a body ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Clean,
    Broken,
    /// It did not end within a minute of silence.
    Silent,
}

/// A response as the client saw it.
#[derive(Debug, PartialEq)]
pub struct Seen {
    pub status: u16,
    headers: http::HeaderMap,
    pub text: String,
    pub end: End,
    pub at: Duration,
    pub arrivals: Vec<Duration>,
}

impl Seen {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The ids of the complete events.
    pub fn events(&self) -> Vec<&str> {
        let complete = self.text.rsplit_once("\n\n").map_or("", |(head, _)| head);
        complete.lines().filter_map(|line| line.strip_prefix("id: ")).collect()
    }
}

pub struct Connection(SendRequest<Full<Bytes>>);

pub struct Answer {
    connection: Connection,
    response: Response<Incoming>,
}

pub async fn connect() -> Connection {
    let io = TurmoilDial::new("gateway", 80).dial().await.unwrap();
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(io)).await.unwrap();
    tokio::task::spawn_local(connection);
    Connection(sender)
}

pub async fn get(path: &str, tag: &str) -> Answer {
    connect().await.get(path, tag).await
}

/// Whether a request that would be answered is answered.
pub async fn is_answered(tag: &str) -> bool {
    connect().await.try_send("/json", tag, Vec::new()).await.is_ok()
}

pub async fn post(path: &str, tag: &str, body: Vec<u8>) -> Answer {
    connect().await.send(path, tag, body).await
}

impl Connection {
    pub async fn get(self, path: &str, tag: &str) -> Answer {
        self.send(path, tag, Vec::new()).await
    }

    async fn send(self, path: &str, tag: &str, body: Vec<u8>) -> Answer {
        self.try_send(path, tag, body).await.unwrap()
    }

    async fn try_send(mut self, path: &str, tag: &str, body: Vec<u8>) -> Result<Answer, hyper::Error> {
        self.0.ready().await.unwrap();
        // The last part of a path names the session, for the server that knows `a` and `b`.
        let session = path.rsplit('/').next().filter(|name| name.len() == 1);
        let mut request = Request::builder()
            .method(if body.is_empty() { "GET" } else { "POST" })
            .uri(path)
            .header("host", "gateway")
            .header("x-request-id", tag);
        if let Some(session) = session.filter(|_| !path.starts_with("/initialize")) {
            request = request.header("mcp-session-id", session);
        }
        let request = request.body(Full::from(body)).unwrap();
        let response = self.0.send_request(request).await?;
        Ok(Answer { connection: self, response })
    }
}

impl Answer {
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    pub async fn read(self) -> Seen {
        self.read_and_keep().await.0
    }

    pub async fn read_and_keep(self) -> (Seen, Connection) {
        let (head, mut body) = self.response.into_parts();
        let (mut text, mut arrivals) = (String::new(), Vec::new());
        let end = loop {
            match timeout(secs(60), body.frame()).await {
                Err(_) => break End::Silent,
                Ok(None) => break End::Clean,
                Ok(Some(Err(_))) => break End::Broken,
                Ok(Some(Ok(frame))) => {
                    let data = frame.into_data().unwrap();
                    text.push_str(std::str::from_utf8(&data).unwrap());
                    arrivals.push(sim_now() - SimTime::ZERO);
                }
            }
        };
        let seen = Seen {
            status: head.status.as_u16(),
            headers: head.headers,
            text,
            end,
            at: sim_now() - SimTime::ZERO,
            arrivals,
        };
        (seen, self.connection)
    }
}

// ---- the server ----

async fn serve(number: usize) -> turmoil::Result {
    let mut listener = TurmoilBind::new(80).bind().await?;
    let open = Rc::new(Cell::new(0));
    let mut peer = 0;
    loop {
        let io = listener.accept().await?;
        peer += 1;
        let open = open.clone();
        let service =
            hyper::service::service_fn(move |request: Request<Incoming>| answer(number, peer, open.clone(), request));
        tokio::task::spawn_local(
            hyper::server::conn::http1::Builder::new()
                .auto_date_header(false)
                .serve_connection(TokioIo::new(io), service),
        );
    }
}

type ServerBody = Pin<Box<dyn Body<Data = Bytes, Error = BreakOff>>>;

#[derive(Debug, thiserror::Error)]
#[error("the server breaks off")]
pub struct BreakOff;

async fn answer(
    number: usize,
    peer: u32,
    open: Rc<Cell<u32>>,
    request: Request<Incoming>,
) -> Result<Response<ServerBody>, BreakOff> {
    let path = request.uri().path().to_owned();
    let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let full = |text: String| -> ServerBody {
        Box::pin(Full::<Bytes>::from(text).map_err(|never: Infallible| match never {}))
    };
    let response = Response::builder().status(StatusCode::OK);
    let response = match parts[..] {
        ["json"] => response.header("content-type", "application/json").body(full(format!("{{\"server\":{number}}}"))),
        ["never"] => std::future::pending().await,
        ["break"] => return Err(BreakOff),
        ["open"] => response.body(full(open.get().to_string())),
        ["peer"] => response.body(full(peer.to_string())),
        ["initialize", session] => response.header("mcp-session-id", session).body(full(number.to_string())),
        ["a" | "b"] => response.body(full(number.to_string())),
        [what, "every", millis, "count", count, ref rest @ ..] => {
            open.set(open.get() + 1);
            let period = Duration::from_millis(millis.parse().unwrap());
            let media_type = match what {
                "bytes" => "application/octet-stream",
                _ => "text/event-stream; charset=utf-8",
            };
            response.header("content-type", media_type).body(Box::pin(Ticker {
                comments: what == "comments",
                interval: tokio::time::interval(period),
                sent: 0,
                count: count.parse().unwrap(),
                breaks: rest == ["break"],
                open,
            }) as ServerBody)
        }
        _ => response.status(StatusCode::NOT_FOUND).body(full(path)),
    };
    Ok(response.unwrap())
}

/// A stream of so many events or comments, one a period, the first at once.
struct Ticker {
    comments: bool,
    interval: Interval,
    sent: u32,
    count: u32,
    breaks: bool,
    open: Rc<Cell<u32>>,
}

impl Body for Ticker {
    type Data = Bytes;
    type Error = BreakOff;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BreakOff>>> {
        if self.sent == self.count && !self.breaks {
            return Poll::Ready(None);
        }
        ready!(self.interval.poll_tick(cx));
        if self.sent == self.count {
            return Poll::Ready(Some(Err(BreakOff)));
        }
        let text = if self.comments { ": ping\n\n".to_owned() } else { format!("id: {}\ndata: part\n\n", self.sent) };
        self.sent += 1;
        Poll::Ready(Some(Ok(Frame::data(text.into()))))
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.open.set(self.open.get() - 1);
    }
}
