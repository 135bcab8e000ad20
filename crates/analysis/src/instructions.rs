//! Splits counted instructions into groups of functions.

use crate::order::sort_descending;
use std::collections::BTreeMap;

use findings::{FunctionInstructions, InstructionGroup};
use samples::{FunctionCount, InstructionCounts};

use crate::observations::Observations;

const LISTED: usize = 5;
const OTHER: &str = "other";
/// Groups of kernel functions, as lines `GROUP: PREFIX PREFIX ...`. The first group with a matching prefix wins.
/// Functions of a kernel module form their own group.
const GROUPS: &str = include_str!("instruction_groups.txt");

/// Returns the instructions of all trials per unit of work, or an empty list if they were not counted.
pub(crate) fn groups(result: &Observations<'_>) -> Vec<InstructionGroup> {
    let counted: Vec<(&InstructionCounts, f64)> = result
        .trials()
        .filter_map(|trial| trial.instructions.as_ref().zip(trial.measurement.kind().measured_work()))
        .collect();
    let work: f64 = counted.iter().map(|(_, work)| work).sum();
    let total: u64 = counted.iter().map(|(counts, _)| counts.total).sum();
    let mut groups: BTreeMap<&str, BTreeMap<(&str, &str), u64>> = BTreeMap::new();
    let functions = || counted.iter().flat_map(|(counts, _)| &counts.functions);
    for FunctionCount { module, function, instructions } in functions() {
        *groups.entry(group_of(module, function)).or_default().entry((module, function)).or_default() +=
            instructions;
    }
    let listed: u64 = functions().map(|it| it.instructions).sum();
    if total > listed {
        groups.entry(OTHER).or_default().insert(("", ""), total - listed);
    }
    let mut groups: Vec<InstructionGroup> = groups
        .into_iter()
        .map(|(name, functions)| InstructionGroup {
            name: name.to_owned(),
            per_work: functions.values().sum::<u64>() as f64 / work,
            share: functions.values().sum::<u64>() as f64 / total as f64,
            functions: largest(&functions, work),
        })
        .collect();
    sort_descending(&mut groups, |one| one.share);
    groups
}

fn largest(functions: &BTreeMap<(&str, &str), u64>, work: f64) -> Vec<FunctionInstructions> {
    let named = functions.iter().filter(|((module, _), _)| !module.is_empty());
    let mut sorted: Vec<_> = named.collect();
    sorted.sort_by_key(|(_, instructions)| std::cmp::Reverse(**instructions));
    let listed = sorted.into_iter().take(LISTED).map(|((_, function), instructions)| FunctionInstructions {
        function: (*function).to_owned(),
        per_work: *instructions as f64 / work,
    });
    listed.collect()
}

fn group_of<'a>(module: &'a str, function: &str) -> &'a str {
    if module != "kernel" {
        return module;
    }
    let mut groups = GROUPS.lines().filter_map(|line| line.split_once(": "));
    let found = groups.find(|(_, prefixes)| prefixes.split(' ').any(|prefix| function.starts_with(prefix)));
    found.map_or(OTHER, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fixtures::Fixture, observations::gather};

    fn function(module: &str, function: &str, instructions: u64) -> FunctionCount {
        FunctionCount { module: module.to_owned(), function: function.to_owned(), instructions }
    }

    #[test]
    fn groups_add_up_to_the_total() {
        let mut run = Fixture::new(5);
        run.path("plain", &["wire"]).stream("plain", &[], 8e9).each("plain/bulk", |trial| {
            let functions = vec![
                function("kernel", "tcp_sendmsg", 500),
                function("veth", "veth_xmit", 300),
                function("kernel", "tcp_v4_rcv", 100),
            ];
            trial.instructions = Some(InstructionCounts { total: 1000, functions });
        });
        let measured = gather(&run.record);
        let groups = groups(&measured[0]);
        let shares: Vec<(&str, f64)> = groups.iter().map(|group| (&*group.name, group.share)).collect();
        assert_eq!(shares, [("TCP", 0.6), ("veth", 0.3), ("other", 0.1)]);
        let sum: f64 = groups.iter().map(|group| group.per_work).sum();
        assert!((sum / measured[0].values()[0] - 1.0).abs() < 0.01, "{sum} {:?}", measured[0].values());
        assert_eq!(groups[0].functions[0].function, "tcp_sendmsg");
    }
}
