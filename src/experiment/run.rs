//! One run of a scenario, from its seed and arm to its result.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use super::pool::Panicked;
use super::result::result_of;

use super::results::run::RunResult;
use super::scenario::Scenario;
use super::simulation::{Ending, RunSpec, SimulationFailed, simulate};
use crate::mcp::client::settings::Arm;
use crate::observe::recorder::{Recorder, RunRecord};
use crate::observe::witness::Sink;
use crate::world::draw::Draws;
use crate::world::schedule::Schedule;

/// The point of a scenario that has no grid.
const ONLY_POINT: u32 = 0;

/// One run of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The seed.
    pub seed: u64,
    /// The arm.
    pub arm: Arm,
}

/// A run with everything that it depends on.
#[derive(Clone, Debug)]
pub struct PreparedRun<'a> {
    scenario: &'a Scenario,
    run: Run,
    schedule: Schedule,
}

/// A run that brought no result.
#[derive(Debug, thiserror::Error)]
pub enum RunFailed {
    /// It panicked.
    #[error("the run panicked: {0}")]
    Panicked(#[from] Panicked),
    /// It cannot be carried out here, or the simulated network gave up.
    #[error(transparent)]
    Simulation(#[from] SimulationFailed),
}

impl Run {
    /// This run of `scenario`, with the schedule that its seed generates.
    pub fn of(self, scenario: &Scenario) -> PreparedRun<'_> {
        let settings = &scenario.settings;
        let draws = Draws::new(&scenario.name, self.seed);
        let schedule = Schedule::generate(&settings.faults, settings.extent(), &draws);
        self.with_schedule(scenario, schedule)
    }

    /// This run of `scenario`, with a schedule of the caller's.
    pub fn with_schedule(self, scenario: &Scenario, schedule: Schedule) -> PreparedRun<'_> {
        PreparedRun { scenario, run: self, schedule }
    }
}

impl PreparedRun<'_> {
    /// Simulates the run to its horizon. None where `stop` was set before.
    pub fn carry_out(&self, recorder: Recorder, stop: &AtomicBool) -> Result<Option<RunResult>, RunFailed> {
        Ok(self.record(recorder, stop)?.map(|record| self.result(record)))
    }

    /// The same, with the verdicts as the oracle gave them.
    pub fn record(&self, recorder: Recorder, stop: &AtomicBool) -> Result<Option<RunRecord>, RunFailed> {
        let recorder = Rc::new(RefCell::new(recorder));
        let ending = self.simulate(recorder.clone(), stop)?;
        let record = recorder.borrow_mut().finish(self.scenario.settings.horizon_s.get().into());
        Ok((ending == Ending::Horizon).then_some(record))
    }

    /// Simulates the run into any sink: for those who want something else of its events than a record.
    pub fn simulate(&self, sink: Rc<RefCell<dyn Sink>>, stop: &AtomicBool) -> Result<Ending, SimulationFailed> {
        simulate(&self.spec(), sink, stop)
    }

    /// The rows of a record of this run.
    pub fn result(&self, record: RunRecord) -> RunResult {
        result_of(&self.spec(), ONLY_POINT, record.verdicts, record.digest)
    }

    fn spec(&self) -> RunSpec<'_> {
        RunSpec {
            name: &self.scenario.name,
            settings: &self.scenario.settings,
            seed: self.run.seed,
            arm: self.run.arm,
            schedule: &self.schedule,
        }
    }
}
