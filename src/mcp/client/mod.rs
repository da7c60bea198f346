//! The client model.

pub mod settings;
