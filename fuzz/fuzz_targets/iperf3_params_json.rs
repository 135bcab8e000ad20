//! JSON of every kind: parameters, results, output.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| codecs::iperf3::exercise::json(bytes));
