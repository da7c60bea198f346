//! Events as bytes.

use bytes::BufMut;

/// A comment that keeps an idle connection alive and that no decoder reports.
pub const KEEP_ALIVE: &str = ": keep-alive\n\n";

/// Appends one event.
///
/// - `id`: the event's id; the empty one clears the receiver's cursor. An id with CR, LF or NULL cannot be carried
///   (a receiver would void it or read it as other lines) and is left out.
/// - `retry_ms`: the reconnection time, in milliseconds.
/// - `data`: one `data` line for each of its lines, so that CR and CRLF arrive as LF. Empty data is written too: that
///   is what a priming event looks like.
pub fn encode(out: &mut impl BufMut, id: Option<&str>, retry_ms: Option<u64>, data: &str) {
    if let Some(id) = id {
        encode_id(out, id);
    }
    if let Some(retry_ms) = retry_ms {
        field(out, "retry", &retry_ms.to_string());
    }
    let mut rest = data;
    while let Some(end) = rest.find(['\r', '\n']) {
        field(out, "data", &rest[..end]);
        let width = if rest[end..].starts_with("\r\n") { 2 } else { 1 };
        rest = &rest[end + width..];
    }
    field(out, "data", rest);
    out.put_u8(b'\n');
}

/// Appends the id line that begins an event; what [`encode`] gives for the same event without an id completes it.
pub fn encode_id(out: &mut impl BufMut, id: &str) {
    if !id.contains(['\r', '\n', '\0']) {
        field(out, "id", id);
    }
}

fn field(out: &mut impl BufMut, name: &str, value: &str) {
    out.put_slice(name.as_bytes());
    // The receiver drops one space, so a value that starts with a space keeps its own.
    out.put_slice(if value.is_empty() { b":" } else { b": " });
    out.put_slice(value.as_bytes());
    out.put_u8(b'\n');
}
