//! Server-sent events: the encoder and the decoder (WHATWG HTML, section 9.2, "Server-sent events").
//!
//! The decoder is our own, because where a cursor is at stake the standard's corners decide, and neither parser of
//! the registry obeys all of them. Each was run on the cases of this module's tests:
//!
//! | rule (WHATWG HTML 9.2.5, 9.2.6) | eventsource-stream 0.2.3 | sse-stream 0.3.0 |
//! |---|---|---|
//! | a leading byte-order mark is dropped | **panics** (slices inside the mark) | obeys |
//! | invalid UTF-8 is replaced by U+FFFD | **ends with an error**, even in a comment | **ends with an error** |
//! | CR alone ends a line | **holds back** an event that ends the chunk, until the next byte comes | obeys |
//! | `retry` only when all digits | **takes `+5`** | obeys |
//! | `retry` acts on its line | **lost** in a block without data | **lost** where the stream ends before the blank line |
//! | an id without data sets the last event id | not visible until the next event | obeys |
//! | `id` at dispatch; empty clears; NULL voids | obeys | obeys (per block; the caller keeps it) |
//! | an unfinished event is discarded | obeys | obeys |
//! | memory is bounded (ours, not the standard's) | **no** | **no** |
//!
//! Both also pull from an asynchronous stream, while a model that must see each chunk at its simulated instant
//! pushes.
//!
//! The event type is not kept: the protocol has only `message`.

mod decode;
mod encode;

pub use decode::{Decoder, Event, EventTooLong, Item, Limits};
pub use encode::{KEEP_ALIVE, encode, encode_id};

#[cfg(test)]
mod tests;
