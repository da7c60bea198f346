use std::time::Duration;

use super::arm::ArmSummary;
use super::completion::curve;
use super::number::{duration, grouped, percent, significant};
use super::spectrum::{Percentile, spectrum};
use super::*;
use crate::experiment::results::fixture::Fixture;
use crate::experiment::results::writer::ResultWriter;
use crate::observe::measure::empty;

fn analysed(fixture: &Fixture) -> Analysis {
    let parent = tempfile::tempdir().unwrap();
    let folder = ResultFolder::open(&fixture.write(parent.path(), "incident")).unwrap();
    analyse(&folder).unwrap()
}

fn arm_of(arm: Arm, calls: u64) -> ArmSummary {
    let mut summary = ArmSummary::new(arm);
    summary.calls = calls;
    summary
}

#[test]
fn the_tables_say_what_the_runs_did() {
    let analysis = analysed(&Fixture::default());
    insta::assert_snapshot!("summary", csv::summary(&analysis));
    insta::assert_snapshot!("comparison", csv::comparison(&analysis));
}

/// Five calls, three desyncs and six judged resumes, every expected number computed by hand.
#[test]
fn the_summary_of_a_run_made_by_hand() {
    let fixture = Fixture { arms: vec![Arm::Validating], seeds: 1, clients: 0, ..Fixture::default() };
    let like = Fixture::default().run(0, Arm::Validating);
    let call = |outcome: Outcome, ended_s: &str| CallRow {
        outcome: outcome.name().to_owned(),
        started_s: "100.000000".to_owned(),
        ended_s: ended_s.to_owned(),
        ..like.calls[0].clone()
    };
    let desync = |lost_at_s: &str, detected_at_s: &str| DesyncRow {
        lost_at_s: lost_at_s.to_owned(),
        exposed_at_s: "105.000000".to_owned(),
        detected_at_s: detected_at_s.to_owned(),
        ..like.desyncs[0].clone()
    };
    let mut made = fixture.run(0, Arm::Validating);
    made.calls = vec![
        call(Outcome::Completed, "110.000000"),
        call(Outcome::Completed, "120.000000"),
        call(Outcome::Recovered, "140.000000"),
        call(Outcome::Hung, "160.000000"),
        call(Outcome::Wrong, "105.000000"),
    ];
    made.desyncs = vec![desync("103.500000", "107.000000"), desync("104.000000", ""), desync("", "107.000000")];
    made.run = RunRow {
        calls: 5,
        completed: 2,
        recovered: 1,
        hung: 1,
        wrong: 1,
        resumes: 9,
        desyncs: 3,
        true_alarms: 3,
        false_alarms: 1,
        missed: 2,
        bytes: 1_000,
        vacuous: false,
        ..made.run
    };
    let parent = tempfile::tempdir().unwrap();
    let mut writer = ResultWriter::create(&parent.path().join("made"), fixture.manifest()).unwrap();
    writer.push(&made).unwrap();
    let dir = writer.finish(Duration::ZERO, 1).unwrap().commit().unwrap();
    let summary = csv::summary(&analyse(&ResultFolder::open(&dir).unwrap()).unwrap());

    let [names, values] = [0, 1].map(|line| summary.lines().nth(line).unwrap().split(',').collect::<Vec<_>>());
    let field = |name: &str| values[names.iter().position(|n| *n == name).expect(name)];
    let exact = [
        ("completed_share", "0.4"),
        ("recovered_share", "0.2"),
        ("failed_share", "0"),
        ("hung_share", "0.2"),
        ("wrong_share", "0.2"),
        // The recovered and the hung one: what ended at 20 s was not pending any more.
        ("pending_after_20s", "2"),
        // The hung one: nothing but the application's patience ended at 60 s.
        ("pending_after_60s", "1"),
        ("pending_after_300s", "0"),
        ("desyncs", "3"),
        ("harmless", "1"),
        ("undetected", "1"),
        ("precision", "0.75"),
        ("recall", "0.6"),
        ("bytes_per_call", "200"),
    ];
    for (name, value) in exact {
        assert_eq!(field(name), value, "{name}");
    }
    let times = [
        ("completion_p50_s", 20.0),
        ("completion_p90_s", 40.0),
        ("completion_max_s", 40.0),
        // The harmless desync is not detected, whatever its client decided later.
        ("detection_p50_s", 2.0),
        ("detection_max_s", 2.0),
        ("detection_from_loss_max_s", 3.5),
    ];
    for (name, time) in times {
        let above = field(name).parse::<f64>().unwrap() / time - 1.0;
        assert!((0.0..=0.001).contains(&above), "{name} is {}", field(name));
    }
}

#[test]
fn nothing_to_measure_leaves_fields_empty() {
    let empty = Fixture { clients: 0, seeds: 1, arms: vec![Arm::NoCursor], ..Fixture::default() };
    let analysis = analysed(&empty);
    insta::assert_snapshot!("summary of nothing", csv::summary(&analysis));
    assert_eq!(csv::comparison(&analysis).lines().count(), 1);
}

#[test]
fn every_later_arm_is_compared_with_the_first() {
    let analysis =
        analysed(&Fixture { arms: vec![Arm::Trusting, Arm::Validating, Arm::NoCursor], ..Fixture::default() });
    let pairs: Vec<_> = analysis.comparisons.iter().map(|c| (c.first, c.second)).collect();
    assert_eq!(pairs.len(), 12);
    assert_eq!(pairs[0], (Arm::Trusting, Arm::Validating));
    assert_eq!(pairs[11], (Arm::Trusting, Arm::NoCursor));
}

#[test]
fn a_seed_that_only_one_arm_has_run_is_no_pair() {
    let fixture = Fixture::default();
    let mut comparisons = comparison::Comparisons::new(&fixture.arms);
    comparisons.add(0, &fixture.run(0, Arm::Trusting).run);
    comparisons.add(1, &fixture.run(0, Arm::Validating).run);
    comparisons.add(0, &fixture.run(1, Arm::Trusting).run);
    comparisons.add(1, &fixture.run(2, Arm::Validating).run);
    let hung = &comparisons.finish()[0];
    assert_eq!((hung.seeds, hung.first_greater, hung.second_greater, hung.equal), (1, 1, 0, 0));
    assert!(hung.mean_difference().unwrap() < 0.0);
}

#[test]
fn hung_calls_stay_pending_past_the_timeout() {
    let mut arm = arm_of(Arm::Trusting, 4);
    let s = Duration::from_secs;
    arm.add_call(Outcome::Completed, s(1));
    arm.add_call(Outcome::Failed, s(2));
    arm.add_call(Outcome::Wrong, s(3));
    arm.add_call(Outcome::Hung, s(60));
    let shares: Vec<_> = curve(&arm, [0, 1_100_000, 2_100_000, 3_100_000, 600_000_000])
        .into_iter()
        .map(|at| (at.ok, at.failed, at.wrong, at.pending))
        .collect();
    assert_eq!(
        shares,
        [
            (0.0, 0.0, 0.0, 1.0),
            (0.25, 0.0, 0.0, 0.75),
            (0.25, 0.25, 0.0, 0.5),
            (0.25, 0.25, 0.25, 0.25),
            (0.25, 0.25, 0.25, 0.25),
        ]
    );
    assert_eq!(arm.pending, [1, 1, 0]);
    assert!(curve(&arm_of(Arm::Trusting, 0), [0]).is_empty());
}

/// In floating point 1 − 1/3 − 2/3 is more than nothing: a figure said "pending <0.01 %" of an arm without a hung call.
#[test]
fn nothing_is_pending_where_every_call_has_ended() {
    let mut arm = arm_of(Arm::Trusting, 3);
    arm.add_call(Outcome::Failed, Duration::from_secs(1));
    arm.add_call(Outcome::Wrong, Duration::from_secs(1));
    arm.add_call(Outcome::Wrong, Duration::from_secs(1));
    assert_eq!(curve(&arm, [u64::MAX])[0].pending, 0.0);
}

#[test]
fn a_spectrum_ends_at_the_rarity_its_values_support() {
    let mut values = empty();
    [10, 20, 20, 40].into_iter().for_each(|v| record(&mut values, v));
    let at = |rarity, value| Percentile { rarity, value };
    assert_eq!(
        spectrum(&values),
        [at(1.0, 10), at(1.0, 10), at(4.0 / 3.0, 10), at(4.0 / 3.0, 20), at(4.0, 20), at(4.0, 40), at(4.0, 40)]
    );
    assert!(spectrum(&empty()).is_empty());
}

#[test]
fn the_example_is_the_first_run_that_hung_even_after_desyncs() {
    let fixture = Fixture::default();
    let mut notable = Notable::default();
    notable.add(Arm::Trusting, &Fixture { recycle_every: 0, ..fixture.clone() }.run(0, Arm::Trusting).run);
    assert_eq!(notable.example().map(|key| key.seed), Some(0));
    notable.add(Arm::Validating, &fixture.run(1, Arm::Validating).run);
    assert_eq!(notable.example().map(|key| key.seed), Some(1));
    notable.add(Arm::Trusting, &fixture.run(2, Arm::Trusting).run);
    notable.add(Arm::Trusting, &fixture.run(3, Arm::Trusting).run);
    assert_eq!(notable.example().map(|key| key.seed), Some(2));
    assert_eq!(notable.hung_count, 2);
}

#[test]
fn tables_that_do_not_belong_together_are_refused() {
    let parent = tempfile::tempdir().unwrap();
    let damage = |file: &str, damage: &dyn Fn(&str) -> String| {
        let dir = Fixture::default().write(parent.path(), "incident");
        let path = dir.join(file);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, damage(&text)).unwrap();
        let error = analyse(&ResultFolder::open(&dir).unwrap()).err().unwrap();
        error.to_string().replace(&parent.path().display().to_string(), "")
    };
    let last_line_gone = |text: &str| {
        text.lines()
            .rev()
            .skip(1)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    let sentences = [
        damage("runs.csv", &last_line_gone),
        damage("calls.csv", &last_line_gone),
        damage("calls.csv", &|text| text.replacen("completed", "finished", 1)),
        damage("calls.csv", &|text| text.replacen("0.000000", "0.0", 1)),
        damage("calls.csv", &|text| text.replacen("trusting", "gullible", 1)),
        damage("desyncs.csv", &|text| text.replacen("9.", "9,", 1).replacen(",regression", "regression", 1)),
        damage("restarts.csv", &|text| text.replacen(",regression,", ",hunch,", 1)),
    ];
    insta::assert_snapshot!(sentences.join("\n"));
}

#[test]
fn numbers_have_six_significant_digits_and_no_exponent() {
    let cases = [
        (0.0, "0"),
        (1.0 / 3.0, "0.333333"),
        (-2.0 / 3.0, "-0.666667"),
        (1234.5678, "1234.57"),
        (1_234_567.8, "1234568"),
        (999_999.96, "1000000"),
        (0.000_012_345_678, "0.0000123457"),
        (100.0, "100"),
        (0.1, "0.1"),
    ];
    for (value, text) in cases {
        assert_eq!(significant(value), text);
    }
}

#[test]
fn numbers_for_people_do_not_round_something_to_nothing() {
    assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    assert_eq!(
        [0.0, 0.000_01, 0.005, 0.123, 0.999, 0.999_999, 1.0].map(percent),
        ["0 %", "<0.01 %", "0.50 %", "12.3 %", "99.90 %", ">99.99 %", "100 %"]
    );
    assert_eq!(
        [0, 999, 1_500, 20_400, 300_000, 1_500_000, 60_000_000, 600_000_000].map(duration),
        ["0 s", "999 µs", "1.50 ms", "20.4 ms", "300 ms", "1.50 s", "60.0 s", "600 s"]
    );
}
