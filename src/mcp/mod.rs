//! The Model Context Protocol, revision 2025-11-25: the wire, the server model, the client model, and the official Rust SDK in their places.

pub mod client;
pub mod net;
pub mod sdk;
pub mod server;
pub mod wire;
