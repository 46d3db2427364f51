//! Asking teacher models what they would do at each state of a session.
//!
//! The only crate that can reach the network. What it sends was cleared before it got here, and
//! what it hears goes into a journal before anything else happens.

mod api;
pub mod estimate;
pub mod journal;
pub mod pairs;
pub mod price;
pub mod run;
pub mod states;
pub mod teacher;
pub mod wire;

pub use backstory_model::Money;
