#![no_main]

#[path = "../laws/agents.rs"]
mod laws;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    laws::agents(data);
});
