//! (room report)
