//! A probed run with streams and messages over two paths: from a pod through an egress gateway, and the bare wire.

use std::cmp::Reverse;

use findings::{
    CallRates, ConsumerPart, ConsumerTime, CpuAttribution, CpuProbeCost, DataPackets, DevicePackets,
    EndCalls, FailedProbe, Findings, Interval, LatencyBreakdown, Leg, PacketCut, PacketSize, PacketSummary,
    ProbeCost, ProbedSummary, ProcessCalls, ResultSummary, RunProbes, RunSummary, StepKind, StepSummary,
};
use samples::{
    AttributionSource, CallTimes, CpuAffinity, CpuConsumer, DeviceCounters, HopEvent, HopPoint, HostCounters,
    Interrupt, MissingProbe, Overflow, PathCounters, ProbeKind, QdiscCounters, QueueCounters, RxTx,
    SoftnetCounters, SyscallCount,
};
use units::{Bytes, Nanos};
use workload::{Metric, Work};

use super::{
    engine::times,
    nothing,
    results::{ping_pong, stream},
    run, verdict,
};

pub(crate) fn probed() -> Findings {
    verdict::of_values(Findings {
        run: RunSummary { title: "Where the time and the CPU go".into(), ..run() },
        results: vec![
            carried(stream("node-to-node", None, 33.04, None), 1.0),
            carried(stream("pod-to-target", Some("on"), 18.87, Some(0.571)), 1.4),
            messages(ping_pong("node-to-node", None, 10_900.0, None), short_way()),
            messages(ping_pong("pod-to-target", Some("on"), 29_400.0, Some(2.7)), long_way()),
        ],
        probes: RunProbes {
            used: vec![ProbeKind::Cpu, ProbeKind::Syscalls, ProbeKind::PacketWay],
            missing: vec![MissingProbe {
                probe: ProbeKind::Cpu,
                reason: "the kernel has no BTF (/sys/kernel/btf/vmlinux is missing); use one with \
                          CONFIG_DEBUG_INFO_BTF"
                    .into(),
            }],
            failed: vec![failed()],
            costs: vec![
                cost("stream", Metric::Throughput, 0.013, Some(0.034)),
                cost("ping-pong", Metric::RoundTrip, 0.061, None),
            ],
        },
        ..nothing()
    })
}

fn failed() -> FailedProbe {
    let reason = "cannot read slots: Cannot allocate memory (os error 12)".into();
    FailedProbe { probe: ProbeKind::Syscalls, reason, first_trial: 11, trials: 3, later_trials: 5 }
}

fn cost(workload: &str, metric: Metric, cost: f64, cpu: Option<f64>) -> ProbeCost {
    let interval = |cost: f64| Some(Interval { low: cost * 0.7, high: cost * 1.3, confidence: 0.951 });
    ProbeCost {
        workload: workload.into(),
        metric,
        pairs: 10,
        ratio: if metric == Metric::Throughput { 1.0 - cost } else { 1.0 + cost },
        cost,
        interval: interval(cost),
        cpu: cpu.map(|cost| CpuProbeCost { cost, interval: interval(cost) }),
    }
}

fn carried(result: ResultSummary, by: f64) -> ResultSummary {
    let syscalls = vec![
        call("client", "sendto", 51_412, 5_900, 10),
        call("server", "recvfrom", 118_204, 4_100, 9),
        call("server", "futex", 12, 81_000, 14),
    ];
    let calls = rates(Work::Bytes, 6_738.0, &syscalls);
    let probed = ProbedSummary {
        trials: 5,
        cpu: Some(consumers(Work::Bytes, by)),
        calls: Some(calls),
        under_way: vec![],
        latency_breakdown: None,
        overflowed: vec![Overflow { probe: ProbeKind::Syscalls, events: 1204 }],
    };
    let mut result = result;
    for device in &mut result.devices {
        (device.queues, device.rings) = (Some(RxTx { rx: 4, tx: 2 }), Some(RxTx { rx: 256, tx: 256 }));
        device.spread = Some(spread());
    }
    let (counters, packets) = (Some(counters(1204)), Some(packets()));
    ResultSummary { probed: Some(probed), syscalls, counters, packets, ..result }
}

fn spread() -> CpuAffinity {
    let interrupt =
        |number: u32, name: &str, cpu: u32| Interrupt { number, name: Some(name.into()), cpus: vec![cpu] };
    CpuAffinity {
        rps: vec![vec![], vec![0, 1, 2, 5]],
        xps: vec![vec![], vec![]],
        interrupts: vec![interrupt(38, "virtio2-input.0", 1), interrupt(39, "virtio2-output.0", 0)],
    }
}

fn packets() -> PacketSummary {
    let size = |packets: u64, mean: u64, segments: f64| PacketSize {
        packets,
        mean: Bytes(mean),
        segments: Some(segments),
    };
    let device = |name: &str, sent, received| DevicePackets { device: name.into(), sent, received };
    PacketSummary {
        devices: vec![
            device("app:eth0", Some(size(108_204, 61_204, 44.61)), Some(size(30_011, 66, 1.0))),
            device("egress:eth1", Some(size(4_826_100, 1_514, 1.0)), None),
        ],
        data: Some(DataPackets {
            first: 44.61,
            last: 1.0,
            cut: Some(PacketCut { device: "egress:eth1".into(), segments: 1.0 }),
        }),
    }
}

fn messages(result: ResultSummary, latency_breakdown: LatencyBreakdown) -> ResultSummary {
    let syscalls = vec![
        call("client", "recvfrom", 90_412, 9_100, 12),
        call("client", "sendto", 90_412, 3_100, 11),
        call("server", "recvfrom", 90_415, 9_700, 13),
        call("server", "sendto", 90_412, 3_300, 11),
        call("client", "clock_nanosleep", 3, 10_000_000, 23),
    ];
    let calls = rates(Work::Messages, 90_412.0, &syscalls);
    let probed = ProbedSummary {
        trials: 5,
        cpu: Some(consumers(Work::Messages, 0.8)),
        calls: Some(calls),
        under_way: vec![waits()],
        latency_breakdown: Some(latency_breakdown),
        overflowed: vec![],
    };
    ResultSummary { probed: Some(probed), syscalls, counters: Some(counters(0)), ..result }
}

fn waits() -> SyscallCount {
    SyscallCount {
        errors: None,
        times: CallTimes::default(),
        ..call("server", "futex", 5, 1_100_000_000, 14)
    }
}

fn call(end: &str, name: &str, calls: u64, each: u64, middle: usize) -> SyscallCount {
    let waits = matches!(name, "recvfrom" | "futex" | "clock_nanosleep");
    let total = calls * each;
    let waiting = if waits { total * 3 / 4 } else { 0 };
    let mut times = vec![0; middle - 1];
    times.extend([calls / 8, calls * 3 / 4, calls / 8]);
    SyscallCount {
        end: Some(end.into()),
        process: Some("plumb".into()),
        thread: Some(if end == "client" { "ping" } else { "pong" }.into()),
        call: name.into(),
        calls,
        errors: Some(0),
        total: Some(Nanos(total)),
        running: Some(Nanos(total - waiting)),
        waiting: Some(Nanos(waiting)),
        guest: Some(Nanos(0)),
        bytes: Some(Bytes(calls * 64)),
        times: CallTimes(times),
        ..SyscallCount::default()
    }
}

pub(super) fn rates(work: Work, carried: f64, calls: &[SyscallCount]) -> CallRates {
    let of = |end: &str| {
        let sum: u64 =
            calls.iter().filter(|call| call.end.as_deref() == Some(end)).map(|call| call.calls).sum();
        EndCalls {
            end: Some(end.into()),
            process: Some("plumb".into()),
            calls: sum,
            rate: sum as f64 / carried,
        }
    };
    CallRates {
        work,
        carried,
        each: calls.iter().map(|call| call.calls as f64 / carried).collect(),
        ends: vec![of("client"), of("server")],
        all: calls.iter().map(|call| call.calls as f64).sum::<f64>() / carried,
        processes: processes(calls, carried),
    }
}

fn processes(calls: &[SyscallCount], carried: f64) -> Vec<ProcessCalls> {
    let of_end = |end: &Option<String>| -> u64 {
        calls.iter().filter(|call| call.end == *end).map(|call| call.calls).sum()
    };
    let process = |call: &SyscallCount| ProcessCalls {
        count: call.clone(),
        threads: 1,
        share: call.calls as f64 / of_end(&call.end) as f64,
        rate: call.calls as f64 / carried,
    };
    let mut processes: Vec<ProcessCalls> = calls.iter().map(process).collect();
    processes.sort_by_key(|known| (known.count.end.clone(), Reverse(known.count.calls)));
    processes
}

fn consumers(work: Work, by: f64) -> CpuAttribution {
    let unit = |cpus: f64| Some(cpus / if work == Work::Bytes { 3.37 } else { 0.09 });
    let time = |consumer: CpuConsumer, cpus: f64, parts: Vec<ConsumerPart>| ConsumerTime {
        consumer,
        cpus: cpus * by,
        share: cpus / 1.3,
        cost: unit(cpus * by),
        parts,
    };
    let part = |process: Option<&str>, thread: Option<&str>, cpu: Option<u32>, cpus: f64| ConsumerPart {
        process: process.map(Into::into),
        thread: thread.map(Into::into),
        cpu,
        cpus: cpus * by,
    };
    CpuAttribution {
        source: AttributionSource::Traced,
        reason: None,
        cpus: 2,
        busy: 1.3 * by,
        attributed: 1.287 * by,
        unexplained: 0.013 * by,
        unexplained_share: 0.01,
        steal: 0.004,
        work: Some(work),
        busy_cost: unit(1.3 * by),
        consumers: vec![
            time(CpuConsumer::Client, 0.41, vec![part(Some("plumb"), Some("ping"), None, 0.41)]),
            time(CpuConsumer::Server, 0.33, vec![part(Some("plumb"), Some("pong"), None, 0.33)]),
            time(
                CpuConsumer::Softirq,
                0.48,
                vec![part(None, None, Some(1), 0.37), part(None, None, Some(0), 0.11)],
            ),
            time(CpuConsumer::Ksoftirqd, 0.03, vec![part(None, Some("ksoftirqd/1"), Some(1), 0.03)]),
            time(CpuConsumer::Irq, 0.006, vec![]),
            time(CpuConsumer::Kernel, 0.011, vec![]),
            time(CpuConsumer::Plumb, 0.005, vec![]),
            time(CpuConsumer::Other, 0.015, vec![part(Some("sshd"), None, None, 0.015)]),
        ],
        machines: None,
        guests: vec![],
    }
}

fn counters(drops: u64) -> PathCounters {
    let device = |name: &str, qdisc: &str, drops: u64| DeviceCounters {
        device: name.into(),
        rx_packets: 1_204_118,
        rx_bytes: Bytes(6_738_000_000),
        tx_packets: 602_004,
        tx_bytes: Bytes(41_000_000),
        qdisc: Some(QdiscCounters {
            kind: qdisc.into(),
            drops,
            overlimits: drops * 3,
            ..QdiscCounters::default()
        }),
        ..DeviceCounters::default()
    };
    PathCounters {
        devices: vec![with_queues(device("app:eth0", "noqueue", 0)), device("egress:eth1", "tbf", drops)],
        hosts: vec![HostCounters {
            host: "egress".into(),
            tracked: Some(3),
            translated: Some(11),
            ..HostCounters::default()
        }],
        softnet: Some(SoftnetCounters { processed: 3_112_004, dropped: drops / 4, squeezed: 7 }),
    }
}

fn with_queues(device: DeviceCounters) -> DeviceCounters {
    let queue = |packets: u64| QueueCounters { packets, bytes: Bytes(packets * 5_600), dropped: 0 };
    DeviceCounters { rx_queues: vec![queue(1_100_000), queue(104_118)], ..device }
}

type Row = (StepKind, &'static str, Option<&'static str>, &'static str, HopEvent, u64);

fn short_way() -> LatencyBreakdown {
    use HopEvent::{ClientReceives, Queued, Received, ServerReceives, ServerSends, Transmitted};
    use StepKind::{Crossing, Program, Queue, Send, Wakeup};
    latency_breakdown(
        10_900,
        &[
            (Send, "send on the client", Some("node1:eth0"), "veth", Queued, 1_310),
            (Queue, "queueing discipline", Some("node1:eth0"), "veth", Transmitted, 190),
            (Crossing, "over veth", Some("egress:eth0"), "veth", Received, 680),
            (Wakeup, "server wake-up", None, "", ServerReceives, 2_980),
            (Program, "server program", None, "", ServerSends, 120),
            (Send, "send on the server", Some("egress:eth0"), "veth", Queued, 1_290),
            (Queue, "queueing discipline", Some("egress:eth0"), "veth", Transmitted, 180),
            (Crossing, "over veth", Some("node1:eth0"), "veth", Received, 640),
            (Wakeup, "client wake-up", None, "", ClientReceives, 3_120),
        ],
    )
}

fn long_way() -> LatencyBreakdown {
    use HopEvent::{ClientReceives, Queued, Received, ServerReceives, ServerSends, Transmitted};
    use StepKind::{
        Bridge, Crossing, Decapsulation, Encapsulation, Forwarding, Program, Queue, Send, Wakeup,
    };
    latency_breakdown(
        29_400,
        &[
            (Send, "send on the client", Some("app:eth0"), "veth", Queued, 1_410),
            (Queue, "queueing discipline", Some("app:eth0"), "veth", Transmitted, 170),
            (Crossing, "over veth", Some("node1:veth-app"), "veth", Received, 690),
            (Bridge, "bridge node1:cni0", Some("node1:cni0"), "bridge", Received, 410),
            (Forwarding, "forwarding on node1", Some("node1:egress.vxlan"), "vxlan", Queued, 1_240),
            (Queue, "queueing discipline", Some("node1:egress.vxlan"), "vxlan", Transmitted, 160),
            (Encapsulation, "VXLAN encapsulation", Some("node1:eth0"), "veth", Queued, 1_180),
            (Queue, "queueing discipline", Some("node1:eth0"), "veth", Transmitted, 170),
            (Crossing, "over veth", Some("egress:eth0"), "veth", Received, 720),
            (Decapsulation, "VXLAN decapsulation", Some("egress:egress.vxlan"), "vxlan", Received, 1_630),
            (Forwarding, "forwarding and SNAT on egress", Some("egress:eth1"), "veth", Queued, 1_720),
            (Queue, "queueing discipline", Some("egress:eth1"), "veth", Transmitted, 180),
            (Crossing, "over veth", Some("target:eth0"), "veth", Received, 700),
            (Wakeup, "server wake-up", None, "", ServerReceives, 2_990),
            (Program, "server program", None, "", ServerSends, 130),
            (Send, "send on the server", Some("target:eth0"), "veth", Queued, 1_380),
            (Queue, "queueing discipline", Some("target:eth0"), "veth", Transmitted, 180),
            (Crossing, "over veth", Some("egress:eth1"), "veth", Received, 690),
            (
                Forwarding,
                "forwarding and SNAT on egress",
                Some("egress:egress.vxlan"),
                "vxlan",
                Queued,
                1_510,
            ),
            (Encapsulation, "VXLAN encapsulation", Some("egress:eth0"), "veth", Queued, 1_210),
            (Crossing, "over veth", Some("node1:eth0"), "veth", Received, 710),
            (Decapsulation, "VXLAN decapsulation", Some("node1:egress.vxlan"), "vxlan", Received, 1_590),
            (Forwarding, "forwarding on node1", Some("node1:cni0"), "bridge", Queued, 980),
            (Bridge, "bridge node1:cni0", Some("node1:veth-app"), "veth", Queued, 350),
            (Crossing, "over veth", Some("app:eth0"), "veth", Received, 700),
            (Wakeup, "client wake-up", None, "", ClientReceives, 3_610),
        ],
    )
}

fn latency_breakdown(engine: u64, rows: &[Row]) -> LatencyBreakdown {
    let point = |row: &Row| HopPoint {
        event: row.4,
        device: row.2.map(Into::into),
        kind: row.2.map(|_| row.3.to_owned()),
    };
    let mut from = HopPoint { event: HopEvent::ClientSends, device: None, kind: None };
    let (mut begins, mut leg) = (0u64, Leg::There);
    let mut steps = Vec::new();
    for row in rows {
        let share = |nanos: u64| nanos as f64 / engine as f64;
        leg = match from.event {
            HopEvent::ServerReceives => Leg::Server,
            HopEvent::ServerSends => Leg::Back,
            _ => leg,
        };
        steps.push(StepSummary {
            from: std::mem::replace(&mut from, point(row)),
            to: point(row),
            leg,
            kind: row.0,
            label: row.1.into(),
            p50: Nanos(row.5),
            p99: Nanos(row.5 * 17 / 10),
            share: share(row.5),
            start: share(begins),
            by_trial: vec![share(row.5); 5],
        });
        begins += row.5;
    }
    LatencyBreakdown {
        every: 16,
        followed: 21_034,
        not_followed: 12,
        round_trip: times(engine * 101 / 100, engine * 19 / 10),
        engine: Some(Nanos(engine)),
        sum: Nanos(begins),
        unexplained: 1.0 - begins as f64 / engine as f64,
        unexplained_in_trial: 0.031,
        steps,
    }
}
