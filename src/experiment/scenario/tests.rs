//! Scenario files: what is read, and what each mistake is told.

use std::path::Path;

mod sdk;

use super::*;

const GOOD: &str = r#"format = 1
name = "case"
summary = "a case"
seeds = "0..4"
arms = ["trusting", "validating"]
horizon_s = 600

[server]
buffer_events = 32
"#;

fn overrides(flags: &[&str]) -> Vec<Override> {
    flags.iter().map(|flag| flag.parse().unwrap()).collect()
}

fn load(text: &str, flags: &[&str]) -> Result<Scenario, String> {
    Scenario::parse("sims/case.toml", text, &overrides(flags)).map_err(|problems| problems.to_string())
}

/// What is said about `GOOD` with `line` appended, or with a flag.
fn complaint(text: &str, flags: &[&str]) -> String {
    match load(text, flags) {
        Ok(scenario) => panic!("accepted with {flags:?}: {scenario:?}"),
        Err(text) => text,
    }
}

#[test]
fn absent_keys_have_their_defaults() {
    let scenario = load(GOOD, &[]).unwrap();
    assert_eq!(scenario.settings.tick_s, Seconds::from_millis(10));
    assert_eq!(scenario.settings.topology, Topology::default());
    assert_eq!(scenario.settings.server.buffer_events, 32);
    assert_eq!(scenario.settings.drain(), scenario.settings.client.call_timeout_s);
    assert!(scenario.thresholds.is_empty());
}

#[test]
fn drain_replaces_the_call_timeout() {
    let scenario = load(GOOD, &["client.drain_s=5"]).unwrap();
    assert_eq!(scenario.settings.drain(), Seconds::new(5));
}

#[test]
fn a_flag_replaces_the_files_value_and_makes_the_tables_above_it() {
    let scenario = load(
        GOOD,
        &[
            "server.buffer_events=64",
            "server.delivery=get-stream",
            "seeds=3..5",
            "topology.latency_s=[0.01, 0.03]",
            "faults.session-recycle.per_client_per_hour=6",
            "faults.session-recycle.to=same",
        ],
    )
    .unwrap();
    assert_eq!(scenario.settings.server.buffer_events, 64);
    assert_eq!(scenario.seeds.to_string(), "3..5");
    assert_eq!(
        scenario.settings.topology.latency_s,
        Span::new(Seconds::from_millis(10), Seconds::from_millis(30)).unwrap()
    );
    assert_eq!(scenario.settings.faults.session_recycle.unwrap().per_client_per_hour, 6);
}

/// Every mistake that can be made with one flag, and what is said about it after `--set FLAG: `.
#[test]
fn each_bad_flag_is_named_with_what_is_wrong() {
    let cases = [
        ("server.bufer_events=3", "`server.bufer_events`: there is no such key; did you mean `buffer_events`?"),
        ("sever.buffer_events=3", "`sever`: there is no such key; did you mean `server`?"),
        (
            "gateway.idle_timeout_ms=60000",
            "`gateway.idle_timeout_ms`: there is no such key; did you mean `idle_timeout_s`?",
        ),
        (
            "faults.session_recycle.to=same",
            "`faults.session_recycle`: there is no such key; did you mean `session-recycle`?",
        ),
        (
            "gateway.idle_timeout_s=60s",
            "`gateway.idle_timeout_s`: invalid type: string \"60s\", expected a number of seconds, such as 60 or 0.25",
        ),
        ("horizon_s=-5", "`horizon_s`: -5 is not a time this simulator can keep: expected 0 to 315360000 seconds"),
        ("horizon_s=nan", "`horizon_s`: NaN is not a time this simulator can keep: expected 0 to 315360000 seconds"),
        ("horizon_s=700000", "`horizon_s`: 700000 is above 604800 seconds, a week"),
        (
            "server.buffer_events=1.5",
            "`server.buffer_events`: invalid type: floating point `1.5`, expected a whole number from 0 to 4294967295",
        ),
        (
            "server.buffer_events=-1",
            "`server.buffer_events`: invalid value: integer `-1`, expected a whole number from 0 to 4294967295",
        ),
        (
            "server.buffer_events=99999999999999999999999999999999999999999",
            "`server.buffer_events`: integer number overflowed",
        ),
        ("server.buffer_events=0", "`server.buffer_events`: 0 is out of range: expected 1 to 1000000 events"),
        (
            "server.delivery=push",
            "`server.delivery`: `push` is not one of its values: expected one of `post-stream`, `get-stream`",
        ),
        ("server.delivery=3", "`server.delivery`: expected one of its names, in quotes"),
        ("server=3", "`server`: invalid type: integer `3`, expected a table"),
        ("horizon_s.x=3", "`horizon_s` is not a table in this file: it has no key `x` to set"),
        ("faults.disconnect.per_client_per_hour=6", "`faults.disconnect.modes`: this key is missing"),
        ("tool.parts=[5, 2]", "`tool.parts`: the range [5, 2] is empty: its low end is above its high end"),
        ("tool.parts=20000", "`tool.parts`: 20000 is out of range: expected at most 10000 parts"),
        ("tool.part_bytes=65537", "`tool.part_bytes`: 65537 is out of range: expected at most 65536 bytes"),
        ("format=2", "`format`: this build reads scenario files of format 1 only"),
        ("name=other", "`name`: `other` is not the file's name without its ending: expected `case`"),
        ("summary=\"\"", "`summary`: expected one line of text"),
        (
            "seeds=5..5",
            "`seeds`: the seed range 5..5 is empty: the end is not part of a range, so 5..6 would be one seed",
        ),
        ("seeds=7", "`seeds`: invalid type: integer `7`, expected a range of seeds in quotes, such as \"0..24\""),
        ("arms=[]", "`arms`: a scenario without an arm runs nothing"),
        ("arms=[\"trusting\", \"trusting\"]", "`arms`: `trusting` is there twice"),
        ("arms=trusting", "`arms`: invalid type: string \"trusting\", expected a list, [..]"),
        (
            "arms=[\"hopeful\"]",
            "`arms`: `hopeful` is not one of its values: expected one of `trusting`, `validating`, `no-cursor`, `rmcp`, `rmcp-guarded`",
        ),
        ("tick_s=0", "`tick_s`: 0 is no tick: expected whole milliseconds from 0.001 to 1 second"),
        ("tick_s=1.5", "`tick_s`: 1.5 is no tick: expected whole milliseconds from 0.001 to 1 second"),
        ("tick_s=0.0105", "`tick_s`: 0.0105 is no tick: expected whole milliseconds from 0.001 to 1 second"),
        (
            "horizon_s=60",
            "`horizon_s`: 60 is not above `client.call_timeout_s` = 60, the call timeout in which no call starts: no call would ever start",
        ),
        ("topology.clients=0", "`topology.clients`: 0 is out of range: expected 1 to 100000 clients"),
        ("topology.clients=100001", "`topology.clients`: 100001 is out of range: expected 1 to 100000 clients"),
        ("topology.sites=0", "`topology.sites`: clients need a site to run on: expected 1 or more"),
        (
            "topology.sites=11",
            "`topology.sites`: 11 is above `topology.clients` = 10: a site without clients does nothing",
        ),
        ("topology.servers=0", "`topology.servers`: 0 is out of range: expected 1 to 1000 servers"),
        (
            "topology.latency_s=0",
            "`topology.latency_s`: 0 is no latency of the simulated network: expected whole milliseconds from 0.001 to 60 seconds",
        ),
        (
            "topology.latency_s=[0.01, 0.0305]",
            "`topology.latency_s`: [0.01, 0.0305] is no latency of the simulated network: expected whole milliseconds from 0.001 to 60 seconds",
        ),
        ("topology.latency_epoch_s=0", "`topology.latency_epoch_s`: 0 leaves no time: expected a time above 0"),
        (
            "gateway.idle_timeout_s=0",
            "`gateway.idle_timeout_s`: 0 would strike at once: expected a time above 0, or no such key at all for never",
        ),
        (
            "server.keep_alive_s=0",
            "`server.keep_alive_s`: 0 would strike at once: expected a time above 0, or no such key at all for never",
        ),
        (
            "server.session_idle_s=0",
            "`server.session_idle_s`: 0 would strike at once: expected a time above 0, or no such key at all for never",
        ),
        ("server.retry_s=0.0005", "`server.retry_s`: 0.0005 cannot be sent: the `retry` field has whole milliseconds"),
        ("server.churn.interval_s=1", "`server.churn.burst_events`: this key is missing"),
        (
            "server.churn={interval_s=0, burst_events=1}",
            "`server.churn.interval_s`: 0 is too short: expected 0.001 seconds or more",
        ),
        (
            "server.churn={interval_s=1, burst_events=0}",
            "`server.churn.burst_events`: 0 is out of range: expected at most 1000000 events, and not always none",
        ),
        (
            "server.churn={interval_s=1, burst_events=1, quiet_s=5}",
            "`server.churn.quiet_s`: the session never falls quiet while `server.churn.quiet_every_bursts` is 0",
        ),
        (
            "server.churn={interval_s=1, burst_events=1, quiet_every_bursts=5}",
            "`server.churn.quiet_every_bursts`: a quiet spell lasts no time while `server.churn.quiet_s` is 0",
        ),
        ("client.call_timeout_s=0", "`client.call_timeout_s`: 0 leaves no time: expected a time above 0"),
        ("client.call_interval_s=0", "`client.call_interval_s`: 0 is too short: expected 0.001 seconds or more"),
        (
            "client.reconnect_max_s=0.5",
            "`client.reconnect_max_s`: 0.5 is below `client.reconnect_s` = 1: the longest delay cannot be shorter than the first",
        ),
        (
            "faults.counter-wrap.per_client_per_hour=3601",
            "`faults.counter-wrap.per_client_per_hour`: 3601 is out of range: expected at most 3600, one a second",
        ),
        (
            "faults.disconnect={per_client_per_hour=1, modes=[]}",
            "`faults.disconnect.modes`: there is no mode to choose from: expected some of `clean-end`, `reset`, `truncated-event`, `half-open`",
        ),
        (
            "faults={from_s=600, counter-wrap={per_client_per_hour=1}}",
            "`faults.from_s`: 600 is not before `horizon_s` = 600: no fault would ever strike",
        ),
        (
            "faults.stall={per_hour=1, link=\"sites\", duration_s=0}",
            "`faults.stall.duration_s`: 0 holds no message: expected a time above 0",
        ),
        (
            "faults.session-recycle={per_client_per_hour=1, to=\"other\"}",
            "`faults.session-recycle.to`: `other` needs clients that open new sessions, and without `client.session_duration_s` a client keeps its session for ever: nobody would get the key",
        ),
        (
            "threshold=[{arm=\"no-cursor\", measure=\"missed\", at_most=0}]",
            "`threshold[0].arm`: `no-cursor` is not among the scenario's `arms`",
        ),
        (
            "threshold=[{arm=\"trusting\", measure=\"missed\"}]",
            "`threshold[0]`: no bound on `missed`: expected `at_least`, `at_most` or both",
        ),
        (
            "threshold=[{arm=\"trusting\", measure=\"missed\", at_least=2, at_most=1}]",
            "`threshold[0].at_least`: 2 is above `at_most` = 1: no value can satisfy both",
        ),
        (
            "threshold=[{arm=\"trusting\", measure=\"hung_share\", at_most=5}]",
            "`threshold[0].at_most`: 5 is no share: `hung_share` lies between 0 and 1",
        ),
        (
            "threshold=[{arm=\"trusting\", measure=\"missed\", at_most=nan}]",
            "`threshold[0].at_most`: NaN bounds nothing: expected a number, 0 or above",
        ),
    ];
    for (flag, said) in cases {
        assert_eq!(complaint(GOOD, &[flag]), format!("--set {flag}: {said}"), "{flag}");
    }
}

/// The same, in the file: the line is named.
#[test]
fn each_bad_line_is_named_with_its_number() {
    let cases = [
        (
            "keep_alive = 5",
            "sims/case.toml:10: `server.keep_alive`: there is no such key; did you mean `keep_alive_s`?",
        ),
        (
            "keep_alive_s = 'x'",
            "sims/case.toml:10: `server.keep_alive_s`: invalid type: string \"x\", expected a number of seconds, such as 60 or 0.25",
        ),
        (
            "keep_alive_s = 0",
            "sims/case.toml:10: `server.keep_alive_s`: 0 would strike at once: expected a time above 0, or no such key at all for never",
        ),
        ("buffer_events = 3", "sims/case.toml:10: not TOML: duplicate key `buffer_events`"),
        ("[fauls]", "sims/case.toml:10: `fauls`: there is no such key; did you mean `faults`?"),
        (
            "[faults.disconnect]\nper_client_per_hour = 1",
            "sims/case.toml:10: `faults.disconnect.modes`: this key is missing",
        ),
        (
            "[[threshold]]\narm = 'trusting'\nmeasure = 'hangs'\nat_most = 0",
            "sims/case.toml:12: `threshold[0].measure`: `hangs` is not one of its values: expected one of `completed_share`, `recovered_share`, `failed_share`, `hung_share`, `wrong_share`, `desyncs`, `false_alarms`, `missed`, `restarts`",
        ),
        (
            "[[threshold]]\narm = 'trusting'\nmeasure = 'missed'\n[[threshold]]\narm = 'trusting'\nmeasure = 'missed'\nat_most = -1",
            "sims/case.toml:10: `threshold[0]`: no bound on `missed`: expected `at_least`, `at_most` or both\nsims/case.toml:16: `threshold[1].at_most`: -1 bounds nothing: expected a number, 0 or above",
        ),
        (
            "counter_scope = 'stream'",
            "sims/case.toml:10: `server.counter_scope`: `stream` cannot go with `server.id_grammar` = \"integer\" and `server.delivery` = \"post-stream\": the same number would be an id in several streams, and a cursor would not say which one to resume; `server.id_grammar` = \"epoch:seq\" does, and so does `server.counter_scope` = \"session\"",
        ),
    ];
    for (lines, said) in cases {
        assert_eq!(complaint(&format!("{GOOD}{lines}\n"), &[]), said, "{lines}");
    }
}

#[test]
fn settings_of_a_server_that_contradict_each_other_are_told_by_both_keys() {
    for (changes, one, other) in [
        (&["server.event_ids=false"][..], "server.priming", "server.event_ids"),
        (
            &["server.event_ids=false", "server.priming=false", "server.resume_primer=true"],
            "server.resume_primer",
            "server.event_ids",
        ),
        (&["server.store=false", "server.foreign_cursor=deliver"], "server.foreign_cursor", "server.store"),
        (&["server.epoch_names=stream"], "server.epoch_names", "server.id_grammar"),
        (
            &["server.delivery=get-stream", "server.fresh_get_answer=accepted"],
            "server.fresh_get_answer",
            "server.delivery",
        ),
        (&["server.purged_cursor=adopt"], "server.purged_cursor", "server.ahead_cursor"),
        (
            &["server.counter_scope=process", "faults.counter-wrap={per_client_per_hour=1}"],
            "faults.counter-wrap",
            "server.counter_scope",
        ),
    ] {
        let said = complaint(GOOD, changes);
        assert!(said.contains(&format!("`{one}`: ")) && said.contains(&format!("`{other}`")), "{changes:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn a_file_of_another_format_is_told_only_that() {
    let text = "format = 7\nunknown = 1\n";
    assert_eq!(complaint(text, &[]), "sims/case.toml:1: `format`: this build reads scenario files of format 1 only");
}

#[test]
fn all_missing_keys_are_told_at_once() {
    assert_eq!(
        complaint("format = 1\nname = 'case'\n", &[]),
        "sims/case.toml: `summary`: this key is missing\n\
         sims/case.toml: `seeds`: this key is missing\n\
         sims/case.toml: `arms`: this key is missing\n\
         sims/case.toml: `horizon_s`: this key is missing"
    );
}

#[test]
fn one_mistake_does_not_hide_another() {
    let said = complaint(GOOD, &["topology.clients=0", "tick_s=0", "server.buffer_events=0"]);
    assert_eq!(said.lines().count(), 3, "{said}");
}

#[test]
fn recycling_to_others_needs_others() {
    let said = complaint(
        GOOD,
        &[
            "faults.session-recycle={per_client_per_hour=1, to=\"other\"}",
            "client.session_duration_s=60",
            "topology.clients=1",
        ],
    );
    assert!(said.ends_with("`other` needs another client to get the key, and `topology.clients` is 1"), "{said}");
}

#[test]
fn a_flag_without_a_value_is_refused() {
    for flag in ["server", "=3", "a..b=3", "a=", ".a=3"] {
        assert_eq!(
            flag.parse::<Override>().unwrap_err().to_string(),
            format!("`{flag}` sets nothing: expected key=value, such as server.buffer_events=64")
        );
    }
}

#[test]
fn an_unknown_name_is_told_what_is_near() {
    let said = Scenario::load("incidnet", &[]).unwrap_err().to_string();
    assert!(
        said.starts_with("there is no scenario `incidnet` in sims/: did you mean `incident`? (there are "),
        "{said}"
    );
}

#[test]
fn a_path_that_cannot_be_read_is_named() {
    let said = Scenario::load("no/such/file.toml", &[]).unwrap_err().to_string();
    assert_eq!(said, "cannot read the scenario no/such/file.toml");
}

#[test]
fn a_loaded_scenario_keeps_its_text_and_digest() {
    let loaded = Scenario::load("quiet", &overrides(&["seeds=0..1"])).unwrap();
    assert_eq!(loaded.text, std::fs::read_to_string(&loaded.path).unwrap());
    assert_eq!(loaded.digest.len(), 64);
    assert_eq!(loaded.scenario.seeds.len(), 1);
    let plain = Scenario::load("quiet", &[]).unwrap();
    assert_eq!(loaded.digest, plain.digest, "the digest is of the file, whatever the flags");
}

#[test]
fn what_a_scenario_says_goes_before_what_its_profile_says() {
    let text = GOOD.replace("[server]", "[server]\nprofile = \"rmcp\"");
    let server = load(&text, &["server.retry_s=7"]).unwrap().settings.server;
    let profile = ProfileFile::parse("rmcp.toml", include_str!("../../../sims/profiles/server/rmcp.toml")).unwrap();
    let expected = ServerSettings {
        profile: Some("rmcp".to_owned()),
        buffer_events: 32,
        retry_s: Some(Seconds::new(7)),
        ..profile.server
    };
    assert_eq!(server, expected);
    assert_ne!(server.get_slot, ServerSettings::default().get_slot, "the profile is there at all");
}

#[test]
fn a_flag_names_a_profile_and_tables_within_are_mixed() {
    let scenario = load(GOOD, &["server.profile=rmcp", "server.rmcp.channel_capacity=4"]).unwrap();
    assert_eq!(scenario.settings.server.complete_streams, 0);
    assert_eq!(scenario.settings.server.rmcp.channel_capacity, 4);
}

#[test]
fn an_unknown_profile_is_told_what_is_near_and_where_it_was_named() {
    let text = GOOD.replace("[server]", "[server]\nprofile = \"rncp\"");
    let said = complaint(&text, &[]);
    assert!(
        said.starts_with(
            "sims/case.toml:9: `server.profile`: there is no profile `rncp` in sims/profiles/server/: did you mean `rmcp`?"
        ),
        "{said}"
    );
    assert!(complaint(GOOD, &["server.profile=rncp"]).starts_with("--set server.profile=rncp: `server.profile`: "));
}

#[test]
fn what_a_profile_makes_wrong_is_told_of_its_name() {
    let flags = ["server.profile=rmcp", "server.id_grammar=integer"];
    let said = complaint(GOOD, &flags);
    assert!(said.starts_with("--set server.profile=rmcp: `server.counter_scope`: `stream` cannot go with"), "{said}");
}

#[test]
fn a_profile_is_a_file_with_a_name_a_source_and_no_profile_of_its_own() {
    let said = |text: &str| ProfileFile::parse("p/case.toml", text).unwrap_err().to_string();
    assert!(said("format = 2").contains("this build reads profile files of format 1 only"));
    let text =
        "format = 1\nname = \"other\"\nsummary = \"s\"\nstands_for = \"x\"\n[server]\nprofile = \"rmcp\"\nbuffer = 1";
    let problems = said(text);
    for expected in ["`source`: this key is missing", "`server.buffer`: there is no such key", "expected `case`"] {
        assert!(problems.contains(expected), "{expected}:\n{problems}");
    }
    let chained = text.replace("buffer = 1", "").replace("\"x\"", "\"x\"\nsource = \"y\"").replace("other", "case");
    assert_eq!(said(&chained), "p/case.toml:7: `server.profile`: a profile starts from no other profile");
}

#[test]
fn every_profile_of_the_repository_loads() {
    let listed = list_profiles(&Path::new(env!("CARGO_MANIFEST_DIR")).join("sims/profiles/server")).unwrap();
    assert!(listed.iter().any(|listed| listed.name == "rmcp"));
    for ListedProfile { name, file } in listed {
        if let Err(error) = file {
            panic!("{name}: {error}");
        }
    }
}

#[test]
fn a_loaded_scenario_keeps_the_text_of_its_profile() {
    let loaded = Scenario::load("quiet", &overrides(&["server.profile=rmcp"])).unwrap();
    let profile = loaded.profile.unwrap();
    assert_eq!(profile.name, "rmcp");
    assert!(profile.text.contains("stands_for"));
    assert_eq!(Scenario::load("quiet", &[]).unwrap().profile, None);
}

#[test]
fn every_scenario_of_the_repository_loads() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("sims");
    let listed = list(&folder).unwrap();
    assert!(listed.iter().any(|listed| listed.name == "incident"));
    for Listed { name, summary } in listed {
        if let Err(error) = summary {
            panic!("{name}: {error}");
        }
    }
}
