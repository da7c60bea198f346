//! A guard around any HTTP backend of the official Rust SDK: it checks resumed streams with the rules of
//! [`cursor`](crate::cursor) and turns a silent loss into an explicit error of exactly the calls that are lost.
//!
//! The SDK takes any answer 200 to a resume for the continuation of the stream. A server that has lost the stream and
//! answers 200 all the same leaves the call without an end. [`Guard`] stands between the SDK's transport and its HTTP
//! backend, where every event passes, and needs no change to either:
//!
//! ```no_run
//! use desync_sim::cursor::{Grammar, Rules};
//! use desync_sim::mcp::sdk::guard::Guard;
//! use rmcp::transport::StreamableHttpClientTransport;
//! use rmcp::transport::streamable_http_client::{StreamableHttpClient, StreamableHttpClientTransportConfig};
//!
//! fn transport<C: StreamableHttpClient>(backend: C) {
//!     let rules = Rules { tolerate_inclusive: true, empty_legs: Some(3), ..Rules::default() };
//!     let guard = Guard::new(backend, Grammar::Integer, rules).observed(|finding| eprintln!("{finding}"));
//!     let config = StreamableHttpClientTransportConfig::with_uri("http://localhost/mcp");
//!     let _transport = StreamableHttpClientTransport::with_client(guard, config);
//! }
//! ```
//!
//! # What it does
//!
//! - The event stream that answers a POST of a request is one logical stream, the standalone GET is another. A GET with
//!   `Last-Event-ID` belongs to the stream whose last id that is and that has no leg; of several, to the one whose leg
//!   ended first.
//! - A verdict against the stream of a request takes the place of the offending event, or of the end of the leg: an
//!   error response with the code [`LOST`]. The SDK fails that call and no other. The application decides whether it
//!   sends the call again, from its own checkpoint.
//! - A call that is answered 202 has no stream but the standalone one: a verdict against that one fails it in the same
//!   way. Calls with a stream of their own are left alone, unless the guard is [strict](Guard::strict). The standalone
//!   stream goes on from what came.
//! - A resume that is refused for good ends the call in the same way, at once: the SDK would ask again for ever. Errors
//!   at which the SDK gives the stream up by itself, and fails the call, are passed on.
//! - After a verdict the session is suspect. The next request in it is not sent but answered "session expired", once no
//!   other guarded request is in flight: the SDK then opens a new session and sends the request there.
//! - Silence proves nothing where nobody waits: the rules on empty legs and on silence hold the standalone stream to
//!   account only while a call depends on it. A leg whose connection breaks says nothing of the stream either.
//!   Without these two, three outages of an idle session were a verdict: all 59 false alarms of
//!   `sims/rmcp-outage.toml` over the seeds 0..50 were of that kind (seed 0, client 4, at 183.74 s).
//!
//! # Limits
//!
//! A verdict against the standalone stream of a guard that is not strict fails no call that has a stream of its own,
//! because nothing on the wire says which calls had messages on it. Where a server sends the progress of such a call
//! there, the call can succeed with parts missing.
//!
//! The loss of an idle standalone stream is not noticed where it is answered with nothing. Over the seeds 0..50 of
//! `sims/rmcp-restart.toml` that is so of 589 resumes (seed 0, client 4, at 81.82 s); the calls came to the same as with
//! a guard that looks there.
//!
//! A stream that is never resumed is never judged: a call whose leg is half open hangs, with a guard or without
//! (`sims/rmcp-outage.toml`, seed 45, client 5, call 1, does so until its time limit).
//!
//! One guard serves one transport: its clones share what they know. A stream whose leg has ended and that the SDK gives
//! up in silence (its retry policy is exhausted) counts as in flight until a new session is opened; that only delays the
//! change of the session.

mod finding;
mod leg;
mod outgoing;
mod refusal;
mod streams;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::StreamExt;
use futures::stream::BoxStream;
use http::{HeaderName, HeaderValue};
use rmcp::model::{ClientJsonRpcMessage, RequestId};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use sse_stream::Sse;

pub use finding::{Cause, Finding, LOST};
use leg::Leg;
use outgoing::Outgoing;
use refusal::Refusal;
use streams::{Claim, Owner, StreamNo, Streams};

use crate::cursor::{Grammar, Rules, Validator};

/// The SDK's trait names this type.
#[expect(clippy::disallowed_types, reason = "the SDK hands headers over in it; they are handed on unread")]
type CustomHeaders = std::collections::HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;
type Posted<C> = Result<StreamableHttpPostResponse, StreamableHttpError<<C as StreamableHttpClient>::Error>>;
type Got<C> = Result<Events, StreamableHttpError<<C as StreamableHttpClient>::Error>>;
type Observer = dyn Fn(&Finding) + Send + Sync;
type IsRefusal<E> = dyn Fn(&E) -> bool + Send + Sync;

/// An HTTP backend of the SDK whose resumed streams are checked. See the [module](self).
pub struct Guard<C: StreamableHttpClient> {
    inner: C,
    shared: Arc<Shared>,
    is_refusal: Arc<IsRefusal<C::Error>>,
}

impl<C: StreamableHttpClient> Clone for Guard<C> {
    fn clone(&self) -> Guard<C> {
        Guard { inner: self.inner.clone(), shared: self.shared.clone(), is_refusal: self.is_refusal.clone() }
    }
}

/// What the clones of a guard and its legs have in common.
struct Shared {
    grammar: Grammar,
    rules: Rules,
    strict: bool,
    streams: Mutex<Streams>,
    observer: Arc<Observer>,
}

impl Shared {
    fn streams(&self) -> MutexGuard<'_, Streams> {
        // Nothing panics while the lock is held; if it did, what is known would still be worth more than nothing.
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks the session suspect and tells the observer. Never called while the lock is held: the observer is a
    /// stranger.
    fn report(&self, finding: &Finding) {
        if let Some(session) = &finding.session {
            self.streams().suspect(session);
        }
        (self.observer)(finding);
    }
}

impl<C: StreamableHttpClient> Guard<C> {
    /// A guard around `inner` that reads event ids by `grammar` and holds streams to `rules`.
    pub fn new(inner: C, grammar: Grammar, rules: Rules) -> Guard<C> {
        let shared = Shared { grammar, rules, strict: false, streams: Mutex::default(), observer: Arc::new(|_| ()) };
        Guard { inner, shared: Arc::new(shared), is_refusal: Arc::new(|_| false) }
    }

    /// Tells `observer` each verdict, before the SDK sees what follows from it. To be set before the guard is used: what
    /// has been learnt so far is forgotten.
    #[must_use]
    pub fn observed(self, observer: impl Fn(&Finding) + Send + Sync + 'static) -> Guard<C> {
        self.with(|shared| Shared { observer: Arc::new(observer), ..shared })
    }

    /// A verdict against the standalone stream fails every call of its session that is in flight, also those that have a
    /// stream of their own: for a server that sends what belongs to calls on the standalone stream, and a program that
    /// would rather call again than miss a part. To be set before the guard is used, like [`Guard::observed`].
    #[must_use]
    pub fn strict(self) -> Guard<C> {
        self.with(|shared| Shared { strict: true, ..shared })
    }

    fn with(mut self, change: impl FnOnce(Shared) -> Shared) -> Guard<C> {
        let Shared { grammar, rules, strict, observer, .. } = &*self.shared;
        let (grammar, rules, strict, observer) = (*grammar, rules.clone(), *strict, observer.clone());
        self.shared = Arc::new(change(Shared { grammar, rules, strict, streams: Mutex::default(), observer }));
        self
    }

    /// Which of the backend's own errors say that the server refuses a resume for good. The SDK has no word for most
    /// refusals of a GET: its backends answer 400 and 404 with errors of their own. By default none does.
    #[must_use]
    pub fn refused_where(mut self, is_refusal: impl Fn(&C::Error) -> bool + Send + Sync + 'static) -> Guard<C> {
        self.is_refusal = Arc::new(is_refusal);
        self
    }

    fn lead(&self, claim: Claim, events: Events) -> Events {
        Leg::new(self.shared.clone(), claim, events).boxed()
    }

    /// A POST, sent by `send` unless the session is suspect and can be changed now.
    async fn post<F>(self, outgoing: Outgoing, session: Option<Arc<str>>, send: impl FnOnce(C) -> F) -> Posted<C>
    where
        F: Future<Output = Posted<C>>,
    {
        let claim = match &outgoing {
            Outgoing::Request(id) => {
                let mut streams = self.shared.streams();
                if session.as_ref().is_some_and(|session| streams.is_to_be_left(session)) {
                    return Err(StreamableHttpError::SessionExpired);
                }
                let validator = self.shared.validator();
                let number = streams.open(Some(id.clone()), session, validator);
                drop(streams);
                Some(Claim::new(self.shared.clone(), number))
            }
            Outgoing::Cancelled(id) => {
                self.shared.streams().finish_request(id);
                None
            }
            Outgoing::Handshake | Outgoing::Other => None,
        };
        let answer = send(self.inner.clone()).await?;
        if matches!(outgoing, Outgoing::Handshake) {
            // A new session: nothing of the old one is in flight any more.
            self.shared.streams().clear();
        }
        Ok(match (answer, claim) {
            (StreamableHttpPostResponse::Sse(events, key), Some(claim)) => {
                self.shared.streams().begin_leg(claim.number(), false);
                StreamableHttpPostResponse::Sse(self.lead(claim, events), key)
            }
            (StreamableHttpPostResponse::Accepted, Some(claim)) => {
                claim.accept();
                StreamableHttpPostResponse::Accepted
            }
            // Dropping the claim forgets the stream.
            (answer, _) => answer,
        })
    }

    /// A GET, sent by `send`.
    async fn get<F>(self, session: Option<Arc<str>>, cursor: Option<String>, send: impl FnOnce(C) -> F) -> Got<C>
    where
        F: Future<Output = Got<C>>,
    {
        let number = match &cursor {
            Some(cursor) => self.shared.streams().claim(cursor, session.as_ref()),
            None => Some(self.shared.streams().open(None, session, self.shared.validator())),
        };
        // A stream that is not known (any more) cannot be judged.
        let Some(number) = number else { return send(self.inner.clone()).await };
        let claim = Claim::new(self.shared.clone(), number);
        match send(self.inner.clone()).await {
            Ok(events) => {
                self.shared.streams().begin_leg(number, cursor.is_some());
                Ok(self.lead(claim, events))
            }
            Err(error) => {
                let lost = cursor.and_then(|cursor| self.refused(number, cursor, &error));
                lost.ok_or(error).map(|events| futures::stream::iter(events.into_iter().map(Ok)).boxed())
            }
        }
    }

    /// What the SDK sees instead of `error`, the answer to the resume of a stream from `cursor`. None where it sees the
    /// error.
    fn refused(&self, number: StreamNo, cursor: String, error: &StreamableHttpError<C::Error>) -> Option<Vec<Sse>> {
        let refusal = Refusal::of(error, &*self.is_refusal);
        let Owner { session, request } = self.shared.streams().owner(number)?;
        let waiting = match (refusal, request.clone()) {
            (Refusal::NotYet, _) => return None,
            (Refusal::ForGood, Some(request)) => vec![request],
            (Refusal::EndsStream, Some(_)) => {
                self.shared.streams().finish(number);
                return None;
            }
            (Refusal::ForGood | Refusal::EndsStream, None) => self.shared.dependants(session.as_ref()),
        };
        // The SDK asks for the standalone stream again and again: it is refused once.
        if waiting.is_empty() && (refusal != Refusal::ForGood || self.shared.streams().is_suspect(session.as_ref())) {
            return None;
        }
        let cause = Cause::Refused { cursor, answer: error.to_string() };
        let finding = Finding { session, request, cause };
        self.shared.report(&finding);
        let events = self.shared.fail(&finding, waiting);
        (!events.is_empty()).then_some(events)
    }
}

impl Shared {
    fn validator(&self) -> Validator {
        Validator::new(self.grammar, self.rules.clone())
    }

    /// The requests that a loss on the standalone stream of `session` concerns.
    fn dependants(&self, session: Option<&Arc<str>>) -> Vec<RequestId> {
        let dependants = self.streams().dependants(session, self.strict);
        dependants.into_iter().map(|(request, _)| request).collect()
    }

    /// The error responses to `requests`, which nobody waits for from now on.
    fn fail(&self, finding: &Finding, requests: Vec<RequestId>) -> Vec<Sse> {
        let mut streams = self.streams();
        let fail = |request: RequestId| {
            streams.finish_request(&request);
            finding.event(request)
        };
        requests.into_iter().map(fail).collect()
    }
}

// Each method goes to its namesake: a backend may enforce limits in one and not in another.
impl<C: StreamableHttpClient> StreamableHttpClient for Guard<C> {
    type Error = C::Error;

    fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        auth: Option<String>,
        headers: CustomHeaders,
    ) -> impl Future<Output = Posted<C>> + Send + '_ {
        let outgoing = Outgoing::of(&message);
        self.clone().post(outgoing, session.clone(), move |inner| async move {
            inner.post_message(uri, message, session, auth, headers).await
        })
    }

    fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        auth: Option<String>,
        headers: CustomHeaders,
        max: usize,
    ) -> impl Future<Output = Posted<C>> + Send + '_ {
        let outgoing = Outgoing::of(&message);
        self.clone().post(outgoing, session.clone(), move |inner| async move {
            inner.post_message_with_max_sse_event_size(uri, message, session, auth, headers, max).await
        })
    }

    fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        auth: Option<String>,
        headers: CustomHeaders,
        limits: StreamableHttpResponseLimits,
    ) -> impl Future<Output = Posted<C>> + Send + '_ {
        let outgoing = Outgoing::of(&message);
        self.clone().post(outgoing, session.clone(), move |inner| async move {
            inner.post_message_with_response_limits(uri, message, session, auth, headers, limits).await
        })
    }

    fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        auth: Option<String>,
        headers: CustomHeaders,
    ) -> impl Future<Output = Result<(), StreamableHttpError<C::Error>>> + Send + '_ {
        self.inner.delete_session(uri, session, auth, headers)
    }

    fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        cursor: Option<String>,
        auth: Option<String>,
        headers: CustomHeaders,
    ) -> impl Future<Output = Got<C>> + Send + '_ {
        self.clone().get(session.clone(), cursor.clone(), move |inner| async move {
            inner.get_stream(uri, session, cursor, auth, headers).await
        })
    }

    fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        cursor: Option<String>,
        auth: Option<String>,
        headers: CustomHeaders,
        max: usize,
    ) -> impl Future<Output = Got<C>> + Send + '_ {
        self.clone().get(session.clone(), cursor.clone(), move |inner| async move {
            inner.get_stream_with_max_sse_event_size(uri, session, cursor, auth, headers, max).await
        })
    }
}

#[cfg(test)]
mod tests;
