#![no_main]

#[path = "../laws/redact.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|data: &[u8]| laws::redact(data));
