//! The Model Context Protocol, revision 2025-11-25: the wire, the server model, the client model.

pub mod client;
pub mod net;
pub mod server;
pub mod wire;
