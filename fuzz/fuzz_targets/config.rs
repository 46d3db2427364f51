#![no_main]

#[path = "../laws/config.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|data: &[u8]| laws::config(data));
