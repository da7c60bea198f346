//! The settings of a scenario as the SDK's own configuration.

use std::sync::Arc;

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::ClientLifecycleMode;
use rmcp::transport::common::client_side_sse::{ExponentialBackoff, FixedInterval, NeverRetry, SseRetryPolicy};
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use crate::mcp::sdk::settings::{RmcpClientSettings, RmcpProtocol, RmcpRetry};
use crate::mcp::wire::header::ENDPOINT;

/// The transport's configuration. What is no setting of a scenario is the SDK's default.
pub fn transport(settings: &RmcpClientSettings) -> StreamableHttpClientTransportConfig {
    let mut config = StreamableHttpClientTransportConfig::with_uri(ENDPOINT)
        .max_concurrent_requests(settings.max_concurrent_requests as usize)
        .control_request_timeout(settings.control_request_timeout_s.get())
        .session_recovery_timeout(settings.session_recovery_timeout_s.get())
        .reinit_on_expired_session(settings.reinit_on_expired_session)
        .max_sse_event_size(settings.max_sse_event_bytes as usize);
    config.channel_buffer_capacity = settings.channel_buffer_capacity as usize;
    config.retry_config = retry(settings);
    config
}

fn retry(settings: &RmcpClientSettings) -> Arc<dyn SseRetryPolicy> {
    let max_times = settings.retry_max_times.map(|times| times as usize);
    match settings.retry {
        RmcpRetry::Exponential => {
            let mut policy = ExponentialBackoff::default();
            policy.max_times = max_times;
            policy.base_duration = settings.retry_base_s.get();
            policy.max_delay = settings.retry_max_delay_s.map(|longest| longest.get());
            Arc::new(policy)
        }
        RmcpRetry::Fixed => {
            let mut policy = FixedInterval::default();
            policy.max_times = max_times;
            policy.duration = settings.retry_base_s.get();
            Arc::new(policy)
        }
        RmcpRetry::Never => Arc::new(NeverRetry::default()),
    }
}

/// How the SDK establishes its lifecycle.
pub fn lifecycle(protocol: RmcpProtocol) -> ClientLifecycleMode {
    match protocol {
        RmcpProtocol::Sessions => ClientLifecycleMode::Initialize,
        RmcpProtocol::Stateless => {
            ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
        }
    }
}

/// What the client says about itself. The SDK's default names the crate that it was compiled in, and a revision for
/// which `initialize` is no longer there.
pub fn identity(protocol: RmcpProtocol) -> ClientConfig {
    let version = match protocol {
        RmcpProtocol::Sessions => ProtocolVersion::V_2025_11_25,
        RmcpProtocol::Stateless => ProtocolVersion::V_2026_07_28,
    };
    ClientConfig::new(ClientCapabilities::default(), Implementation::new("desync-sim", env!("CARGO_PKG_VERSION")))
        .with_protocol_version(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Field by field, so that a release of the SDK that changes a default fails here.
    #[test]
    fn the_defaults_are_those_of_the_sdk() {
        let settings = RmcpClientSettings::default();
        let ours = transport(&settings);
        let theirs = StreamableHttpClientTransportConfig::with_uri(ENDPOINT);
        assert_eq!(ours.channel_buffer_capacity, theirs.channel_buffer_capacity);
        assert_eq!(ours.max_concurrent_requests, theirs.max_concurrent_requests);
        assert_eq!(ours.control_request_timeout, theirs.control_request_timeout);
        assert_eq!(ours.session_recovery_timeout, theirs.session_recovery_timeout);
        assert_eq!(ours.reinit_on_expired_session, theirs.reinit_on_expired_session);
        assert_eq!(ours.max_sse_event_size, theirs.max_sse_event_size);
        // The policy has no other face than its fields in words and its delays.
        assert_eq!(format!("{:?}", ours.retry_config), format!("{:?}", theirs.retry_config));
        // What is no setting, and what a release adds.
        assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));

        let exponential = ExponentialBackoff::default();
        assert_eq!(settings.retry, RmcpRetry::Exponential);
        assert_eq!(settings.retry_base_s.get(), exponential.base_duration);
        assert_eq!(settings.retry_max_delay_s.map(|longest| longest.get()), exponential.max_delay);
        assert_eq!(settings.retry_max_times.map(|times| times as usize), exponential.max_times);
        let fixed = FixedInterval::default();
        assert_eq!(settings.retry_base_s.get(), fixed.duration);
        assert_eq!(settings.retry_max_times.map(|times| times as usize), fixed.max_times);
    }

    /// The fields that the configuration has: a release that adds one fails here, and somebody decides whether it is to
    /// be a setting.
    #[test]
    fn the_sdk_has_no_setting_that_nobody_has_looked_at() {
        let debug = format!("{:#?}", StreamableHttpClientTransportConfig::default());
        let lines = debug.lines().filter_map(|line| line.strip_prefix("    ")).filter(|line| !line.starts_with(' '));
        let fields: Vec<&str> = lines.filter_map(|line| Some(line.split_once(": ")?.0)).collect();
        let known = [
            "uri",
            "retry_config",
            "channel_buffer_capacity",
            "max_concurrent_requests",
            "control_request_timeout",
            "session_recovery_timeout",
            "allow_stateless",
            "auth_header",
            "custom_headers",
            "max_sse_event_size",
            "max_json_response_size",
            "max_error_response_size",
            "reinit_on_expired_session",
        ];
        assert_eq!(fields, known);
    }

    #[test]
    fn delays_grow_to_the_longest_and_end_with_the_attempts() {
        use crate::world::time::Seconds;
        let mut settings = RmcpClientSettings {
            retry_max_delay_s: Some(Seconds::new(3)),
            retry_max_times: Some(3),
            ..RmcpClientSettings::default()
        };
        let delays = |settings: &RmcpClientSettings| {
            let policy = transport(settings).retry_config;
            (0..4).map(|times| policy.retry(times).map(|delay| delay.as_secs())).collect::<Vec<_>>()
        };
        assert_eq!(delays(&settings), [Some(1), Some(2), Some(3), None]);
        settings.retry = RmcpRetry::Fixed;
        assert_eq!(delays(&settings), [Some(1), Some(1), Some(1), None]);
        settings.retry = RmcpRetry::Never;
        assert_eq!(delays(&settings), [None; 4]);
    }
}
