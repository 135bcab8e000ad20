//! What a server says on the control connection, to our client.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| codecs::iperf3::exercise::client_control(bytes));
