//! Four configurations side by side, with the numbers of write-up 004_e73c87c717f6f3c7.txt (full round trips).

use std::collections::BTreeMap;

use findings::{
    Compliance, Configuration, Difference, Findings, Judgement, MatchedPair, MatchedPairs, ProbedSummary,
    Rank, Ranking, ResultSummary, RunSummary, Sentence, Statement, TradeOffs, UnclearReason,
};
use samples::{BootedMachine, PathRecord, SyscallCount};
use units::{Bytes, Nanos};
use workload::{Metric, Work};

use super::{
    differences::floor,
    nothing, path,
    probed::rates,
    results::{comparison, ping_pong, result_id, stream},
    run, verdict,
};

/// The path, the stream's rank and rate in Gbit/s, and the rank and value (in ns) of the median round trip.
const FOUR: [(&str, u32, f64, u32, f64); 4] = [
    ("node-to-node", 1, 23.5, 1, 65_700.0),
    ("microvm", 3, 10.6, 4, 177_200.0),
    ("qemu", 3, 9.6, 3, 130_600.0),
    ("qemu-vhost", 2, 13.2, 2, 96_900.0),
];

pub(crate) fn alternatives() -> Findings {
    let streams = FOUR.map(|(path, _, gbits, ..)| against(stream(path, None, gbits, Some(gbits / 23.5))));
    let messages =
        FOUR.map(|(path, .., nanos)| counted(against(ping_pong(path, None, nanos, Some(nanos / 65_700.0)))));
    verdict::of_ranking(Findings {
        run: RunSummary {
            title: "Four configurations".into(),
            paths: FOUR.map(|(path, ..)| of_machines(path)).to_vec(),
            machines: FOUR[1..]
                .iter()
                .zip([9, 42, 43])
                .flat_map(|((path, ..), tenths)| pair(path, tenths))
                .collect(),
            ..run()
        },
        results: streams.into_iter().chain(messages).collect(),
        comparisons: 1,
        noise: vec![floor("stream", 0.021), floor("ping-pong", 0.034)],
        matrices: vec![],
        rankings: vec![
            ranking("stream", Metric::Throughput, &[0, 3, 1, 2]),
            ranking("ping-pong", Metric::RoundTrip, &[0, 3, 2, 1]),
        ],
        matched_pairs: vec![
            matched_pairs("stream", Metric::Throughput, 1.375, Difference::Higher),
            matched_pairs("ping-pong", Metric::RoundTrip, 0.742, Difference::Unclear),
        ],
        trade_offs: Some(TradeOffs {
            requirements: vec![],
            configurations: (0..FOUR.len()).map(configuration).collect(),
        }),
        ..nothing()
    })
}

pub(crate) fn required() -> Findings {
    let mut findings = alternatives();
    let bounds = ["throughput>10Gbit/s", "boot<4.25s"].map(|bound| bound.parse().expect("a bound"));
    let judged = |compliance, value| Judgement { compliance, value: Some(value), reason: None };
    let bimodal = Statement { finding: "bimodal".into(), sentence: Sentence::new("Two levels", "") };
    let rows = [
        (1, Compliance::Met, judged(Compliance::Met, 10.6e9), judged(Compliance::Met, 0.9e9)),
        (
            0,
            Compliance::Unknown,
            judged(Compliance::Met, 23.5e9),
            Judgement { compliance: Compliance::Unknown, value: None, reason: None },
        ),
        (
            3,
            Compliance::Missed,
            Judgement {
                reason: Some(UnclearReason::Unreliable(bimodal)),
                ..judged(Compliance::Unclear, 13.2e9)
            },
            judged(Compliance::Missed, 4.3e9),
        ),
        (2, Compliance::Missed, judged(Compliance::Missed, 9.6e9), judged(Compliance::Met, 4.2e9)),
    ];
    let configurations = rows.map(|(at, compliance, throughput, boot)| {
        let judgements = vec![throughput, boot];
        Configuration { compliance, judgements, ..configuration(at) }
    });
    findings.trade_offs =
        Some(TradeOffs { requirements: bounds.to_vec(), configurations: configurations.to_vec() });
    findings
}

fn configuration(at: usize) -> Configuration {
    let (path, _, gbits, ..) = FOUR[at];
    let tenths = [None, Some(9), Some(42), Some(43)][at];
    Configuration {
        path: path.into(),
        levels: BTreeMap::new(),
        results: ["stream", "ping-pong"].map(|workload| result_id(path, None, workload)).to_vec(),
        cpu_per_gb: stream(path, None, gbits, None).cpu.and_then(|cpu| Some(cpu.per_work?.seconds)),
        boot: tenths.map(|tenths| Nanos::from_millis(tenths * 100)),
        memory: tenths.map(|_| Bytes(240 << 20)),
        half_round_trips: false,
        compliance: Compliance::Met,
        judgements: Vec::new(),
    }
}

fn of_machines(name: &str) -> PathRecord {
    let end = |end: &str| format!("{name}-{end}:eth0");
    PathRecord { from: end("a"), to: end("b"), ..path(name, name == "node-to-node") }
}

fn pair(path: &str, tenths: u64) -> [BootedMachine; 2] {
    ["a", "b"].map(|end| BootedMachine {
        host: format!("{path}-{end}"),
        booted: Some(Nanos::from_millis(tenths * 90)),
        ready: Nanos::from_millis(tenths * 100),
        resident: Some(Bytes(120 << 20)),
        settings: None,
        kernel: None,
    })
}

fn against(result: ResultSummary) -> ResultSummary {
    let first = FOUR.map(|(_, _, gbits, _, nanos)| match result.metric {
        Metric::Throughput => gbits * 1e9,
        _ => nanos,
    })[0];
    let verdict = if result.metric == Metric::Throughput { Difference::Lower } else { Difference::Higher };
    let median = result.value.estimate;
    let against = (!result.baseline).then(|| comparison(median / first, median - first, verdict));
    ResultSummary { against_baseline: against, ..result }
}

fn ranking(workload: &str, metric: Metric, order: &[usize]) -> Ranking {
    let rank = |index: &usize| {
        let (path, of_stream, gbits, of_messages, nanos) = FOUR[*index];
        let (place, value) =
            if metric == Metric::Throughput { (of_stream, gbits * 1e9) } else { (of_messages, nanos) };
        Rank { place, result: result_id(path, None, workload), path: path.into(), value, against_best: None }
    };
    let ranks = order.iter().map(rank).collect();
    Ranking { workload: workload.into(), metric, levels: BTreeMap::new(), ranks }
}

fn matched_pairs(workload: &str, metric: Metric, ratio: f64, verdict: Difference) -> MatchedPairs {
    let pair = MatchedPair {
        without: result_id("qemu", None, workload),
        with: result_id("qemu-vhost", None, workload),
        change: comparison(ratio, 1.0, verdict),
    };
    MatchedPairs { word: "vhost".into(), workload: workload.into(), metric, pairs: vec![pair] }
}

fn counted(result: ResultSummary) -> ResultSummary {
    let counts: &[(&str, &str, u64, u64)] = match result.path.as_str() {
        "node-to-node" => &[("recvfrom", "pong", 455_731, 35_900), ("sendto", "pong", 455_731, 5_900)],
        "qemu-vhost" => &[("ioctl", "CPU 0/KVM", 2_052, 67_440_000)],
        _ => &[
            ("ppoll", "qemu-system-x86", 688_115, 65_800),
            ("read", "qemu-system-x86", 688_112, 2_000),
            ("ioctl", "CPU 0/KVM", 462_795, 293_000),
            ("writev", "qemu-system-x86", 229_370, 9_100),
            ("futex", "CPU 0/KVM", 543, 96_693_900),
            ("write", "qemu-system-x86", 404, 5_400),
        ],
    };
    let call = |end: &str| {
        let end = end.to_owned();
        move |(name, thread, calls, each): &(&str, &str, u64, u64)| call(&end, name, thread, *calls, *each)
    };
    let syscalls: Vec<SyscallCount> =
        ["server", "client"].iter().flat_map(|end| counts.iter().map(call(end))).collect();
    let calls = rates(Work::Messages, 229_367.0, &syscalls);
    let probed = ProbedSummary { trials: 2, calls: Some(calls), ..ProbedSummary::default() };
    ResultSummary { probed: Some(probed), syscalls, ..result }
}

fn call(end: &str, name: &str, thread: &str, calls: u64, each: u64) -> SyscallCount {
    let total = calls * each;
    let part = |share: u64| Some(Nanos(total * share / 10));
    let is_guest = name == "ioctl";
    SyscallCount {
        end: Some(end.into()),
        process: Some("qemu-system-x86".into()),
        thread: Some(thread.into()),
        call: name.into(),
        calls,
        total: Some(Nanos(total)),
        running: part(2),
        waiting: part(if is_guest { 1 } else { 8 }),
        guest: part(if is_guest { 7 } else { 0 }),
        ..SyscallCount::default()
    }
}
