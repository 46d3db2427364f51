//! Sessions of coding agents: finding them, what happened in them, and every view on that.
//!
//! Nothing in this crate prints or reaches the network. Only [`store`] touches the file system;
//! [`model`] is plain data.

pub mod agents;
pub mod analyze;
pub mod annotate;
pub mod check;
pub mod clear;
pub mod clone;
mod compare;
pub mod document;
pub mod escape;
pub mod excerpt;
pub mod export;
pub mod figures;
pub mod gate;
pub mod history;
pub mod link;
pub mod listing;
pub mod model;
pub mod normalise;
pub mod parallel;
pub mod render;
pub mod stats;
pub mod store;
pub mod trust;
pub mod wire;
