//! Runs both ends of a load on loopback in one process and counts allocations.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    thread,
};

use traffic::{ClientSpec, Outcome, Server, ServerSpec, Stop, run_client};
use workload::WorkloadSettings;

use crate::counting;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

pub(crate) fn run(load: WorkloadSettings) -> (u64, Outcome) {
    let stop = Stop::new();
    let before = counting::taken();
    let server = ServerSpec { token: 7, bind: HERE, load: load.clone(), cpus: None };
    let server = Server::open(&server).expect("loopback");
    let at = SocketAddr::new(HERE, server.port());
    let client = ClientSpec { token: 7, bind: HERE, server: at, load, cpus: None };
    let outcome = thread::scope(|scope| {
        let server = scope.spawn(|| server.run(&stop, &()).expect("runs"));
        let outcome = run_client(&client, &stop, &()).expect("runs");
        server.join().expect("no panic");
        outcome
    });
    (counting::taken() - before, outcome)
}
