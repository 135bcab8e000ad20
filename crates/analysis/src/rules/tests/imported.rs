//! Runs imported from other tools' logs, with published numbers. data/ has the sources.

use samples::{ImportedFile, Origin, SyscallCount};
use units::{Bytes, Nanos};
use workload::{Direction, EndSeries, Flow, Interval, Measurement, Quantity, StreamData};

use crate::fixtures::{Fixture, reported_of};

const VHOST: &str = include_str!("data/vhost-iperf3.tsv");
const QUEUES: &str = include_str!("data/bridge-queues.tsv");
const SYSCALLS: &str = include_str!("data/server-syscalls.tsv");

fn rows(table: &str) -> Vec<Vec<&str>> {
    table.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect()).collect()
}

fn number(text: &str) -> f64 {
    text.parse().expect("the table holds numbers")
}

pub(in crate::rules) fn vhost(keep: fn(&str, &str) -> bool) -> Fixture {
    let mut run = imported("vhost.log", "iperf3 text");
    for row in rows(VHOST).iter().filter(|row| keep(row[0], row[1])) {
        let rates: Vec<f64> = row[2].split(' ').map(|rate| number(rate) * 1e9).collect();
        add_path(&mut run, row[1]);
        run.imported(row[1], "iperf3", &[("vhost", row[0])], seconds(&rates));
    }
    named(run, "vhost.log", "iperf3 text")
}

pub(in crate::rules) fn queues(keep: fn(u32, u32) -> bool) -> Fixture {
    let mut run = imported("queues.md", "table");
    add_path(&mut run, "vmbr0");
    for row in rows(QUEUES) {
        if !keep(number(row[0]) as u32, number(row[1]) as u32) {
            continue;
        }
        let share = |name, text| (name, Quantity::Share, number(text) / 100.0);
        let columns = [
            ("Bandwidth", Quantity::BitRate, number(row[2]) * 1e9),
            share("Server VM CPU", row[3]),
            share("Proxmox CPU", row[4]),
            share("Client VM CPU", row[5]),
        ];
        run.imported("vmbr0", "iperf3", &[("Queue", row[0]), ("connections", row[1])], reported_of(&columns));
    }
    named(run, "queues.md", "table")
}

pub(in crate::rules) fn syscalls(test: &str) -> Fixture {
    let own: Vec<SyscallCount> =
        rows(SYSCALLS).iter().filter(|row| row[0] == test).map(|row| call(row)).collect();
    assert!(!own.is_empty(), "no test {test}");
    let mut run = imported("kvm.md", "a list of system calls");
    add_path(&mut run, "client-to-server");
    run.imported(
        "client-to-server",
        "iperf3",
        &[],
        reported_of(&[("Throughput", Quantity::BitRate, 13.2e9)]),
    );
    run.each("client-to-server/iperf3", |trial| trial.syscalls.clone_from(&own));
    run
}

fn call(row: &[&str]) -> SyscallCount {
    SyscallCount {
        end: Some("server".into()),
        process: None,
        thread: (row[1] != "-").then(|| row[1].to_owned()),
        call: row[2].into(),
        calls: number(row[3]) as u64,
        errors: None,
        total: Some(Nanos(number(row[4]) as u64)),
        running: None,
        waiting: None,
        guest: None,
        ..SyscallCount::default()
    }
}

pub(in crate::rules) fn split(mut run: Fixture) -> Fixture {
    run.each("client-to-server/iperf3", |trial| {
        trial.syscalls.iter_mut().for_each(|count| count.running = Some(Nanos(count.calls * 1000)));
    });
    run
}

pub(in crate::rules) fn percentiles(median_micros: f64, tail_micros: f64) -> Fixture {
    let mut run = imported("latency.md", "table");
    add_path(&mut run, "kvm-kvm");
    let time = |name, micros: f64| (name, Quantity::Time, micros * 1000.0);
    run.imported(
        "kvm-kvm",
        "sockperf",
        &[],
        reported_of(&[time("50th (Median)", median_micros), time("99.9th", tail_micros)]),
    );
    run
}

pub(in crate::rules) fn configurations(without: f64, with: f64) -> Fixture {
    let mut run = imported("kvm.md", "table");
    add_path(&mut run, "machines");
    for (name, rate) in [("BM-BM", 23.5e9), ("KVM-KVM", without), ("KVM-KVM-vhost", with)] {
        let columns = [("Throughput", Quantity::BitRate, rate)];
        run.imported("machines", "iperf3", &[("Configuration", name)], reported_of(&columns));
    }
    run
}

fn imported(name: &str, format: &str) -> Fixture {
    named(Fixture::new(1), name, format)
}

fn named(mut run: Fixture, name: &str, format: &str) -> Fixture {
    let file = ImportedFile {
        name: name.into(),
        digest: String::new(),
        lines: 120,
        formats: vec![format.to_owned()],
    };
    let notes = vec![format!("{name}, line 7: an interrupted test is ignored.")];
    run.record.header.origin =
        Origin::Imported(samples::ImportRecord { files: vec![file], notes, unexplained: Vec::new() });
    run
}

fn add_path(run: &mut Fixture, name: &str) {
    if !run.record.header.paths.iter().any(|path| path.name == name) {
        run.path(name, &[]);
    }
}

fn seconds(rates: &[f64]) -> Measurement {
    let second = Nanos::from_secs(1);
    let interval = |(index, rate): (usize, &f64)| Interval {
        start: Nanos(second.0 * index as u64),
        end: Nanos(second.0 * (index as u64 + 1)),
        bytes: Bytes((rate / 8.0) as u64),
        warmup: false,
        tcp: None,
        datagrams: None,
    };
    let receiver =
        EndSeries { intervals: rates.iter().enumerate().map(interval).collect(), ..EndSeries::default() };
    let flow = Flow { id: 0, direction: Direction::Forward, sender: EndSeries::default(), receiver };
    Measurement::Stream(StreamData { flows: vec![flow] })
}
