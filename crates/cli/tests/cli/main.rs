//! End to end: the program as a user runs it. One file per command.

mod analyzing;
mod checking;
mod documentation;
mod listing;
mod machine;
mod showing;
mod support;
