//! Command lines as a person can paste them into a shell.

use crate::mcp::client::settings::Arm;

/// The command line of this program with the given words, each quoted where a shell needs it.
pub fn command_line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    std::iter::once("desync-sim".to_owned()).chain(words.into_iter().map(quoted)).collect::<Vec<_>>().join(" ")
}

/// The command that tells one run again, with the settings changed as `changes` say (`key=value`).
pub fn replay_command<'a>(
    scenario: &'a str,
    changes: impl IntoIterator<Item = &'a str>,
    seed: u64,
    arm: Arm,
) -> String {
    let seed = seed.to_string();
    let changes = changes.into_iter().flat_map(|change| ["--set", change]);
    let run = ["--seed", &seed, "--arm", arm.name()];
    command_line(["replay", scenario].into_iter().chain(changes).chain(run))
}

/// A word as a POSIX shell reads it back.
pub fn quoted(word: &str) -> String {
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
    fn a_printed_command_survives_a_shell() {
        let changes = ["server.buffer_events=64", "faults.disconnect.modes=['reset']"];
        assert_eq!(
            replay_command("my sims/incident.toml", changes, 7, Arm::Trusting),
            r"desync-sim replay 'my sims/incident.toml' --set server.buffer_events=64 --set 'faults.disconnect.modes=['\''reset'\'']' --seed 7 --arm trusting"
        );
    }

    #[test]
    fn an_empty_word_is_seen() {
        assert_eq!(command_line(["run", ""]), "desync-sim run ''");
    }
}
