//! One leg of a guarded stream.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::{Stream, StreamExt};
use rmcp::model::RequestId;
use rmcp::transport::streamable_http_client::SseError;
use serde::Deserialize;
use serde::de::IgnoredAny;
use sse_stream::Sse;
use tokio::time::{Sleep, sleep};

use super::streams::Claim;
use super::{Cause, Events, Finding, Shared};
use crate::cursor::{Desync, Step};

type Item = Result<Sse, SseError>;

/// The events of a leg, as far as they continue the stream.
pub(super) struct Leg {
    shared: Arc<Shared>,
    events: Events,
    /// Running while the leg may not stay silent for ever.
    grace: Option<Pin<Box<Sleep>>>,
    /// The SDK has not seen the end of the leg. None afterwards.
    claim: Option<Claim>,
}

impl Leg {
    /// The leg that `claim` asked for, begun just now.
    pub(super) fn new(shared: Arc<Shared>, claim: Claim, events: Events) -> Leg {
        let grace = shared.streams().validator(claim.number()).and_then(|validator| validator.grace());
        Leg { shared, events, grace: grace.map(|grace| Box::pin(sleep(grace))), claim: Some(claim) }
    }

    /// What the SDK sees of an event.
    fn pass(&mut self, mut event: Sse) -> Option<Item> {
        let Some(number) = self.claim.as_ref().map(Claim::number) else { return Some(Ok(event)) };
        let has_data = event.data.as_ref().is_some_and(|data| !data.is_empty());
        if has_data {
            self.grace = None;
        }
        let mut streams = self.shared.streams();
        // Nobody waits for the stream: what comes is not judged.
        let Some(validator) = streams.validator(number) else { return Some(Ok(event)) };
        match validator.on_event(event.id.as_deref(), has_data) {
            Err(desync) => {
                drop(streams);
                if let Some(lost) = self.judged(desync) {
                    return lost;
                }
                // A standalone stream goes on from here: its first event starts it anew.
                let mut streams = self.shared.streams();
                if let Some(validator) = streams.validator(number) {
                    // A stream without a cursor takes any id.
                    let _ = validator.on_event(event.id.as_deref(), has_data);
                }
                if let Some(id) = &event.id {
                    streams.saw(number, id);
                }
                return Some(Ok(event));
            }
            // What else the event says, such as `retry`, is no duplicate.
            Ok(Step::Duplicate) => event.data = None,
            Ok(Step::Deliver | Step::Primer) => {}
        }
        if let Some(id) = &event.id {
            streams.saw(number, id);
        }
        let owner = streams.owner(number);
        if let (Some((_, Some(request))), Some(data)) = (owner, &event.data)
            && answers(data, &request)
        {
            streams.finish(number);
        }
        Some(Ok(event))
    }

    /// The leg has ended by itself, with `last`.
    fn end(&mut self, last: Option<Item>) -> Option<Item> {
        let ended = self.claim.as_ref().and_then(|claim| {
            let mut streams = self.shared.streams();
            streams.validator(claim.number()).map(|validator| validator.end_leg())
        });
        let lost = match ended {
            Some(Err(desync)) => self.judged(desync),
            Some(Ok(())) | None => None,
        };
        // Dropping the claim leaves the stream to the next resume.
        self.claim = None;
        lost.unwrap_or(last)
    }

    /// Reports a desync. What the SDK sees instead, where the stream belongs to a request; a standalone stream starts
    /// anew.
    fn judged(&mut self, desync: Desync) -> Option<Option<Item>> {
        self.grace = None;
        let number = self.claim.as_ref()?.number();
        let (session, request) = self.shared.streams().owner(number)?;
        let finding = Finding { session, request: request.clone(), cause: Cause::Desync(desync) };
        self.shared.report(&finding);
        let mut streams = self.shared.streams();
        match request {
            Some(request) => {
                streams.finish(number);
                drop(streams);
                self.claim = None;
                // The connection is of no more use: the server may know at once.
                self.events = futures::stream::empty().boxed();
                Some(Some(Ok(finding.event(request))))
            }
            None => {
                if let Some(validator) = streams.validator(number) {
                    validator.reset();
                    validator.begin_leg(false);
                }
                None
            }
        }
    }
}

impl Stream for Leg {
    type Item = Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Item>> {
        if self.claim.is_none() {
            return Poll::Ready(None);
        }
        // What has come counts, even if the grace is over by the same instant.
        match self.events.as_mut().poll_next(cx) {
            Poll::Ready(Some(Ok(event))) => return Poll::Ready(self.pass(event)),
            Poll::Ready(last) => return Poll::Ready(self.end(last)),
            Poll::Pending => {}
        }
        let is_over = self.grace.as_mut().is_some_and(|grace| grace.as_mut().poll(cx).is_ready());
        if is_over {
            let number = self.claim.as_ref().map(Claim::number);
            let silent = number.and_then(|number| self.shared.streams().validator(number).map(|v| v.silent()));
            if let Some(lost) = silent.and_then(|desync| self.judged(desync)) {
                return Poll::Ready(lost);
            }
            self.grace = None;
        }
        Poll::Pending
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

/// Whether `data` is the response to `request`.
fn answers(data: &str, request: &RequestId) -> bool {
    #[derive(Deserialize)]
    struct Head {
        id: Option<RequestId>,
        method: Option<IgnoredAny>,
    }
    serde_json::from_str::<Head>(data).is_ok_and(|head| head.method.is_none() && head.id.as_ref() == Some(request))
}
