//! What happened (the event log) and what it meant (the oracle).

pub mod event;
pub mod witness;
