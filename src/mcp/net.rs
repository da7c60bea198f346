//! What the models need of a network. `world` implements it over the simulated network.

use std::io;

use tokio::io::{AsyncRead, AsyncWrite};

/// A connected byte stream.
pub trait Io: AsyncRead + AsyncWrite + Unpin + 'static {}

impl<T: AsyncRead + AsyncWrite + Unpin + 'static> Io for T {}

/// Opens connections to one fixed peer.
#[expect(async_fn_in_trait, reason = "a run lives on one thread, so its futures need not be Send")]
pub trait Dial: Clone + 'static {
    /// The connection.
    type Io: Io;

    /// Opens a connection. It may be refused, or pend for as long as the network does not answer.
    async fn dial(&self) -> io::Result<Self::Io>;
}

/// Binds one fixed address, again after each stop.
#[expect(async_fn_in_trait, reason = "a run lives on one thread, so its futures need not be Send")]
pub trait Bind: 'static {
    /// The bound listener; dropping it refuses further connections.
    type Listener: Accept;

    /// Starts to listen.
    async fn bind(&self) -> io::Result<Self::Listener>;
}

/// Accepts connections.
#[expect(async_fn_in_trait, reason = "a run lives on one thread, so its futures need not be Send")]
pub trait Accept {
    /// The connection.
    type Io: Io;

    /// The next connection.
    async fn accept(&mut self) -> io::Result<Self::Io>;
}
