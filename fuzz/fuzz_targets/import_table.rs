//! Tables, lists, and what sockperf, netperf, strace and perf print; the first two lines name columns.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| import::exercise::table(bytes));
