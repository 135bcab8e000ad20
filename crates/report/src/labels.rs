//! Names of results, workloads and settings.

use std::collections::BTreeMap;

use findings::{Findings, NO_PATH, ResultSummary, RunComparison};
use samples::CpuConsumer;

fn is_placed(path: &str) -> bool {
    path != NO_PATH
}

pub(crate) fn are_placed<'a>(mut paths: impl Iterator<Item = &'a str>) -> bool {
    paths.any(is_placed)
}

pub(crate) fn result_in_workload(result: &ResultSummary) -> String {
    findings::label_in_workload(&result.path, &result.levels, &result.workload)
}

/// Formats factor levels, e.g. `offload=off, mtu=1500`. Returns `None` if there are no factors.
pub(crate) fn levels(levels: &BTreeMap<String, String>) -> Option<String> {
    let pairs: Vec<String> = levels.iter().map(|(factor, level)| format!("{factor}={level}")).collect();
    (!pairs.is_empty()).then(|| pairs.join(", "))
}

pub(crate) fn swept(workload: &str, path: &str) -> String {
    if path == NO_PATH { workload.to_owned() } else { format!("{workload}, {path}") }
}

pub(crate) fn workloads(findings: &Findings) -> Vec<&str> {
    distinct(findings.results.iter().map(|result| result.workload.as_str()))
}

pub(crate) fn compared(comparison: &RunComparison) -> Vec<&str> {
    distinct(comparison.results.iter().map(|result| result.workload.as_str()))
}

pub(crate) fn factors<'a>(settings: impl IntoIterator<Item = &'a BTreeMap<String, String>>) -> Vec<&'a str> {
    let mut names: Vec<&str> =
        settings.into_iter().flat_map(|levels| levels.keys().map(String::as_str)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

pub(crate) fn reported<'a>(results: impl IntoIterator<Item = &'a ResultSummary>) -> Vec<&'a str> {
    distinct(results.into_iter().flat_map(|result| &result.reported).map(|value| value.name.as_str()))
}

pub(crate) const fn consumer(consumer: CpuConsumer) -> &'static str {
    match consumer {
        CpuConsumer::Client => "client",
        CpuConsumer::Server => "server",
        CpuConsumer::ClientVm => "client's VM (vCPUs)",
        CpuConsumer::ServerVm => "server's VM (vCPUs)",
        CpuConsumer::Vmm => "VMM, I/O threads",
        CpuConsumer::Vhost => "vhost workers",
        CpuConsumer::Softirq => "soft interrupts",
        CpuConsumer::Ksoftirqd => "ksoftirqd",
        CpuConsumer::Irq => "hardware interrupts",
        CpuConsumer::Kernel => "other kernel threads",
        CpuConsumer::Plumb => "plumb itself",
        CpuConsumer::Other => "other processes",
    }
}

pub(crate) const fn owner_key(consumer: CpuConsumer) -> &'static str {
    match consumer {
        CpuConsumer::Client => "client",
        CpuConsumer::Server => "server",
        CpuConsumer::ClientVm => "client-vm",
        CpuConsumer::ServerVm => "server-vm",
        CpuConsumer::Vmm => "vmm",
        CpuConsumer::Vhost => "vhost",
        CpuConsumer::Softirq => "softirq",
        CpuConsumer::Ksoftirqd => "ksoftirqd",
        CpuConsumer::Irq => "irq",
        CpuConsumer::Kernel => "kernel",
        CpuConsumer::Plumb => "plumb",
        CpuConsumer::Other => "other",
    }
}

pub(crate) fn consumers<'a>(results: impl IntoIterator<Item = &'a ResultSummary>) -> Vec<CpuConsumer> {
    let attributed = results.into_iter().filter_map(|result| result.probed.as_ref()?.cpu.as_ref());
    let mut consumers: Vec<CpuConsumer> =
        attributed.flat_map(|cpu| &cpu.consumers).map(|time| time.consumer).collect();
    consumers.sort_unstable();
    consumers.dedup();
    consumers
}

#[must_use]
pub fn result_label(path: &str, levels: &BTreeMap<String, String>, workload: &str) -> String {
    findings::result_label(path, levels, Some(workload))
}

pub(crate) fn distinct<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}
