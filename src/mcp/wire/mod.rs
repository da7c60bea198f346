//! The bytes of the protocol: JSON-RPC messages, server-sent events, headers.

pub mod header;
pub mod message;
pub mod sse;
