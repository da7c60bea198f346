//! Ctrl-C: the first one stops the work in good order, the second one at once.

use std::sync::atomic::{AtomicBool, Ordering};

use super::Exit;

static STOP: AtomicBool = AtomicBool::new(false);

/// The flag that the first Ctrl-C sets. Installs the handler.
pub fn stop_flag() -> &'static AtomicBool {
    let installed = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(Exit::Interrupted.code()));
        }
        eprintln!("\ninterrupted: ending the runs in progress (once more ends them at once)");
    });
    // Without a handler Ctrl-C ends the process as it does any other.
    drop(installed);
    &STOP
}
