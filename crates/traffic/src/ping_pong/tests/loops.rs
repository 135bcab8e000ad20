//! Closed and open loops, blocking and spinning, with and without a background stream.

use plumb_tests::{in_one_of_five, on_loopback};
use units::{BitRate, Bytes, Nanos};
use workload::{
    Background, Direction, LatencyHistogram, Mode, PingPongSettings, Schedule, Transport, Waiting,
};

use super::{data, play, settings};

/// A thread that waits for a CPU makes few round trips, and sometimes none for tenths of a second.
fn check(transport: Transport, message: u64) {
    in_one_of_five(|| return_in_time(transport, message));
}

fn return_in_time(transport: Transport, message: u64) {
    let load = settings(transport, message);
    let Some((client, server)) = on_loopback(|| play(&load, |port| port)) else { return };
    let (client, server) = (client.expect("runs"), server.expect("runs"));
    assert!(data(&client).round_trips.count() > 100, "{message}: {}", data(&client).round_trips.count());
    assert_eq!(data(&client).lost, Some(0), "{message}");
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

#[test]
fn spinning_ends_work_with_both_transports() {
    for transport in [Transport::Udp, Transport::Tcp] {
        let duration = Nanos::from_secs(1);
        let load = PingPongSettings { waiting: Waiting::Spin, duration, ..settings(transport, 64) };
        in_one_of_five(|| {
            let Some((client, server)) = on_loopback(|| play(&load, |port| port)) else { return };
            assert!(data(&client.expect("runs")).round_trips.count() > 2);
            server.expect("runs");
        });
    }
}

#[test]
fn spinning_threads_are_busy_and_blocking_ones_are_not() {
    let mut attempts = Vec::new();
    // Steal time is charged to the running thread, so a busy host gets more attempts.
    while attempts.len() < 8 {
        let Some([blocking, spinning]) = busy_shares() else { return };
        let (most, least) =
            (blocking.iter().copied().fold(0.0, f64::max), spinning.iter().copied().fold(1.0, f64::min));
        attempts.push((most, least));
        // Sending a few messages takes about 1 % of the time. Other work can reduce the CPU time of a spinning thread,
        // but cannot increase that of a blocking thread.
        if most < 0.05 && least > 3.0 * most {
            return;
        }
    }
    panic!("maximum busy share of a blocking thread, and minimum of a spinning one: {attempts:?}");
}

fn busy_shares() -> Option<[Vec<f64>; 2]> {
    let period = Nanos::from_millis(10);
    let of = |waiting| {
        let load = PingPongSettings { schedule: Schedule::Open { period }, ..open(Transport::Udp, waiting) };
        let (client, server) = on_loopback(|| play(&load, |port| port))?;
        let threads = [client.expect("runs").threads, server.expect("runs").threads].concat();
        Some(threads.iter().map(|thread| thread.busy.0 as f64 / thread.elapsed.0 as f64).collect())
    };
    Some([of(Waiting::Block)?, of(Waiting::Spin)?])
}

fn open(transport: Transport, waiting: Waiting) -> PingPongSettings {
    PingPongSettings {
        schedule: Schedule::Open { period: Nanos::from_millis(1) },
        waiting,
        ..settings(transport, 64)
    }
}

#[test]
fn open_loop_sends_all_due_messages_and_measures_from_both_times() {
    in_one_of_five(messages_fall_due);
}

fn messages_fall_due() {
    for transport in [Transport::Udp, Transport::Tcp] {
        for waiting in [Waiting::Block, Waiting::Spin] {
            let load = open(transport, waiting);
            let Some((client, server)) = on_loopback(|| play(&load, |port| port)) else { return };
            let client = client.expect("runs");
            server.expect("runs");
            let data = data(&client);
            let open = data.open_loop.as_ref().expect("an open loop");
            assert_eq!((data.round_trips.count(), data.lost), (200, Some(0)), "{transport:?} {waiting:?}");
            assert_eq!((open.since_intended.count(), open.lateness.count()), (200, 200));
            let mean = |histogram: &LatencyHistogram| histogram.mean().expect("counted");
            let sum = mean(&data.round_trips) + mean(&open.lateness);
            assert!((mean(&open.since_intended) / sum - 1.0).abs() < 0.01, "{data:?}");
            assert_eq!(client.threads.len(), 2);
        }
    }
}

#[test]
fn background_stream_runs_for_the_whole_time() {
    in_one_of_five(streams_flow);
}

fn streams_flow() {
    let under = Background {
        mode: Mode::App,
        streams: 1,
        direction: Direction::Both,
        rate: Some(BitRate(80e6)),
        message: Bytes(10_000),
    };
    for transport in [Transport::Udp, Transport::Tcp] {
        let load = PingPongSettings { under: Some(under), ..settings(transport, 64) };
        let Some((client, server)) = on_loopback(|| play(&load, |port| port)) else { return };
        for end in [client.expect("runs"), server.expect("runs")] {
            let directions: Vec<_> =
                end.measured.background.flows.iter().map(|flow| flow.direction).collect();
            assert_eq!(directions, [Direction::Forward, Direction::Reverse]);
            for flow in &end.measured.background.flows {
                // 80 Mbit/s for 200 ms is 2 MB.
                let bytes = flow.series.bytes().0;
                assert!((1_000_000..4_000_000).contains(&bytes), "{bytes}");
            }
            assert_eq!(end.threads.len(), 3);
        }
    }
}
