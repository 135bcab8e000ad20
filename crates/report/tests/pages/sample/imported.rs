//! Results from other tools: iperf3 in four directions with and without vhost, a latency table, and a list of system
//! calls.

use std::collections::BTreeMap;

use findings::{
    Basis, Comparison, Difference, Estimate, FactorEffect, Findings, LevelShift, ResultShift, ResultSummary,
    RunSummary,
};
use samples::{ImportRecord, ImportedFile, Origin, SyscallCount};
use units::Nanos;
use workload::{Metric, Quantity, ReportedValue};

use super::{
    nothing, path,
    results::{comparison, estimate, result},
    run, verdict,
};

const PATHS: [(&str, f64, f64); 4] = [
    ("host-to-vm", 12.6, 17.9),
    ("vm-to-host", 13.1, 18.8),
    ("vm0-to-vm1", 9.6, 17.8),
    ("vm1-to-vm0", 6.6, 6.35),
];

pub(crate) fn imported() -> Findings {
    let streams =
        PATHS.iter().flat_map(|(path, off, on)| [measured(path, "off", *off), measured(path, "on", *on)]);
    let mut results: Vec<ResultSummary> = streams.collect();
    results[1].shifts = (0..10).map(shift).collect();
    results.extend([latency("BM-BM", 32_867.0), latency("KVM-KVM", 65_325.0), calls()]);
    verdict::of_change(Findings {
        run: RunSummary {
            title: "Imported from throughput.txt and table.md".into(),
            about: String::new(),
            environment: None,
            origin: Origin::Imported(origin()),
            paths: PATHS.iter().map(|(name, ..)| path(name, *name == "host-to-vm")).collect(),
            blocks: 1,
            planned: 11,
            completed: 11,
            ..run()
        },
        results,
        effects: PATHS.iter().map(effect).collect(),
        ..nothing()
    })
}

fn origin() -> ImportRecord {
    let file = |name: &str, lines, formats: &[&str]| ImportedFile {
        name: name.into(),
        digest: "f8bb09734a5d66fb00".into(),
        lines,
        formats: formats.iter().map(ToString::to_string).collect(),
    };
    let note =
        |line: u32| format!("throughput.txt, line {line}: the log ends within a test, which was left out.");
    ImportRecord {
        files: vec![file("throughput.txt", 1384, &["iperf3 text"]), file("table.md", 212, &["table"])],
        notes: (1..9).map(|number| note(number * 100)).collect(),
        unexplained: Vec::new(),
    }
}

fn levels(vhost: &str) -> BTreeMap<String, String> {
    BTreeMap::from([("vhost-net".to_owned(), vhost.to_owned())])
}

fn id(path: &str, vhost: &str) -> String {
    format!("{path}/stream/vhost-net={vhost}")
}

fn measured(path: &str, vhost: &str, gbits: f64) -> ResultSummary {
    let bits = gbits * 1e9;
    ResultSummary {
        id: id(path, vhost),
        levels: levels(vhost),
        load: "1 TCP stream forward, as reported by iperf3 3.12".into(),
        value: Estimate { deviation: None, trials: 1, basis: Basis::Intervals, ..estimate(bits) },
        values: vec![bits],
        cpu: None,
        baseline: false,
        ..result(path, None, "stream", Metric::Throughput, bits)
    }
}

fn shift(number: u64) -> ResultShift {
    let at = Nanos::from_secs(3 * (number + 1));
    let (before, after) = if number.is_multiple_of(2) { (12.6e9, 20.0e9) } else { (20.0e9, 12.6e9) };
    ResultShift { trial: 1, shift: LevelShift { at, before, after } }
}

fn latency(path: &str, nanos: f64) -> ResultSummary {
    let value = |name: &str, quantity, value| ReportedValue { name: name.into(), quantity, value };
    ResultSummary {
        value: Estimate { interval: None, deviation: None, trials: 1, ..estimate(nanos) },
        values: vec![nanos],
        cpu: None,
        load: "as reported in a table".into(),
        reported: vec![
            value("Avg Latency", Quantity::Time, nanos),
            value("Std Dev", Quantity::Time, nanos / 20.0),
            value("Message Rate", Quantity::PerSecond, 15_200.0),
            value("Server VM CPU", Quantity::Share, 0.541),
            value("Retransmissions", Quantity::Count, 6408.0),
        ],
        baseline: false,
        ..result(path, None, "latency", Metric::Latency, nanos)
    }
}

fn calls() -> ResultSummary {
    let call = |thread: &str, call: &str, calls, millis| SyscallCount {
        end: None,
        process: Some("qemu-system-x86".into()),
        thread: Some(thread.into()),
        call: call.into(),
        calls,
        errors: Some(0),
        total: Some(Nanos::from_millis(millis)),
        running: None,
        waiting: None,
        guest: None,
        ..SyscallCount::default()
    };
    ResultSummary {
        value: Estimate { interval: None, deviation: None, trials: 1, ..estimate(412_003.0) },
        values: vec![412_003.0],
        cpu: None,
        load: "as reported by perf trace".into(),
        syscalls: vec![
            call("CPU 0/KVM", "ioctl", 211_340, 9_812),
            call("CPU 0/KVM", "futex", 1_204, 412),
            call("worker", "ppoll", 98_211, 7_310),
            call("worker", "writev", 101_248, 1_922),
        ],
        baseline: false,
        ..result("KVM-KVM", None, "syscalls", Metric::Count, 412_003.0)
    }
}

fn effect((path, off, on): &(&str, f64, f64)) -> FactorEffect {
    let ratio = on / off;
    let verdict = match ratio {
        ratio if ratio > 1.1 => Difference::Higher,
        ratio if ratio < 0.9 => Difference::Lower,
        _ => Difference::Unclear,
    };
    let change = comparison(ratio, (on - off) * 1e9, verdict);
    FactorEffect {
        factor: "vhost-net".into(),
        reference: "off".into(),
        level: "on".into(),
        path: (*path).into(),
        workload: "stream".into(),
        metric: Metric::Throughput,
        others: BTreeMap::new(),
        reference_result: id(path, "off"),
        result: id(path, "on"),
        change: Comparison { basis: Basis::Intervals, ..change },
    }
}
