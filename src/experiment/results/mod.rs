//! The result folder's files.

pub mod rows;
