//! The validator: was a resumed stream really continued?
//!
//! A client that reconnects an event stream presents the last event id it saw, its *cursor*. HTTP 200
//! proves the connection, not the continuity: the server may have restarted the counter, dropped the
//! events in between, or never have known the stream. The rule that tells:
//!
//! > The first data event after a resume must be the successor of the last one consumed, in the same epoch.
//!
//! [`judge()`] is that rule as a pure function. The incident that started this project is one call of it: the
//! client presented 8412 and was answered with HTTP 200 and `id: 17`.
//!
//! ```
//! use desync_sim::cursor::{Desync, Grammar, Verdict, judge};
//!
//! // The stream goes on where it broke off.
//! assert_eq!(judge(Grammar::Integer, Some("8412"), "8413"), Ok(Verdict::Continue));
//!
//! // 8412 answered by 17: another life of the counter. Taking 17 for the new cursor loses 8413 onward for ever.
//! let desync = judge(Grammar::Integer, Some("8412"), "17").unwrap_err();
//! assert!(matches!(desync, Desync::Regression { .. }));
//! assert_eq!((desync.expected(), desync.got()), (Some("8413"), Some("17")));
//!
//! // A jump ahead names what is lost.
//! let Err(Desync::Gap { lost, .. }) = judge(Grammar::Integer, Some("8412"), "8420") else { panic!() };
//! assert_eq!(lost, 8413..=8419);
//!
//! // Who presents no cursor is entitled to a fresh stream.
//! assert_eq!(judge(Grammar::Integer, None, "17"), Ok(Verdict::Fresh));
//! ```
//!
//! [`Validator`] keeps the state of one logical stream over its legs (one HTTP response each), and adds the
//! [`Rules`] that ids alone cannot decide. This is all a client has to do:
//!
//! ```
//! use desync_sim::cursor::{Grammar, Rules, Step, Validator};
//!
//! let mut stream = Validator::new(Grammar::Integer, Rules::default());
//!
//! stream.begin_leg(false); // the first GET, without Last-Event-ID
//! assert_eq!(stream.on_event(Some("8412"), true), Ok(Step::Deliver));
//! stream.end_leg()?; // the gateway's idle timeout
//!
//! assert_eq!(stream.cursor(), Some("8412")); // what to send as Last-Event-ID
//! stream.begin_leg(true); // HTTP 200
//! assert_eq!(stream.on_event(Some("17"), false), Ok(Step::Primer)); // moves the cursor, proves nothing
//! let desync = stream.on_event(Some("18"), true).unwrap_err();
//! assert_eq!(desync.signature(), "regression");
//!
//! stream.reset(); // the session is lost: negotiate a new one, replay the request from its checkpoint
//! assert_eq!(stream.cursor(), None);
//! # Ok::<(), desync_sim::cursor::Desync>(())
//! ```
//!
//! # What may be compared
//!
//! Event ids are text. A [`Grammar`] says what may be read out of them; ids that are opaque, or that do not
//! parse, are never compared as numbers: the verdict is [`Verdict::NotApplicable`], never an alarm.
//!
//! # What no rule on ids can see
//!
//! A counter that restarted and has passed the old cursor again (aliasing), an event that was never given an
//! id, and the difference between "you missed nothing" and "all is lost" while no event comes. An epoch in the
//! id settles the first; only time, [`Rules::empty_legs`] and [`Rules::grace_s`], bounds the last.
//!
//! This module imports nothing from the rest of the crate, does no I/O, reads no clock, and allocates only to
//! describe a desync (and while an id is longer than every one before it). It can be linked or copied.

mod desync;
mod grammar;
mod judge;
mod rules;
mod validator;

pub use desync::Desync;
pub use grammar::{Grammar, Position, UnknownGrammar};
pub use judge::{NotApplicable, Verdict, judge};
pub use rules::Rules;
pub use validator::{Step, Validator};

#[cfg(test)]
mod laws;
