//! The integration tests: the program from outside, and the rules that its sources keep.

mod tidy;
