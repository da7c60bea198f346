//! Bytes as events.

use std::time::Duration;

/// What a decoder accepts from its peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Longest event, and longest line, in bytes. A decoder keeps a small multiple of it at most, beside the bytes
    /// that were pushed and not yet read out.
    pub max_event_bytes: usize,
}

impl Default for Limits {
    /// 4 MiB: above every message that a tool reasonably returns in one event.
    fn default() -> Limits {
        Limits { max_event_bytes: 4 << 20 }
    }
}

/// What a stream says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// An event was dispatched.
    Event(Event),
    /// A block without data set the last event id, or cleared it.
    Id(Option<String>),
    /// The server set the reconnection time. As long as the peer likes, up to `u64::MAX` milliseconds: the caller
    /// bounds it.
    Retry(Duration),
}

/// A dispatched event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The last event id as of dispatch: of this block or an earlier one of this leg. None where none set it, or the
    /// last one cleared it.
    pub id: Option<String>,
    /// Whether this block has an id field of its own.
    pub own_id: bool,
    /// The data lines, joined with LF. Empty in a priming event.
    pub data: String,
}

impl Event {
    /// The id field of this block, empty where it clears: what [`Validator::on_event`] takes.
    ///
    /// [`Validator::on_event`]: crate::cursor::Validator::on_event
    pub fn id_field(&self) -> Option<&str> {
        self.own_id.then(|| self.id.as_deref().unwrap_or_default())
    }
}

/// A peer sends an event that is longer than the limit. The decoder says nothing more after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stream has an event or a line of more than {max_event_bytes} bytes, the most that is accepted")]
pub struct EventTooLong {
    /// The limit.
    pub max_event_bytes: usize,
}

/// An incremental decoder of one leg: push bytes as they come, then take items until there is none.
///
/// Where the stream ends, drop the decoder: an event without its blank line is discarded, and its id with it.
#[derive(Debug)]
pub struct Decoder {
    limits: Limits,
    failed: bool,
    /// Bytes pushed; those before `line_start` are done with.
    input: Vec<u8>,
    line_start: usize,
    /// No line ends between `line_start` and here, so that a long line in many chunks is scanned once.
    scanned: usize,
    /// The last line ended with CR: an LF that follows belongs to it.
    after_cr: bool,
    first_line: bool,
    /// The standard's "last event ID buffer".
    id: Option<String>,
    /// This block has an id field.
    own_id: bool,
    /// The standard's "data buffer", without its last LF; none is the standard's empty one.
    data: Option<String>,
}

impl Decoder {
    /// A decoder at the start of a leg.
    pub fn new(limits: Limits) -> Decoder {
        Decoder {
            limits,
            failed: false,
            input: Vec::new(),
            line_start: 0,
            scanned: 0,
            after_cr: false,
            first_line: true,
            id: None,
            own_id: false,
            data: None,
        }
    }

    /// Takes the next bytes of the body, cut anywhere.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.failed {
            return;
        }
        self.input.drain(..self.line_start);
        self.scanned -= self.line_start;
        self.line_start = 0;
        self.input.extend_from_slice(bytes);
    }

    /// The end of the line that starts at `line_start`, once it is here.
    fn line_end(&mut self) -> Option<usize> {
        if self.after_cr {
            if *self.input.get(self.line_start)? == b'\n' {
                self.line_start += 1;
            }
            self.after_cr = false;
            self.scanned = self.line_start;
        }
        let end = memchr::memchr2(b'\n', b'\r', &self.input[self.scanned..]);
        self.scanned = end.map_or(self.input.len(), |offset| self.scanned + offset);
        end.map(|_| self.scanned)
    }

    /// One line without its end (9.2.6, "processing the stream").
    fn line(&mut self, start: usize, end: usize) -> Option<Item> {
        let mut line = &self.input[start..end];
        if std::mem::take(&mut self.first_line) {
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        if line.is_empty() {
            return self.dispatch();
        }
        let (name, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                // Line by line is as good as all at once: no UTF-8 sequence goes on over an LF.
                let value = text(value);
                match &mut self.data {
                    Some(data) => {
                        data.push('\n');
                        data.push_str(&value);
                    }
                    None => self.data = Some(value),
                }
            }
            b"id" if !value.contains(&0) => {
                self.own_id = true;
                self.id = (!value.is_empty()).then(|| text(value));
            }
            b"retry" => return milliseconds(value).map(Item::Retry),
            // A comment has an empty name.
            _ => {}
        }
        None
    }

    /// A blank line (9.2.6, "dispatch the event").
    fn dispatch(&mut self) -> Option<Item> {
        let own_id = std::mem::take(&mut self.own_id);
        match self.data.take() {
            Some(data) => Some(Item::Event(Event { id: self.id.clone(), own_id, data })),
            None if own_id => Some(Item::Id(self.id.clone())),
            None => None,
        }
    }

    /// Whether the event that is under way is too long with `line_bytes` more.
    fn too_long(&self, line_bytes: usize) -> bool {
        let held = self.data.as_ref().map_or(0, String::len);
        held + line_bytes > self.limits.max_event_bytes
    }

    fn fail(&mut self) -> EventTooLong {
        // Whatever the peer made us hold is given back.
        *self = Decoder { failed: true, ..Decoder::new(self.limits) };
        EventTooLong { max_event_bytes: self.limits.max_event_bytes }
    }
}

/// Takes what is complete in the bytes pushed so far. None means "not yet": push, and ask again.
impl Iterator for Decoder {
    type Item = Result<Item, EventTooLong>;

    fn next(&mut self) -> Option<Result<Item, EventTooLong>> {
        while !self.failed {
            let end = self.line_end();
            let start = self.line_start;
            if self.too_long(self.scanned - start) {
                return Some(Err(self.fail()));
            }
            let end = end?;
            self.after_cr = self.input[end] == b'\r';
            self.line_start = end + 1;
            self.scanned = end + 1;
            if let Some(item) = self.line(start, end) {
                return Some(Ok(item));
            }
        }
        None
    }
}

/// Bytes as text (9.2.6: "decoded with replacement"). Checking first is faster than replacing what needs no replacement.
fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// The value of a `retry` field: digits only. `parse` alone would take `+5`.
fn milliseconds(value: &[u8]) -> Option<Duration> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let text = std::str::from_utf8(value).ok()?;
    // All digits, so the one way to fail is to be too large.
    Some(Duration::from_millis(text.parse().unwrap_or(u64::MAX)))
}
