//! One tool call through the SDK, from its start to what the application is told.

use std::rc::Rc;

use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, ErrorCode, JsonObject, ServerResult};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, RoleClient, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde_json::Value;
use tokio::time::{sleep, timeout};

use super::application::Application;
use super::error::BackendError;
use super::tasks;
use crate::mcp::client::settings::OnSessionLost;
use crate::mcp::net::Dial;
use crate::mcp::sdk::guard::LOST;
use crate::mcp::wire::message::{CallArguments, TOOL};
use crate::observe::event::{CallNo, CallReport, Event};

/// What the SDK says of a call whose session it has replaced.
const REPLACED: &str = "streamable HTTP session was re-initialized before the response arrived";

/// What the SDK gave for a request.
type Outcome = Result<ServerResult, ServiceError>;

/// How one attempt at a call ends.
#[derive(Debug, PartialEq, Eq)]
enum Attempt {
    /// The response is there.
    Answered,
    /// The session was lost under it, and another stands or is opened with the next request.
    Lost(String),
    /// The session is lost, and the SDK does not open another.
    Dead(String),
    /// An error that ends the call.
    Failed(String),
}

impl<D: Dial> Application<D> {
    /// Runs call number `call` within the application's timeout and reports its end.
    pub(super) async fn call(self: Rc<Self>, call: CallNo) {
        self.record.call_started(call);
        let mut handle = None;
        let result = timeout(self.settings.call_timeout_s.get(), self.drive(call, &mut handle)).await;

        let ended = self.record.call_ends(call);
        let parts = ended.checks.len() as u32;
        let report = match result {
            Ok(Ok(())) => CallReport::Success { checks: ended.checks },
            Ok(Err(reason)) => CallReport::Error { reason },
            Err(_) => CallReport::TimedOut,
        };
        let timed_out = report == CallReport::TimedOut;
        let client = self.record.client();
        self.record.report(Event::CallEnded { client, call, report, parts, restarts: ended.restarts });
        self.record.finish_restart(Some(call));
        self.changed.notify_waiters();
        if timed_out && let Some(handle) = handle {
            // Nobody waits for the server to take note of it (2025-11-25, utilities, "Cancellation").
            tasks::spawn(async move {
                let _ = handle.cancel(Some("call timeout".to_owned())).await;
            });
        }
    }

    /// Attempts the call until it is answered or fails. `handle` is the SDK's handle on the attempt under way.
    async fn drive(
        self: &Rc<Self>,
        call: CallNo,
        handle: &mut Option<RequestHandle<RoleClient>>,
    ) -> Result<(), String> {
        let reinitializes = self.settings.rmcp.reinit_on_expired_session;
        let mut delay = self.settings.reconnect_s.get();
        loop {
            let live = self.live().await;
            let outcome = self.attempt_call(call, &live.peer, handle).await;
            self.record.expect_parts(call, None);
            *handle = None;
            let attempt = attempt_of(outcome, live.peer.is_transport_closed(), reinitializes);
            let reason = match &attempt {
                Attempt::Answered => return Ok(()),
                Attempt::Failed(reason) => return Err(reason.clone()),
                Attempt::Lost(reason) | Attempt::Dead(reason) => reason,
            };
            let may_replay = self.settings.on_session_lost == OnSessionLost::Replay
                && (self.tool.get().idempotent || self.settings.replay_non_idempotent);
            if let Attempt::Dead(_) = attempt {
                // Whether or not this call goes on, the next one needs a session.
                self.abandon(&live);
            }
            if !may_replay {
                return Err(reason.clone());
            }
            if reason != REPLACED {
                sleep(delay).await;
                delay = (delay * 2).min(self.settings.reconnect_max_s.get());
            }
            self.live().await;
            self.record.rewind(call, self.tool.get().checkpointable);
        }
    }

    async fn attempt_call(
        &self,
        call: CallNo,
        peer: &Peer<RoleClient>,
        handle: &mut Option<RequestHandle<RoleClient>>,
    ) -> Outcome {
        let arguments = CallArguments { client: self.record.client(), call, from_part: self.record.held(call) };
        let sent = peer.send_cancellable_request(request(arguments), PeerRequestOptions::no_options()).await?;
        self.record.expect_parts(call, Some(sent.progress_token.clone()));
        let response = &mut handle.insert(sent).rx;
        response.await.unwrap_or(Err(ServiceError::TransportClosed))
    }
}

fn request(arguments: CallArguments) -> ClientRequest {
    let arguments = match serde_json::to_value(arguments) {
        Ok(Value::Object(arguments)) => arguments,
        _ => JsonObject::new(),
    };
    ClientRequest::CallToolRequest(CallToolRequest::new(CallToolRequestParams::new(TOOL).with_arguments(arguments)))
}

/// What the outcome of a request means to the application of a client whose transport has ended, or not, and that
/// `reinitializes` an expired session with the next request, or does not.
fn attempt_of(outcome: Outcome, transport_closed: bool, reinitializes: bool) -> Attempt {
    match outcome {
        Ok(ServerResult::CallToolResult(_)) => Attempt::Answered,
        Ok(_) => Attempt::Failed(ServiceError::UnexpectedResponse.to_string()),
        Err(ServiceError::McpError(error)) if is_lost(error.code, &error.message) => {
            Attempt::Lost(error.message.into_owned())
        }
        Err(ServiceError::McpError(error)) => Attempt::Failed(error.message.into_owned()),
        // Said of a stream that ended for good as well as of a transport that did: after the latter there is no session.
        Err(error @ ServiceError::TransportClosed) if transport_closed => Attempt::Dead(error.to_string()),
        Err(ServiceError::TransportSend(error)) => {
            let reason = error.error.to_string();
            match error.error.downcast_ref::<StreamableHttpError<BackendError>>() {
                Some(StreamableHttpError::SessionExpired) if !reinitializes => Attempt::Dead(reason),
                Some(
                    StreamableHttpError::SessionExpired
                    | StreamableHttpError::SessionRecoveryTimeout
                    | StreamableHttpError::ReinitializationFailed(_),
                ) => Attempt::Lost(reason),
                _ => Attempt::Failed(reason),
            }
        }
        Err(error) => Attempt::Failed(error.to_string()),
    }
}

/// Whether an error response is the SDK's for a call whose session it has replaced.
///
/// THE GUARD: the code of its own errors belongs here.
fn is_lost(code: ErrorCode, message: &str) -> bool {
    code == ErrorCode(LOST) || (code == ErrorCode::INTERNAL_ERROR && message == REPLACED)
}
