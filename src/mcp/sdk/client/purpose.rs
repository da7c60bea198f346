//! What a message of the SDK is for, in the words of the event log.

use rmcp::model::{ClientJsonRpcMessage, ClientNotification, ClientRequest, RequestId};
use serde::Deserialize;
use serde_json::Value;

use crate::mcp::wire::message::{CallArguments, TOOL};

/// A message that goes out, as far as the event log tells messages apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outgoing {
    /// `initialize`, or `server/discover` in revision 2026-07-28.
    Open,
    /// `notifications/initialized`.
    Initialized,
    /// `tools/list`.
    ListTools,
    /// `tools/call` of the simulated tool.
    Call {
        /// Its JSON-RPC id.
        id: RequestId,
        /// What it asks for.
        arguments: CallArguments,
    },
    /// `notifications/cancelled`.
    Cancelled {
        /// The JSON-RPC id of the request that nobody waits for any more.
        id: Option<RequestId>,
    },
    /// A response to a request of the server's, or anything else that the application never sends of its own accord.
    Other,
}

impl Outgoing {
    /// What `message` is.
    pub fn of(message: &ClientJsonRpcMessage) -> Outgoing {
        match message {
            ClientJsonRpcMessage::Request(request) => match &request.request {
                ClientRequest::InitializeRequest(_) | ClientRequest::DiscoverRequest(_) => Outgoing::Open,
                ClientRequest::ListToolsRequest(_) => Outgoing::ListTools,
                ClientRequest::CallToolRequest(call) if call.params.name == TOOL => {
                    let arguments = call.params.arguments.clone().map(Value::Object);
                    match arguments.map(CallArguments::deserialize) {
                        Some(Ok(arguments)) => Outgoing::Call { id: request.id.clone(), arguments },
                        _ => Outgoing::Other,
                    }
                }
                _ => Outgoing::Other,
            },
            ClientJsonRpcMessage::Notification(notification) => match &notification.notification {
                ClientNotification::InitializedNotification(_) => Outgoing::Initialized,
                ClientNotification::CancelledNotification(cancelled) => {
                    Outgoing::Cancelled { id: cancelled.params.request_id.clone() }
                }
                _ => Outgoing::Other,
            },
            ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_) => Outgoing::Other,
        }
    }

    /// Whether the SDK does without an answer to it: a 404 to such a message does not tell it that its session is lost.
    pub fn is_control(&self) -> bool {
        matches!(self, Outgoing::Cancelled { .. } | Outgoing::Other)
    }
}
