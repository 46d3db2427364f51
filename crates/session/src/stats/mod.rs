//! Tokens and what they cost, over any number of sessions.
//!
//! A message is counted once, wherever and however often it occurs: clients write one record per
//! block, and resumes, forks and compactions copy records into other files. This is not the model:
//! [`gather`] searches files for the records of models and reads nothing else, which takes a
//! fraction of the time and gives the same sums (`tests/spending.rs`).
//!
//! Costs are sums of whole trillionths of a dollar, so they do not depend on the order of adding.

#![warn(missing_docs)]

mod agents;
mod cost;
mod gather;
mod prices;
mod report;
mod spent;
mod split;

pub use agents::agent_types;
pub use cost::Cost;
pub use gather::{Ledger, Message, Origin, Source, gather};
pub use prices::{Prices, PricesError};
pub use report::{Dimension, Period, Report, Row, report};
pub use spent::Figures;
