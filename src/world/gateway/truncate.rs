//! Where to cut a piece of an event stream so that an event stays incomplete.

/// How many of `bytes` to forward: everything before the first event, and half of the event. None where there is no
/// event to cut in `bytes`, only comments and blank lines.
///
/// `bytes` need not end where an event ends. What follows the last blank line counts as an event.
pub(super) fn middle_of_first_event(bytes: &[u8]) -> Option<usize> {
    let mut start = 0;
    while start < bytes.len() {
        let end = start + block_length(&bytes[start..]);
        if is_event(&bytes[start..end]) {
            return Some(start + (end - start) / 2);
        }
        start = end;
    }
    None
}

/// The length of the first block of lines with the blank line that ends it, or of all that there is.
fn block_length(bytes: &[u8]) -> usize {
    let mut at = 0;
    loop {
        let (line, length) = first_line(&bytes[at..]);
        at += length;
        if line.is_empty() || at == bytes.len() {
            return at;
        }
    }
}

/// The first line, and its length with its end (WHATWG HTML: CR LF, LF or CR).
fn first_line(bytes: &[u8]) -> (&[u8], usize) {
    let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n')) else {
        return (bytes, bytes.len());
    };
    let terminator = if bytes[end..].starts_with(b"\r\n") { 2 } else { 1 };
    (&bytes[..end], end + terminator)
}

/// Whether a block of lines has a line that is neither blank nor a comment.
fn is_event(block: &[u8]) -> bool {
    block.split(|byte| matches!(byte, b'\r' | b'\n')).any(|line| !line.is_empty() && !line.starts_with(b":"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_event_is_cut_at_half_of_its_bytes() {
        for (bytes, forwarded) in [
            ("id: 5\ndata: x\n\n", Some("id: 5\nd")),
            ("id: 5\r\ndata: x\r\n\r\n", Some("id: 5\r\nda")),
            ("data: long long long\nid: 5\n\n", Some("data: long lon")),
            ("id: 5\ndata: x\n\nid: 6\ndata: y\n\n", Some("id: 5\nd")),
            (": ping\n\nid: 5\ndata: x\n\n", Some(": ping\n\nid: 5\nd")),
            ("data: unfinish", Some("data: u")),
            (": ping\n\n", None),
            ("\n\n", None),
            ("", None),
        ] {
            let cut = middle_of_first_event(bytes.as_bytes());
            assert_eq!(cut.map(|at| &bytes[..at]), forwarded, "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn no_complete_event_passes(text in "([:a\r\n]|data: x\n\n|id: 1\n){0,12}") {
            if let Some(at) = middle_of_first_event(text.as_bytes()) {
                prop_assert!(at < text.len());
                let blocks = text[..at].replace("\r\n", "\n").replace('\r', "\n");
                let complete = blocks.rsplit_once("\n\n").map_or("", |(head, _)| head);
                prop_assert!(!is_event(complete.as_bytes()), "{:?} of {text:?}", &text[..at]);
            }
        }
    }
}
