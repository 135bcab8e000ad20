//! What a guest hypervisor says of the run that it conducts.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| protocol::exercise::from_conductor(bytes));
