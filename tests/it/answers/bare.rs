//! The official Rust SDK's server with nothing around it: its service, its session manager, and a tool of a few lines.
//!
//! It reports nothing and knows no fault but a restart. What it answers is what the SDK answers.

#![expect(deprecated, reason = "revision 2025-11-25 has log messages")]

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use desync_sim::experiment::scenario::Settings;
use desync_sim::mcp::net::{Accept, Bind};
use desync_sim::mcp::server::settings::{Churn, ToolSettings};
use desync_sim::mcp::server::tools::{Plan, plan};
use desync_sim::mcp::wire::message::CallArguments;
use desync_sim::world::draw::Draws;
use desync_sim::world::interpose;
use desync_sim::world::net::{TurmoilBind, sim_now};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ListToolsResult, LoggingLevel,
    LoggingMessageNotificationParam, PaginatedRequestParams, ProgressNotificationParam,
};
use rmcp::service::{NotificationContext, Peer, RequestContext};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::store::{SessionState, SessionStore, SessionStoreError};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::Deserialize as _;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

/// What stands behind one session.
#[derive(Clone)]
struct Tool {
    settings: ToolSettings,
    draws: Draws,
    churn: Option<Churn>,
}

impl ServerHandler for Tool {
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = serde_json::Value::Object(request.arguments.unwrap_or_default());
        let CallArguments { client, call, .. } = CallArguments::deserialize(&arguments)
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        let Plan { intervals, checks } = plan(&self.draws, &self.settings, client, call);
        let token = context.meta.get_progress_token();
        let mut due = Instant::now();
        for (part, interval) in (0..).zip(intervals) {
            due += interval;
            sleep_until(due).await;
            if let (Some(check), Some(token)) = (checks.get(part), token.clone()) {
                let progress = ProgressNotificationParam::new(token, (part + 1) as f64);
                // Where the session is gone, the tool runs on for nobody.
                let _ = context.peer.notify_progress(progress.with_message(format!("{check:08x}"))).await;
            }
        }
        Ok(CallToolResult::success(Vec::new()).into())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::default())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if let Some(churn) = self.churn {
            tokio::spawn(log_messages(churn, context.peer));
        }
    }
}

/// Bursts of log messages on the grid of the simulated clock, until the session is gone.
async fn log_messages(churn: Churn, peer: Peer<RoleServer>) {
    let period = churn.interval_s.min().as_micros();
    loop {
        sleep(Duration::from_micros(period - sim_now().as_micros() % period)).await;
        for _ in 0..churn.burst_events.min() {
            let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, "another event".into());
            if peer.notify_logging_message(message).await.is_err() {
                return;
            }
        }
    }
}

/// A session store outside the process.
#[derive(Default)]
struct Store(Mutex<BTreeMap<String, SessionState>>);

impl Store {
    fn with<T>(&self, act: impl FnOnce(&mut BTreeMap<String, SessionState>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait::async_trait]
impl SessionStore for Store {
    async fn load(&self, key: &str) -> Result<Option<SessionState>, SessionStoreError> {
        Ok(self.with(|sessions| sessions.get(key).cloned()))
    }

    async fn store(&self, key: &str, state: &SessionState) -> Result<(), SessionStoreError> {
        self.with(|sessions| sessions.insert(key.to_owned(), state.clone()));
        Ok(())
    }

    async fn delete(&self, key: &str) -> Result<(), SessionStoreError> {
        self.with(|sessions| sessions.remove(key));
        Ok(())
    }
}

/// Serves for ever; stops after `restart_at`, and comes back a second later with nothing but its store.
pub async fn serve(
    settings: Settings,
    draws: Draws,
    restart_at: Option<Duration>,
    bind: TurmoilBind,
) -> io::Result<()> {
    let store = Arc::new(Store::default());
    let mut restart_at = restart_at;
    loop {
        let mut config = StreamableHttpServerConfig::default().disable_allowed_hosts();
        if !interpose::is_supported() {
            // Its timer reads the machine's clock and would tick without end.
            config = config.with_sse_keep_alive(None);
        }
        if settings.server.rmcp.session_store {
            config.session_store = Some(store.clone());
        }
        let process = config.cancellation_token.clone().drop_guard();
        let tool = Tool { settings: settings.tool, draws: draws.clone(), churn: settings.server.churn };
        let service =
            StreamableHttpService::new(move || Ok(tool.clone()), Arc::new(LocalSessionManager::default()), config);
        let mut listener = bind.bind().await?;
        let mut connections = JoinSet::new();
        let stop = async {
            match restart_at.take() {
                Some(at) => sleep(at).await,
                None => pending().await,
            }
        };
        tokio::pin!(stop);
        loop {
            tokio::select! {
                biased;
                () = &mut stop => break,
                io = listener.accept() => {
                    let (io, service) = (TokioIo::new(io?), service.clone());
                    let answer = service_fn(move |request| {
                        let service = service.clone();
                        async move { Ok::<_, Infallible>(service.handle(request).await) }
                    });
                    let connection = http1::Builder::new()
                        .auto_date_header(false)
                        .header_read_timeout(None)
                        .serve_connection(io, answer);
                    connections.spawn_local(async move {
                        let _ = connection.await;
                    });
                }
            }
        }
        drop((process, listener, connections));
        sleep(Duration::from_secs(1)).await;
    }
}
