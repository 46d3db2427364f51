//! Sessions of coding agents: finding them, what happened in them, and every view on that.
//!
//! Nothing in this crate prints or reaches the network. Only [`store`] touches the file system;
//! [`model`] is plain data.

pub mod agents;
pub mod annotate;
pub mod escape;
pub mod history;
pub mod listing;
pub mod model;
pub mod store;
pub mod wire;
