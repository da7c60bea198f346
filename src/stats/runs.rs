//! Runs to look at, found while the table of runs is read.

use crate::experiment::results::rows::RunRow;
use crate::mcp::client::settings::Arm;

/// How many hung runs are listed.
pub const LISTED: usize = 20;

/// Runs to look at.
#[derive(Clone, Debug, Default)]
pub struct Notable {
    /// The first [`LISTED`] runs with hung calls, in the table's order.
    pub hung: Vec<HungRun>,
    /// How many runs have hung calls.
    pub hung_count: u64,
    example: Option<(Interest, RunKey)>,
}

/// A run with hung calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HungRun {
    /// The point.
    pub point: u32,
    /// The seed.
    pub seed: u64,
    /// The arm.
    pub arm: Arm,
    /// Its hung calls.
    pub hung: u32,
    /// All its calls.
    pub calls: u32,
}

/// A point and a seed: one run of every arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunKey {
    /// The point.
    pub point: u32,
    /// The seed.
    pub seed: u64,
}

/// What makes a run worth looking at, the strongest reason last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Interest {
    Nothing,
    Fault,
    Desync,
    Hung,
}

impl Notable {
    /// The first point and seed in which an arm hung; without one the first with a desync, with a fault, at all.
    pub fn example(&self) -> Option<RunKey> {
        self.example.map(|(_, key)| key)
    }

    pub(super) fn add(&mut self, arm: Arm, run: &RunRow) {
        let interest = if run.hung > 0 {
            Interest::Hung
        } else if run.desyncs > 0 {
            Interest::Desync
        } else if !run.vacuous {
            Interest::Fault
        } else {
            Interest::Nothing
        };
        if self.example.is_none_or(|(best, _)| interest > best) {
            let key = RunKey { point: run.point, seed: run.seed };
            self.example = Some((interest, key));
        }
        if run.hung > 0 {
            self.hung_count += 1;
            if self.hung.len() < LISTED {
                self.hung.push(HungRun { point: run.point, seed: run.seed, arm, hung: run.hung, calls: run.calls });
            }
        }
    }
}
