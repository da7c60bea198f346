//! The yardstick: bare turmoil that moves the same bytes at the same tick through the same three kinds of host, and
//! knows neither HTTP nor sessions nor faults.

use std::cell::Cell;
use std::io;
use std::rc::Rc;
use std::time::Duration;

use desync_sim::mcp::net::{Accept, Bind, Dial};
use desync_sim::world::draw::Draws;
use desync_sim::world::net::{Hosts, TurmoilBind, TurmoilDial, network};
use desync_sim::world::time::Seconds;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::time::{Instant, interval_at};

use super::stopwatch::Stopwatch;

const PORT: u16 = 80;

/// Messages of one size at one interval. Connections take turns: the first message of the k-th of n comes k n-ths of an
/// interval after one interval, so that messages are spread over the ticks as those of independent clients are.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// How many.
    pub messages: u32,
    /// Bytes of each.
    pub bytes: usize,
    /// Time between two.
    pub interval: Duration,
}

/// What is moved, and where.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Clients, each with one long-lived connection, spread evenly over the sites.
    pub clients: u32,
    /// Sites.
    pub sites: u32,
    /// Simulated time.
    pub horizon: Seconds,
    /// The network's step.
    pub tick: Seconds,
    /// From the server to each client.
    pub down: Flow,
    /// From each client to the server.
    pub up: Flow,
}

/// What it took.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Time of the whole simulation.
    pub time: Duration,
    /// Bytes that the clients received and the server received by the horizon.
    pub bytes: u64,
}

/// Moves `load` and measures.
pub fn bare(load: Load) -> Cost {
    let watch = Stopwatch::start();
    let received = Rc::new(Cell::new(0));
    let hosts = Hosts::new(load.sites, 1);
    let mut sim = network(load.tick, load.horizon, &Draws::new("bare", 0)).build();

    let count = received.clone();
    sim.host(hosts.servers[0].as_str(), move || {
        let count = count.clone();
        async move {
            let mut listener = TurmoilBind::new(PORT).bind().await?;
            for number in 0.. {
                let io = listener.accept().await?;
                tokio::task::spawn_local(exchange(io, load.down, phase(load.down, number, load), count.clone()));
            }
            Ok(())
        }
    });

    let server = TurmoilDial::new(&hosts.servers[0], PORT);
    sim.host(hosts.gateway.as_str(), move || {
        let server = server.clone();
        async move {
            let mut listener = TurmoilBind::new(PORT).bind().await?;
            loop {
                let mut near = listener.accept().await?;
                let server = server.clone();
                tokio::task::spawn_local(async move {
                    let mut far = server.dial().await?;
                    copy_bidirectional(&mut near, &mut far).await
                });
            }
        }
    });

    for (site, number) in hosts.sites.iter().zip(0..) {
        let gateway = TurmoilDial::new(&hosts.gateway, PORT);
        let count = received.clone();
        sim.host(site.as_str(), move || {
            let (gateway, count) = (gateway.clone(), count.clone());
            async move {
                for client in (number..load.clients).step_by(load.sites as usize) {
                    let io = gateway.dial().await?;
                    tokio::task::spawn_local(exchange(io, load.up, phase(load.up, client, load), count.clone()));
                }
                std::future::pending().await
            }
        });
    }

    while sim.elapsed() < load.horizon.get() {
        sim.step().expect("no host of the yardstick fails");
    }
    Cost { time: watch.elapsed(), bytes: received.get() }
}

/// How much later than the first connection connection `number` sends.
fn phase(flow: Flow, number: u32, load: Load) -> Duration {
    flow.interval * (number % load.clients) / load.clients
}

/// Sends `flow`, `phase` later than the first connection, and counts what comes.
async fn exchange(io: turmoil::net::TcpStream, flow: Flow, phase: Duration, received: Rc<Cell<u64>>) -> io::Result<()> {
    let (mut read, mut write) = io.into_split();
    let reading = tokio::task::spawn_local(async move {
        let mut buffer = vec![0; 8 << 10];
        loop {
            match read.read(&mut buffer).await? {
                0 => return Ok(()),
                n => received.set(received.get() + n as u64),
            }
        }
    });
    let message = vec![b'x'; flow.bytes];
    let mut ticks = interval_at(Instant::now() + flow.interval + phase, flow.interval);
    for _ in 0..flow.messages {
        ticks.tick().await;
        write.write_all(&message).await?;
    }
    // The connection stays open until the other side, or the simulation, ends.
    reading.await.expect("a reader does not panic")
}
