//! Which runs this build on this machine can carry out: those of the official Rust SDK need it built in, and a platform
//! on which its clock and entropy can be simulated.

use super::scenario::Settings;
use crate::mcp::client::settings::Arm;
use crate::mcp::sdk::settings::Implementation;

/// What there is of the official Rust SDK here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sdk {
    /// It is built in, and its runs repeat.
    Repeatable,
    /// It is not built in.
    Absent,
    /// It is built in, but would read the system's clock and entropy.
    Unrepeatable,
}

/// Why a run cannot be carried out here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// The build has no SDK.
    #[error(
        "{what} is the official Rust SDK's, which this build is without: build with the feature `rmcp`, which is on by \
         default; everything else runs"
    )]
    NotBuiltIn {
        /// The arm or the server that asks for it.
        what: String,
    },
    /// The platform cannot simulate what the SDK reads.
    #[error(
        "{what} is the official Rust SDK's, whose clock and entropy cannot be simulated on this platform, so that no \
         run would repeat: it needs 64-bit Linux with the GNU C library; everything else runs"
    )]
    NotRepeatable {
        /// The arm or the server that asks for it.
        what: String,
    },
}

/// Whether a run of `arm` on `settings` can be carried out here.
///
/// # Errors
/// Where it needs the official Rust SDK, and this build is without it or this platform cannot make its runs repeat.
pub fn check(arm: Arm, settings: &Settings) -> Result<(), Unavailable> {
    judge(arm, settings.server.implementation, here())
}

fn here() -> Sdk {
    if !cfg!(feature = "rmcp") {
        Sdk::Absent
    } else if is_repeatable() {
        Sdk::Repeatable
    } else {
        Sdk::Unrepeatable
    }
}

#[cfg(feature = "rmcp")]
fn is_repeatable() -> bool {
    crate::world::interpose::is_supported()
}

#[cfg(not(feature = "rmcp"))]
fn is_repeatable() -> bool {
    false
}

fn judge(arm: Arm, server: Implementation, sdk: Sdk) -> Result<(), Unavailable> {
    let what = match (arm.implementation(), server) {
        (Implementation::Model, Implementation::Model) => return Ok(()),
        (Implementation::Rmcp, _) => format!("the arm `{arm}`"),
        (_, Implementation::Rmcp) => "the server that `server.implementation` = \"rmcp\" names".to_owned(),
    };
    match sdk {
        Sdk::Repeatable => Ok(()),
        Sdk::Absent => Err(Unavailable::NotBuiltIn { what }),
        Sdk::Unrepeatable => Err(Unavailable::NotRepeatable { what }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_the_models_alone_never_need_the_sdk() {
        for arm in Arm::ALL.into_iter().filter(|arm| arm.implementation() == Implementation::Model) {
            for sdk in [Sdk::Repeatable, Sdk::Absent, Sdk::Unrepeatable] {
                assert_eq!(judge(arm, Implementation::Model, sdk), Ok(()));
            }
        }
    }

    #[test]
    fn whatever_is_the_sdks_is_refused_by_name_where_it_cannot_run() {
        for arm in Arm::ALL {
            for server in [Implementation::Model, Implementation::Rmcp] {
                if (arm.implementation(), server) == (Implementation::Model, Implementation::Model) {
                    continue;
                }
                assert_eq!(judge(arm, server, Sdk::Repeatable), Ok(()));
                let named = match arm.implementation() {
                    Implementation::Rmcp => format!("the arm `{arm}` is"),
                    Implementation::Model => "`server.implementation` = \"rmcp\"".to_owned(),
                };
                let absent = judge(arm, server, Sdk::Absent).unwrap_err().to_string();
                assert!(absent.contains(&named) && absent.contains("the feature `rmcp`"), "{absent}");
                let unrepeatable = judge(arm, server, Sdk::Unrepeatable).unwrap_err().to_string();
                assert!(unrepeatable.contains(&named) && unrepeatable.contains("64-bit Linux"), "{unrepeatable}");
            }
        }
    }

    #[test]
    fn a_build_with_the_sdk_on_a_platform_that_simulates_runs_it() {
        let expected = if cfg!(not(feature = "rmcp")) {
            Sdk::Absent
        } else if cfg!(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64")) {
            Sdk::Repeatable
        } else {
            Sdk::Unrepeatable
        };
        assert_eq!(here(), expected);
    }
}
