//! Tests unknown peers, failing peers, and stops of TCP streams.

use std::{
    io::{Read, Write},
    net::TcpStream,
    thread,
    time::Duration,
};

use plumb_tests::{in_one_of_five, on_loopback};
use units::{Bytes, Nanos};
use workload::{Direction, Until};

use super::{client_spec, flow, for_300_ms, server_spec, settings, total};
use crate::{
    Error, Observer, Progress, Stop,
    stream::{Server, run_client},
    testing::{BUSY, HERE, Moves},
};

#[test]
fn unknown_and_slow_peers_do_not_interfere() {
    let load = settings(Direction::Forward, 2, for_300_ms());
    let mut held = Vec::new();
    let disturb = |port: u16| {
        for bytes in [&b""[..], b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n", &[0; 32], b"plumbtrf"] {
            let mut stranger = TcpStream::connect((HERE, port)).expect("listens");
            stranger.write_all(bytes).expect("connected");
            held.push(stranger);
        }
    };
    let Some((client, server)) = flow(&load, disturb) else { return };
    assert_eq!((client.measured.flows.len(), server.measured.flows.len()), (2, 2));
    for (ours, theirs) in client.measured.flows.iter().zip(&server.measured.flows) {
        assert_eq!(total(&ours.series), total(&theirs.series));
    }
}

#[test]
fn unknown_peer_is_closed_within_its_deadline() {
    in_one_of_five(strangers_are_closed);
}

fn strangers_are_closed() {
    let load = settings(Direction::Forward, 1, for_300_ms());
    let Some((spoken, silent)) = on_loopback(|| {
        let stop = Stop::new();
        let server = Server::open(server_spec(&load)).expect("loopback");
        let at = (HERE, server.port());
        thread::scope(|scope| {
            let server = scope.spawn(|| server.run(&stop, &()));
            let closed_after = |bytes: &[u8]| {
                let begun = sys::clock::monotonic();
                let mut stranger = TcpStream::connect(at).expect("listens");
                stranger.write_all(bytes).expect("connected");
                stranger.set_read_timeout(Some(Duration::from_secs(5))).expect("timeout");
                assert!(matches!(stranger.read(&mut [0]), Ok(0)), "closed without data");
                sys::clock::monotonic() - begun
            };
            let took = (closed_after(&[7; 32]), closed_after(b"plumb"));
            stop.ask();
            assert!(server.join().expect("no panic").is_err_and(|error| error.is_stopped()));
            took
        })
    }) else {
        return;
    };
    assert!(spoken < 1_000_000_000, "{spoken}");
    assert!((1_900_000_000..2_500_000_000 + BUSY).contains(&silent), "{silent}");
}

fn client_without_server(direction: Direction, until: Until) -> Option<(Error, u16)> {
    let load = settings(direction, 2, until);
    on_loopback(|| {
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
            (run_client(&client_spec(&load, port), &ours, moves).expect_err("the server died"), port)
        })
    })
}

#[test]
fn error_names_dead_server() {
    for until in [Until::Elapsed(Nanos::from_secs(10)), Until::Sent(Bytes(1 << 50))] {
        let Some((error, port)) = client_without_server(Direction::Forward, until) else { return };
        let message = error.to_string();
        assert!(message.contains("(forward) with 127.0.0.1:"), "{message}");
        assert!(message.contains(&port.to_string()), "{message}");
    }
    let until = Until::Sent(Bytes(1 << 50));
    let Some((error, _)) = client_without_server(Direction::Reverse, until) else { return };
    assert!(error.to_string().contains("(reverse)"), "{error}");
}

#[test]
fn stop_ends_both_ends_within_100_ms_and_progress_has_received_bytes() {
    in_one_of_five(stops);
}

fn stops() {
    #[derive(Default)]
    struct Stopper(Stop, std::cell::Cell<(u64, u64)>);
    impl Observer for Stopper {
        fn progress(&self, progress: Progress) {
            if self.0.is_asked() {
                return;
            }
            let (count, _) = self.1.get();
            assert!(progress.covers >= Nanos::from_millis(90), "{progress:?}");
            let received = count + progress.received.0;
            self.1.set((received, sys::clock::monotonic()));
            if received > 0 && progress.elapsed > Nanos::from_millis(290) {
                self.0.ask();
            }
        }
    }
    let load = settings(Direction::Both, 1, Until::Elapsed(Nanos::from_secs(10)));
    let Some(took) = on_loopback(|| {
        let stopper = Stopper::default();
        let stop = stopper.0.clone();
        let server = Server::open(server_spec(&load)).expect("loopback");
        let client = client_spec(&load, server.port());
        thread::scope(|scope| {
            let server = scope.spawn(|| server.run(&stop, &()));
            assert!(run_client(&client, &stop, &stopper).is_err());
            assert!(server.join().expect("no panic").is_err());
        });
        sys::clock::monotonic() - stopper.1.get().1
    }) else {
        return;
    };
    assert!(took < 100_000_000 + BUSY, "{took} ns");
}

#[test]
fn aborting_client_is_an_error() {
    for direction in [Direction::Forward, Direction::Reverse] {
        let load = settings(direction, 1, Until::Elapsed(Nanos::from_secs(10)));
        let Some(error) = on_loopback(|| {
            let (ours, theirs) = (Stop::new(), Stop::new());
            let server = Server::open(server_spec(&load)).expect("loopback");
            let client = client_spec(&load, server.port());
            let moves = &Moves::default();
            thread::scope(|scope| {
                let server = scope.spawn(|| server.run(&ours, &()));
                scope.spawn(|| {
                    moves.wait();
                    theirs.ask();
                });
                assert!(run_client(&client, &theirs, moves).is_err_and(|error| error.is_stopped()));
                server.join().expect("no panic").expect_err("the client gave up").to_string()
            })
        }) else {
            return;
        };
        assert!(error.contains("connection 0 (") && error.contains("127.0.0.1:"), "{error}");
    }
}
