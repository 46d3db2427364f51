//! End to end: the program as a user runs it. One file per command.

mod blaming;
mod documentation;
mod faults;
mod listing;
mod machine;
mod showing;
mod support;
mod traces;
