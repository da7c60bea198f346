//! Deterministic fault-injection simulation of stream resumption over the Model Context Protocol.
//!
//! A client on the streamable HTTP transport reconnects its event stream with `Last-Event-ID` and is
//! answered HTTP 200. That proves the connection, not the continuity. This crate simulates many such
//! clients, a gateway and servers on one seed and compares client policies on it. `ARCHITECTURE.md`
//! has the bird's-eye view; the rooms are:
//!
//! - [`cursor`]: the validator, pure and free of dependencies, to be linked or copied.
//! - [`mcp`]: the wire (JSON-RPC, server-sent events, headers), the server model, the client model.
//! - [`world`]: the simulated network, the gateway, time, random streams, the fault schedule.
//! - [`observe`]: what happened (the event log) and what it meant (the oracle).
//! - [`experiment`]: scenario files, one run, sweeps over seeds and arms, result files.
//! - [`stats`] and [`report`]: analysis and presentation of stored results.
//! - [`document`]: files that people write, read so that every problem has its file, line and key.
//! - [`cli`]: the commands.

#[cfg(not(tokio_unstable))]
compile_error!(
    "desync-sim must be built with `--cfg tokio_unstable`: without it the simulated network cannot seed \
     tokio's scheduler and the same seed gives different runs. The repository's .cargo/config.toml sets \
     the flag; a RUSTFLAGS environment variable overrides that file, so unset it or add the flag to it."
);

pub mod cli;
pub mod cursor;
pub mod document;
pub mod experiment;
pub mod mcp;
pub mod observe;
pub mod report;
pub mod stats;
pub mod world;
