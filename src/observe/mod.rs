//! What happened (the event log) and what it meant (the oracle).
//!
//! Hosts hold a [`witness::Witness`] and can only write. A [`recorder::Recorder`] takes what they report, digests it,
//! keeps a trace if asked to, and lets the [`oracle::Oracle`] judge it; a [`story::Story`] tells it to a person.

pub mod event;
pub mod measure;
pub mod oracle;
pub mod recorder;
pub mod story;
pub mod trace;
pub mod verdict;
pub mod witness;
