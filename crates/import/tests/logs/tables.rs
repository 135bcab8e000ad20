//! Imports published tables and lists.

use std::convert::Infallible;

use import::{End, FileReport, ImportedTest, Options, read};
use workload::{Measurement, Quantity, ReportedValue};

fn found(name: &str, text: &str) -> (Vec<ImportedTest>, FileReport) {
    let mut found = Vec::new();
    let report = read::<Infallible>(name, &mut text.as_bytes(), &Options::default(), &mut |test| {
        found.push(test);
        Ok(())
    });
    (found, report.expect("has tables"))
}

fn values(found: &ImportedTest) -> &[ReportedValue] {
    let Measurement::Reported(data) = &found.measurement else { panic!("a table reports") };
    &data.values
}

fn named<'a>(found: &'a [ImportedTest], heading: &str, level: &str) -> &'a ImportedTest {
    let is = |found: &&ImportedTest| {
        found.title.last().is_some_and(|title| title.starts_with(heading))
            && found.levels.get("Configuration").map(String::as_str) == Some(level)
    };
    found.iter().find(is).unwrap_or_else(|| panic!("{level} of {heading}"))
}

fn value(found: &ImportedTest, name: &str) -> f64 {
    values(found).iter().find(|value| value.name == name).unwrap_or_else(|| panic!("{name}")).value
}

#[test]
fn sweep_of_queues_and_channels_has_one_cell_per_row() {
    let (found, report) = found("queues.md", include_str!("../data/queues-and-channels.md"));
    assert_eq!(found.len(), 21);
    let row = |queues: &str, channels: &str| {
        let is =
            |found: &&ImportedTest| found.levels["Queue"] == queues && found.levels["채널 수"] == channels;
        found.iter().find(is).expect("the row")
    };
    let columns: Vec<_> = values(row("8", "16"))
        .iter()
        .map(|value| (value.name.as_str(), value.quantity, value.value))
        .collect();
    assert_eq!(
        columns,
        [
            ("대역폭", Quantity::BitRate, 64.1e9),
            ("Server VM CPU", Quantity::Share, 0.12),
            ("Proxmox CPU", Quantity::Share, 0.15),
            ("Client VM CPU", Quantity::Share, 0.09),
        ]
    );
    assert_eq!(values(row("40", "128"))[0].value, 70.7e9);
    assert_eq!(report.file.formats, ["table"]);
    assert_eq!(report.table_notes.len(), 1);
    assert!(report.table_notes[0].contains("128 were used"), "{}", report.notes[0]);
}

#[test]
fn comparison_of_vmms_has_throughput_latency_and_percentiles() {
    let (found, report) = found("vmm.md", include_str!("../data/vmm-comparison.md"));
    let throughput = named(&found, "Aggregate Throughput", "VM-VM");
    assert_eq!((value(throughput, "Throughput"), value(throughput, "Retransmissions")), (10.6e9, 0.0));
    assert_eq!(value(named(&found, "Aggregate Throughput", "BM-BM"), "Performance vs BM"), 1.0);
    let latency = named(&found, "Average Latency", "KVM-KVM-vhost");
    assert_eq!((value(latency, "Avg Latency"), value(latency, "Message Rate")), (48_444.0, 10_300.0));
    let percentiles = named(&found, "Latency Percentile", "KVM-KVM");
    assert_eq!(
        values(percentiles).iter().map(|value| value.name.as_str()).collect::<Vec<_>>(),
        ["p50", "min", "p25", "p75", "p90", "p99", "p99.9", "max"]
    );
    assert_eq!(value(percentiles, "p99.9"), 107_800.0);
    assert!(
        report.table_notes.iter().any(|note| note.contains("`vs BM Overhead` is not a valid number")),
        "{:?}",
        report.table_notes
    );
}

type Level = (&'static str, &'static str);

/// Table layouts that tools print: the tool, the text, the number of results, and one result's levels and value.
const PRINTED: &[(&str, &str, usize, &[Level], f64)] = &[
    (
        "cilium connectivity perf, as in cilium/cilium issue 32034 (2024)",
        "--------------------------------------------------------------------------------\n\
         📋 Scenario   | Node       | Test    | Duration | P50   | P99   | Transaction rate OP/s\n\
         --------------------------------------------------------------------------------\n\
         📋 pod-to-pod | same-node  | TCP_RR  | 10s      | 101µs | 214µs | 8150.25\n\
         📋 pod-to-pod | other-node | TCP_RR  | 10s      | 305µs | 640µs | 2875.50\n\
         --------------------------------------------------------------------------------\n\
         --------------------------------------------------------------------------------\n\
         📋 Scenario   | Node       | Test       | Duration | Throughput Mb/s\n\
         --------------------------------------------------------------------------------\n\
         📋 pod-to-pod | same-node  | TCP_STREAM | 10s      | 12650.25\n\
         --------------------------------------------------------------------------------\n",
        3,
        &[("Node", "other-node"), ("Test", "TCP_RR")],
        305_000.0,
    ),
    (
        "k8s-netperf, as in its pull request 165 (2025)",
        "+----------------+---------+------------+---------+-------------------+------------------------------+\n\
         |  RESULT TYPE   | DRIVER  |  SCENARIO  | SAMPLES |     AVG VALUE     |   95% CONFIDENCE INTERVAL    |\n\
         +----------------+---------+------------+---------+-------------------+------------------------------+\n\
         | 📊 Rr Results  | netperf | TCP_CRR    | 3       | 702.150000 (OP/s) | 695.500000-708.800000 (OP/s) |\n\
         +----------------+---------+------------+---------+-------------------+------------------------------+\n",
        1,
        &[("SCENARIO", "TCP_CRR"), ("RESULT TYPE", "Rr Results")],
        702.15,
    ),
    (
        "kubernetes/perf-tests, as in its README (2024)",
        "MSS                              , Maximum, 96, 352, 608,\n\
         1 iperf TCP. Same VM using Pod IP,31500.000000,30100,29800,31500,\n\
         6 iperf UDP. Same VM using Pod IP,9850.000000,9850,\n",
        4,
        &[("MSS", "352")],
        29.8e9,
    ),
    (
        "a reStructuredText grid",
        "+----------+-----------------+----------------+----------------+\n\
         | Path     | Measurement     | Direct         | VXLAN          |\n\
         +==========+=================+================+================+\n\
         | a to b   | Bitrate         | 14.2 Gbits/sec | 4.10 Gbits/sec |\n\
         |          | (sender)        |                |                |\n\
         +----------+-----------------+----------------+----------------+\n",
        2,
        &[("Measurement", "Bitrate (sender)"), ("configuration", "VXLAN")],
        4.1e9,
    ),
    (
        "columns that are levels",
        "| Mode | MTU=1500 | MTU=9000 |\n|---|---|---|\n| a | 810 Mbps | Unsupported |\n| b | 1.10 Gbps | **9.30** Gbps |\n",
        3,
        &[("Mode", "b"), ("MTU", "9000")],
        9.3e9,
    ),
    (
        "columns of sizes next to named rows",
        "| Test | 64 B | 1500 B |\n|---|---|---|\n| tcp | 1 Gbit/s | 9 Gbit/s |\n| udp | 1.02 Gbit/s | 2 Gbit/s |\n",
        4,
        &[("Test", "udp"), ("column", "64 B")],
        1.02e9,
    ),
];

#[test]
fn reads_tables_that_tools_print() {
    for (tool, text, results, levels, expected) in PRINTED {
        let (found, _) = found("table.txt", text);
        assert_eq!(found.len(), *results, "{tool}");
        let is = |found: &&ImportedTest| {
            levels.iter().all(|(factor, level)| found.levels.get(*factor).map(String::as_str) == Some(*level))
        };
        let result = found.iter().find(is).unwrap_or_else(|| panic!("{levels:?} of {tool}"));
        assert!((values(result)[0].value / expected - 1.0).abs() < 1e-9, "{tool}: {:?}", values(result));
    }
}

#[test]
fn assigns_system_call_lists_to_configuration_and_end() {
    let (found, report) = found("vmm.md", include_str!("../data/vmm-comparison.md"));
    let lists: Vec<&ImportedTest> = found.iter().filter(|found| !found.syscalls.is_empty()).collect();
    assert_eq!(lists.len(), 24);
    assert!(lists.iter().all(|list| list.levels.contains_key("Configuration") && list.end.is_some()));
    let vhost = named(&found, "4.2 Latency Test", "KVM-KVM-vhost");
    let [ioctl] = vhost.syscalls.as_slice() else { panic!("one call") };
    assert_eq!((ioctl.call.as_str(), ioctl.calls), ("ioctl", 1824));
    assert_eq!(ioctl.total.map(|total| total.0), Some(122_972_830_112));
    assert_eq!(vhost.end, Some(End::Server));
    let firecracker = named(&found, "4.1 Throughput Test", "VM-VM");
    let threads: Vec<_> = firecracker.syscalls.iter().map(|call| call.thread.as_deref()).collect();
    assert_eq!(threads[..2], [Some("fc_vcpu 0"), Some("firecracker")]);
    let counted = named(&found, "3.3 Latency Test", "BM-BM");
    assert_eq!((value(counted, "listed system calls"), value(counted, "messages")), (911_462.0, 455_731.0));
    assert!(!report.notes.iter().any(|note| note.contains("system calls")), "{:?}", report.notes);
}

#[test]
fn truncated_file_yields_only_numbers_in_it() {
    for whole in [include_str!("../data/queues-and-channels.md"), include_str!("../data/vmm-comparison.md")] {
        let (all, _) = found("whole.md", whole);
        for cut in (0..whole.len()).step_by(37).filter(|cut| whole.is_char_boundary(*cut)) {
            let mut tests = Vec::new();
            let _ = read::<Infallible>(
                "cut.md",
                &mut &whole.as_bytes()[..cut],
                &Options::default(),
                &mut |test| {
                    tests.push(test);
                    Ok(())
                },
            );
            for test in tests {
                let like = all.iter().find(|found| found.title == test.title && found.levels == test.levels);
                let like = like.unwrap_or_else(|| panic!("{:?} {:?} cut at {cut}", test.title, test.levels));
                let is_sum = |value: &ReportedValue| value.name == "listed system calls";
                let known =
                    |value: &ReportedValue| is_sum(value) || values(like).iter().any(|own| own == value);
                assert!(values(&test).iter().all(known), "{:?} cut at {cut}", test.levels);
                assert!(test.syscalls.iter().all(|call| like.syscalls.contains(call)), "cut at {cut}");
            }
        }
    }
}

#[test]
fn averages_of_trials_are_not_trials() {
    for text in [
        "| Path | Run 1 | Run 2 | Average |\n|---|---|---|---|\n| veth | 9.4 Gbit/s | 9.2 Gbit/s | 9.3 Gbit/s |\n",
        "| Run | veth (Gbit/s) |\n|---|---|\n| 1 | 9.4 |\n| 2 | 9.2 |\n| **Average** | 9.3 |\n",
        "| Run | veth (Gbit/s) |\n|---|---|\n| 1 | 9.4 |\n| 2 | 9.2 |\n| Mean | 9.3 |\n| Std dev | 0.1 |\n",
        "| Run | Metric | veth |\n|---|---|---|\n| 1 | rate | 9.4 Gbit/s |\n| 2 | rate | 9.2 Gbit/s |\n| Mean | rate | 9.3 Gbit/s |\n",
    ] {
        let (found, report) = found("runs.md", text);
        let rates: Vec<f64> = found.iter().map(|trial| values(trial)[0].value).collect();
        assert_eq!(rates, [9.4e9, 9.2e9], "{text}");
        let notes = report.table_notes.join("\n");
        assert!(notes.contains("skipped averages") && !notes.contains("names a setting"), "{notes}");
    }
}
