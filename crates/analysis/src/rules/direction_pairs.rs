//! Finds results for both directions of a path: paths between the same ends, workloads that differ only in direction,
//! and bidirectional traffic. In other tools' logs, names identify them.

use std::cmp::Ordering;

use findings::{Comparison, Estimate, StreamSummary};
use samples::{RunHeader, WorkloadSource};
use workload::{Direction, StreamSettings};

use super::{
    prelude::*,
    significance::{self, Side},
};

const BETWEEN: [&str; 5] = ["->", "→", "-to-", "_to_", " to "];
const OPPOSITE: [(&str, &str); 3] = [("forward", "reverse"), ("upload", "download"), ("send", "receive")];

pub(crate) struct DirectionPair<'a> {
    pub(crate) slower: &'a ResultSummary,
    pub(crate) slower_way: Phrase,
    pub(crate) faster_way: Phrase,
    pub(crate) slower_value: f64,
    pub(crate) faster_value: f64,
    /// The slower direction's performance as a fraction of the faster one's, from 0 to 1.
    pub(crate) keeps: f64,
    pub(crate) sure: bool,
    pub(crate) limitation: Option<&'static str>,
    /// Compares the slower direction with the faster one. `None` for bidirectional traffic, where one trial contains
    /// both directions.
    pub(crate) change: Option<Comparison>,
}

pub(crate) fn ways<'a>(context: &Context<'a>) -> Vec<DirectionPair<'a>> {
    let results: Vec<(&ResultSummary, &Observations<'_>)> = context.results().collect();
    let mut ways: Vec<DirectionPair<'_>> = Vec::new();
    for (index, one) in results.iter().enumerate() {
        ways.extend(at_once(one.0));
        let others = results[index + 1..].iter().filter(|other| opposite(context.header, one.1, other.1));
        ways.extend(others.filter_map(|other| pair(context, *one, *other)));
    }
    ways
}

fn opposite(header: &RunHeader, one: &Observations<'_>, other: &Observations<'_>) -> bool {
    let (a, b) = (one.record, other.record);
    if one.metric != other.metric {
        return false;
    }
    let workload = a.workload == b.workload;
    let (path, levels) = (a.path == b.path, a.levels == b.levels);
    if header.origin.imported().is_some() {
        return (workload && levels && reversed(&a.path, &b.path))
            || (workload && path && levels_reversed(&a.levels, &b.levels))
            || (path && levels && loads_reversed(&a.sent, &b.sent));
    }
    let ends = |name: &String| {
        let path = header.paths.iter().find(|path| path.name == *name);
        path.map(|path| (&path.from, &path.to))
    };
    let swapped = || ends(&a.path).is_some_and(|(from, to)| from != to && ends(&b.path) == Some((to, from)));
    let one_factor =
        || a.levels.iter().filter(|(factor, level)| b.levels.get(*factor) != Some(level)).count() <= 1;
    (workload && levels && swapped())
        || (path && (levels || workload && one_factor()) && loads_reversed(&a.sent, &b.sent))
}

pub(crate) fn reversed(one: &str, other: &str) -> bool {
    let ends = |name: &str| -> Option<(String, String)> {
        let name = name.to_lowercase();
        let (from, to) = BETWEEN.iter().find_map(|between| name.split_once(between))?;
        Some((from.trim().to_owned(), to.trim().to_owned()))
    };
    match (ends(one), ends(other)) {
        (Some((from, to)), Some((other_from, other_to))) => {
            from != to && from == other_to && to == other_from
        }
        _ => false,
    }
}

type Levels = std::collections::BTreeMap<String, String>;

fn levels_reversed(one: &Levels, other: &Levels) -> bool {
    if !one.keys().eq(other.keys()) {
        return false;
    }
    let mut differ = one.iter().filter(|(factor, level)| other.get(*factor) != Some(level));
    match (differ.next(), differ.next()) {
        (Some((factor, level)), None) => other.get(factor).is_some_and(|label| mean_opposite(level, label)),
        _ => false,
    }
}

fn mean_opposite(one: &str, other: &str) -> bool {
    let (one, other) = (one.to_lowercase(), other.to_lowercase());
    OPPOSITE.iter().any(|(a, b)| (one == *a && other == *b) || (one == *b && other == *a))
}

fn loads_reversed(one: &WorkloadSource, other: &WorkloadSource) -> bool {
    let asked = |sent: &'_ WorkloadSource| sent.load().and_then(StreamSettings::of).cloned();
    let (Some(one), Some(other)) = (asked(one), asked(other)) else { return false };
    let forward = |load: &StreamSettings| StreamSettings { direction: Direction::Forward, ..load.clone() };
    let both_ways = [one.direction, other.direction];
    both_ways.contains(&Direction::Forward)
        && both_ways.contains(&Direction::Reverse)
        && forward(&one) == forward(&other)
}

fn pair<'a>(
    context: &Context<'a>,
    one: (&'a ResultSummary, &'a Observations<'a>),
    other: (&'a ResultSummary, &'a Observations<'a>),
) -> Option<DirectionPair<'a>> {
    let more_is_better = one.0.metric.more_is_better()?;
    let one_is_worse = (one.0.value.estimate < other.0.value.estimate) == more_is_better;
    let (slower, faster) = if one_is_worse { (one, other) } else { (other, one) };
    let change = context.compare(slower.1, faster.1)?;
    let weighed = significance::weigh(&change)?;
    let worse = (weighed.side == Side::Lower) == more_is_better;
    worse.then(|| DirectionPair {
        slower: slower.0,
        slower_way: slower.0.into(),
        faster_way: faster.0.into(),
        slower_value: slower.0.value.estimate,
        faster_value: faster.0.value.estimate,
        keeps: keeps(&change),
        sure: weighed.sure,
        limitation: weighed.limitation,
        change: Some(change),
    })
}

fn keeps(change: &Comparison) -> f64 {
    if change.ratio > 1.0 { change.ratio.recip() } else { change.ratio }
}

fn at_once(result: &ResultSummary) -> Option<DirectionPair<'_>> {
    let stream = StreamSummary::of(result)?;
    let (forward, reverse) = (stream.forward?, stream.reverse?);
    let forward_is_slower = forward.estimate.total_cmp(&reverse.estimate) == Ordering::Less;
    let (slower, faster) = if forward_is_slower { (forward, reverse) } else { (reverse, forward) };
    let (slower_name, faster_name) =
        if forward_is_slower { ("forward", "reverse") } else { ("reverse", "forward") };
    let sure = apart(&slower, &faster);
    (slower.estimate > 0.0).then(|| DirectionPair {
        slower: result,
        slower_way: phrase![result, format!(" {slower_name}")],
        faster_way: phrase![result, format!(" {faster_name}")],
        slower_value: slower.estimate,
        faster_value: faster.estimate,
        keeps: slower.estimate / faster.estimate,
        sure,
        limitation: (!sure).then_some(
            "The intervals of the two directions overlap, or there are too few trials for intervals.",
        ),
        change: None,
    })
}

fn apart(slower: &Estimate, faster: &Estimate) -> bool {
    match (slower.interval, faster.interval) {
        (Some(low), Some(high)) => low.high < high.low && low.confidence.min(high.confidence) >= 0.9,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_reversed_names_with_any_separator() {
        for (one, other, are) in [
            ("vm0-to-vm1", "vm1-to-vm0", true),
            ("VM0->VM1", "vm1->vm0", true),
            ("Host to VM", "VM to Host", true),
            ("vm-to-vm", "vm-to-vm", false),
            ("host-to-vm", "vm-to-guest", false),
            ("plain", "nialp", false),
        ] {
            assert_eq!(reversed(one, other), are, "{one}, {other}");
        }
    }
}
