//! What cells, workloads and settings are called in a report.
//! Must not know numbers.

use std::collections::BTreeMap;

use findings::{CellSummary, Findings};

/// `pod-to-target, offload=off`, with the workload's name where the run has several.
pub(crate) fn cell(findings: &Findings, cell: &CellSummary) -> String {
    let mut parts = vec![cell.path.clone()];
    parts.extend(levels(&cell.levels));
    if workloads(findings).len() > 1 {
        parts.push(cell.workload.clone());
    }
    parts.join(", ")
}

/// `offload=off, mtu=1500`; nothing for no factors.
pub(crate) fn levels(levels: &BTreeMap<String, String>) -> Option<String> {
    let pairs: Vec<String> = levels.iter().map(|(factor, level)| format!("{factor}={level}")).collect();
    (!pairs.is_empty()).then(|| pairs.join(", "))
}

/// The workloads that were measured, each once, in order.
pub(crate) fn workloads(findings: &Findings) -> Vec<&str> {
    distinct(findings.cells.iter().map(|cell| cell.workload.as_str()))
}

/// The factors that some of these cells have, each once.
pub(crate) fn factors<'a>(cells: impl IntoIterator<Item = &'a CellSummary>) -> Vec<&'a str> {
    let mut names: Vec<&str> =
        cells.into_iter().flat_map(|cell| cell.levels.keys().map(String::as_str)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}
