//! The SDK's own session manager, and around it one that reports what it is asked. It changes nothing, up to limits that
//! no run of clients that behave comes near.

use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures::Stream;
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::common::server_side_http::{ServerSseMessage, SessionId};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, SessionError,
};
use rmcp::transport::streamable_http_server::session::{EventStore, RestoreOutcome, SessionManager};
use send_wrapper::SendWrapper;

use super::limits::Limits;
use super::truth::{Place, Truth};
use crate::mcp::wire::header::RequestTag;
use crate::observe::event::{Cause, Origin};

tokio::task_local! {
    /// The tag of the HTTP request that the task is answering; outside every request there is none.
    pub(super) static TAG: Option<RequestTag>;
}

/// The SDK asks the session manager while it answers a request; what it does by itself has no tag.
fn tag() -> Option<RequestTag> {
    TAG.try_with(|tag| *tag).ok().flatten()
}

/// A run lives on one thread; the SDK wants types that could leave it.
pub(super) type SharedTruth = SendWrapper<Rc<Truth>>;

/// [`LocalSessionManager`], reported.
pub(super) struct Reporting {
    inner: LocalSessionManager,
    truth: SharedTruth,
    limits: Limits,
}

impl Reporting {
    pub(super) fn new(inner: LocalSessionManager, truth: SharedTruth, limits: Limits) -> Reporting {
        Reporting { inner, truth, limits }
    }

    fn has_room_for_a_session(&self) -> Result<(), LocalSessionManagerError> {
        within(self.truth.sessions(), self.limits.sessions, "sessions")
    }

    fn has_room_for_a_stream(&self) -> Result<(), LocalSessionManagerError> {
        within(self.truth.streams(), self.limits.streams, "streams")
    }

    fn leg<S>(&self, events: S, id: &SessionId, place: Place, is_standalone: bool) -> Leg<S> {
        Leg::new(events, id.clone(), self.truth.clone(), place, is_standalone)
    }

    fn reported(&self, id: &SessionId, inner: SessionTransport) -> ReportingTransport {
        ReportingTransport { inner, session: id.clone(), truth: self.truth.clone() }
    }
}

/// The SDK answers 500 with this sentence.
fn within(count: usize, limit: usize, what: &str) -> Result<(), LocalSessionManagerError> {
    if count < limit {
        return Ok(());
    }
    let error = io::Error::other(format!("this server has {limit} {what}, and takes no more"));
    Err(SessionError::Io(error).into())
}

type SessionTransport = <LocalSessionManager as SessionManager>::Transport;

impl SessionManager for Reporting {
    type Error = LocalSessionManagerError;
    type Transport = ReportingTransport;

    async fn create_session(&self) -> Result<(SessionId, ReportingTransport), Self::Error> {
        self.has_room_for_a_session()?;
        let (id, transport) = self.inner.create_session().await?;
        self.truth.opened(&id, tag(), Origin::Initialized);
        let transport = self.reported(&id, transport);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        self.inner.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        self.inner.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        let closed = self.inner.close_session(id).await;
        // A DELETE is a request; a session that ends by itself does so because nothing has happened in it for long.
        let asked = TAG.try_with(|_| ()).is_ok();
        self.truth.closed(id, if asked { Cause::Deleted } else { Cause::SessionIdle });
        closed
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        self.has_room_for_a_stream()?;
        let place = self.truth.stream_opened(id, &message);
        let stream = self.inner.create_stream(id, message).await;
        self.truth.attached(tag(), if stream.is_ok() { place } else { place.refused() });
        stream.map(|stream| self.leg(stream, id, place, false))
    }

    async fn accept_message(&self, id: &SessionId, message: ClientJsonRpcMessage) -> Result<(), Self::Error> {
        self.truth.accepted(id, &message);
        self.inner.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let (place, standalone) = self.truth.resumed(id, None);
        let stream = self.inner.create_standalone_stream(id).await;
        self.truth.attached(tag(), if stream.is_ok() { place } else { place.refused() });
        stream.map(|stream| self.leg(stream, id, place, standalone))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let (place, standalone) = self.truth.resumed(id, Some(&last_event_id));
        let stream = self.inner.resume(id, last_event_id).await;
        self.truth.attached(tag(), if stream.is_ok() { place } else { place.refused() });
        stream.map(|stream| self.leg(stream, id, place, standalone))
    }

    fn event_store(&self) -> Option<Arc<dyn EventStore>> {
        self.inner.event_store()
    }

    async fn restore_session(&self, id: SessionId) -> Result<RestoreOutcome<ReportingTransport>, Self::Error> {
        self.has_room_for_a_session()?;
        Ok(match self.inner.restore_session(id.clone()).await? {
            RestoreOutcome::Restored(transport) => {
                self.truth.opened(&id, tag(), Origin::Restored);
                RestoreOutcome::Restored(self.reported(&id, transport))
            }
            RestoreOutcome::AlreadyPresent => RestoreOutcome::AlreadyPresent,
            _ => RestoreOutcome::NotSupported,
        })
    }
}

/// A session's events on their way to a response. While it lives, it may be the leg of the standalone stream.
struct Leg<S> {
    events: Pin<Box<S>>,
    session: SessionId,
    truth: SharedTruth,
    place: Place,
    is_standalone: bool,
    /// Whether an event with an id has come.
    is_named: bool,
}

impl<S> Leg<S> {
    fn new(events: S, session: SessionId, truth: SharedTruth, place: Place, is_standalone: bool) -> Leg<S> {
        if is_standalone {
            truth.standalone(&session, true);
        }
        Leg { events: Box::pin(events), session, truth, place, is_standalone, is_named: false }
    }
}

impl<S: Stream<Item = ServerSseMessage>> Stream for Leg<S> {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        let event = ready!(self.events.as_mut().poll_next(cx));
        if !self.is_named
            && let Some(id) = event.as_ref().and_then(|event| event.event_id.as_deref())
        {
            self.is_named = true;
            self.truth.named(&self.session, self.place, id);
        }
        Poll::Ready(event)
    }
}

impl<S> Drop for Leg<S> {
    fn drop(&mut self) {
        if self.is_standalone {
            self.truth.standalone(&self.session, false);
        }
    }
}

/// The handler's end of a session: whatever the handler says passes here.
pub(super) struct ReportingTransport {
    inner: SessionTransport,
    session: SessionId,
    truth: SharedTruth,
}

impl Transport<RoleServer> for ReportingTransport {
    type Error = <SessionTransport as Transport<RoleServer>>::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let answered = self.truth.appended(&self.session, &message);
        let (session, truth) = (self.session.clone(), self.truth.clone());
        let sent = self.inner.send(message);
        async move {
            let sent = sent.await;
            if let Some(stream) = answered {
                truth.taken(&session, stream);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.inner.receive().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
