//! One server of the SDK over in-memory pipes in simulated time, asked by peers that send bytes.

use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::time::Duration;

use desync_sim::experiment::scenario::{Override, Scenario};
use desync_sim::mcp::net::{Accept, Bind};
use desync_sim::mcp::sdk::server::{Limits, SdkServer};
use desync_sim::mcp::server::fleet::Fleet;
use desync_sim::observe::event::Event;
use desync_sim::observe::witness::{Sink, Witness};
use desync_sim::world::draw::{Draws, Purpose};
use desync_sim::world::interpose;
use desync_sim::world::time::SimTime;
use tokio::io::DuplexStream;
use tokio::runtime::{Builder, UnhandledPanic};
use tokio::sync::mpsc;
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{Instant, timeout};

/// No story takes longer, in simulated time: one that does hangs.
const HORIZON: Duration = Duration::from_secs(3600);

const SCENARIO: &str = r#"format = 1
name = "hostile"
summary = "one server of the SDK, asked by peers that send anything"
seeds = "0..1"
arms = ["trusting"]
horizon_s = 3600

[server]
implementation = "rmcp"

[tool]
parts = 2
interval_s = 1
"#;

/// A server, and the way to it.
#[derive(Clone)]
pub struct World {
    pub(crate) pipe: Pipe,
}

/// Runs `story` against one server whose settings are changed by `changes`. A panic in any task is a panic here.
pub fn run(changes: &[&str], story: impl AsyncFnOnce(World)) {
    run_limited(changes, Limits::default(), story);
}

/// The same with other limits.
pub fn run_limited(changes: &[&str], limits: Limits, story: impl AsyncFnOnce(World)) {
    run_into(changes, limits, Rc::new(RefCell::new(Nothing)), story);
}

/// The same, and what is reported goes into `sink`.
pub fn run_into(changes: &[&str], limits: Limits, sink: Rc<RefCell<dyn Sink>>, story: impl AsyncFnOnce(World)) {
    let changes: Vec<Override> = changes.iter().map(|change| change.parse().unwrap()).collect();
    let scenario = Scenario::parse("hostile.toml", SCENARIO, &changes).unwrap_or_else(|problems| panic!("{problems}"));
    let mut settings = scenario.settings;
    if !interpose::is_supported() {
        // The timer of its comments reads the machine's clock and would tick without end.
        settings.server.rmcp.sse_keep_alive_s = Default::default();
    }
    let draws = Draws::new(&scenario.name, 0);
    simulated(&draws.clone(), async move {
        let witness = Witness::new("server", clock, sink);
        let fleet = Rc::new(Fleet::new(1));
        let server = SdkServer::with_limits(0, Rc::new(settings.server), settings.tool, draws, witness, fleet, limits);
        let pipe = Pipe::default();
        let running = server.run(pipe.clone(), Vec::new());
        spawn_local(async move { running.await.expect("the server serves") });
        tokio::task::yield_now().await;
        timeout(HORIZON, story(World { pipe })).await.expect("the story ends");
    });
}

/// Runs `story` in simulated time, on a local set. A panic in any task is a panic here.
pub fn simulated(draws: &Draws, story: impl Future<Output = ()>) {
    START.set(None);
    let _inside = interpose::enter(elapsed, draws.stream(Purpose::OperatingSystem, 0));
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .unhandled_panic(UnhandledPanic::ShutdownRuntime)
        .build()
        .expect("a runtime");
    let mut hosts = LocalSet::new();
    hosts.unhandled_panic(UnhandledPanic::ShutdownRuntime);
    hosts.block_on(&runtime, async move {
        START.set(Some(Instant::now()));
        story.await;
    });
}

thread_local! {
    static START: Cell<Option<Instant>> = const { Cell::new(None) };
}

fn elapsed() -> Option<Duration> {
    START.get().map(|start| start.elapsed())
}

/// The simulated clock.
pub fn clock() -> SimTime {
    SimTime::from(elapsed().expect("a story runs"))
}

struct Nothing;

impl Sink for Nothing {
    fn record(&mut self, _at: SimTime, _host: &str, _event: Event) {}
}

/// A network that leads to one server.
#[derive(Clone, Default)]
pub struct Pipe(Rc<RefCell<Option<mpsc::UnboundedSender<DuplexStream>>>>);

impl Pipe {
    /// A connection whose two directions hold `buffer` bytes each.
    pub fn dial(&self, buffer: usize) -> DuplexStream {
        let (near, far) = tokio::io::duplex(buffer);
        let listener = self.0.borrow().clone().expect("the server has been started");
        listener.send(far).expect("somebody listens");
        near
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

pub struct Listener(mpsc::UnboundedReceiver<DuplexStream>);

impl Accept for Listener {
    type Io = DuplexStream;

    async fn accept(&mut self) -> io::Result<DuplexStream> {
        self.0.recv().await.ok_or(io::ErrorKind::NotConnected.into())
    }
}
