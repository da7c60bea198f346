//! When a client starts, calls its tool and ends its sessions: fixed before the run, the same for every arm.

use std::time::Duration;

use super::settings::ClientSettings;
use crate::observe::event::ClientNo;
use crate::world::draw::{Draws, Purpose};

/// The instants of one client, counted from the start of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    start: Duration,
    calls: Vec<Duration>,
    session_ends: Vec<Duration>,
}

impl Workload {
    /// Draws the instants of `client` up to `horizon`; no call starts within `drain` of it.
    pub fn draw(
        client: ClientNo,
        settings: &ClientSettings,
        horizon: Duration,
        drain: Duration,
        draws: &Draws,
    ) -> Workload {
        let mut arrivals = draws.stream(Purpose::Arrivals, u64::from(client) << 1);
        let start = Duration::from_micros(arrivals.between(0, settings.ramp_up_s.as_micros()));
        let last_call = horizon.saturating_sub(drain);
        let calls = instants(start, last_call, || arrivals.duration(settings.call_interval_s));

        let mut ends = draws.stream(Purpose::Arrivals, (u64::from(client) << 1) | 1);
        let session_ends = match settings.session_duration_s {
            Some(duration) => instants(start, horizon, || ends.duration(duration)),
            None => Vec::new(),
        };
        Workload { start, calls, session_ends }
    }

    /// When the client opens its first session.
    pub fn start(&self) -> Duration {
        self.start
    }

    /// When its calls start, earliest first.
    pub fn calls(&self) -> &[Duration] {
        &self.calls
    }

    /// When it wants to end its session and open another, earliest first.
    pub fn session_ends(&self) -> &[Duration] {
        &self.session_ends
    }
}

/// Instants after `start` and before `end`, each one `step` after the one before.
fn instants(start: Duration, end: Duration, mut step: impl FnMut() -> Duration) -> Vec<Duration> {
    let mut instants = Vec::new();
    let mut at = start + step();
    while at < end {
        instants.push(at);
        // A step of nothing would never reach the end.
        at += step().max(Duration::from_millis(1));
    }
    instants
}
