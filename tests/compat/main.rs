//! Stock peers at the other end: whoever speaks iperf3's or sockperf's protocol cannot tell plumb from the original.
#![expect(clippy::disallowed_methods, reason = "tests read files and the clock, and wait")]

use std::process::ExitCode;

use plumb_tests::{Case, Need, Sandbox, run};

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
    let all = [iperf3_client::CASES, iperf3_server::CASES, sockperf::CASES];
    let cases: Vec<Case> = all.into_iter().flatten().map(|case| Case { ..*case }).collect();
    run(&cases)
}

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_plumb"))
}
