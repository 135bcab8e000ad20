//! What a client says on the control connection, to our server.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| codecs::iperf3::exercise::server_control(bytes));
