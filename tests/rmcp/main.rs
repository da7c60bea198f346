//! The adapters of the official Rust SDK from outside: peers that send anything at all, and what a run holds in memory.
//!
//! The crate counts every byte that it allocates. Tests that measure run alone: each test says what it needs with
//! [`allocated::alone`] or [`allocated::beside`].

#![cfg(feature = "rmcp")]

mod allocated;
mod client;
mod floods;
mod garbage;
mod memory;
mod model_server;
mod positions;
mod raw;
mod runs;
mod stateless;
mod world;
