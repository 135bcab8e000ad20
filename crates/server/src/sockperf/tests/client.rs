//! The client against simulated servers.

use std::{
    net::{SocketAddr, TcpListener, UdpSocket},
    thread,
    time::Duration,
};

use plumb_tests::{dropped, in_one_of_five, on_loopback};
use traffic::{Outcome, Result, Stop};
use units::{Bytes, Nanos};
use workload::{PingPongData, PingPongEnd, PingPongSettings, Schedule, Transport, Waiting};

use super::{PATIENT, SOON};
use crate::{
    sockperf::{ClientSpec, SessionOutcome, SharedCounts, run_client, serve_tcp, serve_udp},
    testing::HERE,
};

const PERIOD: Nanos = Nanos::from_millis(1);

fn settings(transport: Transport, message: u64) -> PingPongSettings {
    PingPongSettings { transport, message: Bytes(message), ..PingPongSettings::new(Nanos::from_millis(400)) }
}

fn spec(server: SocketAddr, load: &PingPongSettings) -> ClientSpec {
    ClientSpec { server, bind: None, load: load.clone(), cpus: None }
}

fn play(load: &PingPongSettings) -> (Outcome<PingPongEnd>, SessionOutcome) {
    match load.transport {
        Transport::Tcp => {
            let listener = TcpListener::bind((HERE, 0)).expect("loopback");
            let address = listener.local_addr().expect("bound");
            let serve = || serve_tcp(&listener.accept().expect("a connection").0, &[], PATIENT, &Stop::new());
            play_with(address, load, serve)
        }
        Transport::Udp => {
            let socket = UdpSocket::bind((HERE, 0)).expect("loopback");
            let address = socket.local_addr().expect("bound");
            play_with(address, load, || {
                let mut first = [0; 100_000];
                let (length, peer) = socket.recv_from(&mut first).expect("an initial message");
                socket.connect(peer).expect("loopback");
                serve_udp(&SharedCounts::default(), &socket, (&first[..length], &[]), SOON, &Stop::new())
            })
        }
    }
}

fn play_with(
    address: SocketAddr,
    load: &PingPongSettings,
    serve: impl FnOnce() -> Result<SessionOutcome> + Send,
) -> (Outcome<PingPongEnd>, SessionOutcome) {
    thread::scope(|scope| {
        let server = scope.spawn(serve);
        let outcome = run_client(&spec(address, load), &Stop::new(), &()).expect("a reply");
        (outcome, server.join().expect("no panic").expect("no failure"))
    })
}

fn sent(data: &PingPongData) -> u64 {
    data.intervals.iter().map(|interval| interval.round_trips.count() + interval.lost).sum()
}

#[test]
fn client_and_server_counts_agree() {
    for transport in [Transport::Udp, Transport::Tcp] {
        for (message, waiting) in [(14, Waiting::Block), (1000, Waiting::Spin), (65_507, Waiting::Block)] {
            let mut load = settings(transport, message);
            (load.waiting, load.warmup) = (waiting, Nanos::from_millis(100));
            in_one_of_five(|| counts_agree(&load));
        }
    }
}

fn counts_agree(load: &PingPongSettings) {
    let (transport, message) = (load.transport, load.message.0);
    let Some((outcome, served)) = on_loopback(|| play(load)) else { return };
    let data = outcome.measured.alone();
    // There is one initial message. Over UDP, the client repeats it if the reply is late.
    let greetings = served.counts.received - sent(&data);
    assert!(greetings == 1 || transport == Transport::Udp && greetings < 16, "{load:?}: {greetings}");
    assert_eq!(served.counts.answered, served.counts.received, "{load:?}");
    assert_eq!(served.counts.bytes, served.counts.received * message, "{load:?}");
    assert!(data.round_trips.count() > 10 && data.round_trips.count() < sent(&data), "{load:?}");
    assert_eq!(data.server, workload::SocketFacts::default(), "the server reports nothing");
}

#[test]
fn open_loop_sends_on_schedule() {
    for (transport, message) in [(Transport::Udp, 14), (Transport::Tcp, 14), (Transport::Tcp, 40_000)] {
        let load =
            PingPongSettings { schedule: Schedule::Open { period: PERIOD }, ..settings(transport, message) };
        let Some((outcome, served, dropped)) = on_loopback(|| {
            let (outcome, served) = play(&load);
            (outcome, served, dropped())
        }) else {
            return;
        };
        let data = outcome.measured.alone();
        let (lost, came) = (data.lost.expect("counted"), data.round_trips.count());
        assert_eq!(lost + came, 400, "{load:?}");
        assert!(lost <= dropped, "{load:?}: {lost} {dropped}");
        let open = data.open_loop.expect("open-loop results");
        assert_eq!(open.since_intended.count(), came);
        assert!(served.counts.received + dropped >= 401, "{:?}", served.counts);
    }
}

#[test]
fn reports_missing_sockperf_server() {
    let expected = [(Transport::Tcp, "refused"), (Transport::Udp, "refused")];
    for (transport, message) in expected {
        let Some(error) = on_loopback(|| {
            let unused = SocketAddr::new(HERE, 9);
            run_client(&spec(unused, &settings(transport, 64)), &Stop::new(), &())
                .expect_err("unused")
                .to_string()
        }) else {
            return;
        };
        assert!(error.contains(message) && error.contains("127.0.0.1:9"), "{error}");
    }
    let silent = on_loopback(|| {
        let socket = UdpSocket::bind((HERE, 0)).expect("loopback");
        let address = socket.local_addr().expect("bound");
        let stop = Stop::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(500));
                stop.ask();
            });
            run_client(&spec(address, &settings(Transport::Udp, 64)), &stop, &()).expect_err("unused")
        })
    });
    assert!(silent.is_none_or(|error| error.is_stopped()));
    let closed = on_loopback(|| {
        let listener = TcpListener::bind((HERE, 0)).expect("loopback");
        let address = listener.local_addr().expect("bound");
        thread::scope(|scope| {
            scope.spawn(|| drop(listener.accept()));
            run_client(&spec(address, &settings(Transport::Tcp, 64)), &Stop::new(), &()).expect_err("closed")
        })
    });
    assert!(closed.is_none_or(|error| error.to_string().contains("sockperf")));
}

#[test]
fn rejects_unsupported_settings_with_the_valid_range() {
    let unused = SocketAddr::new(HERE, 9);
    for message in [0, 13, 65_508] {
        let load = settings(Transport::Tcp, message);
        let error =
            run_client(&spec(unused, &load), &Stop::new(), &()).expect_err("an invalid size").to_string();
        assert!(error.contains("14 to 65507"), "{error}");
    }
    let background = workload::Background {
        mode: workload::Mode::App,
        streams: 1,
        direction: workload::Direction::Forward,
        rate: None,
        message: Bytes(1000),
    };
    let load = PingPongSettings { under: Some(background), ..settings(Transport::Tcp, 64) };
    let error =
        run_client(&spec(unused, &load), &Stop::new(), &()).expect_err("an unsupported stream").to_string();
    assert!(error.contains("parallel stream"), "{error}");
}
