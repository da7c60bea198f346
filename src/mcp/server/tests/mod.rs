//! The server over in-memory pipes in paused time: a hyper client on one side, the event log on the other.

mod calls;
mod counters;
mod faults;
mod requests;
mod resumption;
mod sessions;

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::DuplexStream;
use tokio::sync::mpsc;
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{Instant, sleep, timeout};

use super::Server;
use super::fleet::Fleet;
use super::settings::{ServerSettings, ToolSettings};
use crate::mcp::net::{Accept, Bind};
use crate::mcp::wire::header::{LAST_EVENT_ID, REQUEST_ID, SESSION_ID};
use crate::mcp::wire::message::{self, CallArguments};
use crate::observe::event::Event;
use crate::observe::witness::{Sink, Witness};
use crate::world::draw::Draws;
use crate::world::fault::Fault;
use crate::world::schedule::ScheduledFault;
use crate::world::time::{Seconds, SimTime};

/// What a server and its surroundings are made of.
#[derive(Default)]
struct Setup {
    server: ServerSettings,
    tool: ToolSettings,
    faults: Vec<(u64, Fault)>,
}

impl Setup {
    fn server(change: impl FnOnce(&mut ServerSettings)) -> Setup {
        let mut setup = Setup::default();
        setup.server.priming = false;
        change(&mut setup.server);
        setup
    }

    fn tool(mut self, change: impl FnOnce(&mut ToolSettings)) -> Setup {
        change(&mut self.tool);
        self
    }

    /// `fault` strikes after `at_s` seconds.
    fn fault(mut self, at_s: u64, fault: Fault) -> Setup {
        self.faults.push((at_s, fault));
        self
    }

    /// Runs `story` against one server.
    fn run<F: Future<Output = ()>>(self, story: impl FnOnce(World) -> F) {
        self.run_fleet(1, |mut worlds| story(worlds.remove(0)));
    }

    /// Runs `story` against a fleet.
    fn run_fleet<F: Future<Output = ()>>(self, servers: u32, story: impl FnOnce(Vec<World>) -> F) {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
        let set = LocalSet::new();
        set.block_on(&runtime, async move {
            START.set(Some(Instant::now()));
            let fleet = Rc::new(Fleet::new(servers));
            let log = Rc::new(RefCell::new(Recorder::default()));
            let settings = Rc::new(self.server);
            let faults: Vec<_> = self
                .faults
                .into_iter()
                .map(|(at_s, fault)| ScheduledFault { at_s: Seconds::new(at_s), fault })
                .collect();
            let worlds = (0..servers)
                .map(|number| {
                    let server = Server::new(
                        number,
                        settings.clone(),
                        self.tool,
                        Draws::new("server-tests", 1),
                        Witness::new("server", clock, log.clone()),
                        fleet.clone(),
                    );
                    let pipe = Pipe::default();
                    let running = server.clone().run(pipe.clone(), faults.clone());
                    spawn_local(async move { running.await.expect("the server serves") });
                    World { server, pipe, log: log.clone() }
                })
                .collect();
            tokio::task::yield_now().await;
            story(worlds).await;
        });
    }
}

thread_local! {
    static START: Cell<Option<Instant>> = const { Cell::new(None) };
}

fn clock() -> SimTime {
    let start = START.get().expect("a story runs");
    SimTime::from(Instant::now() - start)
}

/// Waits for the instant `at_s` seconds after the start.
async fn until(at_s: f64) {
    let at = SimTime::from(Duration::from_secs_f64(at_s));
    sleep(at.since(clock())).await;
}

#[derive(Default)]
struct Recorder(Vec<(SimTime, Event)>);

impl Sink for Recorder {
    fn record(&mut self, at: SimTime, _host: &str, event: Event) {
        self.0.push((at, event));
    }
}

/// One server, the pipe to it, and the log of its run.
struct World {
    server: Rc<Server>,
    pipe: Pipe,
    log: Rc<RefCell<Recorder>>,
}

impl World {
    fn client(&self, number: u32) -> Client {
        Client { number, pipe: self.pipe.clone(), requests: Rc::default(), key: RefCell::default() }
    }

    fn events(&self) -> Vec<Event> {
        let log = self.log.borrow();
        log.0.iter().map(|(_, event)| event.clone()).collect()
    }

    /// How many reported events satisfy `test`.
    fn count(&self, test: impl Fn(&Event) -> bool) -> usize {
        self.events().iter().filter(|event| test(event)).count()
    }

    fn has(&self, test: impl Fn(&Event) -> bool) -> bool {
        self.count(test) > 0
    }

    /// When the first event that satisfies `test` happened, in seconds.
    fn when(&self, test: impl Fn(&Event) -> bool) -> f64 {
        let log = self.log.borrow();
        let (at, _) = log.0.iter().find(|(_, event)| test(event)).expect("an event");
        at.as_secs_f64()
    }
}

/// A network that leads to one server.
#[derive(Clone, Default)]
struct Pipe(Rc<RefCell<Option<mpsc::UnboundedSender<DuplexStream>>>>);

impl Pipe {
    /// Connects; none where nobody listens.
    fn dial(&self) -> Option<DuplexStream> {
        let (near, far) = tokio::io::duplex(16 * 1024);
        self.0.borrow().as_ref()?.send(far).ok()?;
        Some(near)
    }
}

impl Bind for Pipe {
    type Listener = Listener;

    async fn bind(&self) -> io::Result<Listener> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.0.replace(Some(sender));
        Ok(Listener(receiver))
    }
}

struct Listener(mpsc::UnboundedReceiver<DuplexStream>);

impl Accept for Listener {
    type Io = DuplexStream;

    async fn accept(&mut self) -> io::Result<DuplexStream> {
        self.0.recv().await.ok_or(io::ErrorKind::NotConnected.into())
    }
}

/// A client of the protocol that believes nothing and keeps nothing but its session key.
struct Client {
    number: u32,
    pipe: Pipe,
    requests: Rc<Cell<u32>>,
    key: RefCell<Option<String>>,
}

/// An answer with a body that is read as events.
struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Incoming,
    unread: String,
}

/// One block of an event stream.
#[derive(Debug, Default, PartialEq)]
struct Block {
    id: Option<String>,
    data: Option<String>,
    retry: Option<String>,
    comment: bool,
}

impl Client {
    /// Sends a request on a connection of its own.
    async fn send(&self, request: http::request::Builder, body: impl Into<Bytes>) -> Answer {
        let io = self.pipe.dial().expect("somebody listens");
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(io)).await.expect("a connection");
        spawn_local(connection);
        let number = self.requests.get();
        self.requests.set(number + 1);
        let request = request
            .header("host", "server")
            .header(REQUEST_ID, format!("c{}-r{number}", self.number))
            .body(Full::new(body.into()))
            .expect("a request");
        let response = sender.send_request(request).await.expect("an answer");
        Answer::new(response)
    }

    fn request(&self, method: &str) -> http::request::Builder {
        let request =
            Request::builder().method(method).uri("/mcp").header("accept", "application/json, text/event-stream");
        match &*self.key.borrow() {
            Some(key) => request.header(SESSION_ID, key),
            None => request,
        }
    }

    async fn post(&self, message: &Value) -> Answer {
        self.send(self.request("POST"), message.to_string()).await
    }

    async fn get(&self) -> Answer {
        self.send(self.request("GET"), "").await
    }

    async fn resume(&self, cursor: &str) -> Answer {
        let request = self.request("GET").header(LAST_EVENT_ID, cursor);
        self.send(request, "").await
    }

    /// Opens a session and keeps its key.
    async fn initialize(&self) -> String {
        self.key.replace(None);
        let answer = self.post(&message::initialize(0)).await;
        assert_eq!(answer.status, 200);
        let key = answer.headers[SESSION_ID].to_str().expect("text").to_owned();
        self.key.replace(Some(key.clone()));
        key
    }

    /// Calls the tool under the call's number as JSON-RPC id.
    async fn call(&self, call: u32, from_part: u32) -> Answer {
        let arguments = CallArguments { client: self.number, call, from_part };
        self.post(&message::call_tool(u64::from(call), "token", arguments)).await
    }
}

impl Answer {
    fn new(response: Response<Incoming>) -> Answer {
        let (head, body) = response.into_parts();
        Answer { status: head.status.as_u16(), headers: head.headers, body, unread: String::new() }
    }

    async fn json(self) -> Value {
        let bytes = self.body.collect().await.expect("a body").to_bytes();
        serde_json::from_slice(&bytes).expect("JSON")
    }

    /// The next block; none where the body ends, however it ends.
    async fn block(&mut self) -> Option<Block> {
        loop {
            if let Some((block, rest)) = self.unread.split_once("\n\n") {
                let block = Block::read(block);
                self.unread = rest.to_owned();
                return Some(block);
            }
            let frame = self.body.frame().await?.ok()?;
            let data = frame.into_data().expect("data");
            self.unread.push_str(std::str::from_utf8(&data).expect("UTF-8"));
        }
    }

    /// The blocks that come within `s` seconds, and whether the body ended.
    async fn within(&mut self, s: u64) -> (Vec<Block>, bool) {
        let mut blocks = Vec::new();
        let ended = timeout(Duration::from_secs(s), async {
            while let Some(block) = self.block().await {
                blocks.push(block);
            }
        })
        .await
        .is_ok();
        (blocks, ended)
    }

    /// The ids of what comes within a moment, and whether the body ended.
    async fn ids(&mut self) -> (Vec<String>, bool) {
        let (blocks, ended) = self.within(1).await;
        let ids = blocks.into_iter().filter_map(|block| block.id).collect();
        (ids, ended)
    }
}

impl Block {
    fn read(text: &str) -> Block {
        let mut block = Block::default();
        for line in text.split('\n') {
            match line.split_once(':').expect("a field") {
                ("", _) => block.comment = true,
                ("id", id) => block.id = Some(id.trim_start().to_owned()),
                ("data", data) => block.data = Some(data.trim_start().to_owned()),
                ("retry", retry) => block.retry = Some(retry.trim_start().to_owned()),
                (field, _) => panic!("an unknown field: {field}"),
            }
        }
        block
    }

    fn message(&self) -> Value {
        serde_json::from_str(self.data.as_deref().expect("data")).expect("JSON")
    }
}
