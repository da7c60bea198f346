//! The gateway.

pub mod settings;
