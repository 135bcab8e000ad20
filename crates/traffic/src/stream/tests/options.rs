//! Tests that the requested options of sockets and threads take effect at both ends.

use plumb_tests::on_loopback;
use units::{Bytes, Nanos};
use workload::{Direction, EndSeries, Mode, SocketFacts, SocketSettings, StreamSettings, Transport, Until};

use super::{client_spec, datagrams, flow, for_300_ms, server_spec, settings, total};
use crate::{
    ClientSpec, ServerSpec, Stop, StreamOutcome,
    stream::{Server, run_client},
};

fn series(outcomes: &(StreamOutcome, StreamOutcome)) -> impl Iterator<Item = &EndSeries> {
    outcomes.0.measured.flows.iter().chain(&outcomes.1.measured.flows).map(|flow| &flow.series)
}

fn check(requested: &SocketSettings, holds: impl Fn(Transport, &SocketFacts) -> bool) {
    for transport in [Transport::Tcp, Transport::Udp] {
        let mut load = match transport {
            Transport::Tcp => settings(Direction::Both, 1, Until::Sent(Bytes(200_000))),
            Transport::Udp => datagrams(Direction::Both, 1, Until::Sent(Bytes(20_000)), Mode::App),
        };
        load.socket = requested.clone();
        let Some(outcomes) = flow(&load, |_| ()) else { return };
        for series in series(&outcomes) {
            assert!(holds(transport, &series.socket), "{requested:?} {transport:?}: {:?}", series.socket);
        }
    }
}

#[test]
fn window_dscp_and_nodelay_are_as_requested() {
    let window = SocketSettings { window: Some(Bytes(65_536)), ..SocketSettings::kernel() };
    let doubled = Some(Bytes(131_072));
    check(&window, |_, facts| (facts.send_buffer, facts.receive_buffer) == (doubled, doubled));
    for dscp in [0, 46, 63] {
        let marked = SocketSettings { dscp: Some(dscp), ..SocketSettings::kernel() };
        check(&marked, |_, facts| facts.dscp == Some(dscp));
    }
    for on in [true, false] {
        let nodelay = SocketSettings { nodelay: Some(on), ..SocketSettings::kernel() };
        check(&nodelay, |kind, facts| facts.nodelay == (kind == Transport::Tcp).then_some(on));
    }
}

#[test]
fn segments_are_no_larger_than_requested() {
    let small = SocketSettings { mss: Some(1000), ..SocketSettings::kernel() };
    check(&small, |kind, facts| match kind {
        Transport::Tcp => facts.mss.is_some_and(|mss| (900..=1000).contains(&mss)),
        Transport::Udp => facts.mss.is_none(),
    });
}

#[test]
fn busy_poll_time_is_as_requested_if_permitted() {
    let time = Nanos(50_000);
    let mut load = settings(Direction::Forward, 1, Until::Sent(Bytes(1000)));
    load.socket.busy_poll = Some(time);
    let opened = on_loopback(|| Server::open(server_spec(&load)).map(drop));
    if !matches!(opened, Some(Ok(()))) {
        return;
    }
    check(&load.socket, |_, facts| facts.busy_poll == Some(time));
    check(&SocketSettings::kernel(), |_, facts| facts.busy_poll == Some(Nanos(0)));
}

#[test]
fn source_ports_are_consecutive() {
    let check = |mut load: StreamSettings| {
        // The kernel may give the server any port of 32768 to 60999.
        load.socket.source_port = Some(21_000);
        let Some((client, server)) = flow(&load, |_| ()) else { return };
        let expected: Vec<_> = (21_000..21_004).map(|port| format!("127.0.0.1:{port}")).collect();
        let addresses = |outcome: &StreamOutcome, end: usize| -> Vec<String> {
            let pairs = outcome
                .measured
                .flows
                .iter()
                .map(|flow| flow.series.socket.addresses.clone().expect("known"));
            pairs.map(|pair| pair.split(" -> ").nth(end).expect("a pair").to_owned()).collect()
        };
        assert_eq!((addresses(&client, 0), addresses(&server, 1)), (expected.clone(), expected));
    };
    check(settings(Direction::Both, 2, Until::Sent(Bytes(100_000))));
    check(datagrams(Direction::Both, 2, Until::Sent(Bytes(10_000)), Mode::App));
}

#[test]
fn rejects_invalid_options() {
    let mut load = settings(Direction::Forward, 4, for_300_ms());
    load.socket.dscp = Some(64);
    let error = Server::open(server_spec(&load)).expect_err("six bits").to_string();
    assert!(error.contains("DSCP cannot be 64; use 0 to 63"), "{error}");
    load.socket = SocketSettings { source_port: Some(65_534), ..SocketSettings::kernel() };
    let Some(error) = on_loopback(|| {
        let stop = Stop::new();
        let server = Server::open(server_spec(&load)).expect("loopback");
        let client = client_spec(&load, server.port());
        run_client(&client, &stop, &()).expect_err("65534, 65535, and no more").to_string()
    }) else {
        return;
    };
    assert!(error.contains("source port cannot be 65536"), "{error}");
}

#[test]
fn every_thread_runs_on_its_cpu() {
    let cpus = sys::affinity::available();
    let load = settings(Direction::Both, 2, for_300_ms());
    let Some(outcomes) = on_loopback(|| {
        let stop = Stop::new();
        let given = Some(cpus.clone());
        let server =
            Server::open(ServerSpec { cpus: given.clone(), ..server_spec(&load) }).expect("loopback");
        let client = ClientSpec { cpus: given, ..client_spec(&load, server.port()) };
        std::thread::scope(|scope| {
            let server = scope.spawn(|| server.run(&stop, &()));
            let client = run_client(&client, &stop, &()).expect("runs");
            (client, server.join().expect("no panic").expect("runs"))
        })
    }) else {
        return;
    };
    for outcome in [&outcomes.0, &outcomes.1] {
        for (thread, flow) in outcome.measured.flows.iter().enumerate() {
            let cpu = vec![cpus[thread % cpus.len()]];
            assert_eq!(flow.series.socket.cpus.as_ref(), Some(&cpu));
            assert_eq!(flow.series.socket.ran_on, cpu);
        }
    }
}

#[test]
fn limit_mode_transfers_the_same_bytes_without_copies() {
    for (direction, until) in
        [(Direction::Both, Until::Sent(Bytes(300_000_001))), (Direction::Reverse, for_300_ms())]
    {
        let load =
            StreamSettings { mode: Mode::Limit, message: Bytes(1 << 20), ..settings(direction, 2, until) };
        let Some((client, server)) = flow(&load, |_| ()) else { return };
        for (ours, theirs) in client.measured.flows.iter().zip(&server.measured.flows) {
            assert_eq!(total(&ours.series), total(&theirs.series));
            assert!(total(&ours.series) > 0);
            let (sender, receiver) = match ours.direction {
                Direction::Reverse => (theirs, ours),
                Direction::Forward | Direction::Both => (ours, theirs),
            };
            assert!(sender.series.socket.zero_copy && !receiver.series.socket.zero_copy);
        }
    }
}

#[test]
fn spliced_stream_over_short_path_has_limited_send_buffer_unless_window_is_set() {
    for (mode, window, most) in [
        (Mode::Limit, None, 1 << 20),
        (Mode::Limit, Some(Bytes(65_536)), 131_072),
        (Mode::App, Some(Bytes(65_536)), 131_072),
    ] {
        let mut load =
            StreamSettings { mode, ..settings(Direction::Forward, 1, Until::Sent(Bytes(50_000_000))) };
        load.socket.window = window;
        let Some((client, _)) = flow(&load, |_| ()) else { return };
        let facts = &client.measured.flows[0].series.socket;
        assert!(
            facts.send_buffer.is_some_and(|bytes| bytes <= Bytes(most)),
            "{mode:?} {window:?}: {facts:?}"
        );
        assert_eq!(facts.zero_copy, mode == Mode::Limit);
    }
}
