//! What the commands have in common: which scenario, which seeds, which arms, and the command that reproduces a run.

use super::args::ScenarioArguments;
use super::exit::{Exit, Failure, OrExit};
use crate::experiment::scenario::{self, LoadedScenario, Override, Scenario, ScenarioError};
use crate::experiment::{available, command_line};
use crate::mcp::client::settings::Arm;

/// Loads the scenario that the command line names, with its changes.
pub fn scenario(arguments: &ScenarioArguments) -> Result<LoadedScenario, Failure> {
    let overrides: Vec<Override> =
        arguments.set.iter().map(|text| text.parse()).collect::<Result<_, _>>().or_exit(Exit::Usage)?;
    Scenario::load(&arguments.scenario, &overrides).map_err(|error| {
        let exit = match error {
            ScenarioError::Unknown { .. } => Exit::Usage,
            ScenarioError::Unreadable { .. } => Exit::Io,
            ScenarioError::Invalid(_) => Exit::BadInput,
        };
        Failure::new(exit, error)
    })
}

/// The arms that the command line names, each once, or the scenario's: those that can run here.
pub fn arms(named: &[Arm], loaded: &LoadedScenario) -> Result<Vec<Arm>, Failure> {
    let named = if named.is_empty() { &loaded.scenario.arms } else { named };
    let mut arms: Vec<Arm> = Vec::new();
    for arm in named {
        if !arms.contains(arm) {
            arms.push(can_run(*arm, loaded)?);
        }
    }
    Ok(arms)
}

/// `arm`, where the scenario has its client and this build on this machine can run it.
pub fn can_run(arm: Arm, loaded: &LoadedScenario) -> Result<Arm, Failure> {
    let settings = &loaded.scenario.settings;
    available::check(arm, settings).or_exit(Exit::Usage)?;
    scenario::arm_has_the_client(arm, &settings.client).map_err(|what| Failure::say(Exit::Usage, what))?;
    Ok(arm)
}

/// More threads than any machine has cores only cost memory.
const MAX_JOBS: usize = 512;

/// How many to do at a time: as told, or as many as there are cores.
pub fn jobs(told: Option<std::num::NonZeroUsize>) -> usize {
    told.or_else(|| std::thread::available_parallelism().ok()).map_or(1, std::num::NonZeroUsize::get).min(MAX_JOBS)
}

/// The command that tells one run again.
pub fn replay_command(arguments: &ScenarioArguments, seed: u64, arm: Arm) -> String {
    command_line::replay_command(&arguments.scenario, arguments.set.iter().map(String::as_str), seed, arm)
}
