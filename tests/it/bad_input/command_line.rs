//! Command lines that cannot be carried out: exit code 64, or 65 where a `--set` changes a scenario into a bad one.

use crate::program::{SMALL, desync_sim};

#[test]
fn a_command_line_that_makes_no_sense_is_a_usage_error() {
    let cases: &[(&[&str], &[&str])] = &[
        (&["run", SMALL, "--seeds", "5..5"], &["--seeds", "5..5 is empty", "5..6 would be one seed"]),
        (&["run", SMALL, "--seeds", "9..3"], &["--seeds", "9..3 is empty"]),
        (&["run", SMALL, "--seeds", "7"], &["--seeds", "`7` is not a range of seeds", "such as 0..24"]),
        (&["verify", SMALL, "--seeds", "0..0"], &["--seeds", "0..0 is empty"]),
        (&["run", "incidnet"], &["no scenario `incidnet` in sims/", "did you mean `incident`?"]),
        (&["run", "xyzzy"], &["no scenario `xyzzy` in sims/", "there are ", "incident", "quiet"]),
        (&["run", SMALL, "--arms", "trusting,validatin"], &["--arms", "no arm `validatin`", "trusting, validating"]),
        (&["replay", SMALL, "--seed", "0", "--arm", "gullible"], &["--arm", "no arm `gullible`"]),
        (&["replay", SMALL, "--seed", "-1", "--arm", "trusting"], &["-1"]),
        (&["replay", SMALL, "--seed", "0"], &["--arm"]),
        (&["run", SMALL, "--jobs", "0"], &["--jobs"]),
        (&["run", SMALL, "--set", "client"], &["`client` sets nothing", "expected key=value"]),
        (&["run", SMALL, "--set", "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a=1"], &["sets nothing", "expected key=value"]),
        (&["replay", SMALL, "--seed", "0", "--arm", "trusting", "--client", "99"], &["--client 99", "numbered from 0"]),
        (&["list", "profits"], &["profits", "scenarios, arms, faults"]),
        (&["ran", "incident"], &["ran", "run"]),
    ];
    for (arguments, words) in cases {
        let ran = desync_sim(arguments).ends_with(64).complains(words);
        assert_eq!(ran.stdout, "", "{arguments:?}");
    }
}

#[test]
fn a_change_that_makes_the_scenario_bad_is_named_by_its_flag_and_key() {
    let cases = [
        ("server.bufer_events=3", "`server.bufer_events`: there is no such key; did you mean `buffer_events`?"),
        (
            "client.call_timeout_s=90s",
            "`client.call_timeout_s`: invalid type: string \"90s\", expected a number of seconds",
        ),
        ("client.call_timeout_s=0", "`client.call_timeout_s`: 0 leaves no time"),
        ("topology.clients=0", "`topology.clients`: 0 is out of range: expected 1 to 100000 clients"),
        (
            "faults.session-recycle.to=other",
            "`faults.session-recycle.to`: `other` needs clients that open new sessions",
        ),
        ("seeds=5..5", "`seeds`: the seed range 5..5 is empty"),
    ];
    for (change, sentence) in cases {
        let expected = format!("error: --set {change}: {sentence}");
        desync_sim(&["run", SMALL, "--set", change]).ends_with(65).complains(&[&expected]);
    }
}
