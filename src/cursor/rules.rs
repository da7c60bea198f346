//! Which rules a validator enforces.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, de};

/// The rules, each with its own switch. The default is the base rule alone.
///
/// Every rule has a price: a server whose habits it does not know makes it raise false alarms. What each one
/// assumes of the server is said beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rules {
    /// The base rule, [`judge`](super::judge()), on the first data event of a resumed leg. On by default. Assumes that
    /// ids count up by one in each stream: a counter shared by several streams has legal gaps.
    pub continuity: bool,
    /// A replay may start with the event that the cursor names: it is dropped as a duplicate and the next one is
    /// judged, instead of [`Desync::Regression`](super::Desync::Regression). Off by default, because the answer is a
    /// fault of the server; on for the official Rust SDK, which replays so.
    pub tolerate_inclusive: bool,
    /// How many resumed legs in a row may end without data and without an advance of the reference; one more is
    /// [`Desync::EmptyLegs`](super::Desync::EmptyLegs). Off by default: a server may close its streams between two
    /// events as often as it likes (2025-11-25, transports, "Sending Messages to the Server", item 6).
    pub empty_legs: Option<u32>,
    /// How long a resumed leg may bring no data before it is [`Desync::Silence`](super::Desync::Silence), in seconds:
    /// above 0 and finite. Off by default, because a quiet server looks the same as a lost stream; choose it well
    /// above the longest silence of a healthy stream.
    #[serde(deserialize_with = "seconds")]
    pub grace_s: Option<f64>,
    /// An event of another stream is [`Desync::Foreign`](super::Desync::Foreign). Off by default; needs a grammar that
    /// names the stream.
    pub foreign: bool,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules { continuity: true, ..Rules::none() }
    }
}

impl Rules {
    /// No rule at all: the validator only keeps the cursor, as a client does that takes HTTP 200 for proof.
    pub const fn none() -> Rules {
        Rules { continuity: false, tolerate_inclusive: false, empty_legs: None, grace_s: None, foreign: false }
    }

    /// [`Rules::grace_s`] as a duration: none where it is off, or no time above zero.
    pub fn grace(&self) -> Option<Duration> {
        Duration::try_from_secs_f64(self.grace_s?).ok().filter(|grace| !grace.is_zero())
    }
}

fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let rules = Rules { grace_s: Option::deserialize(deserializer)?, ..Rules::none() };
    match (rules.grace_s, rules.grace()) {
        (Some(wrong), None) => Err(de::Error::custom(format!(
            "{wrong} is no grace time: expected a number of seconds above 0, such as 20 or 0.5"
        ))),
        (grace_s, _) => Ok(grace_s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_table_is_the_base_rule_alone() {
        let rules: Rules = toml::from_str("").unwrap();
        assert_eq!(rules, Rules::default());
        assert_eq!(rules, Rules { continuity: true, ..Rules::none() });
    }

    #[test]
    fn every_rule_has_a_switch() {
        let rules: Rules = toml::from_str(
            "continuity = false\ntolerate_inclusive = true\nempty_legs = 3\ngrace_s = 20\nforeign = true",
        )
        .unwrap();
        assert_eq!(
            rules,
            Rules {
                continuity: false,
                tolerate_inclusive: true,
                empty_legs: Some(3),
                grace_s: Some(20.0),
                foreign: true,
            }
        );
        assert_eq!(toml::from_str::<Rules>(&toml::to_string(&rules).unwrap()).unwrap(), rules);
    }

    #[test]
    fn an_unknown_rule_is_refused_by_name() {
        let error = toml::from_str::<Rules>("gap = true").unwrap_err();
        assert!(error.to_string().contains("unknown field `gap`"), "{error}");
    }

    #[test]
    fn a_grace_that_is_no_time_is_refused() {
        for wrong in ["0", "-1", "nan", "inf", "1e300"] {
            let error = toml::from_str::<Rules>(&format!("grace_s = {wrong}")).unwrap_err();
            assert!(error.to_string().contains("expected a number of seconds above 0"), "{error}");
        }
    }
}
