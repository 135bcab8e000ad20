//! Logs as text: rows, headings, whatever stands between.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| import::exercise::import(bytes));
