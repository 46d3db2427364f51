//! The laws of the fuzz targets on their seeds and on the bundled test data.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
#![allow(clippy::print_stderr, reason = "data that breaks a law is shown")]
#![allow(clippy::disallowed_methods, reason = "tests write files and read switches")]

mod mutate;
mod recognition;
mod rendering;
mod seam;
mod seeds;
mod tool_names;
