//! Takes every event of a run: digests it, keeps it if asked to, and lets the oracle judge it.

use std::fmt::Write as _;
use std::io::{self, Write};

use sha2::{Digest, Sha256};

use super::event::Event;
use super::oracle::Oracle;
use super::trace::{TraceHeader, write_entry};
use super::verdict::Verdicts;
use super::witness::Sink;
use crate::world::time::SimTime;

/// The sink of a run.
///
/// One JSON line an event goes into the digest and, where there is one, into the trace. After [`Event::Horizon`] it
/// takes nothing more: hosts that are torn down with the world may still report.
pub struct Recorder {
    line: Vec<u8>,
    digest: Sha256,
    entries: u64,
    oracle: Oracle,
    trace: Option<Box<dyn Write>>,
    trace_error: Option<io::Error>,
    finished: bool,
}

/// What is left of a run.
#[derive(Debug)]
pub struct RunRecord {
    /// SHA-256 of the event log (every line with its line feed, without the header), in lower-case hexadecimal.
    pub digest: String,
    /// Lines of the event log.
    pub entries: u64,
    /// What it meant.
    pub verdicts: Verdicts,
    /// Whether the trace was written in full. The first error ends it; the run and its digest are complete all the same.
    pub trace: io::Result<()>,
}

impl Recorder {
    /// A recorder that keeps no trace.
    pub fn new() -> Recorder {
        Recorder {
            line: Vec::with_capacity(512),
            digest: Sha256::new(),
            entries: 0,
            oracle: Oracle::new(),
            trace: None,
            trace_error: None,
            finished: false,
        }
    }

    /// A recorder that writes a trace to `out`, which should be buffered: it gets one write a line.
    pub fn with_trace(header: &TraceHeader, out: Box<dyn Write>) -> Recorder {
        let mut recorder = Recorder::new();
        recorder.trace = Some(out);
        serde_json::to_writer(&mut recorder.line, header)
            .expect("a header has text keys only, and a vector takes every byte");
        recorder.line.push(b'\n');
        recorder.write_trace();
        recorder
    }

    /// Closes the record at the horizon. A second call gives the record of a run in which nothing happened.
    pub fn finish(&mut self, horizon: SimTime) -> RunRecord {
        self.finished = true;
        if let Some(trace) = &mut self.trace
            && let Err(error) = trace.flush()
        {
            self.trace_error.get_or_insert(error);
        }
        self.trace = None;
        RunRecord {
            digest: hex(&self.digest.finalize_reset()),
            entries: std::mem::take(&mut self.entries),
            verdicts: std::mem::take(&mut self.oracle).finish(horizon),
            trace: self.trace_error.take().map_or(Ok(()), Err),
        }
    }

    fn write_trace(&mut self) {
        if let Some(trace) = &mut self.trace
            && let Err(error) = trace.write_all(&self.line)
        {
            self.trace_error = Some(error);
            self.trace = None;
        }
    }
}

impl Default for Recorder {
    fn default() -> Recorder {
        Recorder::new()
    }
}

impl Sink for Recorder {
    fn record(&mut self, at: SimTime, host: &str, event: Event) {
        if self.finished {
            return;
        }
        self.line.clear();
        write_entry(&mut self.line, at, host, &event);
        self.digest.update(&self.line);
        self.entries += 1;
        self.write_trace();
        self.oracle.observe(at, &event);
        self.finished = event == Event::Horizon;
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(text, "{byte:02x}").expect("a string takes every character");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;
    use crate::observe::trace::read_trace;

    /// A writer whose bytes stay readable, and which is full after some of them.
    #[derive(Clone)]
    struct Disk {
        bytes: Rc<RefCell<Vec<u8>>>,
        room: usize,
    }

    impl Disk {
        fn with_room(room: usize) -> Disk {
            Disk { bytes: Rc::default(), room }
        }
    }

    impl Write for Disk {
        fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
            let mut bytes = self.bytes.borrow_mut();
            if bytes.len() + buf.len() > self.room {
                return Err(io::ErrorKind::StorageFull.into());
            }
            bytes.extend_from_slice(buf);
            Ok(buf.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn record_a_call(recorder: &mut Recorder) -> RunRecord {
        let second = SimTime::from_micros(1_000_000);
        recorder.record(second, "site-1", Event::CallStarted { client: 0, call: 0 });
        recorder.record(second, "world", Event::Horizon);
        recorder.finish(second)
    }

    fn header() -> TraceHeader {
        TraceHeader::new("incident", 1, "trusting")
    }

    #[test]
    fn the_digest_is_that_of_the_lines_whether_or_not_they_are_kept() {
        let disk = Disk::with_room(usize::MAX);
        let kept = record_a_call(&mut Recorder::with_trace(&header(), Box::new(disk.clone())));
        let bytes = disk.bytes.borrow();
        let body = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        assert_eq!(kept.digest, hex(&Sha256::digest(&bytes[body..])));
        assert_eq!(kept.digest, record_a_call(&mut Recorder::new()).digest);
        assert_eq!(kept.entries, 2);
        assert_eq!(read_trace(&bytes[..]).unwrap().count(), 2);
    }

    #[test]
    fn the_oracle_sees_what_is_recorded() {
        let record = record_a_call(&mut Recorder::new());
        assert_eq!(record.verdicts.run.censored, 1);
    }

    #[test]
    fn a_full_disk_is_reported_and_spoils_neither_run_nor_digest() {
        let disk = Disk::with_room(100);
        let record = record_a_call(&mut Recorder::with_trace(&header(), Box::new(disk)));
        let error = record.trace.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(record.digest, record_a_call(&mut Recorder::new()).digest);
    }

    #[test]
    fn what_is_reported_after_the_end_is_not_taken() {
        let mut recorder = Recorder::new();
        record_a_call(&mut recorder);
        let again = record_a_call(&mut recorder);
        assert_eq!(again.entries, 0);
    }
}
