//! From verdicts to rows: what the oracle says of a run, in the words of the result files.

use super::results::rows::{CallRow, DesyncRow, FaultRow, RestartRow, RunRow};
use super::results::run::RunResult;
use super::simulation::RunSpec;
use crate::observe::verdict::{CallVerdict, DesyncVerdict, FaultVerdict, RestartVerdict, RunVerdict, Verdicts};
use crate::world::time::SimTime;

/// The rows of the run `spec` at `point` of its scenario's grid.
pub fn result_of(spec: &RunSpec<'_>, point: u32, verdicts: Verdicts, digest: String) -> RunResult {
    let key = Key { point, seed: spec.seed, arm: spec.arm.name() };
    RunResult {
        point,
        seed: spec.seed,
        arm: spec.arm,
        schedule: spec.schedule.to_toml(),
        run: key.run(spec.name, &verdicts.run, digest),
        calls: verdicts.calls.iter().map(|call| key.call(call)).collect(),
        desyncs: verdicts.desyncs.iter().map(|desync| key.desync(desync)).collect(),
        restarts: verdicts.restarts.iter().map(|restart| key.restart(restart)).collect(),
        faults: verdicts.faults.iter().map(|fault| key.fault(fault)).collect(),
        measures: verdicts.measures,
    }
}

/// What every row begins with.
struct Key {
    point: u32,
    seed: u64,
    arm: &'static str,
}

impl Key {
    fn run(&self, scenario: &str, run: &RunVerdict, digest: String) -> RunRow {
        RunRow {
            scenario: scenario.to_owned(),
            point: self.point,
            seed: self.seed,
            arm: self.arm.to_owned(),
            calls: run.calls,
            completed: run.completed,
            recovered: run.recovered,
            failed: run.failed,
            hung: run.hung,
            wrong: run.wrong,
            censored: run.censored,
            resumes: run.resumes,
            desyncs: run.desyncs,
            true_alarms: run.true_alarms,
            false_alarms: run.false_alarms,
            missed: run.missed,
            restarts: run.restarts,
            duplicate_executions: run.duplicate_executions,
            requests: run.requests,
            bytes: run.bytes,
            vacuous: run.vacuous,
            digest,
        }
    }

    fn call(&self, call: &CallVerdict) -> CallRow {
        CallRow {
            point: self.point,
            seed: self.seed,
            arm: self.arm.to_owned(),
            client: call.client,
            call: call.call,
            outcome: call.outcome.name().to_owned(),
            started_s: call.started.to_string(),
            ended_s: call.ended.to_string(),
            parts: call.parts,
            restarts: call.restarts,
            executions: call.executions,
            reason: call.reason.clone(),
        }
    }

    fn desync(&self, desync: &DesyncVerdict) -> DesyncRow {
        DesyncRow {
            point: self.point,
            seed: self.seed,
            arm: self.arm.to_owned(),
            client: desync.client,
            signature: desync.signature.name().to_owned(),
            fault: desync.fault.map(|cause| cause.name().to_owned()).unwrap_or_default(),
            lost_at_s: instant(desync.lost_at),
            exposed_at_s: desync.exposed_at.to_string(),
            detected_at_s: instant(desync.detected.map(|detection| detection.at)),
            detected_by: desync.detected.map(|detection| detection.by.name().to_owned()).unwrap_or_default(),
        }
    }

    fn restart(&self, restart: &RestartVerdict) -> RestartRow {
        RestartRow {
            point: self.point,
            seed: self.seed,
            arm: self.arm.to_owned(),
            client: restart.client,
            by: restart.by,
            alarm_at_s: restart.alarm_at.to_string(),
            restored_at_s: instant(restart.restored_at),
            response_at_s: instant(restart.response_at),
            requests: restart.requests,
            bytes: restart.bytes,
            interrupted: restart.interrupted,
            duplicate_executions: restart.duplicate_executions,
            parts_again: restart.parts_again,
        }
    }

    fn fault(&self, fault: &FaultVerdict) -> FaultRow {
        FaultRow {
            point: self.point,
            seed: self.seed,
            arm: self.arm.to_owned(),
            client: fault.client,
            fault: fault.fault.to_owned(),
            origin: fault.origin.name().to_owned(),
            from_s: fault.from.to_string(),
            to_s: fault.to.to_string(),
            took_effect: fault.took_effect,
        }
    }
}

fn instant(at: Option<SimTime>) -> String {
    at.map(|at| at.to_string()).unwrap_or_default()
}
