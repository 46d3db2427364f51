//! End to end: the program as a user runs it. One file per command.
#![allow(clippy::disallowed_methods, reason = "tests write files and read switches")]

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
mod edits_of_agents;
#[cfg(target_os = "linux")]
mod endless;
mod exporting;
mod faults;
mod git_calls;
mod linking;
mod linking_elsewhere;
mod listing;
mod machine;
#[cfg(unix)]
mod outputs;
mod pairing;
mod redacting;
mod rendering;
mod repeated_lines;
mod replay_limits;
mod replay_secrets;
mod replaying;
mod roots;
#[cfg(unix)]
mod schemas;
mod searching;
mod settings;
mod showing;
mod spending;
mod support;
mod told;
mod traces;
mod training;
