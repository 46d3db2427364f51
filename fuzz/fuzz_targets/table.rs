#![no_main]

#[path = "../laws/table.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|data: &[u8]| laws::table(data));
