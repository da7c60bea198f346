//! The SDK's rule for events that are too long, which its stock backends apply before they parse: the bytes of an event
//! that the parser keeps are counted, comments and line ends are not.

/// Counts the bytes of the event that is being read.
#[derive(Debug)]
pub struct EventLimit {
    max_bytes: usize,
    /// In the lines of the event that are complete, each with the line feed that the parser puts between two of them.
    kept: usize,
    line: usize,
    is_comment: bool,
    after_cr: bool,
}

impl EventLimit {
    /// Admits events of up to `max_bytes` bytes.
    pub fn new(max_bytes: usize) -> EventLimit {
        EventLimit { max_bytes, kept: 0, line: 0, is_comment: false, after_cr: false }
    }

    /// The limit.
    pub fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// Takes the next bytes of the stream. False where an event has become too long.
    pub fn admits(&mut self, bytes: &[u8]) -> bool {
        bytes.iter().all(|byte| self.admits_byte(*byte))
    }

    fn admits_byte(&mut self, byte: u8) -> bool {
        let is_second_half = std::mem::take(&mut self.after_cr) && byte == b'\n';
        match byte {
            _ if is_second_half => return true,
            b'\r' | b'\n' => {
                self.end_line();
                self.after_cr = byte == b'\r';
            }
            _ => {
                if self.line == 0 {
                    self.is_comment = byte == b':';
                }
                self.line += 1;
            }
        }
        self.kept.saturating_add(self.line) <= self.max_bytes
    }

    fn end_line(&mut self) {
        if self.line == 0 {
            self.kept = 0;
        } else if !self.is_comment {
            self.kept = self.kept.saturating_add(self.line).saturating_add(1);
        }
        self.line = 0;
        self.is_comment = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(limit: usize, chunks: &[&str]) -> bool {
        let mut limit = EventLimit::new(limit);
        chunks.iter().all(|chunk| limit.admits(chunk.as_bytes()))
    }

    #[test]
    fn an_event_of_exactly_the_limit_is_admitted_and_one_of_a_byte_more_is_not() {
        for (limit, chunks, is_admitted) in [
            (9, &["data: ab\n\n"][..], true),
            (8, &["data: ab\n\n"], false),
            (8, &["data: a\r", "\n\r\ndata: b\n\n"], true),
            (8, &["data: a\ndata: b\n\n"], false),
            (16, &["data: aaaaa", "aaaaaa"], false),
            (6, &[": ping\n: ping\n: ping\n"], true),
            (14, &["data: a\n: ping\ndata: b\n"], false),
            (0, &["\n\n"], true),
            (0, &["d"], false),
        ] {
            assert_eq!(admitted(limit, chunks), is_admitted, "{limit} {chunks:?}");
        }
    }
}
