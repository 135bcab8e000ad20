//! A round trip takes no memory: ten times the time and the messages, no more allocations.

mod counting;

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    thread,
};

use load::{Load, PingPongLoad, Schedule, Transport, Waiting};
use sys::netns::{NetNs, bring_loopback_up};
use traffic::{ClientSpec, Server, ServerSpec, Stop, run_client};
use units::Nanos;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// What may differ for other reasons: a thread was seen on one more CPU, a channel needs another block.
const CHANCE: u64 = 40;

/// Allocations of both ends together, from the listening socket to the records, and the round trips made.
fn run(load: &PingPongLoad, duration: Nanos) -> (u64, u64) {
    let load = Load::PingPong(PingPongLoad { duration, ..load.clone() });
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
    let round_trips = outcome.ping_pong.expect("a ping-pong").round_trips.count();
    (counting::taken() - before, round_trips)
}

fn loads() -> Vec<PingPongLoad> {
    let mut loads = Vec::new();
    for transport in [Transport::Tcp, Transport::Udp] {
        for waiting in [Waiting::Block, Waiting::Spin] {
            for schedule in [Schedule::Closed, Schedule::Open { period: Nanos(100_000) }] {
                loads.push(PingPongLoad {
                    transport,
                    waiting,
                    schedule,
                    interval: Nanos::from_secs(60),
                    ..PingPongLoad::new(Nanos(0))
                });
            }
        }
    }
    loads
}

#[test]
#[expect(clippy::disallowed_macros, reason = "a test says why it tests nothing")]
fn ten_times_the_messages_take_no_more_memory() {
    let ns = match NetNs::create("the test") {
        Ok(ns) => ns,
        Err(error) => return eprintln!("returns early: {error}"),
    };
    let inside = || {
        bring_loopback_up().expect("root of its namespace");
        for load in loads() {
            let (taken, few) = run(&load, Nanos::from_millis(100));
            let (taken_by_many, many) = run(&load, Nanos::from_millis(1000));
            assert!(many > few + 500, "{few} and then {many}: {load:?}");
            let bound = taken + CHANCE;
            assert!(taken > 0 && taken_by_many <= bound, "{taken} and then {taken_by_many}: {load:?}");
        }
    };
    ns.run_in(inside).expect("enters its own namespace");
}
