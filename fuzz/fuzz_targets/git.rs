#![no_main]

#[path = "../laws/git.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|data: &[u8]| laws::git(data));
