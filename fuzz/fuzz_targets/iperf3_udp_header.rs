//! Datagrams of iperf3's UDP tests.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| codecs::iperf3::exercise::datagram(bytes));
