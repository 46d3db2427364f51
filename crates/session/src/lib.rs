//! Sessions of coding agents: finding them, what happened in them, and every view on that.
//!
//! Nothing in this crate prints or reaches the network. Files are touched through
//! `backstory-store`; what happened in a session is the data of `backstory-model`.

pub mod agents;
pub mod analyze;
pub mod annotate;
pub mod check;
pub mod clear;
pub mod clone;
mod compare;
pub mod discover;
pub mod export;
pub mod gate;
pub mod history;
pub mod link;
pub mod listing;
pub mod normalise;
pub mod parallel;
pub mod render;
pub mod stats;
pub mod trust;
pub mod wire;
