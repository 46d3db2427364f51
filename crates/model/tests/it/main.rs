//! What sessions hold, and what can be said of it without reading files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
#![allow(clippy::print_stderr, reason = "a machine without a shell compares nothing")]
#![allow(clippy::disallowed_methods, reason = "a shell is run to compare with it")]

mod shell;
mod shell_oracle;
