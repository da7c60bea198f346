//! The event log as a file: one JSON object a line, the first of them a header.

use std::io::{self, BufRead, Lines};
use std::iter::Enumerate;

use serde::{Deserialize, Serialize};

use super::event::{Entry, Event};
use crate::world::time::SimTime;

/// The version of the trace format that this build writes and reads.
pub const FORMAT: u32 = 1;

/// The first line of a trace. It is no part of the run's digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceHeader {
    /// The format's version.
    pub format: u32,
    /// The scenario's name.
    pub scenario: String,
    /// The seed.
    pub seed: u64,
    /// The arm's name.
    pub arm: String,
}

impl TraceHeader {
    /// A header of this build's format.
    pub fn new(scenario: &str, seed: u64, arm: &str) -> TraceHeader {
        TraceHeader { format: FORMAT, scenario: scenario.to_owned(), seed, arm: arm.to_owned() }
    }
}

/// What stands in the way of reading a trace.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The file cannot be read.
    #[error("line {line} of the trace cannot be read: {source}")]
    Io {
        /// The line, from 1.
        line: usize,
        /// Why.
        source: io::Error,
    },
    /// The file is empty.
    #[error(
        "the trace is empty: expected a header line such as {{\"format\":{FORMAT},\"scenario\":…,\"seed\":…,\"arm\":…}}"
    )]
    Empty,
    /// The first line is no header.
    #[error(
        "line 1 of the trace is not its header: {0}; expected {{\"format\":{FORMAT},\"scenario\":…,\"seed\":…,\"arm\":…}}"
    )]
    Header(serde_json::Error),
    /// Another version.
    #[error("line 1 of the trace says format {found}; this build reads format {FORMAT}")]
    Version {
        /// The version found.
        found: u64,
    },
    /// A line is no entry.
    #[error("line {line} of the trace is not an entry of the event log: {source}")]
    Entry {
        /// The line, from 1.
        line: usize,
        /// Why.
        source: serde_json::Error,
    },
}

/// The entries of a trace, one by one.
#[derive(Debug)]
pub struct TraceReader<R> {
    header: TraceHeader,
    lines: Enumerate<Lines<R>>,
}

/// Opens a trace: reads the header and checks its version.
pub fn read_trace<R: BufRead>(reader: R) -> Result<TraceReader<R>, TraceError> {
    #[derive(Deserialize)]
    struct Version {
        format: u64,
    }

    let mut lines = reader.lines().enumerate();
    let (_, first) = lines.next().ok_or(TraceError::Empty)?;
    let first = first.map_err(|source| TraceError::Io { line: 1, source })?;
    // The version first: the header of another version need not have the fields of this one.
    let version: Version = serde_json::from_str(&first).map_err(TraceError::Header)?;
    if version.format != u64::from(FORMAT) {
        return Err(TraceError::Version { found: version.format });
    }
    let header = serde_json::from_str(&first).map_err(TraceError::Header)?;
    Ok(TraceReader { header, lines })
}

impl<R> TraceReader<R> {
    /// The header.
    pub fn header(&self) -> &TraceHeader {
        &self.header
    }
}

impl<R: BufRead> Iterator for TraceReader<R> {
    type Item = Result<Entry, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        let (before, line) = self.lines.next()?;
        let number = before + 1;
        let entry = line
            .map_err(|source| TraceError::Io { line: number, source })
            .and_then(|line| serde_json::from_str(&line).map_err(|source| TraceError::Entry { line: number, source }));
        Some(entry)
    }
}

/// Writes one entry and its line feed. By reference, in the same form as [`Entry`]'s.
pub(super) fn write_entry(line: &mut Vec<u8>, at: SimTime, host: &str, event: &Event) {
    #[derive(Serialize)]
    struct Stamp<'a> {
        t_us: SimTime,
        host: &'a str,
    }

    const WRITTEN: &str = "keys are text, and a vector takes every byte";
    serde_json::to_writer(&mut *line, &Stamp { t_us: at, host }).expect(WRITTEN);
    // One object out of two, which `flatten` would build at twice the price: "}{" becomes ",".
    line.pop();
    let seam = line.len();
    serde_json::to_writer(&mut *line, event).expect(WRITTEN);
    line[seam] = b',';
    line.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::event::{CallReport, Cause, Purpose};
    use crate::world::fault::{DisconnectMode, Fault, Keep};
    use crate::world::time::Seconds;

    fn text(events: &[Event]) -> String {
        let mut bytes = serde_json::to_vec(&TraceHeader::new("incident", 7, "trusting")).unwrap();
        bytes.push(b'\n');
        for event in events {
            write_entry(&mut bytes, SimTime::from_micros(5), "site-1", event);
        }
        String::from_utf8(bytes).unwrap()
    }

    fn error_of(text: &str) -> String {
        match read_trace(text.as_bytes()) {
            Err(error) => error.to_string(),
            Ok(mut entries) => entries.find_map(Result::err).expect("an error").to_string(),
        }
    }

    #[test]
    fn a_line_is_a_flat_object_with_time_host_and_what() {
        let event = Event::RequestSent {
            client: 3,
            request: 12,
            purpose: Purpose::Resume { call: 4 },
            session: None,
            cursor: Some("8412".to_owned()),
        };
        let lines = text(&[event]);
        assert_eq!(
            lines.lines().nth(1).unwrap(),
            r#"{"t_us":5,"host":"site-1","what":"request-sent","client":3,"request":12,"purpose":{"for":"resume","call":4},"cursor":"8412"}"#
        );
    }

    #[test]
    fn what_was_written_is_read_again() {
        let events = [
            Event::Horizon,
            Event::CallEnded {
                client: 0,
                call: 1,
                report: CallReport::Success { checks: vec![7, 9] },
                parts: 2,
                restarts: 0,
            },
            Event::FaultStruck {
                fault: Fault::ServerShutdown { server: 0, down_s: Seconds::from_millis(250), keep: Keep::default() },
                took_effect: true,
            },
            Event::LegCut { client: 1, request: 2, cause: Cause::IdleTimeout, mode: DisconnectMode::CleanEnd },
        ];
        let text = text(&events);
        let reader = read_trace(text.as_bytes()).unwrap();
        assert_eq!(reader.header(), &TraceHeader::new("incident", 7, "trusting"));
        let read: Vec<Event> = reader.map(|entry| entry.unwrap().event).collect();
        assert_eq!(read, events);
    }

    #[test]
    fn another_version_is_refused_even_if_its_header_has_other_fields() {
        assert_eq!(
            error_of(r#"{"format":2,"title":"x"}"#),
            "line 1 of the trace says format 2; this build reads format 1"
        );
    }

    #[test]
    fn errors_name_the_line() {
        let mut text = text(&[Event::Horizon]);
        text.push_str("{\"t_us\":6,\"host\":\"gateway\",\"what\":\"leg-cu");
        assert!(error_of(&text).starts_with("line 3 of the trace is not an entry"));
    }

    #[test]
    fn a_file_without_a_header_is_refused() {
        assert!(error_of("").starts_with("the trace is empty"));
        assert!(error_of("t_us,host\n").starts_with("line 1 of the trace is not its header"));
    }
}
