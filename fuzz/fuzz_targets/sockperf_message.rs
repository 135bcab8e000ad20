//! Messages to a sockperf server and to a client.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| codecs::sockperf::exercise(bytes));
