//! Reading inside a record without copying it, and changing it without re-serialising it.
//!
//! Why not JSON crate: real files hold lone surrogates, invalid UTF-8, nesting past any
//! recursion limit and numbers no machine type keeps, and every crate that was measured either
//! refuses such a record or changes its bytes when writing. [`scan`] therefore indexes spans (a
//! [`Tape`]) over the untouched bytes, without recursion, and [`text`] decodes for display only.

mod id_paths;
pub mod marks;
mod members;
pub mod scan;
mod skim;
pub mod splice;
mod tape;
pub mod text;

pub use id_paths::{IdPaths, IdPlace};
pub use members::{insert_field, without_fields, without_items};
pub use scan::{Cause, Fault, scan};
pub use skim::{skim, string_end};
pub use splice::{Splice, SpliceError, splice};
pub use tape::{Fields, Items, Key, Kind, Oddities, Tape, Value};
