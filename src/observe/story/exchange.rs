//! What passes between clients and servers, line by line.

use std::io::{self, Write};

use super::Story;
use super::words::{self, counted};
use crate::observe::event::{ClientNo, Event, LegEnd, LogNo, Purpose, RequestNo};
use crate::world::time::SimTime;

impl<W: Write> Story<W> {
    /// What passes between a client and a server about a session, a call or a leg.
    pub(super) fn tell_exchange(&mut self, at: SimTime, host: &str, event: &Event) -> io::Result<()> {
        let (client, line) = match event {
            Event::CallStarted { client, call } => (*client, format!("client {client} starts call {call}")),
            Event::CallEnded { client, call, report, parts, .. } => {
                (*client, words::call_end(*client, *call, report, *parts))
            }
            Event::RequestSent { client, purpose, cursor, .. } => {
                match words::request(*client, *purpose, cursor.as_deref()) {
                    Some(line) => (*client, line),
                    None => return Ok(()),
                }
            }
            Event::Attached { client, request, log, found, .. } => match self.attachment(*client, *request, *log) {
                Some(to) => (*client, format!("{}; {to}", words::cursor_found(*found))),
                None => return Ok(()),
            },
            Event::Rebased { client, cause, .. } => {
                (*client, format!("the open stream of client {client} goes on in another life ({})", cause.name()))
            }
            Event::Answered { client, request, status, session } => {
                match self.answer(*client, *request, *status, session.as_deref()) {
                    Some(line) => (*client, line),
                    None => return Ok(()),
                }
            }
            Event::Unanswered { client, why, .. } => (*client, format!("client {client} gets no answer: {why}")),
            Event::LegEnded { client, request, how } => {
                let ordinary = self
                    .scene
                    .request(*client, *request)
                    .is_none_or(|request| matches!(request.purpose, Purpose::Call { .. }));
                if ordinary && *how != LegEnd::Broken {
                    return Ok(());
                }
                (*client, format!("the stream of client {client} {}", words::leg_end(*how)))
            }
            Event::LegCut { client, cause, mode, .. } => (
                *client,
                format!("the gateway cuts the stream of client {client}: {}, {}", cause.name(), words::cut_mode(*mode)),
            ),
            Event::SessionLost { client, session, by, detail, in_flight, .. } => (
                *client,
                format!(
                    "client {client} notices: session {session} is lost ({}), {} in flight: {detail}",
                    by.name(),
                    counted(u64::from(*in_flight), "call")
                ),
            ),
            Event::NotApplicable { client, reason, .. } => {
                (*client, format!("client {client} cannot judge this resume: {reason}"))
            }
            Event::CallReplayed { client, call, from_part, held } => (
                *client,
                format!(
                    "client {client} sends call {call} again from part {from_part}, holding {}",
                    counted(u64::from(*held), "part")
                ),
            ),
            Event::SessionRestored { client, session, requests, bytes } => (
                *client,
                format!(
                    "client {client} is back with session {session}: {}, {bytes} bytes",
                    counted(u64::from(*requests), "request")
                ),
            ),
            _ => return Ok(()),
        };
        self.line(at, host, Some(client), &line)
    }

    /// What a leg that resumes is attached to; none for a fresh one.
    fn attachment(&self, client: ClientNo, request: RequestNo, log: Option<LogNo>) -> Option<String> {
        let before = self.scene.request(client, request)?;
        before.cursor.as_ref()?;
        Some(match log {
            None => format!("client {client} is attached to nothing"),
            Some(log) => match self.scene.log_owner(log) {
                Some(owner) if owner != client => {
                    format!("client {client} is attached to the stream of client {owner}")
                }
                _ if self.scene.log_before(client, before.purpose) == Some(log) => {
                    format!("client {client} is attached to the same life of its stream")
                }
                _ => format!("client {client} is attached to a new life of the session"),
            },
        })
    }

    fn answer(&self, client: ClientNo, request: RequestNo, status: u16, session: Option<&str>) -> Option<String> {
        if let Some(session) = session {
            return Some(format!("client {client} has session {session}"));
        }
        let resumes = self.scene.request(client, request).is_some_and(|request| request.cursor.is_some());
        (resumes || !(200..300).contains(&status)).then(|| format!("client {client} is answered {status}"))
    }
}
