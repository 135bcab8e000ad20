//! The values shown for a workload: either the first and last paths in its cost breakdown or ranking, or its best and
//! worst results.

use std::collections::BTreeMap;

use findings::{Findings, ResultSummary, ResultValue, ValueOrder, WorkloadVerdict};
use samples::SyscallCount;
use workload::Metric;

use crate::{labels, phrases};

pub(super) fn of(findings: &Findings, workload: &WorkloadVerdict, room: usize) -> String {
    let line = format!("{}{}", lead(findings, &workload.workload), values(findings, workload));
    let whole = format!("{line}{}", settings(&workload.levels).unwrap_or_default());
    if whole.chars().count() <= room { whole } else { line }
}

pub(super) fn lead(findings: &Findings, workload: &str) -> String {
    if findings.verdict.workloads.len() > 1 { format!("{workload}: ") } else { String::new() }
}

fn values(findings: &Findings, workload: &WorkloadVerdict) -> String {
    let metric = workload.metric;
    let calls = |shown: &ResultValue| calls(findings.result(&shown.result)?);
    let value =
        |shown: &ResultValue| calls(shown).unwrap_or_else(|| phrases::value(metric, shown.value.estimate));
    match (workload.order, workload.values.as_slice()) {
        (_, [only]) => named(only, calls(only).unwrap_or_else(|| phrases::estimate(metric, &only.value))),
        (ValueOrder::BestToWorst, [best, worst]) => format!(
            "{} to {}; {} results",
            named(best, value(best)),
            named(worst, value(worst)),
            workload.results
        ),
        (_, ends) => {
            let ends: Vec<String> = ends.iter().map(|end| format!("{} {}", end.path, value(end))).collect();
            ends.join(", ")
        }
    }
}

/// Formats shared settings, e.g. ` (offload=on)`, or ` (settings all on)` if all levels are equal.
pub(super) fn settings(levels: &BTreeMap<String, String>) -> Option<String> {
    let mut values = levels.values();
    let first = values.next()?;
    let is_alike = levels.len() > 1 && values.all(|value| value == first);
    let named = if is_alike { format!("settings all {first}") } else { labels::levels(levels)? };
    Some(format!(" ({named})"))
}

fn calls(result: &ResultSummary) -> Option<String> {
    let share = |of: fn(&SyscallCount) -> u64| {
        let all: u64 = result.syscalls.iter().map(of).sum();
        let most = result.syscalls.iter().max_by_key(|call| of(call)).filter(|_| all > 0)?;
        Some((most.call.as_str(), phrases::rough(of(most) as f64 / all as f64)))
    };
    let (call, number) = share(|call| call.calls).filter(|_| result.metric == Metric::Count)?;
    let total = phrases::value(result.metric, result.value.estimate);
    let phrase = format!("{total} system calls, {number} of these {call}");
    // Use CPU time: a call may spend most of its elapsed time waiting or running a guest.
    Some(match share(|call| call.running.unwrap_or_default().0) {
        None => phrase,
        Some((longest, time)) if longest == call => format!("{phrase}, with {time} of the CPU time"),
        Some((longest, time)) => format!("{phrase}; {time} of the CPU time in {longest}"),
    })
}

fn named(shown: &ResultValue, value: String) -> String {
    let name = findings::result_label(&shown.path, &shown.levels, None);
    if name.is_empty() { value } else { format!("{value} ({name})") }
}
