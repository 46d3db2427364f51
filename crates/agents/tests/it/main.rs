//! Readers of other agents' traces, on files made here.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
#![allow(clippy::disallowed_methods, reason = "tests write files and read switches")]

mod aider;
mod chat;
mod cline;
mod codex;
mod codex_faults;
mod damage;
mod detection;
mod dialogue;
mod gemini_cli;
mod manifest;
mod openhands;
mod registry;
mod support;
