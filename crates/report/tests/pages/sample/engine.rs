//! Results of datagrams, of an open loop, of messages during a stream, and of connections.

use findings::{
    Basis, Bucket, ConnectSummary, CpuCost, DatagramSummary, Distribution, EndSocket, LatencySummary,
    OpenLoopSummary, Percentile, ResultSummary, StreamSummary, WorkCost, WorkloadSummary,
};
use samples::ValidityWarning;
use units::{BitRate, Bytes, Nanos};
use workload::{LatencyHistogram, Metric, SocketFacts, Work};

use super::results::{estimate, result};

pub(crate) fn times(middle: u64, tail: u64) -> Distribution {
    let at = |share: f64, time: u64| Percentile {
        share,
        time: Nanos(time),
        low: Some(Nanos(time - time / 50)),
        high: (share < 0.999).then_some(Nanos(time + time / 40)),
    };
    let bucket = |from: f64, to: f64, count: u64| Bucket {
        from: Nanos((middle as f64 * from) as u64),
        to: Nanos((middle as f64 * to) as u64),
        count,
        share: count as f64 / 1000.0,
    };
    Distribution {
        min: Nanos(middle * 9 / 10),
        percentiles: vec![
            at(0.25, middle * 19 / 20),
            at(0.5, middle),
            at(0.75, middle * 21 / 20),
            at(0.9, middle * 11 / 10),
            at(0.99, tail),
            at(0.999, tail * 2),
        ],
        basis: Basis::Trials,
        max: Nanos(tail * 3),
        mean: middle as f64 * 1.04,
        deviation: middle as f64 * 0.2,
        count: 1000,
        buckets: vec![
            bucket(0.8, 1.0, 480),
            bucket(1.0, 1.25, 510),
            bucket(1.25, 1.6, 0),
            bucket(1.6, 2.0, 10),
        ],
    }
}

pub(super) fn datagrams() -> ResultSummary {
    let socket = SocketFacts {
        send_buffer: Some(Bytes(416 << 10)),
        segments: Some(45),
        cpus: Some(vec![0]),
        ran_on: vec![0],
        ..SocketFacts::default()
    };
    let result = result("wire", None, "datagrams", Metric::Throughput, 499.2e6);
    ResultSummary {
        load: "1 UDP stream forward, limit mode (many datagrams a call), 1.37 KiB datagrams, 500 Mbit/s, cross-cpu".into(),
        baseline: true,
        measured: WorkloadSummary::Stream(StreamSummary {
            sent: Some(estimate(500e6)),
            received: Some(estimate(499.2e6)),
            forward: Some(estimate(499.2e6)),
            reverse: None,
            tcp: None,
            datagrams: Some(datagram_summary()),
            lateness: Some(times(13_000, 24_100)),
            stability: Some(0.004),
        }),
        sockets: vec![EndSocket { end: "sender".into(), socket }],
        warnings: vec![(ValidityWarning::RateNotReached { requested: BitRate(520e6), achieved: BitRate(500e6) }, 2)],
        ..result
    }
}

pub(crate) fn datagram_summary() -> DatagramSummary {
    DatagramSummary {
        sent: 223_000,
        received: 222_600,
        rate: 44_500.0,
        lost: 400,
        loss: 400.0 / 223_000.0,
        reordered: 12,
        duplicates: 3,
        strays: 2,
        jitter: Nanos(7_400),
    }
}

fn latency(middle: u64, tail: u64) -> LatencySummary {
    LatencySummary {
        round_trips: times(middle, tail),
        rate: Some(9_990.0),
        lost: Some(1),
        strays: Some(3),
        duplicates: Some(1204),
        open_loop: None,
        under: None,
        histogram: LatencyHistogram::new(),
    }
}

pub(crate) fn open_loop_summary() -> LatencySummary {
    let open_loop =
        Some(OpenLoopSummary { since_intended: times(61_000, 1_204_000), lateness: times(12_000, 24_000) });
    LatencySummary { open_loop, ..latency(48_400, 72_000) }
}

pub(super) fn open_loop() -> ResultSummary {
    let warning = ValidityWarning::LateGenerator {
        lateness: Nanos(240_000),
        period: Nanos(100_000),
        tail: Nanos(1_204_000),
    };
    ResultSummary {
        load: "UDP ping-pong, 64 B, open loop, one every 100 µs, blocking, same-cpu".into(),
        baseline: true,
        measured: WorkloadSummary::PingPong(open_loop_summary()),
        warnings: vec![(warning, 1)],
        ..result("wire", None, "scheduled", Metric::RoundTrip, 61_000.0)
    }
}

pub(super) fn under_load() -> ResultSummary {
    ResultSummary {
        load: "UDP ping-pong, 64 B, closed loop, blocking, during 1 TCP stream forward of 1.00 Gbit/s, cross-cpu".into(),
        baseline: true,
        measured: WorkloadSummary::PingPong(LatencySummary { under: Some(estimate(998e6)), ..latency(64_000, 181_000) }),
        ..result("wire", None, "under-load", Metric::RoundTrip, 64_000.0)
    }
}

pub(crate) fn connect_summary() -> ConnectSummary {
    ConnectSummary { connects: times(41_000, 88_000), exchanges: times(96_000, 240_000), failed: 2 }
}

pub(super) fn connections() -> ResultSummary {
    let result = result("wire", None, "connections", Metric::ConnectionRate, 10_240.0);
    ResultSummary {
        load: "TCP connections of 1 client, 64 B there and 64 B back on each, cubic, same-cpu".into(),
        baseline: true,
        measured: WorkloadSummary::Connect(connect_summary()),
        cpu: Some(CpuCost {
            per_work: Some(WorkCost { work: Work::Connections, seconds: 97.2 }),
            ..super::results::MACHINE
        }),
        ..result
    }
}
