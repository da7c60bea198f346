//! What a client does, as values: the `[client]` table of a scenario file, and the arms.

use serde::{Deserialize, Serialize};

use crate::cursor::Rules;
use crate::mcp::sdk::settings::{Implementation, RmcpClientSettings};
use crate::world::draw::Span;
use crate::world::time::Seconds;

/// The `[client]` table. Every arm shares it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClientSettings {
    /// Time between the starts of two calls of one client (an open loop: a slow call delays no other).
    pub call_interval_s: Span<Seconds>,
    /// The application's timeout for one call.
    pub call_timeout_s: Seconds,
    /// No call starts within this time of the horizon; by default the call timeout.
    pub drain_s: Option<Seconds>,
    /// Clients start at a uniform instant within this time.
    pub ramp_up_s: Seconds,
    /// First delay before a stream is opened again; a server's `retry` replaces it.
    pub reconnect_s: Seconds,
    /// Longest delay before a stream is opened again: delays double while attempts fail.
    pub reconnect_max_s: Seconds,
    /// How long a connection may take to be made, and a request to be answered with a status line.
    pub answer_timeout_s: Seconds,
    /// How long a client keeps a session before it ends it with DELETE and opens another; by default for ever.
    pub session_duration_s: Option<Span<Seconds>>,
    /// What happens to the calls in flight when the session is known to be lost.
    pub on_session_lost: OnSessionLost,
    /// Whether calls to a tool that is not idempotent are replayed too.
    pub replay_non_idempotent: bool,
    /// The rules of the arms that validate.
    pub rules: Rules,
    /// Whose client the arms are policies of. `client = "rmcp"` is short for it; `arms` may then be left out. By default
    /// each arm says it itself.
    pub implementation: Option<Implementation>,
    /// The official Rust SDK's own settings: of the arms `rmcp` and `rmcp-guarded`.
    pub rmcp: RmcpClientSettings,
}

impl Default for ClientSettings {
    fn default() -> ClientSettings {
        ClientSettings {
            call_interval_s: Span::exactly(Seconds::new(60)),
            call_timeout_s: Seconds::new(60),
            drain_s: None,
            ramp_up_s: Seconds::new(10),
            reconnect_s: Seconds::new(1),
            reconnect_max_s: Seconds::new(30),
            answer_timeout_s: Seconds::new(10),
            session_duration_s: None,
            on_session_lost: OnSessionLost::Replay,
            replay_non_idempotent: true,
            rules: Rules::default(),
            implementation: None,
            rmcp: RmcpClientSettings::default(),
        }
    }
}

/// What happens to the calls in flight when the session is known to be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnSessionLost {
    /// They are sent again in the new session, from their last application-level checkpoint.
    Replay,
    /// They fail with an error that names the lost session.
    Fail,
}

/// A client policy under test. The arms share every line of the client but this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arm {
    /// HTTP 200 is proof that the stream continues.
    Trusting,
    /// The first replayed event must be the successor of the cursor in the same epoch.
    Validating,
    /// Reconnects without `Last-Event-ID`: a fresh stream is what it asks for.
    NoCursor,
    /// The official Rust SDK's client, unmodified.
    Rmcp,
    /// The same behind a guard that validates its resumes.
    RmcpGuarded,
}

impl Arm {
    /// Every arm, in the order of tables and plots.
    pub const ALL: [Arm; 5] = [Arm::Trusting, Arm::Validating, Arm::NoCursor, Arm::Rmcp, Arm::RmcpGuarded];

    /// The arm's name in scenario files, on the command line and in result files.
    pub const fn name(self) -> &'static str {
        match self {
            Arm::Trusting => "trusting",
            Arm::Validating => "validating",
            Arm::NoCursor => "no-cursor",
            Arm::Rmcp => "rmcp",
            Arm::RmcpGuarded => "rmcp-guarded",
        }
    }

    /// One line for `list arms`.
    pub const fn summary(self) -> &'static str {
        match self {
            Arm::Trusting => "takes HTTP 200 for proof that the stream continues",
            Arm::Validating => "checks that the first replayed event is the successor of its cursor in the same epoch",
            Arm::NoCursor => "reconnects without Last-Event-ID and asks for a fresh stream",
            Arm::Rmcp => "the official Rust SDK's client, unmodified",
            Arm::RmcpGuarded => "the official Rust SDK's client behind a guard that checks every resumed stream",
        }
    }

    /// Whose client the arm is a policy of.
    pub const fn implementation(self) -> Implementation {
        match self {
            Arm::Trusting | Arm::Validating | Arm::NoCursor => Implementation::Model,
            Arm::Rmcp | Arm::RmcpGuarded => Implementation::Rmcp,
        }
    }
}

impl std::fmt::Display for Arm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Arm {
    type Err = UnknownArm;

    fn from_str(name: &str) -> Result<Arm, UnknownArm> {
        Arm::ALL.into_iter().find(|arm| arm.name() == name).ok_or_else(|| UnknownArm { name: name.to_owned() })
    }
}

/// A name that is no arm's.
#[derive(Debug, thiserror::Error)]
#[error("there is no arm `{name}`: expected one of {}", Arm::ALL.map(Arm::name).join(", "))]
pub struct UnknownArm {
    name: String,
}
