//! Clones: what stays stays byte for byte, what was planned is found, and cloning twice is once.

mod random;
mod spans;
mod support;
mod usage;
