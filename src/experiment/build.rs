//! What is known of this build: the manifest of every result names it.

use super::results::manifest::{Build, sha256};

/// This build.
pub fn this_build() -> Build {
    Build {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        git_commit: env!("DESYNC_SIM_COMMIT").to_owned(),
        rustc: env!("DESYNC_SIM_RUSTC").to_owned(),
        cargo_lock_sha256: sha256(include_bytes!("../../Cargo.lock")),
    }
}
