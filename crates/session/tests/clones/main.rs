//! Clones: what stays stays byte for byte, what was planned is found, and cloning twice is once.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::disallowed_methods)]

mod random;
mod spans;
mod support;
mod usage;
