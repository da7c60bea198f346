//! Scenario and schedule files that are not what they should be: exit code 65, with file, line and key.

use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{SMALL, desync_sim, entries, replay};

/// The text of the small scenario with one piece replaced, and the number of the line in which that is.
fn edited(from: &str, to: &str) -> (String, usize) {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(SMALL)).unwrap();
    let (before, _) = text.split_once(from).unwrap_or_else(|| panic!("`{from}` is not in {SMALL}"));
    let line = before.lines().count() + usize::from(before.ends_with('\n'));
    (text.replacen(from, to, 1), line.max(1))
}

#[test]
fn a_bad_scenario_file_is_told_with_file_line_and_key() {
    let cases = [
        // An unknown key, and an unknown table.
        ("retry_s = 1", "retry = 1", "`server.retry`: there is no such key; did you mean `retry_s`?"),
        ("[gateway]", "[gatewy]", "`gatewy`: there is no such key; did you mean `gateway`?"),
        // A wrong unit.
        ("call_timeout_s = 45", "call_timeout_s = \"45 s\"", "`client.call_timeout_s`: invalid type: string \"45 s\""),
        // A wrong range.
        ("clients = 5", "clients = 0", "`topology.clients`: 0 is out of range: expected 1 to 100000 clients"),
        ("interval_s = [1, 4]", "interval_s = [4, 1]", "`tool.interval_s`: "),
        ("tick_s = 0.05", "tick_s = 5", "`tick_s`: 5 is no tick"),
        ("seeds = \"0..4\"", "seeds = \"4..4\"", "`seeds`: the seed range 4..4 is empty"),
        // Combinations that cannot be.
        ("horizon_s = 240", "horizon_s = 45", "`horizon_s`: 45 is not above `client.call_timeout_s` = 45"),
        (
            "to = \"same\"",
            "to = \"other\"",
            "`faults.session-recycle.to`: `other` needs clients that open new sessions",
        ),
        ("sites = 2", "sites = 6", "`topology.sites`: 6 is above `topology.clients` = 5"),
        ("name = \"small\"", "name = \"tiny\"", "`name`: `tiny` is not the file's name"),
        // Another version; not TOML at all.
        ("format = 1", "format = 2", "`format`: this build reads scenario files of format 1 only"),
        ("sites = 2", "sites == 2", "not TOML"),
    ];
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("small.toml");
    for (from, to, sentence) in cases {
        let (text, line) = edited(from, to);
        fs::write(&file, text).unwrap();
        let expected = format!("error: {}:{line}: {sentence}", file.display());
        let out = place.path().join("out");
        desync_sim(&["run", file.to_str().unwrap(), "--out", out.to_str().unwrap()])
            .ends_with(65)
            .complains(&[&expected]);
        assert_eq!(entries(place.path()), ["small.toml"], "{to}");
    }
}

#[test]
fn a_scenario_file_that_cannot_be_read_is_named() {
    for file in ["tests/it/data/nowhere.toml", "tests/it/data"] {
        desync_sim(&["run", file]).ends_with(74).complains(&[&format!("error: cannot read the scenario {file}: ")]);
    }
}

/// The bytes of a text that is not one: what an editor makes of a file in another encoding.
#[test]
fn a_scenario_file_that_is_no_text_is_named() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("latin.toml");
    fs::write(&file, b"summary = \"caf\xe9\"").unwrap();
    desync_sim(&["run", file.to_str().unwrap()]).ends_with(74).complains(&["latin.toml", "UTF-8"]);
}

fn schedule(place: &Path, fault: &str) -> PathBuf {
    let file = place.join("schedule.toml");
    fs::write(&file, format!("format = 1\n\n[[fault]]\n{fault}\n")).unwrap();
    file
}

#[test]
fn a_bad_schedule_is_told_with_file_line_and_key() {
    let cases = [
        ("at_s = 30\nkind = \"disconect\"\nclient = 0", 5, "`fault[0].kind`: "),
        (
            "at_s = 30\nkind = \"disconnect\"\nclient = 5\nmode = \"reset\"",
            6,
            "`fault[0].client`: there is no client 5",
        ),
        ("at_s = 30\nkind = \"disconnect\"\nclient = 0\nmode = \"rest\"", 7, "`fault[0].mode`: "),
        ("at_s = 999\nkind = \"counter-wrap\"\nclient = 0", 4, "`fault[0].at_s`: 999 is not before the horizon"),
        ("at_s = 30\nkind = \"counter-wrap\"\nclient = 0\nkeep = 1", 7, "`fault[0].keep`: there is no such key"),
        ("at_s = 30\nkind = \"server-shutdown\"\nserver = 1\ndown_s = 3", 6, "`fault[0].server`: there is no server 1"),
    ];
    let place = tempfile::tempdir().unwrap();
    for (fault, line, sentence) in cases {
        let file = schedule(place.path(), fault);
        let file = file.to_str().unwrap();
        replay(SMALL, "0", "trusting", &["--schedule", file])
            .ends_with(65)
            .complains(&[&format!("error: {file}:{line}: {sentence}")]);
    }
}

#[test]
fn a_schedule_that_cannot_be_read_is_named() {
    replay(SMALL, "0", "trusting", &["--schedule", "nowhere.toml"])
        .ends_with(74)
        .complains(&["error: cannot read the schedule nowhere.toml: "]);
}
