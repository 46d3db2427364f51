//! One row per session.
//!
//! A full [`Summary`] comes from the model. [`peek`] reads only the head and the tail of a file and
//! leaves out what that cannot tell; what it does tell is always what the full reading would say.

mod peek;
mod summary;

pub use peek::{Buffers, peek};
pub use summary::{Full, Summary};
