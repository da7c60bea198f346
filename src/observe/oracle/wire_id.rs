//! Event ids as text on the wire, as far as the oracle compares them.
//!
//! On purpose not the validator's grammar: the oracle must neither depend on the code under test nor on the grammar
//! that a scenario sets. It reads what is there: a whole number, alone or with an epoch (`e:7`) or a stream (`s_7`, `7/s`).

use crate::observe::verdict::Signature;

#[derive(Debug, PartialEq, Eq)]
struct WireId<'a> {
    tag: Tag<'a>,
    number: u64,
}

/// What stands beside the number.
#[derive(Debug, PartialEq, Eq)]
enum Tag<'a> {
    /// Nothing, or the nothing that names a standalone stream: `7`, `_7`.
    None,
    Epoch(&'a str),
    Stream(&'a str),
}

fn parse(text: &str) -> Option<WireId<'_>> {
    let (tag, digits) = if let Some((epoch, digits)) = text.rsplit_once(':') {
        (Tag::Epoch(epoch), digits)
    } else if let Some((stream, digits)) = text.rsplit_once('_') {
        (if stream.is_empty() { Tag::None } else { Tag::Stream(stream) }, digits)
    } else if let Some((digits, stream)) = text.split_once('/') {
        (Tag::Stream(stream), digits)
    } else {
        (Tag::None, text)
    };
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = digits.parse().ok()?;
    Some(WireId { tag, number })
}

/// How an incoherent leg shows, judged by its first data event's id against the cursor that was presented.
pub(super) fn compare(cursor: &str, first: Option<&str>) -> Signature {
    let (Some(cursor), Some(first)) = (parse(cursor), first.and_then(parse)) else {
        return Signature::NoReplay;
    };
    match (cursor.tag, first.tag) {
        (Tag::Epoch(old), Tag::Epoch(new)) if old != new => return Signature::EpochChange,
        (old, new) if old != new => return Signature::NoReplay,
        _ => {}
    }
    if first.number <= cursor.number {
        Signature::Regression
    } else if first.number - cursor.number > 1 {
        Signature::Gap
    } else {
        Signature::Alias
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_compared_epoch_first_and_only_where_they_can_be() {
        let cases = [
            ("8412", Some("17"), Signature::Regression),
            ("8412", Some("8412"), Signature::Regression),
            ("8412", Some("8414"), Signature::Gap),
            ("8412", Some("8413"), Signature::Alias),
            ("a:8412", Some("b:8413"), Signature::EpochChange),
            ("a:8412", Some("a:17"), Signature::Regression),
            ("a:b:8412", Some("a:b:8413"), Signature::Alias),
            ("a:8412", Some("8413"), Signature::NoReplay),
            ("1_21", Some("1_27"), Signature::Gap),
            ("21/1", Some("27/1"), Signature::Gap),
            ("_21", Some("_3"), Signature::Regression),
            ("21/1", Some("22/1"), Signature::Alias),
            ("21/1", Some("22/2"), Signature::NoReplay),
            ("1_21", Some("22"), Signature::NoReplay),
            ("8412", Some("f3c1-77"), Signature::NoReplay),
            ("8412", Some("+8413"), Signature::NoReplay),
            ("8412", Some(""), Signature::NoReplay),
            ("8412", None, Signature::NoReplay),
            ("18446744073709551615", Some("0"), Signature::Regression),
            ("18446744073709551616", Some("1"), Signature::NoReplay),
        ];
        for (cursor, first, signature) in cases {
            assert_eq!(compare(cursor, first), signature, "{cursor} then {first:?}");
        }
    }
}
