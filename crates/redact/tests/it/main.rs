//! What is taken out, and what stays.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
#![allow(clippy::disallowed_methods, reason = "tests write files and read switches")]

mod encoded;
mod keys;
mod known;
mod scrubbing;
mod support;
mod values;
