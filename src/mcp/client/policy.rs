//! What the arms differ in, and nothing else.

use super::settings::{Arm, ClientSettings};
use crate::cursor::{Grammar, Rules, Validator};

/// A client policy: whether it keeps a cursor, and which rules it applies to what a resume brings.
#[derive(Clone, Debug)]
pub struct Policy {
    keeps_cursor: bool,
    rules: Rules,
    grammar: Grammar,
}

impl Policy {
    /// The policy of `arm`, for a server whose ids have the form `grammar`.
    pub fn new(arm: Arm, settings: &ClientSettings, grammar: Grammar) -> Policy {
        let (keeps_cursor, rules) = match arm {
            Arm::Trusting | Arm::Rmcp => (true, Rules::none()),
            Arm::Validating | Arm::RmcpGuarded => (true, settings.rules.clone()),
            Arm::NoCursor => (false, Rules::none()),
        };
        Policy { keeps_cursor, rules, grammar }
    }

    /// Whether a reconnecting GET carries `Last-Event-ID`.
    pub fn keeps_cursor(&self) -> bool {
        self.keeps_cursor
    }

    /// A validator for one logical stream.
    pub fn validator(&self) -> Validator {
        Validator::new(self.grammar, self.rules.clone())
    }
}
