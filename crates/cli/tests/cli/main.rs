//! End to end: the program as a user runs it. One file per command.

mod agents;
mod analyzing;
mod blaming;
mod capturing;
mod checking;
mod clone_faults;
mod cloning;
mod copies;
mod desk;
mod documentation;
mod exporting;
mod faults;
mod linking;
mod listing;
mod machine;
mod pairing;
mod redacting;
mod rendering;
mod replay_limits;
mod replay_secrets;
mod replaying;
mod showing;
mod spending;
mod support;
mod told;
mod traces;
mod training;

#[path = "../../../session/tests/common/mod.rs"]
mod common;
#[allow(clippy::disallowed_methods)]
#[path = "../../../session/tests/leaks/planted.rs"]
mod planted;
