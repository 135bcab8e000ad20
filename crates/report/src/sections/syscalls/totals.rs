//! Total system calls of each result, by end.

use findings::{CallRates, Findings, ResultSummary};
use workload::Work;

use super::layout::rare;
use crate::{labels, page::*};

type Row<'a> = (&'a ResultSummary, &'a CallRates);

pub(super) fn tables(findings: &Findings) -> Vec<Block> {
    let of_workload = |workload: &str| {
        let results = findings.results.iter().filter(|result| result.workload == workload);
        let rows: Vec<Row<'_>> = results.filter_map(|result| Some((result, super::rates(result)?))).collect();
        let (_, first) = rows.first().filter(|_| rows.len() > 1)?;
        let heading = Text::strong(workload).and_faint(format!(" (all calls {})", unit(first.work)));
        Some([Block::Heading(heading), Block::Table(table(&rows))])
    };
    labels::workloads(findings).into_iter().filter_map(of_workload).flatten().collect()
}

pub(super) fn unit(work: Work) -> String {
    format!("per {}", work.for_calls().1)
}

fn table(rows: &[Row<'_>]) -> Table {
    let factors = labels::factors(rows.iter().map(|(result, _)| &result.levels));
    let ends =
        labels::distinct(rows.iter().flat_map(|(_, rates)| &rates.ends).filter_map(|it| it.end.as_deref()));
    let mut columns = vec![left("Path")];
    columns.extend(factors.iter().map(|factor| left(*factor)));
    columns.extend(ends.iter().map(|end| right(format!("Of the {end}"))));
    columns.push(right("Together"));
    let row = |(result, rates): &Row<'_>| {
        let dash = || Text::faint("-");
        let level = |factor: &&str| result.levels.get(*factor).cloned().map_or_else(dash, Text::from);
        let of_end = |end: &&str| {
            let known = rates.ends.iter().find(|calls| calls.end.as_deref() == Some(*end));
            // A missing end made no calls.
            known.map_or_else(|| "0".into(), |calls| rare(calls.rate).into())
        };
        let mut row = vec![Text::strong(&result.path)];
        row.extend(factors.iter().map(level));
        row.extend(ends.iter().map(of_end));
        row.push(rare(rates.all).into());
        row
    };
    Table { columns, rows: rows.iter().map(row).collect(), caption: None }
}
