//! `make demo-fleet`: six hosts in network namespaces of this machine, on a bridge, each with an sshd of its own; one is limited to
//! 1 Gbit/s, and what another sends to a third is lost in part. `plumb` measures all pairs by SSH and names both. Nothing is left.
#![expect(clippy::disallowed_macros, reason = "it tells what it does")]

use std::process::ExitCode;

use plumb_tests::{Need, Network, pairs};

const NEEDS: [Need; 4] = [
    Need::Root,
    Need::Program("sshd", "openssh-server"),
    Need::Program("ip", "iproute2"),
    Need::Program("nft", "nftables"),
];

fn main() -> ExitCode {
    let Some(plumb) = std::env::args().nth(1) else {
        eprintln!("usage: demo_fleet PLUMB");
        return ExitCode::from(2);
    };
    if let Some(unmet) = NEEDS.into_iter().find_map(Need::unmet) {
        eprintln!("demo-fleet {unmet}");
        return ExitCode::from(3);
    }
    eprintln!("six hosts, a to f, with an sshd each, in network namespaces on a bridge");
    let network = Network::of(&plumb, 6);
    eprintln!("c is limited to 1 Gbit/s both ways (tc tbf); of what b sends to e a fifth is lost (nft)");
    network.limit(2, "1gbit");
    network.lose(20, [1, 4]);
    let file = network.sandbox.file("all-pairs.toml", &pairs("pairs = \"all\"", 0..6, 5, "500ms"));
    let status = network.command(&["run", &file]).status();
    match status {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(status) => {
            eprintln!("plumb run: {status}");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("plumb cannot be started: {error}");
            ExitCode::FAILURE
        }
    }
}
