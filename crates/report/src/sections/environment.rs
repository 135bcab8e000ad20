//! The machine, the paths, and the devices as the kernel reported them. Must not know results.

use findings::{Findings, Metric};
use samples::{DeviceState, Environment, PathRecord, RxTx};

use super::Source;
use crate::{
    labels,
    page::{Block, Section, Table, detail, left, right},
    phrases,
    text::{Text, Tone},
};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let mut blocks: Vec<Block> =
        findings.run.environment.iter().map(|known| Block::KeyValues(machine(known))).collect();
    if !findings.run.paths.is_empty() {
        blocks.extend([Block::Heading("Paths".into()), Block::Table(paths(&findings.run.paths))]);
    }
    blocks.extend(devices(findings));
    (!blocks.is_empty()).then(|| detail("Environment", blocks))
}

fn machine(environment: &Environment) -> Vec<(String, Text)> {
    let unknown = || "unknown".to_owned();
    let or_unknown = |fact: &Option<String>| fact.clone().unwrap_or_else(unknown);
    let virtual_ = if environment.virtual_machine { ", a virtual machine" } else { "" };
    let cpu = format!("{} × {}{virtual_}", environment.cpus, or_unknown(&environment.cpu_model));
    let load =
        environment.load_average.map_or_else(unknown, |load| load.map(|l| format!("{l:.2}")).join(", "));
    let available = environment.congestion_available.join(", ");
    let congestion = format!("{} (available: {available})", or_unknown(&environment.congestion_default));
    let lab =
        if environment.privileged { "raised as root" } else { "raised in a user namespace, without root" };
    let engine = environment.engine.map_or_else(unknown, |engine| {
        let [clock, call, wake] = [engine.clock_ns, engine.syscall_ns, engine.wake_ns].map(nanos);
        format!("the clock {clock}, a system call {call}, a sleeping thread {wake} late (medians)")
    });
    [
        ("Kernel", format!("Linux {} ({})", environment.kernel, environment.architecture)),
        ("CPU", cpu),
        ("Memory", environment.memory.to_string()),
        ("Frequency governor", or_unknown(&environment.governor)),
        ("Clock source", or_unknown(&environment.clock_source)),
        ("Congestion control", congestion),
        ("Load average before", load),
        ("What the engine's steps cost", engine),
        ("Lab", lab.to_owned()),
    ]
    .map(|(key, value)| (key.to_owned(), value.into()))
    .to_vec()
}

fn nanos(nanos: f64) -> String {
    phrases::value(Metric::RoundTrip, nanos)
}

fn paths(paths: &[PathRecord]) -> Table {
    let columns = ["Path", "From", "To", "Layers", "About"].map(left).to_vec();
    let row = |path: &PathRecord| {
        let mark = if path.baseline { " (baseline)" } else { "" };
        vec![
            Text::of(Tone::Strong, &path.name).and(Tone::Plain, mark),
            path.from.as_str().into(),
            path.to.as_str().into(),
            path.layers.join(" → ").into(),
            path.about.as_str().into(),
        ]
    };
    Table { columns, rows: paths.iter().map(row).collect(), caption: None }
}

/// Each state of the devices once, under the names of the cells that had it.
fn devices(findings: &Findings) -> Vec<Block> {
    let mut states: Vec<(&[DeviceState], Vec<String>)> = Vec::new();
    for cell in findings.cells.iter().filter(|cell| !cell.devices.is_empty()) {
        let label = labels::cell(findings, cell);
        match states.iter_mut().find(|(devices, _)| *devices == cell.devices) {
            Some((_, labels)) => labels.push(label),
            None => states.push((&cell.devices, vec![label])),
        }
    }
    let folded = |(devices, labels): (&[DeviceState], Vec<String>)| Block::Folded {
        title: format!("Devices of {}", labels.join("; ")).into(),
        blocks: vec![Block::Table(table(devices))],
    };
    states.into_iter().map(folded).collect()
}

fn table(devices: &[DeviceState]) -> Table {
    let mut columns = vec![left("Device"), left("Kind")];
    columns.extend(["MTU", "GSO max", "GRO max"].map(right));
    let known = |of: fn(&DeviceState) -> Option<RxTx>| devices.iter().any(|device| of(device).is_some());
    let further: Vec<Further> = FURTHER.into_iter().filter(|(_, of)| known(*of)).collect();
    columns.extend(further.iter().map(|(title, _)| right(*title)));
    columns.extend(["On", "Off"].map(left));
    let rows = devices.iter().map(|device| state(device, &further)).collect();
    Table { columns, rows, caption: None }
}

/// A column that is only there where some device knows it.
type Further = (&'static str, fn(&DeviceState) -> Option<RxTx>);

const FURTHER: [Further; 2] =
    [("Queues rx/tx", |device| device.queues), ("Rings rx/tx", |device| device.rings)];

fn state(device: &DeviceState, further: &[Further]) -> Vec<Text> {
    let features = |on: bool| {
        let names =
            device.features.iter().filter(|(_, active)| **active == on).map(|(name, _)| name.as_str());
        names.collect::<Vec<_>>().join(", ")
    };
    let size = |size: Option<units::Bytes>| size.map_or_else(|| "-".to_owned(), |size| size.0.to_string());
    let both = |both: RxTx| format!("{}/{}", both.rx, both.tx);
    let mut row: Vec<Text> = vec![
        Text::of(Tone::Strong, &device.device),
        device.kind.as_str().into(),
        device.mtu.to_string().into(),
        size(device.gso_max_size).into(),
        size(device.gro_max_size).into(),
    ];
    row.extend(further.iter().map(|(_, of)| of(device).map_or_else(|| "-".into(), |it| both(it).into())));
    row.extend([features(true).into(), features(false).into()]);
    row
}
