//! What was expected and what came.

use std::ops::RangeInclusive;
use std::time::Duration;

/// A resume that did not continue the stream though the server answered 200.
///
/// The session is lost, then: negotiate a new one, and replay what was in flight from its last application-level
/// checkpoint, never from the cursor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Desync {
    /// The first replayed event is of another life of the counter.
    #[error("epoch changed: the cursor is {cursor}{}, but the server answered with {got}", so(.expected))]
    EpochChanged {
        /// The last id consumed.
        cursor: String,
        /// The only id that would have continued the stream; none after the last number.
        expected: Option<String>,
        /// The id that came.
        got: String,
    },
    /// The first replayed event is of another stream ([`Rules::foreign`](super::Rules::foreign)).
    #[error("foreign stream: the cursor is {cursor}{}, but the server answered with {got}", so(.expected))]
    Foreign {
        /// The last id consumed.
        cursor: String,
        /// The only id that would have continued the stream; none after the last number.
        expected: Option<String>,
        /// The id that came.
        got: String,
    },
    /// The first replayed event is not above the last one consumed.
    #[error("regression: the cursor is {cursor}{}, but the server answered with {got}", so(.expected))]
    Regression {
        /// The last id consumed.
        cursor: String,
        /// The only id that would have continued the stream; none after the last number.
        expected: Option<String>,
        /// The id that came.
        got: String,
    },
    /// The first replayed event is above the successor of the last one consumed.
    #[error(
        "gap: the cursor is {cursor}{}, but the server answered with {got}; lost: {} to {}",
        so(.expected), .lost.start(), .lost.end()
    )]
    Gap {
        /// The last id consumed.
        cursor: String,
        /// The only id that would have continued the stream.
        expected: Option<String>,
        /// The id that came.
        got: String,
        /// The numbers in between: never empty.
        lost: RangeInclusive<u64>,
    },
    /// Too many legs in a row brought nothing ([`Rules::empty_legs`](super::Rules::empty_legs)).
    #[error("empty legs: {legs} resumes in a row from the cursor {cursor} ended without data, and at most {limit} may")]
    EmptyLegs {
        /// The last id consumed.
        cursor: String,
        /// How many there were.
        legs: u32,
        /// How many may be.
        limit: u32,
    },
    /// A resumed leg stayed silent for too long ([`Rules::grace_s`](super::Rules::grace_s)).
    #[error("silence: no data for {} s since the resume from the cursor {cursor}", .grace.as_secs_f64())]
    Silence {
        /// The last id consumed, empty where there is none.
        cursor: String,
        /// How long it may be silent.
        grace: Duration,
    },
}

impl Desync {
    /// The signature's name (DESIGN section 2): `epoch-change`, `foreign`, `regression`, `gap`, `empty-leg`, `silence`.
    pub const fn signature(&self) -> &'static str {
        match self {
            Desync::EpochChanged { .. } => "epoch-change",
            Desync::Foreign { .. } => "foreign",
            Desync::Regression { .. } => "regression",
            Desync::Gap { .. } => "gap",
            Desync::EmptyLegs { .. } => "empty-leg",
            Desync::Silence { .. } => "silence",
        }
    }

    /// The last id consumed.
    pub fn cursor(&self) -> &str {
        match self {
            Desync::EpochChanged { cursor, .. }
            | Desync::Foreign { cursor, .. }
            | Desync::Regression { cursor, .. }
            | Desync::Gap { cursor, .. }
            | Desync::EmptyLegs { cursor, .. }
            | Desync::Silence { cursor, .. } => cursor,
        }
    }

    /// The only id that would have continued the stream, where an id decided.
    pub fn expected(&self) -> Option<&str> {
        match self {
            Desync::EpochChanged { expected, .. }
            | Desync::Foreign { expected, .. }
            | Desync::Regression { expected, .. }
            | Desync::Gap { expected, .. } => expected.as_deref(),
            Desync::EmptyLegs { .. } | Desync::Silence { .. } => None,
        }
    }

    /// The id that came, where an id decided.
    pub fn got(&self) -> Option<&str> {
        match self {
            Desync::EpochChanged { got, .. }
            | Desync::Foreign { got, .. }
            | Desync::Regression { got, .. }
            | Desync::Gap { got, .. } => Some(got),
            Desync::EmptyLegs { .. } | Desync::Silence { .. } => None,
        }
    }
}

/// `, so 8413 was expected`, or why nothing could be.
fn so(expected: &Option<String>) -> String {
    match expected {
        Some(expected) => format!(", so {expected} was expected"),
        None => ", the last number there is".to_owned(),
    }
}
