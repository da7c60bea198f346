//! The server model.

pub mod settings;
