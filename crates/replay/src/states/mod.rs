//! States that teachers are asked about: read, brought into the compact form, cleared.
//!
//! A line of the states file is one conversation. Its messages are once; states say which of them
//! they have, so memory is that of one conversation, whatever the number of states.

mod clear;
mod conversation;
mod file;
mod gather;

pub use clear::clear;
pub use conversation::{Conversation, State};
pub use file::{Place, StatesFile};
pub use gather::{Gatherer, StatesError, looks_like_states};
