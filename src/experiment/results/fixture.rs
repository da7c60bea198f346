//! Made-up results for the tests of everything that reads a result folder.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::manifest::{Build, Experiment, Manifest, ScenarioText};
use super::rows::{CallRow, DesyncRow, FaultRow, RestartRow, RunRow};
use super::run::RunResult;
use super::writer::ResultWriter;
use crate::experiment::scenario::SeedRange;
use crate::mcp::client::settings::Arm;
use crate::observe::event::DetectedBy;
use crate::observe::measure::{Measures, record};
use crate::observe::verdict::{FaultOrigin, Outcome, Signature};
use crate::world::time::SimTime;

/// What the made-up results look like.
#[derive(Clone, Debug)]
pub struct Fixture {
    pub arms: Vec<Arm>,
    pub seeds: u64,
    pub clients: u32,
    /// Calls of one client.
    pub calls: u32,
    /// Every n-th call meets a session that was recycled; 0 for none.
    pub recycle_every: u32,
}

impl Default for Fixture {
    fn default() -> Fixture {
        Fixture { arms: vec![Arm::Trusting, Arm::Validating], seeds: 6, clients: 8, calls: 9, recycle_every: 7 }
    }
}

const SCENARIO: &str = "format = 1
name = \"incident\"
summary = \"Session keys are recycled behind an idle timeout\"
seeds = \"0..6\"
arms = [\"trusting\", \"validating\"]
horizon_s = 600
[topology]
clients = 8
sites = 2
servers = 1
[client]
call_timeout_s = 60
";

impl Fixture {
    /// The manifest before the first run.
    pub fn manifest(&self) -> Manifest {
        Manifest::new(
            Build {
                version: "0.1.0".to_owned(),
                git_commit: "0123456789abcdef0123456789abcdef01234567".to_owned(),
                rustc: "rustc 1.95.0".to_owned(),
                cargo_lock_sha256: "cafe".repeat(16),
            },
            Experiment {
                scenario: ScenarioText::new("incident", SCENARIO),
                server_profile: None,
                arguments: vec!["run".to_owned(), "incident".to_owned()],
                seeds: SeedRange::new(0, self.seeds.max(1)).expect("a fixture has seeds"),
                points: 1,
                arms: self.arms.clone(),
            },
        )
    }

    /// A name that tells fixtures apart.
    pub fn label(&self) -> String {
        let arms: Vec<&str> = self.arms.iter().map(|arm| arm.name()).collect();
        format!(
            "{}; {} seeds, {} clients, {} calls, every {}",
            arms.join("+"),
            self.seeds,
            self.clients,
            self.calls,
            self.recycle_every
        )
    }

    /// Writes and commits a folder `name` under `parent`, in place of one that a test has damaged.
    pub fn write(&self, parent: &Path, name: &str) -> PathBuf {
        let dir = parent.join(name);
        // Without its own manifest a folder is refused, and rightly so.
        let _ = std::fs::remove_dir_all(&dir);
        let mut writer = ResultWriter::create(&dir, self.manifest()).unwrap();
        for seed in 0..self.seeds {
            for &arm in &self.arms {
                writer.push(&self.run(seed, arm)).unwrap();
            }
        }
        writer.finish(Duration::from_secs(2), 2).unwrap().commit().unwrap()
    }

    /// One run.
    pub fn run(&self, seed: u64, arm: Arm) -> RunResult {
        let mut made = Made::new(seed, arm);
        for client in 0..self.clients {
            for call in 0..self.calls {
                let number = client * self.calls + call + seed as u32;
                let recycled = self.recycle_every > 0 && number % self.recycle_every == 3;
                let start = u64::from(call) * 60_000_000 + u64::from(client) * 3_100_000 + seed * 70_000;
                let lasts = 9_000_000 + u64::from(number * 7919 % 6_000) * 1_000;
                made.call(client, call, start, lasts, recycled);
            }
        }
        made.finish()
    }
}

struct Made {
    result: RunResult,
}

impl Made {
    fn new(seed: u64, arm: Arm) -> Made {
        let name = arm.name().to_owned();
        Made {
            result: RunResult {
                point: 0,
                seed,
                arm,
                schedule: "format = 1\n".to_owned(),
                run: RunRow {
                    scenario: "incident".to_owned(),
                    point: 0,
                    seed,
                    digest: format!("{name}-{seed}"),
                    arm: name,
                    calls: 0,
                    completed: 0,
                    recovered: 0,
                    failed: 0,
                    hung: 0,
                    wrong: 0,
                    censored: 0,
                    resumes: 0,
                    desyncs: 0,
                    true_alarms: 0,
                    false_alarms: 0,
                    missed: 0,
                    restarts: 0,
                    duplicate_executions: 0,
                    requests: 0,
                    bytes: 0,
                    vacuous: true,
                },
                calls: Vec::new(),
                desyncs: Vec::new(),
                restarts: Vec::new(),
                faults: Vec::new(),
                measures: Measures::default(),
            },
        }
    }

    fn call(&mut self, client: u32, call: u32, start: u64, lasts: u64, recycled: bool) {
        let RunResult { point, seed, arm, .. } = self.result;
        let number = client * 31 + call;
        let result = &mut self.result;
        let run = &mut result.run;
        let mut row = CallRow {
            point,
            seed,
            arm: arm.name().to_owned(),
            client,
            call,
            outcome: Outcome::Completed.name().to_owned(),
            started_s: seconds(start),
            ended_s: seconds(start + lasts),
            parts: 5,
            restarts: 0,
            executions: 1,
            reason: String::new(),
        };
        run.calls += 1;
        run.resumes += 1;
        run.requests += 3;
        run.bytes += 4_000 + u64::from(number % 17) * 100;
        if number.is_multiple_of(4) {
            result.faults.push(FaultRow {
                point,
                seed,
                arm: arm.name().to_owned(),
                client: Some(client),
                fault: "idle-timeout".to_owned(),
                origin: FaultOrigin::Emergent.name().to_owned(),
                from_s: seconds(start + lasts + 20_000_000),
                to_s: seconds(start + lasts + 20_000_000),
                took_effect: true,
            });
        }
        if recycled {
            run.vacuous = false;
            run.desyncs += 1;
            let (lost, exposed) = (start + lasts / 3, start + lasts / 2);
            result.faults.push(FaultRow {
                point,
                seed,
                arm: arm.name().to_owned(),
                client: Some(client),
                fault: "session-recycle".to_owned(),
                origin: FaultOrigin::Scheduled.name().to_owned(),
                from_s: seconds(lost),
                to_s: seconds(lost),
                took_effect: true,
            });
            let detects = arm == Arm::Validating;
            let noticed = exposed + 40_000 + u64::from(number % 9) * 13_000;
            result.desyncs.push(DesyncRow {
                point,
                seed,
                arm: arm.name().to_owned(),
                client,
                signature: Signature::Regression.name().to_owned(),
                fault: "session-recycle".to_owned(),
                lost_at_s: seconds(lost),
                exposed_at_s: seconds(exposed),
                detected_at_s: if detects { seconds(noticed) } else { String::new() },
                detected_by: if detects { DetectedBy::Regression.name().to_owned() } else { String::new() },
            });
            if detects {
                let again = noticed + lasts / 2 + 180_000;
                let repeats = number.is_multiple_of(3);
                record(&mut result.measures.detection_from_exposure, noticed - exposed);
                record(&mut result.measures.detection_from_loss, noticed - lost);
                record(&mut result.measures.restart, again - noticed);
                result.restarts.push(RestartRow {
                    point,
                    seed,
                    arm: arm.name().to_owned(),
                    client,
                    by: DetectedBy::Regression,
                    alarm_at_s: seconds(noticed),
                    restored_at_s: seconds(noticed + 180_000),
                    response_at_s: seconds(again),
                    requests: 4 + number % 3,
                    bytes: 2_100 + u64::from(number % 13) * 90,
                    interrupted: 1,
                    duplicate_executions: u32::from(repeats),
                    parts_again: 0,
                });
                run.true_alarms += 1;
                run.restarts += 1;
                run.duplicate_executions += u32::from(repeats);
                row.outcome = Outcome::Recovered.name().to_owned();
                row.ended_s = seconds(again);
                row.restarts = 1;
                row.executions = 1 + u32::from(repeats);
                run.recovered += 1;
                record(&mut result.measures.completion, again - start);
            } else {
                run.missed += 1;
                row.parts = 2;
                let (outcome, ended, reason) = match number % 11 {
                    0 => (Outcome::Wrong, start + lasts, "parts missing"),
                    1 => (Outcome::Failed, start + lasts, "connection reset"),
                    _ => (Outcome::Hung, start + 60_000_000, "call timeout"),
                };
                match outcome {
                    Outcome::Wrong => run.wrong += 1,
                    Outcome::Failed => run.failed += 1,
                    _ => run.hung += 1,
                }
                row.outcome = outcome.name().to_owned();
                row.ended_s = seconds(ended);
                row.reason = reason.to_owned();
            }
        } else {
            run.completed += 1;
            record(&mut result.measures.completion, lasts);
        }
        result.calls.push(row);
    }

    fn finish(mut self) -> RunResult {
        if !self.result.run.vacuous {
            self.result.faults.push(FaultRow {
                point: 0,
                seed: self.result.seed,
                arm: self.result.arm.name().to_owned(),
                client: None,
                fault: "stall".to_owned(),
                origin: FaultOrigin::Scheduled.name().to_owned(),
                from_s: seconds(200_000_000),
                to_s: seconds(225_000_000),
                took_effect: true,
            });
        }
        self.result
    }
}

fn seconds(micros: u64) -> String {
    SimTime::from_micros(micros).to_string()
}
