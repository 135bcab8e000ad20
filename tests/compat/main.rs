//! Stock peers at the other end: whoever speaks iperf3's or sockperf's protocol cannot tell plumb from the original.
#![expect(clippy::disallowed_methods, reason = "tests read files and the clock, and wait")]

use std::process::ExitCode;

use plumb_tests::{Need, Sandbox};

mod alone;
mod iperf3_client;
mod iperf3_server;
mod peer;
mod sockperf;
mod tables;

const ROOT: Need = Need::Root;
const TCPDUMP: Need = Need::Program("tcpdump", "tcpdump");
const IPERF3: Need = Need::Program("iperf3", "iperf3");
const OPENSSL: Need = Need::Program("openssl", "openssl");

fn main() -> ExitCode {
    alone::run([sockperf::CASES, iperf3_client::CASES, iperf3_server::CASES].into_iter().flatten())
}

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_plumb"))
}
