//! What the SDK tells the application without being asked: the parts of its calls.

use std::rc::Rc;

use rmcp::handler::client::ClientHandler;
use rmcp::model::{ClientConfig, ProgressNotificationParam};
use rmcp::service::{NotificationContext, RoleClient};
use send_wrapper::SendWrapper;

use super::config;
use super::record::Record;
use crate::mcp::sdk::settings::RmcpProtocol;
use crate::mcp::wire::message::check_of;

/// The application's ears. It takes parts as they come, like the client model that trusts its server.
pub struct Handler {
    record: SendWrapper<Rc<Record>>,
    protocol: RmcpProtocol,
}

impl Handler {
    /// A handler that notes parts in `record`.
    pub fn new(record: Rc<Record>, protocol: RmcpProtocol) -> Handler {
        Handler { record: SendWrapper::new(record), protocol }
    }
}

impl ClientHandler for Handler {
    async fn on_progress(&self, part: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        if let Some(check) = part.message.as_deref().and_then(check_of) {
            self.record.take_part(&part.progress_token, check);
        }
    }

    fn get_info(&self) -> ClientConfig {
        config::identity(self.protocol)
    }
}
