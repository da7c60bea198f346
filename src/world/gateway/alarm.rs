//! When a response has to end: its idle timeout, its maximum life, and the patience of an armed fault.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

use super::settings::GatewaySettings;

/// What has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// The idle timeout.
    Idle,
    /// The maximum life.
    Life,
    /// The end of the armed fault's patience.
    Patience,
}

/// The deadlines of one response, behind one timer.
///
/// A byte that passes moves a number, not the timer: the timer is armed again when it fires before the deadline.
#[derive(Debug)]
pub(super) struct Alarm {
    idle: Option<(Duration, Instant)>,
    life: Option<Instant>,
    patience: Option<Instant>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Alarm {
    /// The alarm of a response that begins now.
    pub(super) fn new(settings: &GatewaySettings) -> Alarm {
        let now = Instant::now();
        Alarm {
            idle: (settings.idle_timeout_s).map(|idle| (idle.get(), now + idle.get())),
            life: settings.max_life_s.map(|life| now + life.get()),
            patience: None,
            timer: None,
        }
    }

    /// Bytes have passed to the client.
    pub(super) fn bytes_passed(&mut self) {
        if let Some((idle, deadline)) = &mut self.idle {
            *deadline = Instant::now() + *idle;
        }
    }

    /// An armed fault will wait for `patience` from now on.
    pub(super) fn wait_at_most(&mut self, patience: Duration) {
        self.patience = Some(Instant::now() + patience);
    }

    /// No fault is armed any more.
    pub(super) fn wait_no_more(&mut self) {
        self.patience = None;
    }

    /// What is due, once something is. Of several at one instant, the first in the order of [`Due`].
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Due> {
        loop {
            let Some((deadline, due)) = self.earliest() else {
                return Poll::Pending;
            };
            let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
            if timer.deadline() > deadline {
                timer.as_mut().reset(deadline);
            }
            ready!(timer.as_mut().poll(cx));
            if Instant::now() >= deadline {
                return Poll::Ready(due);
            }
            timer.as_mut().reset(deadline);
        }
    }

    fn earliest(&self) -> Option<(Instant, Due)> {
        let idle = self.idle.map(|(_, deadline)| (deadline, Due::Idle));
        let life = self.life.map(|deadline| (deadline, Due::Life));
        let patience = self.patience.map(|deadline| (deadline, Due::Patience));
        [idle, life, patience].into_iter().flatten().min_by_key(|(deadline, _)| *deadline)
    }
}
