//! The handler behind the SDK's server: the one tool of the simulation, and a session's other notifications.

use std::rc::Rc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ServerCapabilities, ServerConfig,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleServer, ServerHandler};
use send_wrapper::SendWrapper;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::SdkServer;
use crate::mcp::server::tools::{NUMBERS, part_text, plan};
use crate::mcp::wire::header::RequestTag;
use crate::mcp::wire::message::{self, CallArguments, RpcId};
use crate::observe::event::{Event, ExecutionEnd};

/// What the SDK calls for each session.
pub(super) struct Handler {
    pub(super) server: SendWrapper<Rc<SdkServer>>,
    /// The life of the process that the session is in.
    pub(super) life: CancellationToken,
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tool = self.server.tool;
        let mut listed = message::list_tools_result(&RpcId::Number(0), tool.idempotent, tool.checkpointable);
        read(listed["result"].take())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let parts = context.extensions.get::<http::request::Parts>();
        if let Some(tag) = parts.and_then(|parts| RequestTag::of(&parts.headers)) {
            self.server.initialized(tag.client, context.peer);
        }
    }

    fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<CallToolResponse, ErrorData>> + Send + '_ {
        let (server, life) = (self.server.clone(), self.life.clone());
        SendWrapper::new(async move {
            if request.name != message::TOOL {
                return Err(ErrorData::invalid_params(format!("there is no tool `{}`", request.name), None));
            }
            let arguments = Value::Object(request.arguments.unwrap_or_default());
            let arguments: CallArguments = serde_json::from_value(arguments)
                .map_err(|error| ErrorData::invalid_params(format!("arguments: {error}"), None))?;
            if arguments.client >= NUMBERS || arguments.call >= NUMBERS {
                return Err(ErrorData::invalid_params("arguments: the numbers are too large", None));
            }
            if arguments.from_part > server.tool.parts.max() {
                return Err(ErrorData::invalid_params("arguments: from_part is above the number of parts", None));
            }
            execute(&server, arguments, context, life).await
        })
    }
}

/// Sends the parts of a call and answers with its result.
async fn execute(
    server: &SdkServer,
    arguments: CallArguments,
    context: RequestContext<RoleServer>,
    life: CancellationToken,
) -> Result<CallToolResponse, ErrorData> {
    let CallArguments { client, call, from_part } = arguments;
    let plan = plan(&server.draws, &server.tool, client, call);
    let from_part = if server.tool.checkpointable { from_part } else { 0 };
    let execution = server.fleet.count_execution(client, call);
    let witness = &server.witness;
    witness.report(Event::ExecutionStarted { client, call, execution, from_part, checks: plan.checks.clone() });
    let ended = |how| witness.report(Event::ExecutionEnded { client, call, execution, how });

    let total = plan.checks.len() as u32;
    let token = context.meta.get_progress_token();
    let mut due = witness.now();
    for (part, interval) in (0..).zip(&plan.intervals).skip(from_part as usize) {
        due = due + *interval;
        tokio::select! {
            biased;
            () = life.cancelled() => {
                ended(ExecutionEnd::Killed);
                return Err(ErrorData::internal_error("the process stops", None));
            }
            () = context.ct.cancelled() => {
                ended(ExecutionEnd::Cancelled);
                return Err(ErrorData::internal_error("the call is cancelled", None));
            }
            () = tokio::time::sleep(due.since(witness.now())) => {}
        }
        let (Some(check), Some(token)) = (plan.checks.get(part as usize), &token) else { continue };
        let progress = ProgressNotificationParam::new(token.clone(), f64::from(part + 1))
            .with_total(f64::from(total))
            .with_message(part_text(&server.tool, *check));
        if context.peer.notify_progress(progress).await.is_err() {
            witness.report(Event::Discarded { client, call, part: Some(part) });
        }
    }
    ended(ExecutionEnd::Finished);
    let mut result = message::call_tool_result(&RpcId::Number(0), total);
    read::<CallToolResult>(result["result"].take()).map(CallToolResponse::from)
}

/// A value that both the model and the SDK know.
fn read<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}
