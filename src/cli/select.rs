//! What the commands have in common: which scenario, which seeds, which arms, and the command that reproduces a run.

use super::args::ScenarioArguments;
use super::exit::{Exit, Failure, OrExit};
use crate::experiment::scenario::{LoadedScenario, Override, Scenario, ScenarioError};
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

/// The arms that the command line names, each once, or the scenario's.
pub fn arms(named: &[Arm], loaded: &LoadedScenario) -> Vec<Arm> {
    if named.is_empty() {
        return loaded.scenario.arms.clone();
    }
    let mut arms: Vec<Arm> = Vec::new();
    for arm in named {
        if !arms.contains(arm) {
            arms.push(*arm);
        }
    }
    arms
}

/// How many to do at a time: as told, or as many as there are cores.
pub fn jobs(told: Option<std::num::NonZeroUsize>) -> usize {
    told.or_else(|| std::thread::available_parallelism().ok()).map_or(1, std::num::NonZeroUsize::get)
}

/// The words of a command line that names the scenario and its changes: `incident --set server.buffer_events=64`.
pub fn scenario_words(arguments: &ScenarioArguments) -> String {
    let mut words = quote(&arguments.scenario);
    for change in &arguments.set {
        words.push_str(" --set ");
        words.push_str(&quote(change));
    }
    words
}

/// The command that tells one run again.
pub fn replay_command(arguments: &ScenarioArguments, seed: u64, arm: Arm) -> String {
    format!("desync-sim replay {} --seed {seed} --arm {arm}", scenario_words(arguments))
}

/// A word as a POSIX shell reads it back.
fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_command_survives_a_shell() {
        let arguments = ScenarioArguments {
            scenario: "my sims/incident.toml".to_owned(),
            set: vec!["server.buffer_events=64".to_owned(), "faults.disconnect.modes=['reset']".to_owned()],
        };
        assert_eq!(
            replay_command(&arguments, 7, Arm::Trusting),
            r"desync-sim replay 'my sims/incident.toml' --set server.buffer_events=64 --set 'faults.disconnect.modes=['\''reset'\'']' --seed 7 --arm trusting"
        );
    }
}
