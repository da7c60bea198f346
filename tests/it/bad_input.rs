//! What the program says, ends with and leaves behind when it is given something bad.

mod command_line;
mod folders;
mod interrupts;
mod scenario_files;
