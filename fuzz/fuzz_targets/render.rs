#![no_main]

#[path = "../laws/render.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|data: &[u8]| laws::render(data));
