//! Scenario documents, which may be anybody's.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| scenario::exercise::scenario(bytes));
