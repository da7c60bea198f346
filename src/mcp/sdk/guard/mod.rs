//! A guard around any HTTP backend of the official Rust SDK: it checks resumed streams with the rules of
//! [`cursor`](crate::cursor) and turns a silent loss into an explicit error of exactly the calls that are lost.
