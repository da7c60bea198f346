//! What the SDK keeps for the whole process, settled before a run can notice.
//!
//! The SDK marks errors of its own making with a number that it draws once in a process, when the first error response
//! is seen, from the keys of the standard library's hash maps. Those keys are drawn once a thread and counted up from
//! map to map: the run that happens to be the first one in its process to see an error would count one further than
//! any later run, and the order of its hash maps would be another.

use std::convert::Infallible;
use std::sync::Once;
use std::thread;

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, JsonRpcMessage, PingRequest, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{RoleClient, serve_directly};
use rmcp::transport::Transport;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Lets the SDK draw, once, on a thread that no run uses.
pub fn settle() {
    static SETTLED: Once = Once::new();
    SETTLED.call_once(|| {
        thread::scope(|scope| {
            // A thread that cannot be started settles nothing, and no run depends on it for more than its bytes.
            let _ = thread::Builder::new().name("settle".to_owned()).spawn_scoped(scope, see_an_error);
        });
    });
}

fn see_an_error() {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_time().build() else { return };
    runtime.block_on(async {
        let service = serve_directly::<RoleClient, _, _, _, _>((), Refusing::new(), None);
        let _ = service.send_request(ClientRequest::PingRequest(PingRequest::default())).await;
    });
}

/// A transport whose other end answers every request with an error.
struct Refusing {
    answers: (UnboundedSender<RequestId>, UnboundedReceiver<RequestId>),
}

impl Refusing {
    fn new() -> Refusing {
        Refusing { answers: unbounded_channel() }
    }
}

impl Transport<RoleClient> for Refusing {
    type Error = Infallible;

    fn send(&mut self, message: ClientJsonRpcMessage) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = message {
            let _ = self.answers.0.send(request.id);
        }
        std::future::ready(Ok(()))
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let id = self.answers.1.recv().await?;
        Some(ServerJsonRpcMessage::error(ErrorData::internal_error("no", None), Some(id)))
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_arrives() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let outcome = runtime.block_on(async {
            let service = serve_directly::<RoleClient, _, _, _, _>((), Refusing::new(), None);
            service.send_request(ClientRequest::PingRequest(PingRequest::default())).await
        });
        assert!(matches!(outcome, Err(rmcp::ServiceError::McpError(error)) if error.message == "no"));
    }
}
