//! Tests for setup, end and refusal.

use std::{
    net::{SocketAddr, UdpSocket},
    thread,
    time::Duration,
};

use plumb_tests::{in_one_of_five, on_loopback};
use units::{Bytes, Nanos};
use workload::{Background, Direction, Mode, PingPongSettings, Schedule, Transport};

use super::{client_spec, data, play, server_spec, settings};
use crate::{
    MtuSpec, Observer, Passage, Progress, Stop,
    handshake::{Handshake, Purpose},
    ping_pong::{Greeting, GreetingKind, Server, run_client},
    probe_mtu,
    testing::{BUSY, HERE, Moves, TOKEN},
};

#[test]
fn ignores_unknown_peers() {
    let load = settings(Transport::Udp, 64);
    let disturb = |port: u16| {
        let stranger = UdpSocket::bind((HERE, 0)).expect("bind");
        stranger.send_to(b"garbage", (HERE, port)).expect("sent");
        stranger.send_to(&[0; 32], (HERE, port)).expect("sent");
        stranger.set_read_timeout(Some(Duration::from_millis(100))).expect("timeout");
        assert!(stranger.recv(&mut [0; 64]).is_err());
        port
    };
    let Some((client, server)) = on_loopback(|| play(&load, disturb)) else { return };
    assert_eq!(data(&client.expect("runs")).lost, Some(0));
    server.expect("runs");
}

#[test]
fn token_without_verified_address_is_not_enough() {
    let load = settings(Transport::Udp, 64);
    let ask = |port: u16| {
        let stranger = UdpSocket::bind((HERE, 0)).expect("bind");
        stranger.set_read_timeout(Some(Duration::from_secs(5))).expect("timeout");
        let handshake = Handshake { token: TOKEN, purpose: Purpose::PingPong, number: 0 };
        let mut answer = [0; 64];
        for bytes in [Greeting::asking(handshake), Greeting::asking(handshake).with(GreetingKind::Proves)] {
            stranger.send_to(&bytes.encode(), (HERE, port)).expect("sent");
            let length = stranger.recv(&mut answer).expect("an offer");
            let offer = Greeting::decode(&answer[..length]).expect("a greeting");
            assert_eq!(offer.kind, GreetingKind::Offers);
        }
    };
    let Some((client, server)) = on_loopback(|| {
        let stop = Stop::new();
        let server = Server::open(server_spec(&load)).expect("loopback");
        let client = client_spec(&load, server.port());
        thread::scope(|scope| {
            let server = scope.spawn(|| server.run(&stop, &()));
            ask(client.server.port());
            (run_client(&client, &stop, &()), server.join().expect("no panic"))
        })
    }) else {
        return;
    };
    assert_eq!(data(&client.expect("runs")).lost, Some(0));
    server.expect("runs");
}

#[test]
fn error_names_dead_server() {
    for transport in [Transport::Tcp, Transport::Udp] {
        let mut load = settings(transport, 64);
        load.duration = Nanos::from_secs(5);
        let Some((error, port)) = on_loopback(|| {
            let (ours, theirs) = (Stop::new(), Stop::new());
            let server = Server::open(server_spec(&load)).expect("loopback");
            let port = server.port();
            let moves = &Moves::default();
            thread::scope(|scope| {
                scope.spawn(|| server.run(&theirs, &()));
                scope.spawn(|| {
                    moves.wait();
                    theirs.ask();
                });
                let client = run_client(&client_spec(&load, port), &ours, moves);
                (client.expect_err("the server died").to_string(), port)
            })
        }) else {
            return;
        };
        assert!(error.contains(&format!("127.0.0.1:{port}")), "{transport:?}: {error}");
    }
}

#[test]
fn stop_ends_both_ends_within_100_ms() {
    in_one_of_five(stops);
}

fn stops() {
    #[derive(Default)]
    struct Stopper(Stop, std::cell::Cell<u64>);
    impl Observer for Stopper {
        fn progress(&self, progress: Progress) {
            if !self.0.is_asked() {
                assert!(
                    progress.covers >= Nanos::from_millis(90) && progress.elapsed >= progress.covers,
                    "{progress:?}"
                );
                self.1.set(sys::clock::monotonic());
                self.0.ask();
            }
        }
    }
    for transport in [Transport::Tcp, Transport::Udp] {
        let mut load = settings(transport, 64);
        load.duration = Nanos::from_secs(5);
        let Some(took) = on_loopback(|| {
            let stopper = Stopper::default();
            let stop = stopper.0.clone();
            let server = Server::open(server_spec(&load)).expect("loopback");
            let client = client_spec(&load, server.port());
            thread::scope(|scope| {
                let server = scope.spawn(|| server.run(&stop, &()));
                assert!(run_client(&client, &stop, &stopper).is_err_and(|error| error.is_stopped()));
                let ended = server.join().expect("no panic");
                assert!(ended.is_ok() || ended.is_err_and(|error| error.is_stopped()));
            });
            sys::clock::monotonic() - stopper.1.get()
        }) else {
            return;
        };
        assert!(took < 100_000_000 + BUSY, "{took} ns");
    }
}

#[test]
fn finds_exact_mtu() {
    let load = settings(Transport::Udp, 64);
    // The loopback MTU is 65536, which is more than IPv4 allows, so every packet fits.
    let expected = [(1500, true, false), (65_534, true, false), (65_535, true, true)];
    let Some(results) = on_loopback(|| {
        expected.map(|(mtu, ..)| {
            let stop = Stop::new();
            let server = Server::open(server_spec(&load)).expect("loopback");
            let server_at = SocketAddr::new(HERE, server.port());
            let spec = MtuSpec { token: TOKEN, bind: HERE, server: server_at, mtu };
            thread::scope(|scope| {
                let server = scope.spawn(|| server.run(&stop, &()));
                let passage = probe_mtu(&spec, &stop).expect("answers");
                stop.ask();
                assert!(server.join().expect("no panic").is_err());
                passage
            })
        })
    }) else {
        return;
    };
    assert_eq!(results, expected.map(|(_, carried, larger_refused)| Passage { carried, larger_refused }));
}

#[test]
fn rejects_invalid_settings() {
    let good = settings(Transport::Udp, 64);
    let every = |period| Schedule::Open { period: Nanos(period) };
    let under = Background {
        mode: Mode::App,
        streams: 0,
        direction: Direction::Forward,
        rate: None,
        message: Bytes(1),
    };
    for (load, allowed) in [
        (settings(Transport::Udp, 0), "1 to 60000 bytes"),
        (settings(Transport::Udp, 60_001), "1 to 60000 bytes"),
        (PingPongSettings { duration: Nanos(0), ..good.clone() }, "a longer one"),
        (PingPongSettings { interval: Nanos(0), ..good.clone() }, "10 ms or longer"),
        (PingPongSettings { schedule: every(0), ..good.clone() }, "1 µs or longer"),
        (PingPongSettings { schedule: every(999), ..good.clone() }, "1 µs or longer"),
        (PingPongSettings { schedule: every(1000), ..settings(Transport::Udp, 15) }, "16 to 60000 bytes"),
        (PingPongSettings { under: Some(under), ..good }, "1 to 1024"),
    ] {
        let error = Server::open(server_spec(&load)).expect_err("no sense").to_string();
        assert!(error.contains(allowed), "{error}");
    }
}
