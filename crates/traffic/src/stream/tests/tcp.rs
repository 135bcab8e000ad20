//! Tests the byte counts, times and records of TCP streams with one and several connections.

use std::{io::Write, net::TcpStream, thread, time::Duration};

use plumb_tests::{in_one_of_five, on_loopback};
use samples::ThreadRole;
use units::{Bytes, Nanos};
use workload::{Direction, EndSeries, StreamSettings, Until};

use super::{client_spec, flow, for_300_ms, server_spec, settings, total};
use crate::{
    ClientSpec, FlowId, Observer, ServerSpec, Stop,
    handshake::{Handshake, Purpose},
    stream::{Server, run_client},
    testing::{HERE, TOKEN},
};

fn check_series(series: &EndSeries, load: &StreamSettings) {
    let intervals = &series.intervals;
    assert_eq!(intervals[0].start, Nanos(0));
    for pair in intervals.windows(2) {
        assert_eq!(pair[0].end, pair[1].start);
        assert!(pair[0].warmup >= pair[1].warmup);
    }
    for interval in intervals {
        assert!(interval.end > interval.start && interval.tcp.is_some(), "{interval:?}");
        assert_eq!(interval.warmup, interval.start < load.warmup, "{interval:?}");
    }
    let tcp = intervals[0].tcp.expect("checked");
    assert!(tcp.cwnd > Bytes(0) && tcp.rtt < Nanos::from_secs(1), "{tcp:?}");
    let socket = &series.socket;
    assert!(socket.congestion.is_some() && socket.mss.is_some_and(|mss| mss > 500), "{socket:?}");
    assert!(socket.send_buffer > Some(Bytes(0)) && socket.receive_buffer > Some(Bytes(0)), "{socket:?}");
    assert!(socket.addresses.as_deref().is_some_and(|pair| pair.matches("127.0.0.1:").count() == 2));
}

fn check(direction: Direction, streams: u32, until: Until) {
    let load = settings(direction, streams, until);
    let Some((client, server)) = flow(&load, |_| ()) else { return };
    assert_eq!(client.measured.flows.len(), direction.flows().len() * streams as usize);
    assert_eq!(client.threads.len(), client.measured.flows.len());
    for (ours, theirs) in client.measured.flows.iter().zip(&server.measured.flows) {
        assert_eq!((ours.id, ours.direction), (theirs.id, theirs.direction));
        assert_eq!(total(&ours.series), total(&theirs.series), "both ends agree to the byte");
        assert!(total(&ours.series) > 0);
        check_series(&ours.series, &load);
        check_series(&theirs.series, &load);
        let addresses = |series: &EndSeries| series.socket.addresses.clone().expect("checked");
        let (here, there) = (addresses(&ours.series), addresses(&theirs.series));
        assert!(here.split(" -> ").eq(there.split(" -> ").collect::<Vec<_>>().into_iter().rev()));
    }
    for flow in client.measured.flows.iter().chain(&server.measured.flows) {
        let is_client = client.measured.flows.iter().any(|ours| std::ptr::eq(ours, flow));
        if is_client == (flow.direction == Direction::Forward) {
            let known = |sample: &workload::TcpSample| {
                let measured = sample.delivery.is_some() && sample.least_rtt.is_some();
                measured && sample.offered_window > Bytes(0)
            };
            assert!(flow.series.intervals.iter().filter_map(|interval| interval.tcp).any(|tcp| known(&tcp)));
        }
    }
    for direction in direction.flows() {
        let sent: u64 = client
            .measured
            .flows
            .iter()
            .filter(|flow| flow.direction == *direction)
            .map(|f| total(&f.series))
            .sum();
        if let Until::Sent(bytes) = until {
            assert_eq!(sent, bytes.0);
        }
    }
    for thread in client.threads.iter().chain(&server.threads) {
        assert!(
            thread.busy > Nanos(0) && thread.busy <= thread.elapsed + Nanos::from_millis(1),
            "{thread:?}"
        );
    }
}

#[test]
fn both_ends_agree_in_every_direction() {
    for direction in [Direction::Forward, Direction::Reverse, Direction::Both] {
        check(direction, 1, for_300_ms());
    }
}

#[test]
fn four_streams_transfer_data_in_parallel() {
    check(Direction::Forward, 4, for_300_ms());
    check(Direction::Both, 4, for_300_ms());
}

#[test]
fn splits_amount_exactly_over_connections() {
    check(Direction::Forward, 3, Until::Sent(Bytes(1_000_000_001)));
    check(Direction::Both, 4, Until::Sent(Bytes(777_777_777)));
}

#[test]
fn timed_stream_lasts_for_requested_time() {
    in_one_of_five(streams_last);
}

fn streams_last() {
    let load = settings(Direction::Forward, 1, for_300_ms());
    let Some((client, server)) = flow(&load, |_| ()) else { return };
    for (outcome, role) in [(&client, ThreadRole::Send), (&server, ThreadRole::Receive)] {
        let elapsed = outcome.measured.flows[0].series.elapsed();
        assert!(elapsed >= Nanos::from_millis(200) && elapsed < Nanos::from_secs(5), "{elapsed}");
        assert_eq!(outcome.threads[0].role, role);
        assert!(outcome.threads[0].elapsed >= Nanos::from_millis(390));
    }
    assert!(client.measured.flows[0].series.intervals.len() >= 6);
}

#[test]
fn congestion_control_and_cpus_are_as_requested() {
    let mut load = settings(Direction::Both, 1, for_300_ms());
    load.socket.congestion = Some("reno".into());
    let cpus = vec![sys::affinity::available()[0]];
    let Some((client, server)) = on_loopback(|| {
        let stop = Stop::new();
        let cpus = Some(cpus.clone());
        let server = Server::open(ServerSpec { cpus: cpus.clone(), ..server_spec(&load) }).expect("loopback");
        let client = ClientSpec { cpus, ..client_spec(&load, server.port()) };
        thread::scope(|scope| {
            let server = scope.spawn(|| server.run(&stop, &()));
            let client = run_client(&client, &stop, &()).expect("runs");
            (client, server.join().expect("no panic").expect("runs"))
        })
    }) else {
        return;
    };
    for flow in client.measured.flows.iter().chain(&server.measured.flows) {
        assert_eq!(flow.series.socket.congestion.as_deref(), Some("reno"));
        assert_eq!(flow.series.socket.cpus.as_ref(), Some(&cpus));
    }
}

#[test]
fn reports_missing_congestion_control_as_unsupported() {
    let mut load = settings(Direction::Forward, 1, for_300_ms());
    load.socket.congestion = Some("nonesuch".into());
    let Some((server, client)) = on_loopback(|| {
        let stop = Stop::new();
        let server = Server::open(server_spec(&load)).expect_err("no such control");
        (server, run_client(&client_spec(&load, 9), &stop, &()).expect_err("no such control"))
    }) else {
        return;
    };
    for error in [server, client] {
        assert!(error.is_unsupported() && error.to_string().contains("nonesuch"), "{error}");
    }
}

#[test]
fn refuses_contradictory_settings() {
    let good = settings(Direction::Forward, 1, for_300_ms());
    let bad = [
        StreamSettings { streams: 0, ..good.clone() },
        StreamSettings { message: Bytes(0), ..good.clone() },
        StreamSettings { interval: Nanos(0), ..good.clone() },
        StreamSettings { until: Until::Sent(Bytes(0)), ..good.clone() },
        StreamSettings { until: Until::Elapsed(Nanos(0)), ..good },
    ];
    for load in bad {
        let error = Server::open(server_spec(&load)).expect_err("no sense").to_string();
        assert!(error.contains("cannot be") && error.contains("; use "), "{error}");
    }
}

#[test]
fn records_stall_during_the_stall() {
    in_one_of_five(stalls_are_recorded);
}

fn stalls_are_recorded() {
    let load = settings(Direction::Reverse, 1, Until::Elapsed(Nanos::from_millis(800)));
    let greeting = Handshake { token: TOKEN, purpose: Purpose::Reverse, number: 0 };
    let Some(outcome) = on_loopback(|| {
        let stop = Stop::new();
        let server = Server::open(server_spec(&load)).expect("loopback");
        let at = (HERE, server.port());
        thread::scope(|scope| {
            let server = scope.spawn(|| server.run(&stop, &()));
            let mut client = TcpStream::connect(at).expect("listens");
            client.write_all(&greeting.encode()).expect("connected");
            thread::sleep(Duration::from_millis(700));
            std::io::copy(&mut client, &mut std::io::sink()).expect("reads to the end");
            drop(client);
            server.join().expect("no panic").expect("runs")
        })
    }) else {
        return;
    };
    let series = &outcome.measured.flows[0].series;
    check_series(series, &load);
    let empty: Vec<_> = series.intervals.iter().filter(|interval| interval.bytes == Bytes(0)).collect();
    assert!(empty.len() >= 5, "{:?}", series.intervals);
    assert!(series.intervals.last().expect("some").bytes > Bytes(0));
    let limited: Nanos =
        empty.iter().filter_map(|interval| interval.tcp).map(|t| t.receive_window_limited).sum();
    assert!(limited > Nanos::from_millis(100), "the kernel says why: {limited}");
}

#[test]
fn reports_intervals_on_the_watching_thread_as_they_end() {
    #[derive(Default)]
    struct Live(std::cell::RefCell<Vec<(FlowId, workload::Interval)>>);
    impl Observer for Live {
        fn interval(&self, flow: FlowId, interval: &workload::Interval) {
            self.0.borrow_mut().push((flow, *interval));
        }
    }
    let load = settings(Direction::Both, 1, for_300_ms());
    let Some((outcome, reported)) = on_loopback(|| {
        let (stop, live) = (Stop::new(), Live::default());
        let server = Server::open(server_spec(&load)).expect("loopback");
        let client = client_spec(&load, server.port());
        thread::scope(|scope| {
            scope.spawn(|| server.run(&stop, &()));
            (run_client(&client, &stop, &live).expect("runs"), live.0.into_inner())
        })
    }) else {
        return;
    };
    for flow in &outcome.measured.flows {
        let sends = flow.direction == Direction::Forward;
        let id = FlowId { id: flow.id, direction: flow.direction, sends };
        let reported: Vec<_> =
            reported.iter().filter(|(of, _)| *of == id).map(|(_, interval)| *interval).collect();
        let (last, before) = flow.series.intervals.split_last().expect("some");
        assert_eq!(reported[..before.len()], *before);
        // After the last interval was reported, the final remainder may be merged into it, and its end may move back.
        let shown = reported.get(before.len());
        assert!(shown.is_none_or(|reported| reported.start == last.start && reported.bytes <= last.bytes));
    }
}

/// The end that closes first stays in TIME-WAIT, but the next trial uses the same ports in either direction.
#[test]
fn same_ports_can_be_used_again() {
    let made = |load: &StreamSettings| {
        let stop = Stop::new();
        let server = Server::open(server_spec(load)).expect("the port is free again");
        let client = client_spec(load, server.port());
        thread::scope(|scope| {
            let server = scope.spawn(|| server.run(&stop, &()));
            let client = run_client(&client, &stop, &()).expect("the ports are free again");
            let _ = server.join().expect("no panic").expect("runs");
            let addresses = client.measured.flows.iter().map(|flow| flow.series.socket.addresses.clone());
            addresses.map(|addresses| addresses.expect("of TCP")).collect::<Vec<_>>()
        })
    };
    let _ = on_loopback(|| {
        for direction in [Direction::Forward, Direction::Reverse, Direction::Forward] {
            let mut load = settings(direction, 2, for_300_ms());
            (load.socket.source_port, load.socket.server_port) = (Some(12_000), Some(9_000));
            let expected = [12_000, 12_001].map(|port| format!("127.0.0.1:{port} -> 127.0.0.1:9000"));
            assert_eq!(made(&load), expected, "{direction:?}");
        }
    });
}
