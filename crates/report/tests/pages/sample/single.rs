//! Single trials: a stream with all data, a datagram stream, an open loop, connections, and an empty trial.

use findings::{
    CpuCost, EndSocket, Evidence, Finding, Interval, LevelShift, Remedy, Role, SINGLE_SCHEMA, Sentence,
    Severity, SingleConnect, SingleFlow, SingleLevels, SingleMeasurement, SingleOutcome, SingleRate,
    SingleStream, SingleVerdict, Spread, TcpSummary, WorkCost,
};
use samples::{UnixMillis, ValidityWarning};
use units::{Bytes, Nanos};
use workload::{Direction, Metric, SocketFacts, StreamSettings, Until, Work, WorkloadSettings};

use super::engine::{connect_summary, datagram_summary, open_loop_summary, times};

fn single(words: &str, outcome: Option<SingleOutcome>) -> SingleMeasurement {
    SingleMeasurement {
        schema: SINGLE_SCHEMA,
        tool: "0.1.0".into(),
        started: UnixMillis(1_795_260_615_000),
        peer: "198.18.0.2:5201".into(),
        load: WorkloadSettings::Stream(StreamSettings::new(Until::Elapsed(Nanos::from_secs(10)))),
        words: words.into(),
        environment: None,
        verdict: SingleVerdict {
            metric: outcome.as_ref().map_or(Metric::Throughput, metric),
            value: None,
            interval: None,
            limit: None,
            next: None,
            warnings: 0,
        },
        outcome,
        cpu: CpuCost {
            cpus: 2,
            busy: 1.42,
            client: 0.61,
            per_work: Some(WorkCost { work: Work::Bytes, seconds: 0.341 }),
            ..CpuCost::default()
        },
        sockets: vec![],
        shifts: vec![],
        bimodal: None,
        warnings: vec![],
        hints: vec![],
    }
}

const fn metric(outcome: &SingleOutcome) -> Metric {
    match outcome {
        SingleOutcome::Stream(_) => Metric::Throughput,
        SingleOutcome::PingPong(_) => Metric::RoundTrip,
        SingleOutcome::Connect(_) => Metric::ConnectionRate,
    }
}

fn spread(low: f64, high: f64) -> Option<Spread> {
    Some(Spread {
        interval: Interval { low, high, confidence: 0.95 },
        end: "receiver".into(),
        intervals: 100,
        length: Nanos::from_millis(100),
        worth: 61.2,
    })
}

fn streamed(rate: f64) -> SingleStream {
    SingleStream {
        received: SingleRate { rate, spread: spread(rate * 0.99, rate * 1.012) },
        sent: Some(SingleRate { rate: rate * 1.001, spread: None }),
        forward: None,
        reverse: None,
        bytes: Bytes((rate * 1.25) as u64),
        elapsed: Nanos::from_secs(10),
        flows: vec![],
        tcp: None,
        datagrams: None,
        lateness: None,
        stability: Some(0.021),
    }
}

pub(crate) fn stream() -> SingleMeasurement {
    let flow = |id, retransmits| SingleFlow {
        id,
        direction: Direction::Forward,
        sent: Some(16.6e9),
        received: Some(16.55e9),
        retransmits: Some(retransmits),
    };
    let tcp = TcpSummary {
        retransmits: 12,
        reorderings: Some(1),
        out_of_order: Some(40),
        cwnd: Some((Bytes(321 << 10), Bytes(388 << 10))),
        rtt: Some(Nanos(212_400)),
        receive_window_limited: Some(0.0),
        send_buffer_limited: Some(0.0),
    };
    let outcome = SingleStream { tcp: Some(tcp), flows: vec![flow(0, 12), flow(1, 0)], ..streamed(33.1e9) };
    let words = "2 TCP streams forward, app mode, 128 KiB writes, bbr, free placement";
    SingleMeasurement {
        sockets: vec![EndSocket {
            end: "sender".into(),
            socket: SocketFacts { congestion: Some("bbr".into()), mss: Some(1448), ..SocketFacts::default() },
        }],
        shifts: vec![LevelShift { at: Nanos::from_millis(3200), before: 12.6e9, after: 20e9 }],
        warnings: vec![ValidityWarning::ReceiverLimited { end: "server".into(), busy: 0.982 }],
        hints: vec![hint()],
        ..single(words, Some(SingleOutcome::Stream(outcome)))
    }
}

fn hint() -> Finding {
    Finding {
        sentence: Sentence::new("The sender used bbr, the machine's default", "it paces"),
        evidence: vec![Evidence::new("congestion control").text("bbr")],
        limitations: vec!["On long lossy paths bbr may be faster; measure both.".into()],
        remedy: Some(Remedy::manual(
            "Compare with cubic",
            vec!["sysctl -w net.ipv4.tcp_congestion_control=cubic".into()],
        )),
        ..Finding::new("slow-congestion-control", Role::Cause, Severity::Warning, "")
    }
}

pub(crate) fn datagrams() -> SingleMeasurement {
    let outcome = SingleStream {
        datagrams: Some(datagram_summary()),
        lateness: Some(times(13_000, 24_100)),
        ..streamed(499.2e6)
    };
    let words = "1 UDP stream forward, app mode, 1.37 KiB datagrams, 500 Mbit/s, free placement";
    single(words, Some(SingleOutcome::Stream(outcome)))
}

pub(crate) fn open_loop() -> SingleMeasurement {
    let levels = SingleLevels {
        quantity: "round trips".into(),
        low: 11_000.0,
        high: 49_000.0,
        share_high: 0.32,
        unpinned: true,
    };
    let words = "UDP ping-pong, 64 B, open loop, one every 100 µs, blocking, free placement";
    SingleMeasurement {
        bimodal: Some(levels),
        cpu: CpuCost::default(),
        ..single(words, Some(SingleOutcome::PingPong(open_loop_summary())))
    }
}

pub(crate) fn connections() -> SingleMeasurement {
    let rate = SingleRate { rate: 10_240.0, spread: None };
    let words = "TCP connections of 1 client, 64 B there and 64 B back on each, cubic, free placement";
    let outcome = SingleOutcome::Connect(SingleConnect { rate, times: connect_summary() });
    SingleMeasurement { cpu: CpuCost::default(), ..single(words, Some(outcome)) }
}

pub(crate) fn nothing() -> SingleMeasurement {
    single("1 TCP stream forward, app mode, 128 KiB writes, cubic, free placement", None)
}
