//! Asking teacher models what they would do at each state of a session.
//!
//! The only crate that can reach the network. What it sends was cleared before it got here, and
//! what it hears goes into a journal before anything else happens.

pub mod journal;
pub mod money;

pub use money::Money;
