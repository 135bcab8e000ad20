//! Results as the analysis would summarize them, each made from a single number.

use std::collections::BTreeMap;

use findings::{
    Basis, Comparison, CpuCost, Difference, Distribution, EndSocket, Estimate, Interval, LatencySummary,
    Percentile, ResultSummary, StreamSummary, TcpSummary, WorkCost, WorkloadSummary,
};
use samples::{DeviceState, ValidityWarning};
use units::{Bytes, Nanos};
use workload::{LatencyHistogram, Metric, SocketFacts, Work};

const FIVE: f64 = 0.9375;

pub(super) const MACHINE: CpuCost = CpuCost {
    cpus: 2,
    others: 0.0,
    busy: 1.82,
    user: 0.08,
    system: 1.1,
    interrupts: 0.64,
    steal: 0.0,
    client: 0.0,
    server: 0.0,
    per_work: None,
};

pub(super) fn levels(offload: Option<&str>) -> BTreeMap<String, String> {
    offload.map(|level| ("vxlan-offload".to_owned(), level.to_owned())).into_iter().collect()
}

pub(super) fn result_id(path: &str, offload: Option<&str>, workload: &str) -> String {
    let level = offload.map(|level| format!("/vxlan-offload={level}")).unwrap_or_default();
    format!("{path}/{workload}{level}")
}

pub(super) fn result(
    path: &str,
    offload: Option<&str>,
    workload: &str,
    metric: Metric,
    median: f64,
) -> ResultSummary {
    ResultSummary {
        id: result_id(path, offload, workload),
        label: String::new(),
        path: path.into(),
        layers: super::layers(path).iter().map(ToString::to_string).collect(),
        workload: workload.into(),
        load: String::new(),
        levels: levels(offload),
        baseline: path == "node-to-node",
        metric,
        value: estimate(median),
        values: [0.97, 0.99, 1.0, 1.01, 1.02].map(|share| median * share).to_vec(),
        against_baseline: None,
        measured: WorkloadSummary::Reported,
        sockets: vec![],
        cpu: Some(MACHINE),
        guests: vec![],
        consumers: vec![],
        reported: vec![],
        shifts: vec![],
        syscalls: vec![],
        instructions: Vec::new(),
        probed: None,
        counters: None,
        packets: None,
        ended: None,
        devices: vec![],
        path_mtu: None,
        warnings: vec![],
    }
}

pub(super) fn stream(path: &str, offload: Option<&str>, gbits: f64, ratio: Option<f64>) -> ResultSummary {
    let bits = gbits * 1e9;
    let socket = SocketFacts {
        congestion: Some("cubic".into()),
        mss: Some(1398),
        send_buffer: Some(Bytes(4 << 20)),
        receive_buffer: Some(Bytes(6 << 20)),
        cpus: Some(vec![0]),
        addresses: Some("198.18.0.1:40112 -> 198.18.0.2:7000".into()),
        ..SocketFacts::default()
    };
    let result = result(path, offload, "stream", Metric::Throughput, bits);
    ResultSummary {
        load: "1 TCP stream forward, 128 KiB writes, cubic, cross-cpu".into(),
        against_baseline: ratio.map(|ratio| comparison(ratio, bits - 33.04e9, Difference::Lower)),
        measured: WorkloadSummary::Stream(StreamSummary {
            sent: Some(estimate(bits * 1.003)),
            received: Some(estimate(bits)),
            forward: Some(estimate(bits)),
            reverse: None,
            tcp: Some(TcpSummary {
                retransmits: if offload == Some("off") { 1712 } else { 0 },
                reorderings: Some(0),
                out_of_order: Some(if offload == Some("off") { 31 } else { 0 }),
                cwnd: Some((Bytes(321 << 10), Bytes(388 << 10))),
                rtt: Some(Nanos(212_400)),
                receive_window_limited: Some(0.0),
                send_buffer_limited: Some(0.042),
            }),
            datagrams: None,
            lateness: None,
            stability: Some(0.0181),
        }),
        sockets: vec![
            EndSocket { end: "sender".into(), socket: SocketFacts { ran_on: vec![0], ..socket.clone() } },
            EndSocket { end: "receiver".into(), socket },
        ],
        cpu: Some(CpuCost {
            client: 0.71,
            server: 0.93,
            per_work: Some(WorkCost { work: Work::Bytes, seconds: 2.56 / gbits }),
            ..MACHINE
        }),
        devices: offload.map(|level| device(level == "on")).into_iter().collect(),
        path_mtu: Some(1450),
        warnings: vec![(ValidityWarning::ReceiverLimited { end: "server".into(), busy: 0.982 }, 5)],
        ..result
    }
}

fn device(offload: bool) -> DeviceState {
    DeviceState {
        device: "node1:vxlan0".into(),
        kind: "vxlan".into(),
        mtu: 1450,
        features: ["tx-checksum-ip-generic", "tx-tcp-segmentation"]
            .map(|name| (name.to_owned(), offload))
            .into(),
        gso_max_size: Some(Bytes(65_536)),
        gro_max_size: Some(Bytes(65_536)),
        ..DeviceState::default()
    }
}

pub(super) fn ping_pong(path: &str, offload: Option<&str>, median: f64, ratio: Option<f64>) -> ResultSummary {
    let at = |factor: f64| Nanos((median * factor) as u64);
    let shares = [(0.25, 0.96), (0.5, 1.0), (0.75, 1.04), (0.9, 1.12), (0.99, 1.49), (0.999, 2.2)];
    let mut histogram = LatencyHistogram::new();
    shares.iter().for_each(|(_, factor)| histogram.record(at(*factor)));
    let result = result(path, offload, "ping-pong", Metric::RoundTrip, median);
    ResultSummary {
        load: "UDP ping-pong, 64 B, closed loop, cross-cpu".into(),
        against_baseline: ratio.map(|ratio| comparison(ratio, median - 48_400.0, Difference::Higher)),
        measured: WorkloadSummary::PingPong(LatencySummary {
            round_trips: Distribution {
                min: at(0.9),
                percentiles: shares
                    .iter()
                    .map(|(share, factor)| Percentile {
                        share: *share,
                        time: at(*factor),
                        low: Some(at(factor * 0.99)),
                        high: Some(at(factor * 1.01)),
                    })
                    .collect(),
                basis: Basis::Trials,
                max: at(11.3),
                mean: median * 1.02,
                deviation: median * 0.11,
                count: 412_003,
                buckets: vec![],
            },
            rate: Some(1e9 / median),
            lost: Some(0),
            strays: Some(0),
            duplicates: Some(0),
            open_loop: None,
            under: None,
            histogram,
        }),
        cpu: Some(CpuCost {
            per_work: Some(WorkCost { work: Work::Messages, seconds: 61.4 }),
            client: 0.4,
            server: 0.38,
            ..MACHINE
        }),
        ..result
    }
}

fn interval(low: f64, high: f64) -> Option<Interval> {
    Some(Interval { low, high, confidence: FIVE })
}

pub(super) fn estimate(median: f64) -> Estimate {
    Estimate {
        estimate: median,
        mean: median * 0.998,
        deviation: Some(median * 0.0121),
        interval: interval(median * 0.97, median * 1.02),
        trials: 5,
        outages: 0,
        basis: Basis::Trials,
    }
}

pub(super) fn comparison(ratio: f64, difference: f64, verdict: Difference) -> Comparison {
    let ends = |value: f64| interval((value * 0.98).min(value * 1.03), (value * 0.98).max(value * 1.03));
    Comparison {
        ratio,
        ratio_interval: ends(ratio),
        difference,
        difference_interval: ends(difference),
        verdict,
        basis: Basis::Trials,
    }
}
