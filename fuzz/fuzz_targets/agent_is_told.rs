//! What a controller says to an agent.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| protocol::exercise::to_agent(bytes));
