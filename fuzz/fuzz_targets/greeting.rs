//! The first bytes of a stranger's connection to our server, and its datagrams.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| server::exercise::first_bytes(bytes));
