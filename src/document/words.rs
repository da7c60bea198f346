//! The deserialiser's messages in the words of somebody who writes a file, not of somebody who writes Rust.

use super::near::did_you_mean;

/// What is wrong, and the key below the one that the deserialiser points to, where it concerns one.
pub(super) struct Said {
    pub(super) below: Option<String>,
    pub(super) what: String,
}

/// Rewrites a message of `serde` or `toml`.
pub(super) fn from_serde(message: &str) -> Said {
    let mut names = message.split('`').skip(1).step_by(2);
    if let Some(field) = message.strip_prefix("missing field `") {
        return Said { below: Some(field.trim_end_matches('`').to_owned()), what: "this key is missing".to_owned() };
    }
    let what = if message.starts_with("unknown field `") {
        let name = names.next().unwrap_or_default();
        format!("there is no such key; {}", did_you_mean(name, names))
    } else if message.starts_with("unknown variant `") {
        let name = names.next().unwrap_or_default();
        let known: Vec<&str> = names.collect();
        format!("`{name}` is not one of its values: expected one of `{}`", known.join("`, `"))
    } else {
        in_plain_words(message)
    };
    Said { below: None, what }
}

/// Replaces the names of Rust types.
fn in_plain_words(message: &str) -> String {
    if message == "wanted string or table" {
        return "expected one of its names, in quotes".to_owned();
    }
    let Some((found, expected)) = message.rsplit_once(", expected ") else {
        return message.to_owned();
    };
    let expected = match expected {
        "u8" => "a whole number from 0 to 255".to_owned(),
        "u32" => "a whole number from 0 to 4294967295".to_owned(),
        "u64" | "usize" => "a whole number, 0 or above".to_owned(),
        "f64" => "a number".to_owned(),
        "a sequence" => "a list, [..]".to_owned(),
        "a string" => "a text, in quotes".to_owned(),
        "a boolean" => "true or false".to_owned(),
        other if other.starts_with("struct ") => "a table".to_owned(),
        other => other.to_owned(),
    };
    format!("{found}, expected {expected}")
}
