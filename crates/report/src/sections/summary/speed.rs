//! The speed: both ends of a workload's cost breakdown or ranking, or its best and worst results.

use std::collections::BTreeMap;

use findings::{Findings, ResultSummary};
use samples::SyscallCount;
use workload::Metric;

use crate::{labels, phrases};

pub(super) fn of(findings: &Findings, workload: &str, room: usize) -> String {
    let (ends, settings) = ends(findings, workload);
    let line = format!("{}{ends}", lead(findings, workload));
    let whole = format!("{line}{settings}");
    if whole.chars().count() <= room { whole } else { line }
}

pub(super) fn lead(findings: &Findings, workload: &str) -> String {
    if labels::workloads(findings).len() > 1 { format!("{workload}: ") } else { String::new() }
}

fn ends(findings: &Findings, workload: &str) -> (String, String) {
    let results: Vec<&ResultSummary> =
        findings.results.iter().filter(|result| result.workload == workload).collect();
    let breakdown = super::breakdown(findings, workload).and_then(|breakdown| {
        Some((&breakdown.levels, &breakdown.steps.first()?.result, &breakdown.steps.last()?.result))
    });
    let ranking = || {
        let mut rankings = findings.rankings.iter().filter(|ranking| ranking.workload == workload);
        let ranking = rankings.next().filter(|_| rankings.next().is_none())?;
        Some((&ranking.levels, &ranking.ranks.first()?.result, &ranking.ranks.last()?.result))
    };
    let named = |id: &str| {
        results
            .iter()
            .find(|result| result.id == id)
            .map(|result| format!("{} {}", result.path, value(result)))
    };
    if let Some((levels, one, other)) = breakdown.or_else(ranking)
        && let (Some(one), Some(other)) = (named(one), named(other))
    {
        return (format!("{one}, {other}"), settings(levels).unwrap_or_default());
    }
    (best_and_worst(&results), String::new())
}

/// Formats common settings: ` (offload=on)`, or ` (settings all on)` if all levels are equal.
pub(super) fn settings(levels: &BTreeMap<String, String>) -> Option<String> {
    let mut values = levels.values();
    let first = values.next()?;
    let is_alike = levels.len() > 1 && values.all(|value| value == first);
    let named = if is_alike { format!("settings all {first}") } else { labels::levels(levels)? };
    Some(format!(" ({named})"))
}

fn best_and_worst(results: &[&ResultSummary]) -> String {
    let by_value =
        |one: &&&ResultSummary, other: &&&ResultSummary| one.value.estimate.total_cmp(&other.value.estimate);
    match (results, results.iter().max_by(by_value), results.iter().min_by(by_value)) {
        ([only], ..) => {
            named(only, calls(only).unwrap_or_else(|| phrases::estimate(only.metric, &only.value)))
        }
        (_, Some(most), Some(least)) => {
            let more = most.metric.more_is_better().unwrap_or(true);
            let (best, worst) = if more { (most, least) } else { (least, most) };
            format!(
                "{} to {}; {} results",
                named(best, value(best)),
                named(worst, value(worst)),
                results.len()
            )
        }
        _ => String::new(),
    }
}

fn value(result: &ResultSummary) -> String {
    calls(result).unwrap_or_else(|| phrases::value(result.metric, result.value.estimate))
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
    // Most of the calls' time may be waiting or running a guest.
    Some(match share(|call| call.running.unwrap_or_default().0) {
        None => phrase,
        Some((longest, time)) if longest == call => format!("{phrase}, with {time} of the CPU time"),
        Some((longest, time)) => format!("{phrase}; {time} of the CPU time in {longest}"),
    })
}

fn named(result: &ResultSummary, value: String) -> String {
    let path = labels::are_placed([result.path.as_str()].into_iter()).then(|| result.path.clone());
    let parts: Vec<String> = path.into_iter().chain(labels::levels(&result.levels)).collect();
    if parts.is_empty() { value } else { format!("{value} ({})", parts.join(", ")) }
}
