//! The meaning of the tables' text fields.

use super::rows::{CallRow, DesyncRow, FaultRow, RestartRow};
use crate::observe::verdict::{Outcome, UnknownOutcome};
use crate::world::time::SimTime;

/// A field that does not say what its column should. The reader adds the file and the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The column.
    pub column: &'static str,
    /// What is wrong, and what would be right.
    pub what: String,
}

/// An instant in seconds with exactly six decimals; `None` where the field is empty.
pub fn instant(column: &'static str, text: &str) -> Result<Option<SimTime>, FieldError> {
    if text.is_empty() {
        return Ok(None);
    }
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    text.split_once('.')
        .filter(|(whole, fraction)| digits(whole) && digits(fraction) && fraction.len() == 6)
        .and_then(|(whole, fraction)| {
            let whole = whole.parse::<u64>().ok()?.checked_mul(1_000_000)?;
            whole.checked_add(fraction.parse().ok()?)
        })
        .map(|micros| Some(SimTime::from_micros(micros)))
        .ok_or_else(|| FieldError {
            column,
            what: format!("`{text}` is not a time: expected seconds with six decimals, such as 12.345678, or nothing"),
        })
}

fn required(column: &'static str, text: &str) -> Result<SimTime, FieldError> {
    instant(column, text)?.ok_or_else(|| FieldError {
        column,
        what: "is empty: expected seconds with six decimals, such as 12.345678".to_owned(),
    })
}

impl CallRow {
    /// How the call ended.
    pub fn outcome(&self) -> Result<Outcome, FieldError> {
        self.outcome.parse().map_err(|error: UnknownOutcome| FieldError { column: "outcome", what: error.to_string() })
    }

    /// When it started and ended.
    pub fn span(&self) -> Result<(SimTime, SimTime), FieldError> {
        Ok((required("started_s", &self.started_s)?, required("ended_s", &self.ended_s)?))
    }
}

impl DesyncRow {
    /// When the loss became certain on the server.
    pub fn lost_at(&self) -> Result<Option<SimTime>, FieldError> {
        instant("lost_at_s", &self.lost_at_s)
    }

    /// When the answer reached the client.
    pub fn exposed_at(&self) -> Result<SimTime, FieldError> {
        required("exposed_at_s", &self.exposed_at_s)
    }

    /// When the client decided that the session is lost.
    pub fn detected_at(&self) -> Result<Option<SimTime>, FieldError> {
        instant("detected_at_s", &self.detected_at_s)
    }
}

impl RestartRow {
    /// When the client decided.
    pub fn alarm_at(&self) -> Result<SimTime, FieldError> {
        required("alarm_at_s", &self.alarm_at_s)
    }

    /// When the last replayed call had its response.
    pub fn response_at(&self) -> Result<Option<SimTime>, FieldError> {
        instant("response_at_s", &self.response_at_s)
    }
}

impl FaultRow {
    /// When it struck and when it was over.
    pub fn span(&self) -> Result<(SimTime, SimTime), FieldError> {
        let from = required("from_s", &self.from_s)?;
        Ok((from, instant("to_s", &self.to_s)?.unwrap_or(from)))
    }
}
