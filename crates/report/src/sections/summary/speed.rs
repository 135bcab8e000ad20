//! How fast: the ends of a workload's ladder or ranking, or the best and the worst of its results.

use std::collections::BTreeMap;

use findings::{CellSummary, Findings};
use samples::SyscallCount;
use workload::Metric;

use crate::{labels, phrases};

/// One line, with common settings if they fit.
pub(super) fn of(findings: &Findings, workload: &str, room: usize) -> String {
    let (ends, settings) = ends(findings, workload);
    let line = format!("{}{ends}", lead(findings, workload));
    let whole = format!("{line}{settings}");
    if whole.chars().count() <= room { whole } else { line }
}

/// Which workload a line is about, where there are several.
pub(super) fn lead(findings: &Findings, workload: &str) -> String {
    if labels::workloads(findings).len() > 1 { format!("{workload}: ") } else { String::new() }
}

/// Best and worst results with their common settings.
fn ends(findings: &Findings, workload: &str) -> (String, String) {
    let cells: Vec<&CellSummary> = findings.cells.iter().filter(|cell| cell.workload == workload).collect();
    let ladder = super::ladder(findings, workload)
        .and_then(|ladder| Some((&ladder.levels, &ladder.rungs.first()?.cell, &ladder.rungs.last()?.cell)));
    let ranking = || {
        let mut rankings = findings.rankings.iter().filter(|ranking| ranking.workload == workload);
        // With several settings there is no representative one.
        let ranking = rankings.next().filter(|_| rankings.next().is_none())?;
        Some((&ranking.levels, &ranking.ranks.first()?.cell, &ranking.ranks.last()?.cell))
    };
    let named = |id: &str| {
        cells.iter().find(|cell| cell.id == id).map(|cell| format!("{} {}", cell.path, value(cell)))
    };
    if let Some((levels, one, other)) = ladder.or_else(ranking)
        && let (Some(one), Some(other)) = (named(one), named(other))
    {
        return (format!("{one}, {other}"), settings(levels).unwrap_or_default());
    }
    (best_and_worst(&cells), String::new())
}

/// ` (offload=on)`, or ` (settings all on)` if all are equal.
pub(super) fn settings(levels: &BTreeMap<String, String>) -> Option<String> {
    let mut values = levels.values();
    let first = values.next()?;
    let is_alike = levels.len() > 1 && values.all(|value| value == first);
    let named = if is_alike { format!("settings all {first}") } else { labels::levels(levels)? };
    Some(format!(" ({named})"))
}

fn best_and_worst(cells: &[&CellSummary]) -> String {
    let by_value =
        |one: &&&CellSummary, other: &&&CellSummary| one.value.median.total_cmp(&other.value.median);
    match (cells, cells.iter().max_by(by_value), cells.iter().min_by(by_value)) {
        ([only], ..) => {
            named(only, calls(only).unwrap_or_else(|| phrases::estimate(only.metric, &only.value)))
        }
        (_, Some(most), Some(least)) => {
            let more = most.metric.more_is_better().unwrap_or(true);
            let (best, worst) = if more { (most, least) } else { (least, most) };
            format!("{} to {}; {} results", named(best, value(best)), named(worst, value(worst)), cells.len())
        }
        _ => String::new(),
    }
}

fn value(cell: &CellSummary) -> String {
    calls(cell).unwrap_or_else(|| phrases::value(cell.metric, cell.value.median))
}

/// `515 k system calls, 58 % of them recvfrom, with 61 % of the CPU time`, where they are all that is known.
fn calls(cell: &CellSummary) -> Option<String> {
    let share = |of: fn(&SyscallCount) -> u64| {
        let all: u64 = cell.syscalls.iter().map(of).sum();
        let most = cell.syscalls.iter().max_by_key(|call| of(call)).filter(|_| all > 0)?;
        Some((most.call.as_str(), phrases::rough(of(most) as f64 / all as f64)))
    };
    let (call, number) = share(|call| call.calls).filter(|_| cell.metric == Metric::Count)?;
    let total = phrases::value(cell.metric, cell.value.median);
    let phrase = format!("{total} system calls, {number} of these {call}");
    // Of all the time that calls took, most may be waiting, or a guest that runs.
    Some(match share(|call| call.running.unwrap_or_default().0) {
        None => phrase,
        Some((longest, time)) if longest == call => format!("{phrase}, with {time} of the CPU time"),
        Some((longest, time)) => format!("{phrase}; {time} of the CPU time in {longest}"),
    })
}

/// `9.41 Gbit/s (pod-to-target, offload=off)`, or only the number if the workload identifies it.
fn named(cell: &CellSummary, value: String) -> String {
    let path = labels::are_placed([cell.path.as_str()].into_iter()).then(|| cell.path.clone());
    let parts: Vec<String> = path.into_iter().chain(labels::levels(&cell.levels)).collect();
    if parts.is_empty() { value } else { format!("{value} ({})", parts.join(", ")) }
}
