#![no_main]

#[path = "../laws/answers.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|data: &[u8]| laws::answers(data));
