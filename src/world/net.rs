//! The simulated network as the models and the gateway see it: adapters to turmoil, hosts, and the host clock.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, UNIX_EPOCH};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use turmoil::net::{TcpListener, TcpStream};

use super::draw::{Draws, Purpose};
use super::time::{Seconds, SimTime};
use crate::mcp::net::{Accept, Bind, Dial};

/// The wall-clock instant at which every simulation pretends to start, in seconds after the Unix epoch.
/// Fixed, because turmoil's default is the real clock.
pub(super) const EPOCH_S: u64 = 1_700_000_000;

/// Segments that fit into a socket and connections that fit into a backlog (turmoil has one setting for both).
/// turmoil panics where a backlog overflows, so it is as large as one host has ports.
const TCP_CAPACITY: usize = 65_536;

/// The latency of a link that nobody has set. turmoil keeps whole milliseconds.
const DEFAULT_LATENCY: Duration = Duration::from_millis(1);

/// The names of a run's hosts, in the order in which they must be registered (addresses are handed out in it).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// `server-1`, `server-2`, …
    pub servers: Vec<String>,
    /// `gateway`.
    pub gateway: String,
    /// `site-1`, `site-2`, …
    pub sites: Vec<String>,
}

impl Hosts {
    /// The names for so many sites and servers.
    pub fn new(sites: u32, servers: u32) -> Hosts {
        Hosts {
            servers: (1..=servers).map(|n| format!("server-{n}")).collect(),
            gateway: "gateway".to_owned(),
            sites: (1..=sites).map(|n| format!("site-{n}")).collect(),
        }
    }
}

/// A builder of simulated networks on which nothing depends but `draws`: a fixed epoch, no random loss, one constant
/// latency until the links are driven (see [`super::links`]), and room for the whole run.
///
/// `tick` is the network's step; it must not be zero. The simulation may last longer than `horizon` but not for ever.
pub fn network(tick: Seconds, horizon: Seconds, draws: &Draws) -> turmoil::Builder {
    let mut builder = turmoil::Builder::new();
    builder
        .epoch(UNIX_EPOCH + Duration::from_secs(EPOCH_S))
        .tick_duration(tick.get())
        // turmoil gives up past its duration; the run ends itself at the horizon, which must come first.
        .simulation_duration(horizon.get() + tick.get() + Duration::from_secs(60))
        .min_message_latency(DEFAULT_LATENCY)
        .max_message_latency(DEFAULT_LATENCY)
        .fail_rate(0.0)
        .tcp_capacity(TCP_CAPACITY)
        // Every refused or cancelled connect leaks its port in turmoil 0.7: leave all of them to leak into.
        .ephemeral_ports(1024..=65_535)
        .rng_seed(draws.stream(Purpose::Network, 0).bits());
    builder
}

/// The present instant on the clock of the host that is running.
///
/// Between steps no host runs and there is no such clock: whatever is torn down there is told that it is later than
/// any instant of the run, [`SimTime::from_micros`]`(u64::MAX)`.
pub fn sim_now() -> SimTime {
    turmoil::sim_elapsed().map_or(SimTime::from_micros(u64::MAX), SimTime::from)
}

/// The simulated time since the start of the run on the clock of the host that is running; none where no host runs, or
/// while the simulated network itself is at work.
pub fn host_clock() -> Option<Duration> {
    turmoil::sim_elapsed()
}

/// Connects to one port of one simulated host.
#[derive(Clone, Debug)]
pub struct TurmoilDial {
    host: Rc<str>,
    port: u16,
}

impl TurmoilDial {
    /// Will connect to `port` of the host called `host`.
    pub fn new(host: &str, port: u16) -> TurmoilDial {
        TurmoilDial { host: host.into(), port }
    }
}

impl Dial for TurmoilDial {
    type Io = TcpStream;

    async fn dial(&self) -> io::Result<TcpStream> {
        TcpStream::connect((&*self.host, self.port)).await
    }
}

/// Listens on one port of the simulated host that it is used on.
#[derive(Clone, Copy, Debug)]
pub struct TurmoilBind {
    port: u16,
}

impl TurmoilBind {
    /// Will listen on `port`.
    pub fn new(port: u16) -> TurmoilBind {
        TurmoilBind { port }
    }
}

impl Bind for TurmoilBind {
    type Listener = TurmoilListener;

    async fn bind(&self) -> io::Result<TurmoilListener> {
        TcpListener::bind(("0.0.0.0", self.port)).await.map(TurmoilListener)
    }
}

/// A listening port of a simulated host.
pub struct TurmoilListener(TcpListener);

impl Accept for TurmoilListener {
    type Io = TcpStream;

    async fn accept(&mut self) -> io::Result<TcpStream> {
        self.0.accept().await.map(|(io, _)| io)
    }
}

/// Dials as `D` does and counts the bytes of every connection into one counter.
#[derive(Clone, Debug)]
pub struct CountedDial<D> {
    inner: D,
    bytes: Rc<Cell<u64>>,
}

impl<D> CountedDial<D> {
    /// Counts into `bytes`.
    pub fn new(inner: D, bytes: Rc<Cell<u64>>) -> CountedDial<D> {
        CountedDial { inner, bytes }
    }
}

impl<D: Dial> Dial for CountedDial<D> {
    type Io = Counted<D::Io>;

    async fn dial(&self) -> io::Result<Counted<D::Io>> {
        let io = self.inner.dial().await?;
        Ok(Counted::new(io, self.bytes.clone()))
    }
}

/// A connection that counts the bytes read and written.
#[derive(Debug)]
pub struct Counted<Io> {
    io: Io,
    bytes: Rc<Cell<u64>>,
}

impl<Io> Counted<Io> {
    /// Counts the bytes of `io` into `bytes`.
    pub fn new(io: Io, bytes: Rc<Cell<u64>>) -> Counted<Io> {
        Counted { io, bytes }
    }

    fn count(&self, bytes: usize) {
        self.bytes.set(self.bytes.get() + bytes as u64);
    }
}

impl<Io: AsyncRead + Unpin> AsyncRead for Counted<Io> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.io).poll_read(cx, buf))?;
        self.count(buf.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl<Io: AsyncWrite + Unpin> AsyncWrite for Counted<Io> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.io).poll_write(cx, buf))?;
        self.count(written);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.io).poll_write_vectored(cx, bufs))?;
        self.count(written);
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn bytes_are_counted_in_both_directions() {
        let bytes = Rc::new(Cell::new(0));
        let (near, mut far) = tokio::io::duplex(64);
        let mut near = Counted::new(near, bytes.clone());
        near.write_all(b"four").await.unwrap();
        far.write_all(b"sixsix").await.unwrap();
        near.read_exact(&mut [0; 6]).await.unwrap();
        assert_eq!(bytes.get(), 10);
    }

    #[test]
    fn a_host_reads_simulated_time_and_nobody_else_does() {
        let mut sim = network(Seconds::from_millis(10), Seconds::new(5), &Draws::new("net", 1)).build();
        sim.client("site-1", async {
            tokio::time::sleep(Duration::from_millis(1_234)).await;
            assert_eq!(sim_now(), SimTime::from_micros(1_234_000));
            Ok(())
        });
        sim.run().unwrap();
        assert_eq!(sim_now(), SimTime::from_micros(u64::MAX));
    }

    #[test]
    fn a_dial_reaches_a_bind_and_is_refused_where_nobody_listens() {
        let mut sim = network(Seconds::from_millis(10), Seconds::new(5), &Draws::new("net", 1)).build();
        sim.host("server-1", || async {
            let mut listener = TurmoilBind::new(80).bind().await?;
            loop {
                listener.accept().await?.write_all(b"hello").await?;
            }
        });
        sim.client("site-1", async {
            let mut text = String::new();
            let mut io = TurmoilDial::new("server-1", 80).dial().await?;
            io.read_to_string(&mut text).await?;
            assert_eq!(text, "hello");
            let refused = TurmoilDial::new("server-1", 81).dial().await.unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
            Ok(())
        });
        sim.run().unwrap();
    }
}
