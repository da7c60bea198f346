//! Every client with every server: model or official Rust SDK, under the same faults, as repeatable as ever.

use std::path::Path;

use super::program::{desync_sim, digest_of, files, replay, table};

/// Faults that every server carries out, around calls.
const FAULTS: [&str; 4] = [
    "horizon_s=150",
    "faults.disconnect={per_client_per_hour=60, modes=[\"clean-end\", \"reset\", \"truncated-event\"]}",
    "faults.server-shutdown={per_hour=40, down_s=[1, 3]}",
    "server.churn={interval_s=[2, 6], burst_events=[1, 6]}",
];
const ARMS: &str = "trusting,validating,no-cursor,rmcp,rmcp-guarded";
const SERVERS: [&str; 3] = ["server=model", "server=rmcp", "server.rmcp.session_store=true"];

fn with_faults(mut arguments: Vec<&'static str>, server: &'static str) -> Vec<&'static str> {
    for change in FAULTS.into_iter().chain(["server.profile=rmcp", server]) {
        arguments.extend(["--set", change]);
    }
    arguments
}

fn run_into(folder: &Path, server: &'static str, more: &[&str]) -> Vec<std::collections::BTreeMap<String, String>> {
    let arguments = with_faults(vec!["run", "rmcp-outage", "--arms", ARMS], server);
    let mut arguments: Vec<&str> = arguments.into_iter().chain(more.iter().copied()).collect();
    arguments.extend(["--out", folder.to_str().unwrap()]);
    let ran = desync_sim(&arguments);
    // The thresholds are those of other faults.
    assert!(matches!(ran.code, Some(0 | 1)), "{arguments:?}: {:?}\n{}", ran.code, ran.stderr);
    table(&folder.join("runs.csv"))
}

#[test]
fn every_client_gets_its_calls_through_to_every_server() {
    let place = tempfile::tempdir().unwrap();
    for (number, server) in SERVERS.into_iter().enumerate() {
        let folder = place.path().join(number.to_string());
        let rows = run_into(&folder, server, &["--seeds", "0..2"]);
        assert_eq!(rows.len(), 2 * ARMS.split(',').count());
        for row in rows {
            let count = |key: &str| -> u32 { row[key].parse().unwrap() };
            let well = count("completed") + count("recovered");
            assert!(well * 2 > count("calls"), "{server}: most calls go well: {row:?}");
            assert!(count("resumes") > 0 || row["arm"] == "no-cursor", "{server}: {row:?}");
        }
    }
}

#[test]
fn two_processes_write_the_same_event_log_of_every_combination() {
    for server in SERVERS {
        let ran = desync_sim(&with_faults(vec!["verify", "rmcp-outage", "--seeds", "0..1", "--arms", ARMS], server));
        let said = ran.ends_with(0).stdout;
        assert!(said.starts_with("5 runs (1 seeds, 5 arms), each in two processes"), "{said}");
    }
}

#[test]
fn runs_of_the_sdk_are_the_same_side_by_side_and_alone() {
    let place = tempfile::tempdir().unwrap();
    let (one, four) = (place.path().join("one"), place.path().join("four"));
    let server = SERVERS[2];
    let rows = run_into(&one, server, &["--seeds", "0..3", "--jobs", "1"]);
    run_into(&four, server, &["--seeds", "0..3", "--jobs", "4"]);
    let (one, four) = (files(&one), files(&four));
    for (name, bytes) in &one {
        assert!(bytes == &four[name], "{name} differs");
    }
    let last = rows.iter().rfind(|row| row["arm"] == "rmcp").unwrap();
    let again = replay("rmcp-outage", &last["seed"], "rmcp", &with_faults(Vec::new(), server));
    assert_eq!(digest_of(&again), last["digest"]);
}
