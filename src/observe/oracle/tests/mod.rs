//! The oracle against hand-made histories.

mod alarms;
mod any_history;
mod calls;
mod desyncs;
mod faults;
mod history;
mod memory;
mod restarts;
