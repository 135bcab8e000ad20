//! What another plumb tells of a test in iperf3's results.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| server::exercise::record(bytes));
