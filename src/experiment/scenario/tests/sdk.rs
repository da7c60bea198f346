//! The official Rust SDK in scenario files.

use super::{GOOD, complaint, load};
use crate::experiment::scenario::arm_has_the_client;
use crate::mcp::client::settings::Arm;
use crate::mcp::sdk::settings::Implementation;

/// A scenario without tables and arms, and `more` lines at its end.
fn short(more: &str) -> String {
    format!("format = 1\nname = \"case\"\nsummary = \"a case\"\nseeds = \"0..4\"\nhorizon_s = 600\n{more}")
}

#[test]
fn the_sdk_can_be_named_in_place_of_a_table() {
    let both = load(&short("server = \"rmcp\"\nclient = \"rmcp\"\n"), &[]).unwrap();
    assert_eq!(both.settings.server.implementation, Implementation::Rmcp);
    assert_eq!(both.settings.client.implementation, Some(Implementation::Rmcp));
    assert_eq!(both.arms, [Arm::Rmcp], "the client that is named is the arm");

    let models = load(&short("server = \"model\"\nclient = \"model\"\narms = [\"trusting\"]\n"), &[]).unwrap();
    assert_eq!(models.settings.server.implementation, Implementation::Model);
}

#[test]
fn the_short_form_is_the_long_one() {
    let short_form = load(&short("server = \"rmcp\"\nclient = \"rmcp\"\n"), &[]).unwrap();
    let long = "[server]\nimplementation = \"rmcp\"\n[client]\nimplementation = \"rmcp\"\n";
    assert_eq!(short_form, load(&short(long), &[]).unwrap());
    assert_eq!(short_form, load(&short(""), &["server=rmcp", "client=rmcp"]).unwrap());
}

#[test]
fn a_flag_names_the_sdk_and_leaves_the_tables_other_keys() {
    let scenario = load(GOOD, &["server=rmcp", "server.rmcp.session_store=true"]).unwrap();
    assert_eq!(scenario.settings.server.implementation, Implementation::Rmcp);
    assert_eq!(scenario.settings.server.buffer_events, 32, "the file's");
    assert!(scenario.settings.server.rmcp.session_store);
}

#[test]
fn another_name_is_refused_where_it_stands() {
    let said = complaint(&short("arms = [\"rmcp\"]\nserver = \"golang\"\n"), &[]);
    assert!(said.starts_with("sims/case.toml:7: `server.implementation`: ") && said.contains("golang"), "{said}");
    let said = complaint(GOOD, &["server=golang"]);
    assert!(said.starts_with("--set server=golang: `server.implementation`: "), "{said}");
}

#[test]
fn a_client_that_is_named_needs_its_own_arms() {
    let arms = "arms = [\"rmcp-guarded\", \"validating\"]\n";
    assert_eq!(
        complaint(&short(&format!("{arms}client = \"rmcp\"\n")), &[]),
        "sims/case.toml:6: `arms`: the arm `validating` cannot go with `client.implementation` = \"rmcp\", which is \
         the client of `rmcp`, `rmcp-guarded`"
    );
    let said = complaint(&short(&format!("{arms}client = \"model\"\n")), &[]);
    assert!(said.contains("the arm `rmcp-guarded` cannot go with `client.implementation` = \"model\""), "{said}");

    let free = load(GOOD, &[]).unwrap().settings.client;
    assert!(Arm::ALL.iter().all(|arm| arm_has_the_client(*arm, &free).is_ok()));
}

#[test]
fn without_a_client_that_is_named_arms_are_missed() {
    assert_eq!(complaint(&short("client = \"model\"\n"), &[]), "sims/case.toml: `arms`: this key is missing");
    let said = complaint(&short("arms = 3\nclient = \"rmcp\"\n"), &[]);
    assert!(said.starts_with("sims/case.toml:6: `arms`: "), "an arm that cannot be read is not left out: {said}");
}

/// Every mistake that can be made with one flag, and what is said about it after `--set FLAG: `.
#[test]
fn each_bad_setting_of_the_sdk_is_named_with_what_is_wrong() {
    let cases = [
        ("server.rmcp.channel_capacity=0", "`server.rmcp.channel_capacity`: 0 is out of range: expected 1 to 100000"),
        (
            "server.rmcp.sse_retry_s=0.0001",
            "`server.rmcp.sse_retry_s`: 0.0001 cannot be sent: the `retry` field has whole milliseconds",
        ),
        (
            "client.rmcp.channel_buffer_capacity=0",
            "`client.rmcp.channel_buffer_capacity`: 0 is out of range: expected 1 to 100000",
        ),
        (
            "client.rmcp.max_concurrent_requests=0",
            "`client.rmcp.max_concurrent_requests`: 0 is out of range: expected 1 to 100000",
        ),
        (
            "client.rmcp.control_request_timeout_s=0",
            "`client.rmcp.control_request_timeout_s`: 0 leaves no time: expected a time above 0",
        ),
        (
            "client.rmcp.session_recovery_timeout_s=0",
            "`client.rmcp.session_recovery_timeout_s`: 0 leaves no time: expected a time above 0",
        ),
        ("client.rmcp.retry_base_s=0", "`client.rmcp.retry_base_s`: 0 is too short: expected 0.001 seconds or more"),
        (
            "client.rmcp.retry_max_delay_s=0.5",
            "`client.rmcp.retry_max_delay_s`: 0.5 is below `client.rmcp.retry_base_s` = 1: the longest delay cannot be \
             shorter than the first",
        ),
        (
            "client.rmcp.max_sse_event_bytes=0",
            "`client.rmcp.max_sse_event_bytes`: 0 is out of range: expected 1 to 268435456 bytes",
        ),
        (
            "client.rmcp.protocol=\"2026-07-28\"",
            "`client.rmcp.protocol`: \"2026-07-28\" cannot go with `server.implementation` = \"model\": the model \
             speaks revision 2025-11-25",
        ),
        (
            "server.rmcp={session_store=true, legacy_session_mode=false}",
            "`server.rmcp.session_store`: `true` cannot go with `server.rmcp.legacy_session_mode` = false: there are \
             no sessions to store",
        ),
    ];
    for (flag, expected) in cases {
        assert_eq!(complaint(GOOD, &[flag]), format!("--set {flag}: {expected}"));
    }
    load(GOOD, &["client.rmcp.retry=never", "client.rmcp.retry_base_s=0"]).expect("no attempt, no pause");
    load(GOOD, &["client.rmcp.protocol=\"2026-07-28\"", "server=rmcp"]).expect("the SDK speaks both");
}
