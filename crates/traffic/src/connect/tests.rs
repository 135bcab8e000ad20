//! Complete connection workloads on a private loopback.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::atomic::AtomicU64,
    thread,
    time::Duration,
};

use plumb_tests::{in_one_of_five, on_loopback};
use units::{Bytes, Nanos};
use workload::{ConnectData, ConnectEnd, ConnectSettings, SocketSettings};

use super::{Server, run_client};
use crate::{
    ClientSpec, Error, Outcome, ServerSpec, Stop,
    handshake::{Handshake, Purpose},
    testing::{HERE, Moves, TOKEN},
};

fn load(clients: u32, request: u64, response: u64) -> ConnectSettings {
    ConnectSettings {
        clients,
        request: Bytes(request),
        response: Bytes(response),
        warmup: Nanos::from_millis(50),
        ..ConnectSettings::new(Nanos::from_millis(250))
    }
}

fn play(
    load: &ConnectSettings,
    meanwhile: impl FnOnce(u16),
) -> (Result<Outcome<ConnectEnd>, Error>, Result<Outcome<ConnectEnd>, Error>) {
    let stop = Stop::new();
    let spec = ServerSpec { token: TOKEN, bind: HERE, load: load.clone(), cpus: None };
    let server = Server::open(spec).expect("loopback");
    let at = SocketAddr::new(HERE, server.port());
    let client = ClientSpec { token: TOKEN, bind: HERE, server: at, load: load.clone(), cpus: None };
    thread::scope(|scope| {
        let server = scope.spawn(|| server.run(&stop, &()));
        meanwhile(at.port());
        let client = run_client(&client, &stop, &());
        (client, server.join().expect("no panic"))
    })
}

fn data(outcome: &Outcome<ConnectEnd>) -> ConnectData {
    outcome.measured.clone().alone()
}

fn check(load: &ConnectSettings) {
    let Some((client, server)) = on_loopback(|| play(load, |_| {})) else { return };
    let (client, server) = (client.expect("runs"), server.expect("runs"));
    let data = data(&client);
    let done = data.exchanges.count();
    assert!(done > 10, "{load:?}: {done}");
    assert_eq!((data.failed, data.connects.count()), (0, done), "{load:?}");
    assert!(data.elapsed >= Nanos::from_millis(200), "{}", data.elapsed);
    let measured: u64 = data.intervals.iter().filter(|i| !i.warmup).map(|i| i.done).sum();
    assert!((done..=done + u64::from(load.clients)).contains(&measured), "{measured} {done}");
    assert!(data.intervals.windows(2).all(|pair| pair[0].end == pair[1].start));
    assert_eq!(data.intervals.iter().filter(|i| i.warmup).count(), 1);
    assert!(data.client.addresses.as_ref().is_some_and(|a| a.contains("127.0.0.1")));
    assert_eq!(client.threads.len(), load.clients as usize);
    assert!(server.threads.iter().any(|thread| thread.busy > Nanos(0)));
}

#[test]
fn every_connection_transfers_request_and_response() {
    for (clients, request, response) in [(1, 64, 64), (1, 0, 1), (3, 41, 1), (2, 100_000, 300_000)] {
        in_one_of_five(|| check(&load(clients, request, response)));
    }
}

#[test]
fn more_connections_than_ports_do_not_fail() {
    let mut load = load(2, 64, 64);
    load.duration = Nanos::from_millis(2500);
    in_one_of_five(|| ports_suffice(&load));
}

fn ports_suffice(load: &ConnectSettings) {
    let Some(outcome) = on_loopback(|| {
        sys_ports("30000 30039");
        play(load, |_| {}).0
    }) else {
        return;
    };
    let outcome = outcome.expect("runs");
    assert_eq!(data(&outcome).failed, 0);
    assert!(data(&outcome).exchanges.count() > 200, "{}", data(&outcome).exchanges.count());
}

#[expect(clippy::disallowed_methods, reason = "a test configures its own namespace")]
fn sys_ports(range: &str) {
    std::fs::write("/proc/sys/net/ipv4/ip_local_port_range", range).expect("root in its namespace");
}

#[test]
fn unknown_peers_get_no_response_and_do_not_interfere() {
    in_one_of_five(strangers_come);
}

fn strangers_come() {
    let mut load = load(1, 64, 64);
    load.duration = Nanos::from_millis(1000);
    let stranger = |port: u16, token: u64| {
        // The server closes connections that precede the control connection.
        let mut stream = TcpStream::connect((HERE, port)).expect("listens");
        stream.set_read_timeout(Some(Duration::from_secs(5))).expect("timeout");
        let mut request = Handshake { token, purpose: Purpose::Connect, number: 1 }.encode().to_vec();
        request.extend(64_u32.to_be_bytes());
        request.extend(u32::MAX.to_be_bytes());
        request.resize(64, 0);
        stream.write_all(&request).expect("sent");
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer.len()
    };
    let Some((client, answers)) = on_loopback(|| {
        thread::scope(|scope| {
            let mut strangers = Vec::new();
            let (client, server) = play(&load, |port| {
                for token in [!TOKEN, TOKEN] {
                    strangers.push(scope.spawn(move || {
                        thread::sleep(Duration::from_millis(200));
                        stranger(port, token)
                    }));
                }
                strangers.push(scope.spawn(move || {
                    thread::sleep(Duration::from_millis(200));
                    let stream = TcpStream::connect((HERE, port)).expect("listens");
                    thread::sleep(Duration::from_millis(500));
                    drop(stream);
                    0
                }));
            });
            server.expect("runs");
            let answers: Vec<_> = strangers.into_iter().map(|s| s.join().expect("no panic")).collect();
            (client.expect("runs"), answers)
        })
    }) else {
        return;
    };
    assert_eq!(answers, [0, 0, 0], "a wrong token, a response of 4 GiB, a silent peer");
    assert_eq!(data(&client).failed, 0);
    assert!(data(&client).exchanges.count() > 100);
}

#[test]
fn dead_server_ends_client_with_an_error_that_names_it() {
    let mut load = load(1, 64, 64);
    load.duration = Nanos::from_secs(30);
    let Some((error, port)) = on_loopback(|| {
        let (ours, theirs) = (Stop::new(), Stop::new());
        let spec = ServerSpec { token: TOKEN, bind: HERE, load: load.clone(), cpus: None };
        let server = Server::open(spec).expect("loopback");
        let port = server.port();
        let at = SocketAddr::new(HERE, port);
        let client = ClientSpec { token: TOKEN, bind: HERE, server: at, load: load.clone(), cpus: None };
        let moves = &Moves::default();
        thread::scope(|scope| {
            scope.spawn(|| server.run(&theirs, &()));
            scope.spawn(|| {
                moves.wait();
                theirs.ask();
            });
            (run_client(&client, &ours, moves).expect_err("the server died").to_string(), port)
        })
    }) else {
        return;
    };
    assert!(error.contains(&format!("connections to 127.0.0.1:{port}")), "{error}");
}

#[test]
fn slow_peer_is_dropped_at_timeout_and_at_the_end() {
    in_one_of_five(drips_are_given_up);
}

fn drips_are_given_up() {
    let drip = |limit: Nanos, goes_on: bool| {
        on_loopback(|| {
            let listener = std::net::TcpListener::bind((HERE, 0)).expect("loopback");
            let mut peer = TcpStream::connect(listener.local_addr().expect("bound")).expect("loopback");
            let (socket, _) = listener.accept().expect("just connected");
            let handshake = Handshake { token: TOKEN, purpose: Purpose::Connect, number: 1 };
            let carried = AtomicU64::new(0);
            let served = thread::scope(|scope| {
                scope.spawn(move || {
                    let sizes = [1000_u32.to_be_bytes(), 1_u32.to_be_bytes()].concat();
                    let rest = [0; 960];
                    for byte in sizes.iter().chain(&rest) {
                        if peer.write_all(&[*byte]).is_err() {
                            break;
                        }
                        thread::sleep(Duration::from_millis(2));
                    }
                });
                let served = super::serve(&socket, handshake, limit, &carried, || goes_on);
                drop(socket);
                served.is_ok()
            });
            (served, carried.into_inner())
        })
    };
    let Some((served, carried)) = drip(Nanos::from_secs(600), true) else { return };
    assert_eq!((served, carried), (true, 8 + 960 + 1), "within its time limit");
    let (served, carried) = drip(Nanos::from_millis(200), true).expect("as before");
    assert!(!served && carried < 500, "{carried}");
    let (served, carried) = drip(Nanos::from_secs(60), false).expect("as before");
    assert!(!served && carried < 500, "{carried}");
}

#[test]
fn rejects_invalid_settings() {
    let good = load(1, 64, 64);
    let socket = SocketSettings { source_port: Some(7000), ..SocketSettings::kernel() };
    for (load, allowed) in [
        (ConnectSettings { clients: 0, ..good.clone() }, "1 to 1024"),
        (ConnectSettings { clients: 1025, ..good.clone() }, "1 to 1024"),
        (ConnectSettings { request: Bytes((16 << 20) + 1), ..good.clone() }, "16 MiB"),
        (ConnectSettings { response: Bytes(0), ..good.clone() }, "1 byte"),
        (ConnectSettings { duration: Nanos(0), ..good.clone() }, "longer"),
        (ConnectSettings { interval: Nanos(0), ..good.clone() }, "1 ms"),
        (ConnectSettings { socket, ..good }, "none"),
    ] {
        let spec = ServerSpec { token: TOKEN, bind: HERE, load, cpus: None };
        let error = Server::open(spec).expect_err("no sense").to_string();
        assert!(error.contains(allowed), "{error}");
    }
}
