//! What the process holds, counted by its allocator.

use std::alloc::System;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

static MEASURING: RwLock<()> = RwLock::new(());

/// No other test runs for as long as the answer lives: what is counted is this test's.
pub fn alone() -> RwLockWriteGuard<'static, ()> {
    MEASURING.write().unwrap_or_else(PoisonError::into_inner)
}

/// Runs beside others that measure nothing.
pub fn beside() -> RwLockReadGuard<'static, ()> {
    MEASURING.read().unwrap_or_else(PoisonError::into_inner)
}

/// The bytes that are allocated now.
pub fn live_bytes() -> i64 {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated as i64 - stats.bytes_deallocated as i64
}
