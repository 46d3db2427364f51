#![no_main]

#[path = "../laws/edits.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|data: &[u8]| laws::edits(data));
