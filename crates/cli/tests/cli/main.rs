//! End to end: the program as a user runs it. One file per command.

mod analyzing;
mod capturing;
mod checking;
mod documentation;
mod listing;
mod machine;
mod rendering;
mod showing;
mod support;
