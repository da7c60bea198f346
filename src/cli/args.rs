//! The command line's grammar.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::experiment::scenario::SeedRange;
use crate::mcp::client::settings::Arm;

/// Deterministic fault-injection simulation of MCP stream resumption
#[derive(Debug, Parser)]
#[command(name = "desync-sim", version, about, after_help = EXIT_CODES, max_term_width = 100)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 all well, 1 a threshold was violated or two executions differ, 3 no fault took \
effect, 64 usage, 65 bad scenario, schedule or result file, 70 internal error, 74 a file cannot be read or written, \
130 interrupted.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a seeded experiment and compare its arms
    Run(RunArguments),
    /// Run one seed of one arm again and tell what happened
    Replay(ReplayArguments),
    /// Draw all tables, plots and the page again from stored results
    Report(ReportArguments),
    /// Check that runs are the same in separate processes, line by line
    Verify(VerifyArguments),
    /// List what there is, one line each
    List(ListArguments),
}

/// Which scenario, with which changes.
#[derive(Debug, Args)]
pub struct ScenarioArguments {
    /// A scenario file, or the name of one in sims/
    pub scenario: String,

    /// Change a setting, such as server.buffer_events=64 (may be repeated)
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

/// `run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    #[command(flatten)]
    pub scenario: ScenarioArguments,

    /// Seeds to run, without B [default: the scenario's]
    #[arg(long, value_name = "A..B")]
    pub seeds: Option<SeedRange>,

    /// Arms to compare, separated by commas [default: the scenario's]
    #[arg(long, value_name = "ARM", value_delimiter = ',')]
    pub arms: Vec<Arm>,

    /// Runs at a time [default: the number of cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<std::num::NonZeroUsize>,

    /// The result folder [default: results/runs/SCENARIO]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// `replay`.
#[derive(Debug, Args)]
pub struct ReplayArguments {
    #[command(flatten)]
    pub scenario: ScenarioArguments,

    /// The seed
    #[arg(long)]
    pub seed: u64,

    /// The arm
    #[arg(long)]
    pub arm: Arm,

    /// Use this fault schedule instead of the one that the seed generates
    #[arg(long, value_name = "FILE")]
    pub schedule: Option<PathBuf>,

    /// Tell the story of this client only
    #[arg(long, value_name = "N")]
    pub client: Option<u32>,

    /// Write the event log, one JSON object a line; `-` writes it to stdout in place of the story
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,

    /// Draw the run's timeline as SVG, and as PNG beside it
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<PathBuf>,
}

/// `report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// A result folder
    pub dir: PathBuf,
}

/// `verify`.
#[derive(Debug, Args)]
pub struct VerifyArguments {
    #[command(flatten)]
    pub scenario: ScenarioArguments,

    /// Seeds to check, without B
    #[arg(long, value_name = "A..B")]
    pub seeds: SeedRange,

    /// Arms to check, separated by commas [default: the scenario's]
    #[arg(long, value_name = "ARM", value_delimiter = ',')]
    pub arms: Vec<Arm>,

    /// Checks at a time, each with two processes [default: the number of cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<std::num::NonZeroUsize>,
}

/// `list`.
#[derive(Debug, Args)]
pub struct ListArguments {
    /// What to list
    pub what: Listed,
}

/// What can be listed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Listed {
    /// The scenario files in sims/
    Scenarios,
    /// The client policies
    Arms,
    /// The faults
    Faults,
    /// The servers that scenarios can name, in sims/profiles/server/
    Profiles,
}
