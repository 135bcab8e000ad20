//! Implements `make demo-fleet`: six hosts in network namespaces on a bridge, where `plumb` must find the slow host
//! and the lossy path.
#![expect(clippy::disallowed_macros, reason = "prints its progress")]

use std::process::{Command, ExitCode};

use plumb_tests::{Fleet, Need, Network, PostgresServer, by_member, by_ssh, pairs};

const NEEDS: [Need; 6] = [
    Need::Root,
    Need::Program("sshd", "openssh-server"),
    Need::Program("ip", "iproute2"),
    Need::Program("nft", "nftables"),
    Need::Program("nats-server", "nats-server"),
    Need::PostgresServer,
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
    eprintln!("six hosts, a to f, in network namespaces on a bridge");
    let network = Network::of(&plumb, 6);
    eprintln!(
        "c is limited to 1 Gbit/s in both directions (tc tbf); a fifth of the packets from b to e is lost (nft)"
    );
    network.limit(2, "1gbit");
    network.lose(20, [1, 4]);
    let store = PostgresServer::new();
    let database = store.database();
    eprintln!("PostgreSQL for the run: {database}");
    let fleet = Fleet::of(network, 1..6);
    eprintln!("a is reached by SSH, the others by members (plumb fleet list):");
    let hosts = by_ssh(0..1).chain(by_member(1..6));
    let file = fleet.network.sandbox.file("all-pairs.toml", &pairs("pairs = \"all\"", hosts, 5, "500ms"));
    let listed = succeed(&mut fleet.network.command(&["fleet", "list"]));
    match listed.and_then(|()| succeed(&mut fleet.network.command(&["run", &file, "--db", &database]))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn succeed(command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("plumb: {status}")),
        Err(error) => Err(format!("plumb cannot be started: {error}")),
    }
}
