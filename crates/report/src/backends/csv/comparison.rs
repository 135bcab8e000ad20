//! One row per cell of either run.

use findings::{CellComparison, Estimate, RunComparison, Verdict};

use super::{basis, table::Table, unit, word};
use crate::labels;

/// A cell, and which of the runs have it.
struct Row<'a> {
    cell: &'a str,
    both: Option<&'a CellComparison>,
    runs: &'static str,
}

type Cells<'a> = Table<'a, Row<'a>>;

pub(crate) fn comparison(contrast: &RunComparison) -> String {
    let alone = |cells: &'_ [String], runs: &'static str| -> Vec<(String, &'static str)> {
        cells.iter().map(|cell| (cell.clone(), runs)).collect()
    };
    let rest = [alone(&contrast.only_a, "a"), alone(&contrast.only_b, "b")].concat();
    let both = contrast.cells.iter().map(|cell| Row { cell: &cell.cell, both: Some(cell), runs: "both" });
    let rest = rest.iter().map(|(cell, runs)| Row { cell, both: None, runs });
    columns(contrast).write(both.chain(rest))
}

fn columns(contrast: &RunComparison) -> Cells<'_> {
    let table = Table::new()
        .column("a", "", |_: &Row<'_>| Some(&contrast.a.id))
        .column("b", "", |_| Some(&contrast.b.id))
        .column("cell", "", |row| Some(row.cell.to_owned()))
        .column("cell_b", "", |row| {
            let both = row.both?;
            Some(both.cell_b.clone().unwrap_or_else(|| both.cell.clone()))
        })
        .column("path", "", |row| Some(row.both?.path.clone()))
        .column("workload", "", |row| Some(row.both?.workload.clone()))
        .column("metric", "", |row| Some(word(row.both?.metric)))
        .column("unit", "", |row| Some(unit(row.both?.metric)))
        .column("verdict", "", |row| Some(verdict(row.both?.verdict)));
    let table = estimate(table, "a", |cell| &cell.a);
    let table = estimate(table, "b", |cell| &cell.b)
        .column("ratio", "", |row| Some(row.both?.comparison?.ratio))
        .column("ratio_low", "", |row| Some(row.both?.comparison?.ratio_interval?.low))
        .column("ratio_high", "", |row| Some(row.both?.comparison?.ratio_interval?.high))
        .column("ratio_confidence", "", |row| Some(row.both?.comparison?.ratio_interval?.confidence))
        .column("ratio_basis", "", |row| Some(basis(row.both?.comparison?.basis)))
        .column("difference", "", |row| Some(row.both?.comparison?.difference))
        .column("noise_floor", "", |row| row.both?.floor)
        .column("p", "", |row| row.both?.p)
        .column("in", "", |row| Some(row.runs))
        .column("why", "", |row| row.both?.why.clone());
    table.each(
        labels::factors(contrast.cells.iter().map(|cell| &cell.levels)),
        |factor| format!("factor.{factor}"),
        |row, factor| row.both?.levels.get(factor).cloned(),
    )
}

fn estimate<'a>(table: Cells<'a>, run: &str, of: fn(&CellComparison) -> &Estimate) -> Cells<'a> {
    let name = |what: &str| format!("{run}_{what}");
    table
        .column(&name("median"), "", move |row| Some(of(row.both?).median))
        .column(&name("low"), "", move |row| Some(of(row.both?).interval?.low))
        .column(&name("high"), "", move |row| Some(of(row.both?).interval?.high))
        .column(&name("confidence"), "", move |row| Some(of(row.both?).interval?.confidence))
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
