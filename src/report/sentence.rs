//! The answer in one sentence, computed from the counts.

use crate::mcp::client::settings::Arm;
use crate::observe::verdict::Outcome;
use crate::stats::Analysis;
use crate::stats::arm::ArmSummary;
use crate::stats::number::{duration, grouped, percent};
use crate::stats::spectrum::quantile;

/// What the experiment found.
pub(super) fn answer(analysis: &Analysis) -> String {
    let arms: Vec<&ArmSummary> = analysis.arms.iter().filter(|arm| arm.calls > 0).collect();
    if arms.is_empty() {
        return "No call was made, so there is nothing to compare.".to_owned();
    }
    if arms.iter().all(|arm| arm.vacuous == arm.runs) {
        return "No fault took effect in any run: this experiment says nothing about the arms.".to_owned();
    }
    let found: Vec<String> = arms.iter().map(|arm| outcome(arm)).collect();
    let found = match found.as_slice() {
        [one, other] => format!("{one}, while {other}"),
        any => any.join("; "),
    };
    let price = analysis.arm(Arm::Validating).and_then(price);
    format!("Over {}, {found}{}.", seeds(analysis), price.unwrap_or_default())
}

fn outcome(arm: &ArmSummary) -> String {
    let calls = grouped(arm.calls);
    let hung = match arm.outcome(Outcome::Hung) {
        0 => format!("left none of its {calls} calls hanging"),
        n => {
            let share = percent(arm.share(Outcome::Hung).unwrap_or(0.0));
            format!("left {} of its {calls} calls hanging ({share})", grouped(n))
        }
    };
    let wrong = match arm.outcome(Outcome::Wrong) {
        0 => String::new(),
        1 => " and answered 1 wrongly".to_owned(),
        n => format!(" and answered {} wrongly", grouped(n)),
    };
    format!("the {} client {hung}{wrong}", arm.arm)
}

/// What the validating arm paid, and how fast it was.
fn price(arm: &ArmSummary) -> Option<String> {
    if arm.restarts == 0 {
        return None;
    }
    let latency = match quantile(&arm.detection, 0.5) {
        None => String::new(),
        Some(0) => "; half of its detections came with the answer itself".to_owned(),
        Some(median) => format!("; half of its detections came within {}", duration(median)),
    };
    Some(format!(
        "; the price of validating was {}, {} and {}{latency}",
        count(arm.restarts, "restart"),
        count(arm.duplicate_executions, "repeated tool execution"),
        count(arm.false_alarms, "false alarm"),
    ))
}

fn seeds(analysis: &Analysis) -> String {
    let planned = analysis.manifest.experiment.seeds.len();
    let points = u64::from(analysis.manifest.experiment.points);
    match points {
        0 | 1 => count(planned, "seed"),
        n => format!("{} at {}", count(planned, "seed"), count(n, "setting")),
    }
}

pub(super) fn count(number: u64, thing: &str) -> String {
    match number {
        0 => format!("no {thing}s"),
        1 => format!("1 {thing}"),
        n => format!("{} {thing}s", grouped(n)),
    }
}
