//! End to end: the program as a user runs it. One file per command.

mod capturing;
mod documentation;
mod listing;
mod machine;
mod rendering;
mod showing;
mod support;
