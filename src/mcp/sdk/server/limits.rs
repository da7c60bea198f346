//! What one process takes on at most. The SDK bounds the bytes of a request and what one stream keeps, but neither
//! connections nor sessions nor the streams of a session: a peer that opens them without end would take all the memory
//! that there is, and the simulator's with it.

/// The limits of one process.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at once. Further ones are closed. One holds some 15 KiB.
    pub connections: usize,
    /// Sessions that live. A further `initialize` is answered 500. One holds some 100 KiB, for as long as it is kept
    /// alive.
    pub sessions: usize,
    /// Streams of POSTs that the sessions keep, together. A further request is answered 500. One holds some 4 KiB, and a
    /// request that uses the id of one in flight leaves one behind for as long as its session lives.
    pub streams: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { connections: 20_000, sessions: 10_000, streams: 20_000 }
    }
}
