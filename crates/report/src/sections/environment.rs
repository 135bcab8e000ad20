//! The machine and the paths.

use std::collections::BTreeMap;

use samples::{BootedMachine, Environment, PathRecord};
use workload::Metric;

use super::{Source, devices};
use crate::{page::*, phrases};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let mut blocks: Vec<Block> = findings
        .run
        .environment
        .iter()
        .map(|known| {
            let mut rows = machine(known, &findings.run.paths);
            rows.extend(guests(&findings.run.machines));
            Block::KeyValues(rows)
        })
        .collect();
    if !findings.run.paths.is_empty() {
        blocks.extend([Block::Heading("Paths".into()), Block::Table(paths(&findings.run.paths))]);
    }
    blocks.extend(devices::folded(findings));
    section_of("Environment", blocks)
}

fn machine(environment: &Environment, paths: &[PathRecord]) -> Vec<(String, Text)> {
    let unknown = || "unknown".to_owned();
    let or_unknown = |fact: &Option<String>| fact.clone().unwrap_or_else(unknown);
    let virtual_ = match (&environment.inside, environment.virtual_machine) {
        (Some(_), _) => ", emulated: a virtual hypervisor",
        (None, true) => ", a virtual machine",
        (None, false) => "",
    };
    let cpu = format!("{} × {}{virtual_}", environment.cpus, or_unknown(&environment.cpu_model));
    let load =
        environment.load_average.map_or_else(unknown, |load| load.map(|l| format!("{l:.2}")).join(", "));
    let available = environment.congestion_available.join(", ");
    let congestion = format!("{} (available: {available})", or_unknown(&environment.congestion_default));
    let lab = match (
        paths.first().filter(|_| paths.iter().all(|path| PathRecord::exists(&path.layers))),
        environment.privileged,
    ) {
        (Some(path), _) => format!("none; this is the host of {}", path.from),
        (None, true) => "created as root".to_owned(),
        (None, false) => "created in a user namespace, without root".to_owned(),
    };
    let engine = environment.engine.map_or_else(unknown, |engine| {
        let [clock, call, wake] = [engine.clock_ns, engine.syscall_ns, engine.wake_ns].map(nanos);
        format!("clock {clock}, system call {call}, timer wake-up {wake} late (medians)")
    });
    [
        ("Kernel", format!("Linux {} ({})", environment.kernel, environment.architecture)),
        ("CPU", cpu),
        ("Memory", environment.memory.to_string()),
        ("Frequency governor", or_unknown(&environment.governor)),
        ("Clock source", or_unknown(&environment.clock_source)),
        ("Congestion control", congestion),
        ("Load average before", load),
        ("Engine overhead", engine),
        ("Lab", lab),
    ]
    .map(|(key, value)| (key.to_owned(), value.into()))
    .to_vec()
}

/// Returns one row for each kernel.
fn guests(machines: &[BootedMachine]) -> Vec<(String, Text)> {
    let mut hosts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for machine in machines {
        if let Some(kernel) = &machine.kernel {
            hosts.entry(kernel).or_default().push(&machine.host);
        }
    }
    let row = |(kernel, hosts): (&str, Vec<&str>)| {
        (format!("Kernel of {}", hosts.join(", ")), format!("Linux {kernel}").into())
    };
    hosts.into_iter().map(row).collect()
}

fn nanos(nanos: f64) -> String {
    phrases::value(Metric::RoundTrip, nanos)
}

fn paths(paths: &[PathRecord]) -> Table {
    let columns = ["Path", "From", "To", "Layers", "About"].map(left).to_vec();
    let row = |path: &PathRecord| {
        let mark = if path.baseline { " (baseline)" } else { "" };
        vec![
            Text::strong(&path.name).and_plain(mark),
            path.from.as_str().into(),
            // A workload with a single end runs on a single host.
            if path.to == path.from { "" } else { path.to.as_str() }.into(),
            path.layers.join(" → ").into(),
            path.about.as_str().into(),
        ]
    };
    Table { columns, rows: paths.iter().map(row).collect(), caption: None }
}
