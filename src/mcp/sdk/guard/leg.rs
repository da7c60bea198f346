//! One leg of a guarded stream.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::{Stream, StreamExt};
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::Sse;
use tokio::time::{Instant, Sleep, sleep};

use super::outgoing::answered;
use super::streams::{Claim, Owner, StreamNo};
use super::{Cause, Events, Finding, Shared};
use crate::cursor::{Desync, Step};

type Item = Result<Sse, SseError>;

/// The events of a leg, as far as they continue the stream.
pub(super) struct Leg {
    shared: Arc<Shared>,
    events: Events,
    /// What the SDK sees before anything else that comes.
    queue: VecDeque<Item>,
    /// Running while the leg may not stay silent for ever.
    grace: Option<Grace>,
    /// The SDK has not seen the end of the leg. None afterwards.
    claim: Option<Claim>,
}

struct Grace {
    whole: Duration,
    rest: Pin<Box<Sleep>>,
}

impl Grace {
    fn new(whole: Duration) -> Grace {
        Grace { whole, rest: Box::pin(sleep(whole)) }
    }
}

impl Leg {
    /// The leg that `claim` asked for, begun just now.
    pub(super) fn new(shared: Arc<Shared>, claim: Claim, events: Events) -> Leg {
        let grace = shared.streams().validator(claim.number()).and_then(|validator| validator.grace());
        Leg { shared, events, queue: VecDeque::new(), grace: grace.map(Grace::new), claim: Some(claim) }
    }

    /// Queues what the SDK sees of an event.
    fn pass(&mut self, mut event: Sse) {
        let Some(number) = self.number() else { return };
        let has_data = event.data.as_ref().is_some_and(|data| !data.is_empty());
        if has_data {
            self.grace = None;
        }
        let judged = {
            let mut streams = self.shared.streams();
            // Nobody waits for the stream: what comes is not judged.
            let Some(validator) = streams.validator(number) else { return self.queue.push_back(Ok(event)) };
            validator.on_event(event.id.as_deref(), has_data)
        };
        match judged {
            // What else the event says, such as `retry`, is no duplicate.
            Ok(Step::Duplicate) => event.data = None,
            Ok(Step::Deliver | Step::Primer) => {}
            Err(desync) => {
                self.judged(desync);
                if self.claim.is_none() {
                    return;
                }
                // A standalone stream goes on from here: its first event starts it anew.
                if let Some(validator) = self.shared.streams().validator(number) {
                    // A stream without a cursor takes any id.
                    let _ = validator.on_event(event.id.as_deref(), has_data);
                }
            }
        }
        let mut streams = self.shared.streams();
        if let Some(id) = &event.id {
            streams.saw(number, id);
        }
        if let Some(request) = event.data.as_deref().and_then(answered) {
            streams.finish_request(&request);
        }
        drop(streams);
        self.queue.push_back(Ok(event));
    }

    /// The leg has ended by itself, in order or not. An end out of order says something of the connection and nothing
    /// of the stream.
    fn end(&mut self, in_order: bool) {
        let Some(number) = self.number() else { return };
        // Silence is a fault only where somebody waits for an event.
        let ended = match in_order && self.waited_since(number).is_some() {
            true => self.shared.streams().validator(number).map(|validator| validator.end_leg()),
            false => None,
        };
        if let Some(Err(desync)) = ended {
            self.judged(desync);
        }
        // Dropping the claim leaves the stream to the next resume.
        self.claim = None;
    }

    /// The leg has been silent for its grace.
    fn silent(&mut self) {
        let Some((number, grace)) = self.number().zip(self.grace.take()) else { return };
        let whole = grace.whole;
        let waited = self.waited_since(number).map(|since| since.elapsed());
        if waited.is_some_and(|waited| waited >= whole) {
            let desync = self.shared.streams().validator(number).map(|validator| validator.silent());
            if let Some(desync) = desync {
                self.judged(desync);
            }
        } else {
            // Nobody has waited for so long yet.
            let rest = whole - waited.unwrap_or_default();
            self.grace = Some(Grace { whole, rest: Box::pin(sleep(rest)) });
        }
    }

    /// Since when somebody has waited for an event of the stream: a request has from its start, and the standalone
    /// stream is waited for by the requests that depend on it.
    fn waited_since(&self, number: StreamNo) -> Option<Instant> {
        let mut streams = self.shared.streams();
        let owner = streams.owner(number)?;
        match owner.request {
            Some(_) => streams.opened(number),
            None => {
                let waiting = streams.dependants(owner.session.as_ref(), self.shared.strict);
                waiting.into_iter().map(|(_, since)| since).min()
            }
        }
    }

    /// Reports a desync, and queues the errors of the requests that are lost. The stream of a request ends so; a
    /// standalone stream starts anew.
    fn judged(&mut self, desync: Desync) {
        self.grace = None;
        let Some(number) = self.number() else { return };
        let Some(Owner { session, request }) = self.shared.streams().owner(number) else { return };
        let finding = Finding { session, request, cause: Cause::Desync(desync) };
        self.shared.report(&finding);
        let lost = match &finding.request {
            Some(request) => {
                self.claim = None;
                // The connection is of no more use: the server may know at once.
                self.events = futures::stream::empty().boxed();
                vec![request.clone()]
            }
            None => {
                if let Some(validator) = self.shared.streams().validator(number) {
                    validator.reset();
                    validator.begin_leg(false);
                }
                self.shared.dependants(finding.session.as_ref())
            }
        };
        self.queue.extend(self.shared.fail(&finding, lost).into_iter().map(Ok));
    }

    fn number(&self) -> Option<StreamNo> {
        self.claim.as_ref().map(Claim::number)
    }
}

impl Stream for Leg {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Item>> {
        loop {
            if let Some(item) = self.queue.pop_front() {
                return Poll::Ready(Some(item));
            }
            if self.claim.is_none() {
                return Poll::Ready(None);
            }
            // What has come counts, even if the grace is over by the same instant.
            match self.events.as_mut().poll_next(cx) {
                Poll::Ready(Some(Ok(event))) => self.pass(event),
                Poll::Ready(Some(Err(error))) => {
                    self.end(false);
                    self.queue.push_back(Err(error));
                }
                Poll::Ready(None) => self.end(true),
                Poll::Pending => match self.grace.as_mut().map(|grace| grace.rest.as_mut().poll(cx)) {
                    Some(Poll::Ready(())) => self.silent(),
                    Some(Poll::Pending) | None => return Poll::Pending,
                },
            }
        }
    }
}

impl Drop for Leg {
    fn drop(&mut self) {
        // The SDK lets go of a leg before its end only where nobody waits for the stream any more.
        if let Some(claim) = &self.claim {
            self.shared.streams().finish(claim.number());
        }
    }
}
