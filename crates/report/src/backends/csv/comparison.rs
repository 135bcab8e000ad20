//! Writes one row for each result of either run.

use findings::{Estimate, ResultComparison, RunComparison, Verdict};

use super::{basis, table::Table, unit, word};
use crate::labels;

struct Row<'a> {
    result: &'a str,
    both: Option<&'a ResultComparison>,
    runs: &'static str,
}

type Results<'a> = Table<'a, Row<'a>>;

pub(crate) fn comparison(comparison: &RunComparison) -> String {
    let alone = |results: &'_ [String], runs: &'static str| -> Vec<(String, &'static str)> {
        results.iter().map(|result| (result.clone(), runs)).collect()
    };
    let rest = [alone(&comparison.only_a, "a"), alone(&comparison.only_b, "b")].concat();
    let both = comparison.results.iter().map(|result| Row {
        result: &result.result,
        both: Some(result),
        runs: "both",
    });
    let rest = rest.iter().map(|(result, runs)| Row { result, both: None, runs });
    columns(comparison).write(both.chain(rest))
}

fn columns(comparison: &RunComparison) -> Results<'_> {
    let table = Table::new()
        .column("a", "", |_: &Row<'_>| Some(&comparison.a.id))
        .column("b", "", |_| Some(&comparison.b.id))
        .column("result", "", |row| Some(row.result.to_owned()))
        .column("result_b", "", |row| {
            let both = row.both?;
            Some(both.result_b.clone().unwrap_or_else(|| both.result.clone()))
        })
        .column("path", "", |row| Some(row.both?.path.clone()))
        .column("workload", "", |row| Some(row.both?.workload.clone()))
        .column("metric", "", |row| Some(word(row.both?.metric)))
        .column("unit", "", |row| Some(unit(row.both?.metric)))
        .column("verdict", "", |row| Some(verdict(row.both?.verdict)));
    let table = estimate(table, "a", |result| &result.a);
    let table = estimate(table, "b", |result| &result.b)
        .column("ratio", "", |row| Some(row.both?.comparison?.ratio))
        .column("ratio_low", "", |row| Some(row.both?.comparison?.ratio_interval?.low))
        .column("ratio_high", "", |row| Some(row.both?.comparison?.ratio_interval?.high))
        .column("ratio_confidence", "", |row| Some(row.both?.comparison?.ratio_interval?.confidence))
        .column("ratio_basis", "", |row| Some(basis(row.both?.comparison?.basis)))
        .column("difference", "", |row| Some(row.both?.comparison?.difference))
        .column("noise_floor", "", |row| row.both?.floor)
        .column("p", "", |row| row.both?.p)
        .column("in", "", |row| Some(row.runs))
        .column("reason", "", |row| row.both?.reason.clone());
    table.each(
        labels::factors(comparison.results.iter().map(|result| &result.levels)),
        |factor| format!("factor.{factor}"),
        |row, factor| row.both?.levels.get(factor).cloned(),
    )
}

fn estimate<'a>(table: Results<'a>, run: &str, of: fn(&ResultComparison) -> &Estimate) -> Results<'a> {
    let name = |what: &str| format!("{run}_{what}");
    table
        .column(&name("value"), "", move |row| Some(of(row.both?).estimate))
        .column(&name("low"), "", move |row| Some(of(row.both?).interval?.low))
        .column(&name("high"), "", move |row| Some(of(row.both?).interval?.high))
        .column(&name("confidence"), "", move |row| Some(of(row.both?).interval?.confidence))
        .column(&name("interval_basis"), "", move |row| {
            let estimate = of(row.both?);
            estimate.interval.map(|_| basis(estimate.basis))
        })
        .column(&name("trials"), "", move |row| Some(of(row.both?).trials))
}

pub(crate) const fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Same => "same",
        Verdict::Unknown => "unknown",
    }
}
