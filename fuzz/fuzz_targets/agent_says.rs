//! What an agent says to the controller, which may be anybody's in a guest.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| protocol::exercise::from_agent(bytes));
