//! End to end: the program as a user runs it. One file per command.
#![allow(clippy::disallowed_methods, reason = "tests write files and read switches")]

mod agents;

mod blaming;
mod capturing;
mod checking;
mod clone_faults;
mod cloning;
mod configuring;
mod documentation;
mod edits_of_agents;
#[cfg(target_os = "linux")]
mod endless;
mod exporting;
mod faults;
mod format_spec;
mod git_calls;
mod linking;
mod linking_elsewhere;
mod listing;
#[cfg(unix)]
mod outputs;
mod overview;
mod pairing;
mod redacted_copies;
mod redacting;
mod rendering;
mod repeated_lines;
mod replay_limits;
mod replay_secrets;
mod replaying;
mod repo_fixture;
mod resuming;
mod roots;
#[cfg(unix)]
mod schemas;
mod scoping;
mod searching;
mod second_clone;
mod settings;
mod showing;
mod spending;
mod support;
mod system_prompts;
mod traces;
mod training;
