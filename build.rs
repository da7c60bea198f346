//! Records what a result's manifest says about the build: the commit and the compiler.

use std::process::Command;

#[expect(clippy::disallowed_methods, reason = "a build script is told by its environment which compiler builds")]
fn main() {
    #[expect(clippy::disallowed_methods, reason = "asks cargo about the build; no run is near")]
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    set("DESYNC_SIM_RUSTC", first_line(Command::new(rustc).arg("--version")));
    set("DESYNC_SIM_COMMIT", first_line(Command::new("git").args(["rev-parse", "HEAD"])));
    println!("cargo:rerun-if-changed=build.rs");
    // Outside a checkout these files are absent, and cargo then runs this script each time: it is quick.
    println!("cargo:rerun-if-changed=.git/HEAD");
    println!("cargo:rerun-if-changed=.git/refs/heads");
}

fn set(name: &str, value: Option<String>) {
    println!("cargo:rustc-env={name}={}", value.as_deref().unwrap_or("unknown"));
}

fn first_line(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).lines().next()?.to_owned())
}
