//! Names of cells, workloads and settings.

use std::collections::BTreeMap;

use findings::{CellComparison, CellSummary, Evidence, Finding, Findings, RunComparison};
use samples::CpuOwner;

/// Path of results whose log does not contain one.
const NO_PATH: &str = "unknown";

/// Whether a path is one to speak of.
fn is_placed(path: &str) -> bool {
    path != NO_PATH
}

/// Whether nothing but its workload names a cell.
fn is_nameless(path: &str, levels: &BTreeMap<String, String>) -> bool {
    !is_placed(path) && levels.is_empty()
}

/// Whether any path is known.
pub(crate) fn are_placed<'a>(mut paths: impl Iterator<Item = &'a str>) -> bool {
    paths.any(is_placed)
}

/// `pod-to-target, offload=off`, with the workload's name where the run has several.
pub(crate) fn cell(findings: &Findings, cell: &CellSummary) -> String {
    let several = workloads(findings).len() > 1 || is_nameless(&cell.path, &cell.levels);
    joined(&cell.path, &cell.levels, several.then_some(&cell.workload))
}

/// The label within a table of one workload.
pub(crate) fn cell_in_workload(cell: &CellSummary) -> String {
    joined(&cell.path, &cell.levels, is_nameless(&cell.path, &cell.levels).then_some(&cell.workload))
}

/// A finding with the labels of cells in place of their identifiers.
pub(crate) fn finding(findings: &Findings, finding: &Finding) -> Finding {
    let named = |text: &String| named(findings, text);
    let evidence = finding.evidence.iter().map(|it| Evidence {
        what: named(&it.what),
        value: named(&it.value),
        ..it.clone()
    });
    Finding {
        claim: named(&finding.claim),
        evidence: evidence.collect(),
        caveats: finding.caveats.iter().map(named).collect(),
        ..finding.clone()
    }
}

/// A text with the labels of cells in place of their identifiers.
pub(crate) fn named(findings: &Findings, text: &str) -> String {
    let mut told: Vec<&CellSummary> = findings.cells.iter().filter(|cell| text.contains(&cell.id)).collect();
    // An identifier may be a prefix of another.
    told.sort_by_key(|cell| std::cmp::Reverse(cell.id.len()));
    told.into_iter().fold(text.to_owned(), |text, it| text.replace(&it.id, &cell(findings, it)))
}

/// The same of a cell that two runs have.
pub(crate) fn contrast(contrast: &RunComparison, cell: &CellComparison) -> String {
    let several = contrasted(contrast).len() > 1 || is_nameless(&cell.path, &cell.levels);
    joined(&cell.path, &cell.levels, several.then_some(&cell.workload))
}

/// The label within a table of one workload.
pub(crate) fn contrast_in_workload(cell: &CellComparison) -> String {
    joined(&cell.path, &cell.levels, is_nameless(&cell.path, &cell.levels).then_some(&cell.workload))
}

/// `offload=off, mtu=1500`; nothing for no factors.
pub(crate) fn levels(levels: &BTreeMap<String, String>) -> Option<String> {
    let pairs: Vec<String> = levels.iter().map(|(factor, level)| format!("{factor}={level}")).collect();
    (!pairs.is_empty()).then(|| pairs.join(", "))
}

/// `stream, pod-to-target`: workload and path of a sweep.
pub(crate) fn swept(workload: &str, path: &str) -> String {
    if path == NO_PATH { workload.to_owned() } else { format!("{workload}, {path}") }
}

/// Measured workloads in order, without duplicates.
pub(crate) fn workloads(findings: &Findings) -> Vec<&str> {
    distinct(findings.cells.iter().map(|cell| cell.workload.as_str()))
}

/// The workloads that both runs have, each once, in order.
pub(crate) fn contrasted(contrast: &RunComparison) -> Vec<&str> {
    distinct(contrast.cells.iter().map(|cell| cell.workload.as_str()))
}

/// The factors that some of these settings have, each once.
pub(crate) fn factors<'a>(settings: impl IntoIterator<Item = &'a BTreeMap<String, String>>) -> Vec<&'a str> {
    let mut names: Vec<&str> =
        settings.into_iter().flat_map(|levels| levels.keys().map(String::as_str)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The columns that other tools reported of these cells, each once, in order.
pub(crate) fn reported<'a>(cells: impl IntoIterator<Item = &'a CellSummary>) -> Vec<&'a str> {
    distinct(cells.into_iter().flat_map(|cell| &cell.reported).map(|value| value.name.as_str()))
}

/// Name of an owner of CPU time, e.g. `client`, `soft interrupts`.
pub(crate) const fn owner(owner: CpuOwner) -> &'static str {
    match owner {
        CpuOwner::Client => "client",
        CpuOwner::Server => "server",
        CpuOwner::ClientVm => "client's VM (vCPUs)",
        CpuOwner::ServerVm => "server's VM (vCPUs)",
        CpuOwner::Vmm => "VMM, I/O threads",
        CpuOwner::Vhost => "vhost workers",
        CpuOwner::Softirq => "soft interrupts",
        CpuOwner::Ksoftirqd => "ksoftirqd",
        CpuOwner::Irq => "hardware interrupts",
        CpuOwner::Kernel => "other kernel threads",
        CpuOwner::Plumb => "plumb itself",
        CpuOwner::Other => "other processes",
    }
}

/// The same as a part of a column's name: `client`, `softirq`.
pub(crate) const fn owner_key(owner: CpuOwner) -> &'static str {
    match owner {
        CpuOwner::Client => "client",
        CpuOwner::Server => "server",
        CpuOwner::ClientVm => "client-vm",
        CpuOwner::ServerVm => "server-vm",
        CpuOwner::Vmm => "vmm",
        CpuOwner::Vhost => "vhost",
        CpuOwner::Softirq => "softirq",
        CpuOwner::Ksoftirqd => "ksoftirqd",
        CpuOwner::Irq => "irq",
        CpuOwner::Kernel => "kernel",
        CpuOwner::Plumb => "plumb",
        CpuOwner::Other => "other",
    }
}

/// Owners with CPU time in any of these results, in order.
pub(crate) fn owners<'a>(cells: impl IntoIterator<Item = &'a CellSummary>) -> Vec<CpuOwner> {
    let owned = cells.into_iter().filter_map(|cell| cell.probed.as_ref()?.cpu.as_ref());
    let mut owners: Vec<CpuOwner> = owned.flat_map(|cpu| &cpu.owners).map(|time| time.owner).collect();
    owners.sort_unstable();
    owners.dedup();
    owners
}

/// A result's label where no report's findings are at hand: that of [`cell`] in a run of several workloads.
#[must_use]
pub fn result_label(path: &str, levels: &BTreeMap<String, String>, workload: &str) -> String {
    joined(path, levels, Some(&workload.to_owned()))
}

fn joined(path: &str, levels: &BTreeMap<String, String>, workload: Option<&String>) -> String {
    let path = is_placed(path).then(|| path.to_owned());
    let parts = path.into_iter().chain(self::levels(levels)).chain(workload.cloned());
    parts.collect::<Vec<_>>().join(", ")
}

/// Each once, in order.
pub(crate) fn distinct<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}
