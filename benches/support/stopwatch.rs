//! How long a piece of single-threaded work takes.

use std::time::{Duration, Instant};

/// Measures the time of the thread that it was started on.
pub struct Stopwatch {
    real: Instant,
    processor: Option<Duration>,
}

impl Stopwatch {
    /// Starts.
    pub fn start() -> Stopwatch {
        Stopwatch { real: Instant::now(), processor: processor_time() }
    }

    /// Time on the processor since the start; real time where the system does not tell.
    pub fn elapsed(&self) -> Duration {
        match (self.processor, processor_time()) {
            (Some(start), Some(now)) => now.saturating_sub(start),
            _ => self.real.elapsed(),
        }
    }
}

/// What this thread has spent on a processor: the first field of Linux's `schedstat`, in nanoseconds.
fn processor_time() -> Option<Duration> {
    let fields = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    fields.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}
