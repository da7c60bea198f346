//! What happens on the links between hosts: latency that is piecewise constant, and stalls.
//!
//! Both are applied from outside the hosts, between two steps of the network, so they take effect on the tick that
//! is the first at or after their instant. turmoil reassembles the segments of a connection by sequence number, so a
//! shorter latency never reorders a stream's bytes.

use std::cell::RefCell;
use std::iter;
use std::rc::Rc;
use std::time::Duration;
use std::vec;

use super::draw::{Draws, Purpose, Span, Stream};
use super::fault::{Fault, StallLink};
use super::net::Hosts;
use super::schedule::ScheduledFault;
use super::time::{Seconds, SimTime};
use crate::observe::event::Event;
use crate::observe::witness::Sink;

/// The host name under which the world's own events are logged.
const WORLD: &str = "world";

/// Random streams of the servers' links are numbered from here, those of the sites' links from 0: a further site
/// changes no server's latencies.
const FIRST_SERVER_LINK: u64 = 1 << 32;

/// The latencies of one link over time: from each instant on, that latency. Without end unless it stays constant.
///
/// A value is drawn every `epoch`, in whole milliseconds between the two ends of `span` (the network keeps no finer
/// ones; an end between two of them counts as the next one above the low end or below the high end). Epochs that
/// draw the same value again are left out. A zero `epoch` means that the first value stays.
pub struct Latencies {
    stream: Stream,
    millis: Span<u32>,
    epoch: Duration,
    next_epoch: Option<SimTime>,
    current: Option<u32>,
}

impl Latencies {
    /// The latencies that `stream` draws.
    pub fn new(stream: Stream, span: Span<Seconds>, epoch: Seconds) -> Latencies {
        let low = whole_millis(span.min().as_micros().div_ceil(1_000));
        let high = whole_millis(span.max().as_micros() / 1_000).max(low);
        Latencies {
            stream,
            millis: Span::new(low, high).expect("the high end is at least the low end"),
            epoch: epoch.get(),
            next_epoch: Some(SimTime::ZERO),
            current: None,
        }
    }
}

/// A latency of more than 49 days is one of 49 days.
fn whole_millis(millis: u64) -> u32 {
    u32::try_from(millis).unwrap_or(u32::MAX)
}

impl Iterator for Latencies {
    type Item = (SimTime, Duration);

    fn next(&mut self) -> Option<(SimTime, Duration)> {
        loop {
            let at = self.next_epoch?;
            let constant = self.epoch.is_zero() || self.millis.min() == self.millis.max();
            self.next_epoch = (!constant).then(|| at + self.epoch);
            let drawn = self.stream.within(self.millis);
            if self.current.replace(drawn) != Some(drawn) {
                return Some((at, Duration::from_millis(u64::from(drawn))));
            }
        }
    }
}

/// A link whose latency changes.
struct Link {
    /// The site or server at its far end; the gateway is at the other.
    far: String,
    latencies: iter::Peekable<Latencies>,
}

/// A stall under way.
struct Stall {
    until: SimTime,
    link: StallLink,
    fault: Fault,
}

/// Drives every link of a run. Call [`Links::apply`] before each step of the network.
pub struct Links {
    hosts: Hosts,
    links: Vec<Link>,
    /// Stalls that have not begun, earliest first.
    scheduled: iter::Peekable<vec::IntoIter<ScheduledFault>>,
    under_way: Vec<Stall>,
    held: Vec<StallLink>,
    next_due: SimTime,
    sink: Rc<RefCell<dyn Sink>>,
}

impl Links {
    /// The links between `hosts`, with latencies out of `latency` drawn anew every `epoch`, and the stalls among
    /// `faults`. Reports to `sink`.
    pub fn new(
        hosts: Hosts,
        latency: Span<Seconds>,
        epoch: Seconds,
        draws: &Draws,
        faults: &[ScheduledFault],
        sink: Rc<RefCell<dyn Sink>>,
    ) -> Links {
        let link = |far: &String, entity| Link {
            far: far.clone(),
            latencies: Latencies::new(draws.stream(Purpose::LinkLatency, entity), latency, epoch).peekable(),
        };
        let sites = hosts.sites.iter().zip(0..);
        let servers = hosts.servers.iter().zip(FIRST_SERVER_LINK..);
        let links = sites.chain(servers).map(|(far, entity)| link(far, entity)).collect();
        let mut scheduled: Vec<_> =
            faults.iter().filter(|scheduled| matches!(scheduled.fault, Fault::Stall { .. })).cloned().collect();
        scheduled.sort_by_key(|stall| stall.at_s);
        Links {
            hosts,
            links,
            scheduled: scheduled.into_iter().peekable(),
            under_way: Vec::new(),
            held: Vec::new(),
            next_due: SimTime::ZERO,
            sink,
        }
    }

    /// Applies to `sim` whatever is due by now. Costs nothing but a comparison where nothing is.
    ///
    /// # Panics
    /// Where a host of the run has not been registered with `sim`.
    pub fn apply(&mut self, sim: &turmoil::Sim<'_>) {
        let now = SimTime::from(sim.elapsed());
        if now < self.next_due {
            return;
        }
        self.change_latencies(sim, now);
        self.end_stalls(now);
        self.begin_stalls(now);
        // A stall shorter than a tick begins and ends on the same one.
        self.end_stalls(now);
        self.hold_and_release(sim);
        self.next_due = self.next_instant();
    }

    fn change_latencies(&mut self, sim: &turmoil::Sim<'_>, now: SimTime) {
        for link in &mut self.links {
            let mut due = None;
            while let Some((_, latency)) = link.latencies.next_if(|(at, _)| *at <= now) {
                due = Some(latency);
            }
            if let Some(latency) = due {
                sim.set_link_latency(link.far.as_str(), self.hosts.gateway.as_str(), latency);
            }
        }
    }

    fn begin_stalls(&mut self, now: SimTime) {
        while let Some(stall) = self.scheduled.next_if(|stall| SimTime::from(stall.at_s.get()) <= now) {
            let Fault::Stall { link, duration_s } = stall.fault else {
                unreachable!("only stalls were kept");
            };
            let until = SimTime::from(stall.at_s.get()) + duration_s.get();
            // One that lies within another one on the same link changes nothing.
            let took_effect =
                until > now && !(self.under_way.iter()).any(|other| other.link == link && other.until >= until);
            self.report(now, Event::FaultStruck { fault: stall.fault.clone(), took_effect });
            self.under_way.push(Stall { until, link, fault: stall.fault });
            self.under_way.sort_by_key(|stall| stall.until);
        }
    }

    fn end_stalls(&mut self, now: SimTime) {
        let over = self.under_way.partition_point(|stall| stall.until <= now);
        for stall in self.under_way.drain(..over).collect::<Vec<_>>() {
            self.report(now, Event::FaultOver { fault: stall.fault });
        }
    }

    /// Brings the network into line with the stalls under way: a link is held by the first and released by the last.
    fn hold_and_release(&mut self, sim: &turmoil::Sim<'_>) {
        for link in [StallLink::Sites, StallLink::Servers] {
            let stalled = self.under_way.iter().any(|stall| stall.link == link);
            let held = self.held.contains(&link);
            if stalled == held {
                continue;
            }
            let ends = match link {
                StallLink::Sites => &self.hosts.sites,
                StallLink::Servers => &self.hosts.servers,
            };
            for far in ends {
                if stalled {
                    sim.hold(far.as_str(), self.hosts.gateway.as_str());
                } else {
                    sim.release(far.as_str(), self.hosts.gateway.as_str());
                }
            }
            if stalled {
                self.held.push(link);
            } else {
                self.held.retain(|other| *other != link);
            }
        }
    }

    fn next_instant(&mut self) -> SimTime {
        let latencies = (self.links.iter_mut()).filter_map(|link| link.latencies.peek().map(|(at, _)| *at));
        let begins = self.scheduled.peek().map(|stall| SimTime::from(stall.at_s.get()));
        let ends = self.under_way.first().map(|stall| stall.until);
        latencies.chain(begins).chain(ends).min().unwrap_or(SimTime::from_micros(u64::MAX))
    }

    fn report(&self, at: SimTime, event: Event) {
        self.sink.borrow_mut().record(at, WORLD, event);
    }
}

#[cfg(test)]
mod tests;
