#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| backstory_laws::render(data));
