//! Text for people: escaped for where it goes, shortened, counted, and laid out as documents.
//!
//! Everything that shows content of sessions uses this, so that nothing in it can act on a terminal
//! or become markup.

pub mod ansi;
pub mod document;
pub mod escape;
pub mod excerpt;
pub mod figures;
pub mod title;
