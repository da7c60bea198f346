//! The oracle against hand-made histories.

mod alarms;
mod calls;
mod desyncs;
mod faults;
mod history;
mod memory;
mod restarts;
