//! Tests that plumb interoperates with stock clients and servers of iperf3 and sockperf.
#![expect(clippy::disallowed_methods, reason = "tests read files and the clock, and wait")]

use std::process::ExitCode;

use plumb_tests::{Need, Sandbox};

mod alone;
mod confined;
mod iperf3_client;
mod iperf3_server;
mod link_local;
mod other_user;
mod peer;
mod sockperf;
mod tables;
mod udp_port;
mod vanished;

const ROOT: Need = Need::Root;
const TCPDUMP: Need = Need::Program("tcpdump", "tcpdump");
const IPERF3: Need = Need::Program("iperf3", "iperf3");
const OPENSSL: Need = Need::Program("openssl", "openssl");

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some((other_user::ROLE, words)) = words.split_first().map(|(role, rest)| (role.as_str(), rest)) {
        other_user::play(words);
        return ExitCode::SUCCESS;
    }
    let cases = [
        sockperf::CASES,
        iperf3_client::CASES,
        iperf3_server::CASES,
        udp_port::CASES,
        vanished::CASES,
        link_local::CASES,
        confined::CASES,
    ];
    alone::run(cases.into_iter().flatten())
}

fn sandbox() -> Sandbox {
    Sandbox::new(env!("CARGO_BIN_EXE_plumb"))
}
