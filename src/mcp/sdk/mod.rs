//! The official Rust SDK (`rmcp`, unmodified) in the place of the client model and of the server model.
//!
//! A model can be argued with; the SDK that people ship cannot. Its client and its server run on the simulated network
//! under the same schedules, and what they do is reported in the words of the same event log, so that the same oracle
//! judges them. Adapters report and never change what the SDK does; [`guard`] is the one thing that intervenes, and it
//! does so from outside, as a user's program can.
//!
//! - [`settings`]: the SDK's settings that matter here, as scenario keys. Always there.
//! - `client`: the SDK's client over its own HTTP-backend trait, and the application that calls tools through it.
//! - `guard`: a decorator around any HTTP backend of the SDK that applies the validator's rules to resumed streams.
//! - `server`: the SDK's server over its own session manager, and the simulated tool behind it.
//!
//! All but the settings need the cargo feature `rmcp`, which is on by default.

#[cfg(feature = "rmcp")]
pub mod client;
#[cfg(feature = "rmcp")]
pub mod guard;
#[cfg(feature = "rmcp")]
pub mod server;
pub mod settings;
