//! The settings of a scenario as the SDK's own configuration. What is no setting of a scenario is the SDK's default.

use std::time::Duration;

use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use rmcp::transport::streamable_http_server::session::local::SessionConfig;

use crate::mcp::sdk::settings::RmcpServerSettings;
use crate::world::time::Seconds;

/// The configuration of each session.
pub(super) fn session(settings: &RmcpServerSettings) -> SessionConfig {
    let mut config = SessionConfig::default();
    config.channel_capacity = settings.channel_capacity as usize;
    config.keep_alive = above_zero(settings.session_keep_alive_s);
    config.sse_retry = above_zero(settings.sse_retry_s);
    config.completed_cache_ttl = settings.completed_cache_ttl_s.get();
    config.init_timeout = above_zero(settings.init_timeout_s);
    config
}

/// The configuration of the service, without its stores.
pub(super) fn service(settings: &RmcpServerSettings) -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_sse_keep_alive(above_zero(settings.sse_keep_alive_s))
        .with_sse_retry(above_zero(settings.sse_retry_s))
        .with_legacy_session_mode(settings.legacy_session_mode)
        .with_json_response(settings.json_response)
}

/// The SDK's way to say that something is off is to have no time for it.
fn above_zero(time: Seconds) -> Option<Duration> {
    Some(time.get()).filter(|time| !time.is_zero())
}

#[cfg(test)]
mod tests {
    use rmcp::transport::streamable_http_server::session::SessionManager;
    use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;

    use super::*;
    use crate::mcp::sdk::settings::RmcpEventStore;

    /// Field by field, so that a release of the SDK that changes a default fails here.
    #[test]
    fn the_defaults_are_those_of_the_sdk() {
        let settings = RmcpServerSettings::default();
        let ours = session(&settings);
        let theirs = SessionConfig::default();
        assert_eq!(ours.channel_capacity, theirs.channel_capacity);
        assert_eq!(ours.keep_alive, theirs.keep_alive);
        assert_eq!(ours.sse_retry, theirs.sse_retry);
        assert_eq!(ours.completed_cache_ttl, theirs.completed_cache_ttl);
        assert_eq!(ours.init_timeout, theirs.init_timeout);

        let ours = service(&settings);
        let theirs = StreamableHttpServerConfig::default();
        assert_eq!(ours.sse_keep_alive, theirs.sse_keep_alive);
        assert_eq!(ours.sse_retry, theirs.sse_retry);
        assert_eq!(ours.legacy_session_mode, theirs.legacy_session_mode);
        assert_eq!(ours.json_response, theirs.json_response);
        assert_eq!(settings.session_store, theirs.session_store.is_some());
        assert_eq!(settings.event_store, RmcpEventStore::None, "{:?}", LocalSessionManager::default());
        assert!(LocalSessionManager::default().event_store().is_none());
    }

    /// The fields that a configuration has: a release that adds one fails here, and somebody decides whether it is to be
    /// a setting.
    #[test]
    fn the_sdk_has_no_setting_that_nobody_has_looked_at() {
        let fields = |debug: String| {
            let lines =
                debug.lines().filter_map(|line| line.strip_prefix("    ")).filter(|line| !line.starts_with(' '));
            lines.filter_map(|line| Some(line.split_once(": ")?.0.to_owned())).collect::<Vec<_>>()
        };
        let session = ["channel_capacity", "keep_alive", "sse_retry", "completed_cache_ttl", "init_timeout"];
        assert_eq!(fields(format!("{:#?}", SessionConfig::default())), session);
        let service = [
            "sse_keep_alive",
            "sse_retry",
            "legacy_session_mode",
            "json_response",
            "cancellation_token",
            "allowed_hosts",
            "allowed_origins",
            "validate_empty_origin_allowlist",
            "session_store",
            "max_request_body_bytes",
            "stateless_protocol_metadata_required",
        ];
        assert_eq!(fields(format!("{:#?}", StreamableHttpServerConfig::default())), service);
        let manager = ["sessions", "session_config", "event_store"];
        assert_eq!(fields(format!("{:#?}", LocalSessionManager::default())), manager);
    }

    #[test]
    fn nought_is_never() {
        let settings = RmcpServerSettings {
            session_keep_alive_s: Seconds::new(0),
            sse_keep_alive_s: Seconds::new(0),
            sse_retry_s: Seconds::new(0),
            init_timeout_s: Seconds::new(0),
            ..RmcpServerSettings::default()
        };
        let (session, service) = (session(&settings), service(&settings));
        assert_eq!((session.keep_alive, session.sse_retry, session.init_timeout), (None, None, None));
        assert_eq!((service.sse_keep_alive, service.sse_retry), (None, None));
    }
}
