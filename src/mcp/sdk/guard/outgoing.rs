//! What the guard reads of the messages that pass.

use rmcp::model::{ClientJsonRpcMessage, ClientNotification, ClientRequest, RequestId};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// What a POST means to the guard.
pub(super) enum Outgoing {
    /// It opens or prepares a session: never stopped, never watched.
    Handshake,
    /// A request that waits for a response.
    Request(RequestId),
    /// Nobody waits for this request any more.
    Cancelled(RequestId),
    Other,
}

impl Outgoing {
    pub(super) fn of(message: &ClientJsonRpcMessage) -> Outgoing {
        match message {
            ClientJsonRpcMessage::Request(request) => match &request.request {
                ClientRequest::InitializeRequest(_) | ClientRequest::DiscoverRequest(_) => Outgoing::Handshake,
                _ => Outgoing::Request(request.id.clone()),
            },
            ClientJsonRpcMessage::Notification(notification) => match &notification.notification {
                ClientNotification::CancelledNotification(cancelled) => {
                    cancelled.params.request_id.clone().map_or(Outgoing::Other, Outgoing::Cancelled)
                }
                _ => Outgoing::Other,
            },
            _ => Outgoing::Other,
        }
    }
}

/// The request that `data` is the response to, where it is one.
pub(super) fn answered(data: &str) -> Option<RequestId> {
    #[derive(Deserialize)]
    struct Head {
        id: Option<RequestId>,
        method: Option<IgnoredAny>,
    }
    serde_json::from_str::<Head>(data).ok().filter(|head| head.method.is_none())?.id
}
