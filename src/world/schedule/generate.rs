//! Schedules from rates.
//!
//! Every kind and target has a random stream of its own, so that one client more, or one kind more, leaves everybody
//! else's faults where they were. Time is cut into slots of a second, and each slot holds at most one fault of a
//! kind and target: a Bernoulli trial on whole numbers, which comes out the same on every platform, where the
//! exponential gaps of a Poisson process would need a logarithm that does not.

use super::settings::FaultSettings;
use super::{Extent, Kind, Schedule, ScheduledFault};
use crate::world::draw::{Draws, Purpose, Stream};
use crate::world::fault::Fault;
use crate::world::time::Seconds;

const SECONDS_PER_HOUR: u64 = 3600;

impl Schedule {
    /// The faults of one run.
    pub fn generate(settings: &FaultSettings, extent: Extent, draws: &Draws) -> Schedule {
        let mut arrivals = Arrivals { from: settings.from_s, extent, draws, faults: Vec::new() };
        if let Some(rate) = &settings.disconnect {
            let count = rate.per_client_per_hour;
            arrivals.each_client(Kind::Disconnect, count, |client, stream| Fault::Disconnect {
                client,
                mode: stream.choose(&rate.modes),
            });
        }
        if let Some(rate) = &settings.outage {
            let count = rate.per_client_per_hour;
            arrivals.each_client(Kind::Outage, count, |client, stream| Fault::Outage {
                client,
                duration_s: stream.within(rate.duration_s),
            });
        }
        if let Some(rate) = &settings.stall {
            arrivals.draw(Kind::Stall, 0, rate.per_hour, |_, stream| Fault::Stall {
                link: rate.link,
                duration_s: stream.within(rate.duration_s),
            });
        }
        if let Some(rate) = &settings.session_recycle {
            let count = rate.per_client_per_hour;
            arrivals
                .each_client(Kind::SessionRecycle, count, |client, _| Fault::SessionRecycle { client, to: rate.to });
        }
        if let Some(rate) = &settings.buffer_truncate {
            let count = rate.per_client_per_hour;
            arrivals.each_client(Kind::BufferTruncate, count, |client, _| Fault::BufferTruncate {
                client,
                keep_events: rate.keep_events,
            });
        }
        if let Some(rate) = &settings.counter_wrap {
            let count = rate.per_client_per_hour;
            arrivals.each_client(Kind::CounterWrap, count, |client, _| Fault::CounterWrap { client });
        }
        if let Some(rate) = &settings.server_shutdown {
            for server in 0..extent.servers {
                arrivals.draw(Kind::ServerShutdown, server, rate.per_hour, |server, stream| Fault::ServerShutdown {
                    server,
                    down_s: stream.within(rate.down_s),
                    keep: rate.keep,
                });
            }
        }
        Schedule::new(arrivals.faults)
    }
}

/// The faults drawn so far, and what every draw needs.
struct Arrivals<'d> {
    from: Seconds,
    extent: Extent,
    draws: &'d Draws,
    faults: Vec<ScheduledFault>,
}

impl Arrivals<'_> {
    fn each_client(&mut self, kind: Kind, per_hour: u32, fault: impl Fn(u32, &mut Stream) -> Fault) {
        for client in 0..self.extent.clients {
            self.draw(kind, client, per_hour, &fault);
        }
    }

    /// The faults of one kind and target. What lies before `from` or after the horizon is drawn too and then left
    /// out: moving either shifts nothing.
    fn draw(&mut self, kind: Kind, target: u32, per_hour: u32, fault: impl Fn(u32, &mut Stream) -> Fault) {
        let entity = ((kind as u64) << 32) | u64::from(target);
        let mut stream = self.draws.stream(Purpose::Faults, entity);
        let slots = self.extent.horizon.as_micros().div_ceil(1_000_000);
        for slot in 0..slots {
            if !stream.happens(u64::from(per_hour), SECONDS_PER_HOUR) {
                continue;
            }
            let at_s = Seconds::from_millis(slot * 1000 + stream.between(0, 999));
            let fault = fault(target, &mut stream);
            if (self.from..self.extent.horizon).contains(&at_s) {
                self.faults.push(ScheduledFault { at_s, fault });
            }
        }
    }
}
