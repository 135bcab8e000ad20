//! Logs as JSON documents, alone and among text.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| import::exercise::import(bytes));
