//! Churn: other notifications of a session, in bursts that take ids and fill the buffer of its GET stream.
//!
//! A client's bursts lie on a grid from the start of the run that depends on its random stream alone: neither the
//! opening of a session nor its loss shifts them. A burst that meets no live session vanishes.

use std::rc::Rc;
use std::time::Duration;

use super::Server;
use super::settings::Churn;
use crate::mcp::wire::message;
use crate::observe::event::{ClientNo, FrameKind};
use crate::world::draw::{Draws, Purpose, Stream};
use crate::world::time::SimTime;

/// Two bursts are at least this far apart: time must pass.
const SHORTEST: Duration = Duration::from_millis(1);

/// The bursts of one client, in the order of their instants.
pub struct Bursts {
    settings: Churn,
    draw: Stream,
    at: SimTime,
    count: u64,
}

impl Bursts {
    /// The bursts of `client` from the start of the run.
    pub fn new(settings: Churn, draws: &Draws, client: ClientNo) -> Bursts {
        Bursts { settings, draw: draws.stream(Purpose::Churn, u64::from(client)), at: SimTime::ZERO, count: 0 }
    }
}

/// The instant of a burst, and how many events it has.
impl Iterator for Bursts {
    type Item = (SimTime, u32);

    fn next(&mut self) -> Option<(SimTime, u32)> {
        let quiet_every = u64::from(self.settings.quiet_every_bursts);
        if quiet_every > 0 && self.count > 0 && self.count.is_multiple_of(quiet_every) {
            self.at = self.at + self.draw.duration(self.settings.quiet_s);
        }
        let interval = self.draw.duration(self.settings.interval_s);
        self.at = self.at + interval.max(SHORTEST);
        self.count += 1;
        Some((self.at, self.draw.within(self.settings.burst_events)))
    }
}

impl Server {
    /// Starts the churn of a client at its first session on this server.
    pub(super) fn start_churn(self: &Rc<Server>, client: ClientNo) {
        let Some(settings) = self.base.settings.churn else {
            return;
        };
        if !self.churning.borrow_mut().insert(client) {
            return;
        }
        let bursts = Bursts::new(settings, &self.draws, client);
        let server = self.clone();
        self.background.spawn(|_| async move { server.churn(client, bursts).await });
    }

    async fn churn(&self, client: ClientNo, bursts: Bursts) {
        let data = message::log_message("another event of this session").to_string();
        let begins = self.base.now();
        for (at, events) in bursts.skip_while(|(at, _)| *at < begins) {
            tokio::time::sleep(at.since(self.base.now())).await;
            let session = self.table.borrow().newest_of(client);
            if let Some(session) = session.filter(|_| self.base.up.get()) {
                let stream = session.borrow().standalone().clone();
                stream.borrow_mut().append(FrameKind::Notification, &data, events);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::draw::Span;
    use crate::world::time::Seconds;

    #[test]
    fn the_session_falls_quiet_after_every_so_many_bursts() {
        let churn = Churn {
            interval_s: Span::exactly(Seconds::new(2)),
            burst_events: Span::exactly(3),
            quiet_every_bursts: 2,
            quiet_s: Span::exactly(Seconds::new(10)),
        };
        let at: Vec<u64> = Bursts::new(churn, &Draws::new("churn", 1), 0)
            .take(5)
            .map(|(at, events)| {
                assert_eq!(events, 3);
                at.as_micros() / 1_000_000
            })
            .collect();
        assert_eq!(at, [2, 4, 16, 18, 30]);
    }
}
