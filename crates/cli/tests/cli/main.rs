//! End to end: the program as a user runs it. One file per command.

mod analyzing;
mod documentation;
mod listing;
mod machine;
mod showing;
mod support;
