//! Simulated clock and entropy for code that asks the operating system for them.

use std::time::Duration;

use super::draw::Stream;

/// While it lives, this thread's clock and entropy are the simulation's.
pub struct Inside(());

/// Whether this platform and this binary answer with simulated time and entropy inside a run.
pub fn is_supported() -> bool {
    false
}

/// From now on, and until the answer is dropped, `clock_gettime` on this thread reads `clock`, and `getrandom` on this
/// thread reads `entropy`. Where `clock` has no answer, the last one stands.
pub fn enter(clock: fn() -> Option<Duration>, entropy: Stream) -> Inside {
    let _ = (clock, entropy);
    Inside(())
}
