//! What the settings of the official Rust SDK may get wrong.

use super::{Problems, above_zero, is_whole_ms};
use crate::experiment::scenario::Settings;
use crate::mcp::sdk::settings::{Implementation, RmcpClientSettings, RmcpProtocol, RmcpRetry, RmcpServerSettings};
use crate::world::time::Seconds;

/// The SDK makes queues of this size before anything is in them.
const MAX_QUEUE: u32 = 100_000;
const MAX_EVENT_BYTES: u32 = 256 * 1024 * 1024;
const MILLISECOND: Seconds = Seconds::from_millis(1);

/// Notes what is wrong with `[server.rmcp]`.
pub(super) fn server(sdk: &RmcpServerSettings, problems: &mut Problems) {
    queue("server.rmcp.channel_capacity", sdk.channel_capacity, problems);
    if !is_whole_ms(sdk.sse_retry_s) {
        let what = format!("{} cannot be sent: the `retry` field has whole milliseconds", sdk.sse_retry_s);
        problems.note("server.rmcp.sse_retry_s", what);
    }
    if sdk.session_store && !sdk.legacy_session_mode {
        problems.note(
            "server.rmcp.session_store",
            "`true` cannot go with `server.rmcp.legacy_session_mode` = false: there are no sessions to store",
        );
    }
}

/// Notes what is wrong with `[client.rmcp]`.
pub(super) fn client(sdk: &RmcpClientSettings, problems: &mut Problems) {
    queue("client.rmcp.channel_buffer_capacity", sdk.channel_buffer_capacity, problems);
    queue("client.rmcp.max_concurrent_requests", sdk.max_concurrent_requests, problems);
    above_zero("client.rmcp.control_request_timeout_s", sdk.control_request_timeout_s, problems);
    above_zero("client.rmcp.session_recovery_timeout_s", sdk.session_recovery_timeout_s, problems);
    if sdk.retry != RmcpRetry::Never && sdk.retry_base_s < MILLISECOND {
        // Attempts without a pause between them would happen without end at one instant.
        let what = format!("{} is too short: expected 0.001 seconds or more", sdk.retry_base_s);
        problems.note("client.rmcp.retry_base_s", what);
    }
    if let Some(longest) = sdk.retry_max_delay_s
        && longest < sdk.retry_base_s
    {
        problems.note(
            "client.rmcp.retry_max_delay_s",
            format!(
                "{longest} is below `client.rmcp.retry_base_s` = {}: the longest delay cannot be shorter than the first",
                sdk.retry_base_s
            ),
        );
    }
    if sdk.max_sse_event_bytes == 0 || sdk.max_sse_event_bytes > MAX_EVENT_BYTES {
        let what = format!("{} is out of range: expected 1 to {MAX_EVENT_BYTES} bytes", sdk.max_sse_event_bytes);
        problems.note("client.rmcp.max_sse_event_bytes", what);
    }
}

/// Notes what the two sides cannot be told together.
pub(super) fn both(settings: &Settings, problems: &mut Problems) {
    if settings.client.rmcp.protocol == RmcpProtocol::Stateless
        && settings.server.implementation == Implementation::Model
    {
        problems.note(
            "client.rmcp.protocol",
            "\"2026-07-28\" cannot go with `server.implementation` = \"model\": the model speaks revision 2025-11-25",
        );
    }
}

fn queue(key: &str, size: u32, problems: &mut Problems) {
    if size == 0 || size > MAX_QUEUE {
        problems.note(key, format!("{size} is out of range: expected 1 to {MAX_QUEUE}"));
    }
}
