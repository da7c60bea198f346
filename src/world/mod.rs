//! The simulated world: time, random streams, network, gateway and the fault schedule.

pub mod draw;
pub mod fault;
pub mod gateway;
#[cfg(feature = "rmcp")]
pub mod interpose;
pub mod links;
pub mod net;
pub mod network;
pub mod schedule;
pub mod time;
