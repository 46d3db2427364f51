#![no_main]

#[path = "../laws/packed.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|data: &[u8]| laws::packed(data));
