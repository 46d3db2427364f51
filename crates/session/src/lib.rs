//! Sessions of coding agents: finding them, what happened in them, and every view on that.
//!
//! Nothing in this crate prints or reaches the network. Files are touched through
//! `backstory-store`; what happened in a session is the data of `backstory-model`.

pub mod annotate;
pub mod blame;
pub mod clear;
mod compare;
pub mod discover;
pub mod history;
pub mod link;
pub mod parallel;
pub mod render;
pub mod select;
pub mod stats;
pub mod trust;
pub mod wire;
