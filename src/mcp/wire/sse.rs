//! Server-sent events: the encoder and the decoder (WHATWG HTML, "Server-sent events").

/// A comment line: it keeps a connection from being idle and carries nothing.
pub const KEEP_ALIVE: &[u8] = b":\n\n";

/// Appends one event to `buf`.
pub fn encode(buf: &mut Vec<u8>, id: Option<&str>, retry_ms: Option<u64>, data: &str) {
    if let Some(id) = id {
        buf.extend_from_slice(b"id: ");
        buf.extend_from_slice(id.as_bytes());
        buf.push(b'\n');
    }
    if let Some(retry_ms) = retry_ms {
        buf.extend_from_slice(format!("retry: {retry_ms}\n").as_bytes());
    }
    for line in data.split('\n') {
        buf.extend_from_slice(b"data: ");
        buf.extend_from_slice(line.as_bytes());
        buf.push(b'\n');
    }
    buf.push(b'\n');
}
