//! Reads tables with a statistic per row and a setting per column. Each column becomes a cell.

use std::ops::RangeInclusive;

use workload::ReportedValue;

use super::{
    cell::{self, Cell},
    column::{Column, Scale, columns},
    known_settings::KnownSettings,
};
use crate::{options::Options, statistic};

#[derive(Debug)]
pub(super) struct Transposition {
    pub(super) lines: RangeInclusive<u64>,
    pub(super) cells: Vec<ColumnAsRow>,
    pub(super) wrong: Vec<(u64, String, String)>,
}

#[derive(Debug)]
pub(super) struct ColumnAsRow {
    pub(super) level: Option<(String, String)>,
    pub(super) values: Vec<ReportedValue>,
}

/// Transposes a table with one column of statistics and further columns of one quantity. Returns `None` for other
/// tables.
pub(super) fn cells(
    headings: &[String],
    rows: &[(u64, Vec<String>)],
    known: &KnownSettings,
) -> Option<Transposition> {
    let names: Vec<String> =
        rows.iter().map(|(_, row)| statistic::statistic(row.first()?)).collect::<Option<_>>()?;
    let lines = rows.first()?.0..=rows.last()?.0;
    let texts: Vec<Vec<String>> = rows.iter().map(|(_, row)| row.clone()).collect();
    let columns = columns(headings, &texts, &Options::default());
    let measured = of_one_quantity(columns.get(1..)?)?;
    let factor = known.factor_of(measured.iter().map(|(column, _)| column.name.as_str()));
    let mut wrong = Vec::new();
    let mut cells = Vec::new();
    for ((column, scale), at) in measured.iter().zip(1..) {
        let texts =
            rows.iter().zip(&names).map(|((line, row), name)| (*line, name.as_str(), row[at].as_str()));
        let values = values(column, *scale, texts, &mut wrong);
        let level = (measured.len() > 1).then(|| (factor.clone(), column.name.clone()));
        cells.extend((!values.is_empty()).then_some(ColumnAsRow { level, values }));
    }
    Some(Transposition { lines, cells, wrong })
}

fn of_one_quantity(columns: &[Column]) -> Option<Vec<(&Column, Scale)>> {
    let measured: Vec<(&Column, Scale)> =
        columns.iter().map(|column| Some((column, column.scale()?))).collect::<Option<_>>()?;
    let quantity = measured.first()?.1.quantity;
    measured.iter().all(|(_, scale)| scale.quantity == quantity).then_some(measured)
}

fn values<'a>(
    column: &Column,
    scale: Scale,
    texts: impl Iterator<Item = (u64, &'a str, &'a str)>,
    wrong: &mut Vec<(u64, String, String)>,
) -> Vec<ReportedValue> {
    let mut values = Vec::new();
    for (line, name, text) in texts {
        match cell::read(column, scale, text) {
            Cell::Value { value, .. } => values.push(ReportedValue { name: name.to_owned(), ..value }),
            Cell::Wrong => wrong.push((line, column.name.clone(), text.to_owned())),
            Cell::Blank => {}
        }
    }
    values.sort_by_key(|value| statistic::rank(&value.name));
    values
}
