//! Tests the counts of datagram streams at both ends, and unknown peers.

use std::{net::UdpSocket, thread, time::Duration};

use plumb_tests::on_loopback;
use units::{Bytes, Nanos};
use workload::{Direction, EndSeries, Mode, StreamSettings, Until};

use super::{client_spec, counts, datagrams, flow, for_300_ms, server_spec, total};
use crate::{
    Stop,
    handshake::{Handshake, Purpose},
    stream::{Server, run_client},
    testing::{HERE, Moves, TOKEN},
};

/// One of five attempts must be undisturbed. A receiver that waits for a CPU starts late.
fn check(load: &StreamSettings) {
    assert!((0..5).any(|_| lasts_as_long_as_asked(load)), "{load:?}");
}

fn lasts_as_long_as_asked(load: &StreamSettings) -> bool {
    let Some((client, server)) = flow(load, |_| ()) else { return true };
    let mut long_enough = true;
    assert_eq!(client.measured.flows.len(), load.direction.flows().len() * load.streams as usize);
    for (ours, theirs) in client.measured.flows.iter().zip(&server.measured.flows) {
        assert_eq!((ours.id, ours.direction), (theirs.id, theirs.direction));
        let (sender, receiver) = match ours.direction {
            Direction::Reverse => (&theirs.series, &ours.series),
            Direction::Forward | Direction::Both => (&ours.series, &theirs.series),
        };
        let (sent, arrived) = (counts(sender), counts(receiver));
        assert!(arrived.count > 0 && arrived.lost >= 0, "{arrived:?}");
        assert_eq!(arrived.count + arrived.lost.unsigned_abs(), sent.count, "{arrived:?}");
        assert_eq!((arrived.reordered, arrived.duplicates), (0, 0));
        for (series, count) in [(sender, sent.count), (receiver, arrived.count)] {
            assert_eq!(total(series), count * load.message.0);
            check_series(series, load, count);
            if let Until::Elapsed(time) = load.until {
                long_enough &= series.elapsed().0 > time.0 / 2;
            }
        }
        let at_most = if load.mode == Mode::App { 1..=1 } else { 1..=65 };
        assert!(sender.socket.segments.is_some_and(|most| at_most.contains(&most)), "{:?}", sender.socket);
        assert!(receiver.socket.segments.is_some_and(|most| most >= 1), "{:?}", receiver.socket);
        if let Until::Sent(Bytes(bytes)) = load.until {
            assert_eq!(sent.count, bytes / u64::from(load.streams) / load.message.0);
        }
    }
    long_enough
}

fn check_series(series: &EndSeries, load: &StreamSettings, count: u64) {
    // The receiver's time starts with its first datagram, so receiving everything in a single call takes no time.
    let at_once = series.socket.segments.is_some_and(|most| u64::from(most) >= count);
    for pair in series.intervals.windows(2) {
        assert_eq!(pair[0].end, pair[1].start);
        assert!(pair[0].warmup >= pair[1].warmup);
    }
    for interval in &series.intervals {
        assert!(interval.end > interval.start || at_once, "{interval:?}");
        assert_eq!(interval.tcp, None);
        assert_eq!(interval.warmup, interval.start < load.warmup, "{interval:?}");
    }
}

#[test]
fn received_plus_lost_equals_sent() {
    for direction in [Direction::Forward, Direction::Reverse, Direction::Both] {
        for mode in [Mode::App, Mode::Limit] {
            check(&datagrams(direction, 1, for_300_ms(), mode));
        }
    }
}

#[test]
fn several_streams_share_port_and_byte_limit() {
    for mode in [Mode::App, Mode::Limit] {
        check(&datagrams(Direction::Both, 3, Until::Sent(Bytes(3 * 200_000)), mode));
    }
}

#[test]
fn without_rate_sends_as_much_as_the_path_accepts() {
    for mode in [Mode::App, Mode::Limit] {
        check(&StreamSettings { rate: None, ..datagrams(Direction::Forward, 1, for_300_ms(), mode) });
    }
}

#[test]
fn accepts_shortest_and_longest_datagrams() {
    for message in [16, 40, 65_507] {
        for mode in [Mode::App, Mode::Limit] {
            let load = datagrams(Direction::Forward, 1, Until::Sent(Bytes(message * 50)), mode);
            check(&StreamSettings { message: Bytes(message), ..load });
        }
    }
    for message in [0, 15, 65_508] {
        let load = datagrams(Direction::Forward, 1, for_300_ms(), Mode::App);
        let load = StreamSettings { message: Bytes(message), ..load };
        let error = Server::open(server_spec(&load)).expect_err("no sense").to_string();
        assert!(error.contains("use 16 to 65507 bytes"), "{error}");
    }
}

#[test]
fn unknown_peers_do_not_interfere_and_get_no_reply() {
    let load = datagrams(Direction::Forward, 2, for_300_ms(), Mode::App);
    let purpose = Purpose::DatagramsForward;
    let unknown = [
        Handshake { token: !TOKEN, purpose, number: 0 },
        Handshake { token: TOKEN, purpose, number: 2 },
        Handshake { token: TOKEN, purpose: Purpose::DatagramsReverse, number: 0 },
    ];
    let mut answers = 0;
    let disturb = |port| {
        let stranger = UdpSocket::bind((HERE, 0)).expect("loopback");
        stranger.connect((HERE, port)).expect("loopback");
        stranger.set_read_timeout(Some(Duration::from_millis(50))).expect("any socket");
        let greetings = unknown.map(|bytes| [&bytes.encode()[..], &[0; 8]].concat());
        for bytes in greetings.iter().map(Vec::as_slice).chain([&[][..], b"hello", &[0; 40], &[0; 1400]]) {
            stranger.send(bytes).expect("loopback");
            answers += usize::from(stranger.recv(&mut [0; 100]).is_ok());
        }
    };
    let Some((client, server)) = flow(&load, disturb) else { return };
    assert_eq!((client.measured.flows.len(), server.measured.flows.len(), answers), (2, 2, 0));
}

#[test]
fn unverified_address_gets_no_stream() {
    let load = datagrams(Direction::Reverse, 1, for_300_ms(), Mode::App);
    let greeting = Handshake { token: TOKEN, purpose: Purpose::DatagramsReverse, number: 0 };
    let Some(received) = on_loopback(|| {
        let stop = Stop::new();
        let server = Server::open(server_spec(&load)).expect("loopback");
        let at = (HERE, server.port());
        thread::scope(|scope| {
            let server = scope.spawn(|| server.run(&stop, &()));
            let deaf = UdpSocket::bind((HERE, 0)).expect("loopback");
            deaf.connect(at).expect("loopback");
            deaf.set_read_timeout(Some(Duration::from_millis(300))).expect("any socket");
            deaf.send(&[&greeting.encode()[..], &[0; 8]].concat()).expect("loopback");
            let mut received = Vec::new();
            let mut bytes = [0; 2000];
            while let Ok(length) = deaf.recv(&mut bytes) {
                received.push(length);
                deaf.send(&[&greeting.encode()[..], &[7; 8]].concat()).expect("loopback");
            }
            stop.ask();
            server.join().expect("no panic").expect_err("stopped");
            received
        })
    }) else {
        return;
    };
    assert_eq!(received, [40], "only the cookie");
}

#[test]
fn missing_receiver_ends_the_sender() {
    let load = datagrams(Direction::Forward, 1, Until::Elapsed(Nanos::from_secs(20)), Mode::App);
    let Some(error) = on_loopback(|| {
        let (ours, theirs) = (Stop::new(), Stop::new());
        let server = Server::open(server_spec(&load)).expect("loopback");
        let client = client_spec(&load, server.port());
        let moves = &Moves::default();
        thread::scope(|scope| {
            scope.spawn(|| server.run(&theirs, &()));
            scope.spawn(|| {
                moves.wait();
                theirs.ask();
            });
            run_client(&client, &ours, moves).expect_err("no process listens").to_string()
        })
    }) else {
        return;
    };
    assert!(error.contains("connection 0 (forward) with 127.0.0.1:"), "{error}");
}
