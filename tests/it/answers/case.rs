//! A scripted exchange as data.

use std::fmt;

use serde::Deserialize;

use super::lab::Subject;

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cases {
    /// Its cases.
    pub case: Vec<Case>,
}

/// One script, and what is answered.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What it is about.
    pub name: String,
    /// The profile of the model that answers.
    #[serde(default = "rmcp")]
    pub profile: String,
    /// The cell of the measurement on real sockets that it repeats.
    #[serde(default)]
    #[expect(dead_code, reason = "for the reader of the file")]
    pub measured: Option<String>,
    /// Changes to the settings, as on the command line.
    #[serde(default)]
    pub set: Vec<String>,
    /// Whether the SDK needs the simulated clock for it: where there is none, its keep-alive comments are switched off.
    #[serde(default)]
    pub needs_clock: bool,
    /// When the server process stops, with everything that is in its memory, to come back a second later.
    #[serde(default)]
    pub restart_at_s: Option<f64>,
    /// Why the model's answers are others, where they are.
    #[serde(default)]
    pub differs_because: Option<String>,
    /// What the client does.
    pub script: Vec<Step>,
}

/// One thing that the client does.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Step {
    /// Lets time pass.
    Wait {
        /// How much.
        s: f64,
    },
    /// Closes the connection of a leg that was kept.
    Cut {
        /// Its name.
        leg: String,
    },
    /// Goes on reading a leg that was kept.
    Watch {
        /// Its name.
        leg: String,
        /// What comes.
        expect: Option<Answer>,
        /// What comes from the model, where it is something else.
        model: Option<Answer>,
    },
    /// `initialize` and `notifications/initialized`: a new session.
    Initialize(Ask),
    /// `tools/list`.
    ListTools(Ask),
    /// `tools/call`.
    Call(Ask),
    /// GET, with a cursor or without.
    Get(Ask),
    /// DELETE.
    Delete(Ask),
}

/// A request, and what becomes of its answer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// The session's name in the script.
    #[serde(default = "first_session")]
    pub session: String,
    /// The session key that is sent instead of the session's own; the empty one for none.
    pub key: Option<String>,
    /// The `Last-Event-ID`.
    pub cursor: Option<String>,
    /// In place of it: what was carried by the event whose id is the cursor, the last one that the client saw.
    pub after: Option<String>,
    /// Watches the answer, whatever is expected of it.
    #[serde(default)]
    pub tell: bool,
    /// Reads so many events, and no more. Without it and without `expect`, nothing is read.
    pub events: Option<usize>,
    /// Keeps the leg open under this name; else its connection is closed.
    pub leg: Option<String>,
    /// For how long the answer is watched.
    #[serde(default = "watch_s")]
    pub watch_s: f64,
    /// What is answered.
    pub expect: Option<Answer>,
    /// What the model answers, where it is something else.
    pub model: Option<Answer>,
}

fn rmcp() -> String {
    "rmcp".to_owned()
}

fn first_session() -> String {
    "a".to_owned()
}

/// As long as the answers on real sockets were watched.
fn watch_s() -> f64 {
    4.0
}

/// An answer, as far as it is compared.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The HTTP status.
    #[serde(default = "ok")]
    pub status: u16,
    /// Each event: its id or `-`, and what it carries: `∅` priming, with its `retry`; `p3` a part; `R` the response;
    /// `n` another notification; `:` a comment.
    #[serde(default)]
    pub events: Vec<String>,
    /// Whether the body has ended when the watch is over.
    pub then: Then,
}

fn ok() -> u16 {
    200
}

/// What has become of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Then {
    /// It goes on.
    Open,
    /// It ended as HTTP says it should.
    Closed,
    /// Its connection broke.
    Broken,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 50;
        let shown = &self.events[..self.events.len().min(SHOWN)];
        write!(f, "{} [{}", self.status, shown.join(", "))?;
        if self.events.len() > SHOWN {
            write!(f, ", … {} in all", self.events.len())?;
        }
        write!(f, "] {:?}", self.then)
    }
}

impl Case {
    /// What `subject` answers, as the file says.
    pub fn expected(&self, subject: Subject) -> Vec<Answer> {
        self.script.iter().filter_map(|step| step.expected(subject)).collect()
    }
}

impl Step {
    fn expected(&self, subject: Subject) -> Option<Answer> {
        let (expect, model) = match self {
            Step::Wait { .. } | Step::Cut { .. } => return None,
            Step::Watch { expect, model, .. } => (expect.as_ref(), model),
            Step::Initialize(ask) | Step::ListTools(ask) | Step::Call(ask) | Step::Get(ask) | Step::Delete(ask) => {
                (ask.expect.as_ref(), &ask.model)
            }
        };
        match subject {
            Subject::Model => model.as_ref().or(expect).cloned(),
            _ => expect.cloned(),
        }
    }
}
