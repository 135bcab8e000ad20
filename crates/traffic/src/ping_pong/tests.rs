//! Whole ping-pongs on a private loopback.

use std::{
    net::{SocketAddr, UdpSocket},
    thread,
    time::Duration,
};

use load::{PingPongLoad, Transport};
use samples::PingPongData;
use units::{Bytes, Nanos};

use super::{Server, run_client};
use crate::{
    Beat, ClientSpec, Error, MtuSpec, Observer, Outcome, Passage, ServerSpec, Stop, probe_mtu,
    testing::{BUSY, HERE, TOKEN, on_loopback},
};

fn settings(transport: Transport, message: u64) -> PingPongLoad {
    PingPongLoad {
        transport,
        message: Bytes(message),
        warmup: Nanos::from_millis(50),
        ..PingPongLoad::new(Nanos::from_millis(200))
    }
}

fn server_spec(load: &PingPongLoad) -> ServerSpec<PingPongLoad> {
    ServerSpec { token: TOKEN, bind: HERE, load: load.clone(), cpus: None }
}

fn client_spec(load: &PingPongLoad, port: u16) -> ClientSpec<PingPongLoad> {
    ClientSpec {
        token: TOKEN,
        bind: HERE,
        server: SocketAddr::new(HERE, port),
        load: load.clone(),
        cpus: None,
    }
}

/// Client and server; between them `by_way_of` gives the port that the client is told.
fn play(
    load: &PingPongLoad,
    by_way_of: impl FnOnce(u16) -> u16,
) -> (Result<Outcome, Error>, Result<Outcome, Error>) {
    let stop = Stop::new();
    let server = Server::open(server_spec(load)).expect("loopback");
    let client = client_spec(load, by_way_of(server.port()));
    thread::scope(|scope| {
        let server = scope.spawn(|| server.run(&stop, &()));
        let client = run_client(&client, &stop, &());
        (client, server.join().expect("no panic"))
    })
}

fn data(end: &Outcome) -> &PingPongData {
    end.ping_pong.as_ref().expect("a ping-pong")
}

fn check(transport: Transport, message: u64) {
    let load = settings(transport, message);
    let Some((client, server)) = on_loopback(|| play(&load, |port| port)) else { return };
    let (client, server) = (client.expect("runs"), server.expect("runs"));
    assert!(data(&client).round_trips.count() > 100, "{message}: {}", data(&client).round_trips.count());
    assert_eq!(data(&client).lost, 0, "{message}");
    assert!(data(&client).elapsed >= Nanos::from_millis(100), "{}", data(&client).elapsed);
    assert!(client.threads[0].elapsed >= Nanos::from_millis(250) && client.threads[0].busy > Nanos(0));
    assert!(server.threads[0].busy > Nanos(0) && data(&server).round_trips.count() == 0);
    let sum = data(&client).round_trips.mean().expect("counted") * data(&client).round_trips.count() as f64;
    assert!(sum <= data(&client).elapsed.0 as f64 * 1.001, "round trips of a closed loop do not overlap");
}

#[test]
fn udp_messages_of_every_size_return() {
    for message in [1, 2, 8, 9, 16, 64, 1472, 60_000] {
        check(Transport::Udp, message);
    }
}

#[test]
fn tcp_messages_of_every_size_return() {
    for message in [1, 64, 9000, 60_000] {
        check(Transport::Tcp, message);
    }
}

/// Passes datagrams on, but not the client's `drops` after the tenth; answers to those below come late.
fn dropping_proxy(server: u16, drops: usize) -> u16 {
    let (front, back) =
        (UdpSocket::bind((HERE, 0)).expect("bind"), UdpSocket::bind((HERE, 0)).expect("bind"));
    back.connect((HERE, server)).expect("connect");
    let port = front.local_addr().expect("bound").port();
    thread::spawn(move || {
        front.set_read_timeout(Some(Duration::from_secs(3))).expect("timeout");
        back.set_read_timeout(Some(Duration::from_secs(3))).expect("timeout");
        let mut bytes = [0; 2048];
        for count in 0.. {
            let Ok((length, client)) = front.recv_from(&mut bytes) else { return };
            if (10..10 + drops).contains(&count) {
                continue;
            }
            back.send(&bytes[..length]).expect("server");
            let Ok(length) = back.recv(&mut bytes) else { return };
            front.send_to(&bytes[..length], client).expect("client");
            if count == 10 + drops {
                // A late answer: the same one again must not be taken for the next.
                front.send_to(&bytes[..length], client).expect("client");
            }
        }
    });
    port
}

#[test]
fn exactly_the_dropped_messages_are_lost() {
    for drops in [0, 1, 3] {
        let mut load = settings(Transport::Udp, 64);
        load.warmup = Nanos(0);
        load.duration = Nanos::from_millis(1000);
        let Some((client, server)) = on_loopback(|| play(&load, |port| dropping_proxy(port, drops))) else {
            return;
        };
        let client = client.expect("runs");
        server.expect("runs");
        assert_eq!(data(&client).lost, drops as u64);
        assert!(data(&client).round_trips.count() > 100);
        assert!(data(&client).round_trips.max().expect("counted") < Nanos::from_millis(200));
    }
}

#[test]
fn losses_of_the_warm_up_are_not_counted() {
    let mut load = settings(Transport::Udp, 64);
    load.warmup = Nanos::from_millis(700);
    let Some((client, _)) = on_loopback(|| play(&load, |port| dropping_proxy(port, 2))) else { return };
    assert_eq!(data(&client.expect("runs")).lost, 0);
}

#[test]
fn a_stranger_is_neither_answered_nor_served() {
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
    assert_eq!(data(&client.expect("runs")).lost, 0);
    server.expect("runs");
}

#[test]
fn a_server_that_dies_is_named() {
    for transport in [Transport::Tcp, Transport::Udp] {
        let mut load = settings(transport, 64);
        load.duration = Nanos::from_secs(5);
        let Some((error, port)) = on_loopback(|| {
            let (ours, theirs) = (Stop::new(), Stop::new());
            let server = Server::open(server_spec(&load)).expect("loopback");
            let port = server.port();
            thread::scope(|scope| {
                scope.spawn(|| server.run(&theirs, &()));
                scope.spawn(|| {
                    thread::sleep(Duration::from_millis(300));
                    theirs.ask();
                });
                let client = run_client(&client_spec(&load, port), &ours, &());
                (client.expect_err("the server died").to_string(), port)
            })
        }) else {
            return;
        };
        assert!(error.contains(&format!("127.0.0.1:{port}")), "{transport:?}: {error}");
    }
}

#[test]
fn a_stop_ends_both_ends_within_100_ms() {
    #[derive(Default)]
    struct Stopper(Stop, std::cell::Cell<u64>);
    impl Observer for Stopper {
        fn beat(&self, beat: Beat) {
            assert!(beat.covers >= Nanos::from_millis(90) && beat.elapsed >= beat.covers, "{beat:?}");
            self.1.set(sys::clock::monotonic());
            self.0.ask();
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
                assert!(server.join().expect("no panic").is_err());
            });
            sys::clock::monotonic() - stopper.1.get()
        }) else {
            return;
        };
        assert!(took < 100_000_000 + BUSY, "{took} ns");
    }
}

#[test]
fn an_mtu_is_found_exactly() {
    let load = settings(Transport::Udp, 64);
    // A loopback has 65536, more than IPv4 can use: nothing that fits in a packet is refused.
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
fn settings_that_make_no_sense_are_refused() {
    for message in [0, 60_001] {
        let error = Server::open(server_spec(&settings(Transport::Udp, message))).expect_err("no sense");
        assert!(error.to_string().contains("1 to 60000 bytes"), "{error}");
    }
}
