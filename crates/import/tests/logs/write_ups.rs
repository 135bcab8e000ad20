//! Imports published articles, which contain logs under headings, among scripts and prose.

use std::collections::BTreeMap;

use crate::imported::{Run, import};
use units::{BitRate, Nanos};
use workload::{Flow, Measurement};

fn flow<'a>(run: &'a Run, cell: &str) -> &'a Flow {
    let trials = run.trials_of(cell);
    match trials.iter().map(|trial| &trial.measurement).collect::<Vec<_>>()[..] {
        [Measurement::Stream(stream)] if stream.flows.len() == 1 => &stream.flows[0],
        ref other => panic!("{cell} has one trial of one connection: {}", other.len()),
    }
}

#[test]
fn eight_pairs_of_logs_are_eight_cells_with_path_and_level() {
    let run = import(&["vhost-net.md"]);
    assert_eq!((run.trials.len(), run.header.results.len()), (8, 8));
    assert_eq!(run.notes(), [""; 0]);
    let paths: Vec<(&str, &str, &str)> = run
        .header
        .paths
        .iter()
        .map(|path| (path.name.as_str(), path.from.as_str(), path.to.as_str()))
        .collect();
    assert_eq!(
        paths,
        [
            ("host-to-vm", "Host", "VM"),
            ("vm-to-host", "VM", "Host"),
            ("vm0-to-vm1", "VM0", "VM1"),
            ("vm1-to-vm0", "VM1", "VM0"),
        ]
    );
    for (path, level, rate) in [
        ("host-to-vm", "on", 27.4),
        ("host-to-vm", "off", 16.2),
        ("vm-to-host", "on", 21.8),
        ("vm-to-host", "off", 17.7),
        ("vm0-to-vm1", "on", 17.8),
        ("vm0-to-vm1", "off", 15.3),
        ("vm1-to-vm0", "on", 6.35),
        ("vm1-to-vm0", "off", 16.0),
    ] {
        let cell = format!("{path}/tcp-stream/vhost-net={level}");
        let flow = flow(&run, &cell);
        assert_eq!(flow.sender.intervals.len(), 60, "{cell}");
        assert!((60..=61).contains(&flow.receiver.intervals.len()), "{cell}");
        for end in [&flow.sender, &flow.receiver] {
            let got = end.rate().0 / 1e9;
            assert!((got / rate - 1.0).abs() < 0.005, "{cell}: {got}, iperf3 printed {rate}");
        }
        let record = run.header.results.iter().find(|record| record.id == cell).expect("cell exists");
        assert_eq!(record.levels, BTreeMap::from([("vhost-net".to_owned(), level.to_owned())]));
    }
    let order: Vec<&str> =
        run.header.results.iter().take(2).map(|cell| cell.levels["vhost-net"].as_str()).collect();
    assert_eq!(order, ["off", "on"], "`off` is the reference");
}

#[test]
fn last_interval_has_a_plausible_rate() {
    let run = import(&["vhost-net.md"]);
    let receiver = &flow(&run, "host-to-vm/tcp-stream/vhost-net=on").receiver;
    let tail = receiver.intervals.last().expect("a tail");
    assert!(tail.end - tail.start < Nanos::from_millis(2), "{tail:?}");
    assert!((tail.rate().0 / 26.4e9 - 1.0).abs() < 0.001, "{}", tail.rate());
}

#[test]
fn finds_rate_shift_at_the_printed_time() {
    let run = import(&["vhost-net.md"]);
    let receiver = &flow(&run, "vm1-to-vm0/tcp-stream/vhost-net=off").receiver;
    let at = |second: usize| receiver.intervals[second].rate();
    for (second, rate) in [(9, 12.8e9), (11, 19.8e9), (27, 20.7e9), (28, 14.8e9)] {
        assert_eq!(at(second).to_string(), BitRate(rate).to_string(), "{second}");
    }
}

#[test]
fn pairs_logs_without_connections_by_heading_and_received_bytes() {
    let run = import(&["vxlan.md"]);
    assert_eq!(run.trials.len(), 1, "{:?}", run.notes());
    let path = &run.header.paths[0];
    assert_eq!((path.from.as_str(), path.to.as_str()), ("10.1.0.1", "10.1.0.101"));
    let cell = &run.header.results[0];
    assert_eq!(cell.workload, "iperf3 Benchmark: Client to Server over VXLAN");
    let flow = flow(&run, &cell.id);
    assert_eq!((flow.sender.intervals.len(), flow.receiver.intervals.len()), (10, 11));
    let rates = [flow.sender.rate().0, flow.receiver.rate().0].map(|rate| (rate / 1e6).round());
    assert_eq!(rates, [911.0, 909.0]);
    assert_eq!(run.notes(), [""; 0], "its table only repeats the logs");
}
