//! Factors that multiply the value of another factor: `of`, `times` and `most` instead of `values`.

use std::collections::BTreeSet;

use super::{Vary, WrittenFactor, too_few, twice, workload_words::STREAMS};
use crate::{
    check::workloads,
    diagnosis::Problem,
    document::{Document, Entry, FactorTable, Spanned},
    factor::{Level, Setting, WorkloadSetting},
    names::FactorName,
    nearest,
};

/// The default maximum number of streams, as in iperf3.
const MOST: u32 = 128;

pub(super) fn levels(entry: &Entry<FactorTable>, vary: Vary, problems: &mut Vec<Problem>) -> Vec<Level> {
    let table = &entry.table;
    if vary.word() != STREAMS {
        let message = format!("`{}` does not support multiples", vary.word());
        let help = "`of`, `times` and `most` need `vary = \"streams\"`";
        problems.push(Problem::new(table.vary.span(), message, "no multiples").help(help));
        return Vec::new();
    }
    if let Some(values) = &table.values {
        let message = "`values` cannot be combined with `of`, `times` and `most`";
        problems.push(
            Problem::new(values.span(), message, "remove one").help("`times` already lists the values"),
        );
    }
    let (Some(of), Some(times)) = (&table.of, &table.times) else {
        let missing = if table.of.is_none() { "of" } else { "times" };
        let problem = Problem::new(table.vary.span(), format!("`{missing}` is missing"), "in this table");
        problems.push(problem.help("write e.g. `of = \"queues\"` and `times = [1, 2, 4]`"));
        return Vec::new();
    };
    let most = table.most.as_ref().map_or(MOST, |most| **most);
    problems.extend(
        table.most.as_ref().and_then(|written| workloads::count_out_of(most, "streams", written.span())),
    );
    too_few(entry, times.len(), times.span(), problems);
    let (mut levels, mut seen) = (Vec::new(), BTreeSet::new());
    for written in &**times {
        let times = **written;
        let label = format!("{times}x");
        problems.extend(workloads::count_out_of(times, "times as many streams", written.span()));
        twice(seen.insert(times), &label, written.span(), problems);
        let of = FactorName::new(of);
        let setting = Setting::Workload(WorkloadSetting::StreamsPer { of, times, most });
        levels.push(Level { label, setting });
    }
    levels
}

/// Reports unknown factors in `of`. A factor with invalid values counts as known.
pub(super) fn unknown(document: &Document, factors: &[WrittenFactor<'_>]) -> Vec<Problem> {
    let numbers = factors.iter().filter(|one| one.vary.is_counted());
    let names: Vec<&str> = numbers.map(|one| one.entry.name()).collect();
    let written = document.factors.iter().filter_map(|entry| entry.table.of.as_ref());
    let wrong = written.filter(|of| !names.contains(&of.as_str()));
    let problem = |of: &Spanned<String>| {
        let message = format!("no factor named `{of}` varies queues");
        let help = nearest::advice(of, "factors", names.iter().copied());
        Problem::new(of.span(), message, "not a factor of queues").help(help)
    };
    wrong.map(problem).collect()
}
