//! The validator.

use serde::{Deserialize, Serialize};

/// The form of a server's event ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Grammar {
    /// `8412`
    #[serde(rename = "integer")]
    Integer,
    /// `a1b2:8412`
    #[serde(rename = "epoch:seq")]
    EpochSeq,
    /// opaque
    #[serde(rename = "opaque")]
    Opaque,
}

/// Rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rules {}
