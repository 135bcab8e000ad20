//! Reads one table. Classifies its columns by the heading and sample rows, then reads it row by row.

use std::{mem, ops::RangeInclusive};

use samples::{ImportedKind, ImportedSettings, ValidityWarning};
use workload::{Measurement, Quantity, ReportedData, ReportedValue};

use super::{
    cell::{self, Cell},
    column::{Column, Role, Scale, cell_amount, columns, interval, is_blank},
    faults::Faults,
    known_settings::KnownSettings,
    levels::{self, LevelColumns},
    row::Row,
    statistics,
};
use crate::{
    format::{Line, Out, TABLE},
    imported_test::{Evidence, ImportedTest},
    options::Options,
    quantity::Amount,
    statistic, unread,
};

const ROWS: usize = 64;

#[derive(Debug)]
pub(super) struct Table {
    heading: Row,
    waiting: Vec<(u64, Vec<String>)>,
    columns: Vec<Column>,
    levels: Option<LevelColumns>,
    metrics: Option<Metrics>,
    faults: Faults,
}

#[derive(Debug)]
struct Metrics {
    at: usize,
    factor: String,
}

impl Table {
    pub(super) fn new(heading: Row, line: u64) -> Self {
        Self {
            heading,
            waiting: Vec::new(),
            columns: Vec::new(),
            levels: None,
            metrics: None,
            faults: Faults::new(line),
        }
    }

    pub(super) fn row(
        &mut self,
        row: Row,
        line: &Line<'_>,
        options: &Options,
        known: &mut KnownSettings,
        out: &mut Out,
    ) {
        let cut = (self.heading.closed || !line.whole) && !row.closed;
        if row.cells.len() != self.heading.cells.len() || cut {
            self.faults.ragged(line.number);
        } else if self.columns.is_empty() {
            self.waiting.push((line.number, row.cells));
            if self.waiting.len() == ROWS {
                self.settle(options, known);
                self.release(out);
            }
        } else {
            self.emit(line.number, &row.cells, out);
        }
    }

    pub(super) fn end(mut self, options: &Options, known: &mut KnownSettings, out: &mut Out) {
        if self.columns.is_empty() {
            match statistics::cells(&self.heading.cells, &self.waiting, known) {
                Some(transposed) => self.transposed(transposed, out),
                None => {
                    self.settle(options, known);
                    self.release(out);
                }
            }
        }
        self.faults.report(out);
    }

    fn settle(&mut self, options: &Options, known: &mut KnownSettings) {
        let rows: Vec<Vec<String>> = self.waiting.iter().map(|(_, cells)| cells.clone()).collect();
        self.columns = columns(&self.heading.cells, &rows, options);
        for (column, at) in self.columns.iter().zip(0..).filter(|(column, _)| column.role == Role::Factor) {
            rows.iter().for_each(|cells| known.learn(&column.name, &cells[at]));
        }
        self.levels = levels::find(&mut self.columns).filter(|_| options.metrics.is_empty());
        let values = self.columns.iter().filter(|column| column.scale().is_some());
        let factor = known.factor_of(values.map(|column| column.name.as_str()));
        let names_metrics =
            |column: &Column| column.role == Role::Factor && METRICS.contains(&&*column.name.to_lowercase());
        let at = self.columns.iter().position(names_metrics);
        self.metrics = at.map(|at| Metrics { at, factor });
        self.faults.columns(&self.columns);
    }

    fn release(&mut self, out: &mut Out) {
        for (line, cells) in mem::take(&mut self.waiting) {
            self.emit(line, &cells, out);
        }
    }

    fn emit(&mut self, line: u64, cells: &[String], out: &mut Out) {
        let mut found = reported(Vec::new(), line..=line, out);
        let has = |role| self.columns.iter().any(|column| column.role == role);
        found.part.evidence = if has(Role::Repeat) {
            Evidence::Repeated
        } else if has(Role::Words) {
            Evidence::Varies
        } else {
            Evidence::Adjacent
        };
        let is_summary = self
            .columns
            .iter()
            .zip(cells)
            .any(|(column, text)| column.role == Role::Repeat && statistic::statistic(text).is_some());
        if is_summary {
            return self.faults.summary(line);
        }
        if let Some(metrics) = &self.metrics {
            return emit_metrics(&self.columns, metrics, cells, &found, out);
        }
        let mut values = Vec::new();
        let mut apart = Vec::new();
        for (at, (column, text)) in self.columns.iter().zip(cells).enumerate() {
            match column.role {
                Role::Factor if is_blank(text) => return self.faults.unnamed(line, &column.name),
                Role::Factor => {
                    found.levels.insert(column.name.clone(), text.clone());
                }
                Role::Repeat | Role::Words => {}
                Role::Interval => values.extend(ends(&values, text)),
                Role::Value(scale) => {
                    let Some(value) = value(&mut self.faults, line, column, scale, text) else { continue };
                    match self.levels.as_ref().and_then(|all| Some((all, all.levels[at].clone()?))) {
                        Some((all, level)) => {
                            let value = ReportedValue { name: all.name.to_owned(), ..value };
                            apart.push((all.factor.clone(), level, value));
                        }
                        None => values.push(value),
                    }
                }
            }
        }
        if are_halves(&values) {
            self.faults.half(line);
            found.warnings.push(ValidityWarning::HalfRoundTrips);
        }
        let repeats = self.levels.as_ref().is_some_and(|levels| levels.repeats);
        if repeats && values.iter().any(is_statistic) {
            values.retain(|value| !is_statistic(value));
            self.faults.summary(line);
        }
        for (factor, level, value) in apart {
            let mut found = found.clone();
            if repeats {
                found.part.evidence = Evidence::Repeated;
            } else {
                found.levels.insert(factor, level);
            }
            out.found(with(found, vec![value]));
        }
        if !values.is_empty() {
            out.found(with(found, in_order(values)));
        }
    }

    fn transposed(&mut self, transposed: statistics::Transposition, out: &mut Out) {
        for (line, column, text) in &transposed.wrong {
            self.faults.wrong(*line, column, text);
        }
        for cell in transposed.cells {
            let mut found = reported(Vec::new(), transposed.lines.clone(), out);
            found.levels.extend(cell.level);
            out.found(with(found, cell.values));
        }
    }
}

const METRICS: [&str; 4] = ["measurement", "metric", "metrics", "measure"];

fn emit_metrics(columns: &[Column], metrics: &Metrics, cells: &[String], row: &ImportedTest, out: &mut Out) {
    let values = columns.iter().filter(|column| column.scale().is_some()).count();
    let mut found = row.clone();
    let factors = columns.iter().zip(cells).filter(|(column, _)| column.role == Role::Factor);
    found.levels.extend(factors.map(|(column, text)| (column.name.clone(), text.clone())));
    for (column, text) in columns.iter().zip(cells).filter(|(column, _)| column.scale().is_some()) {
        let amount = cell_amount(text).and_then(|amount| Some((amount.unit, amount.in_base(None)?)));
        let Some((unit, value)) = amount else { continue };
        let quantity = unit.map_or(Quantity::Plain, |unit| unit.quantity);
        let mut found = found.clone();
        if values > 1 {
            found.levels.insert(metrics.factor.clone(), column.name.clone());
        }
        out.found(with(found, vec![ReportedValue { name: cells[metrics.at].clone(), quantity, value }]));
    }
}

fn ends(values: &[ReportedValue], text: &str) -> Vec<ReportedValue> {
    let Some((last, (low, high))) = values.last().zip(interval(text)) else { return Vec::new() };
    let end = |amount: Amount, word: &str| {
        let value = amount.in_base(None)?;
        let quantity = amount.unit.map_or(last.quantity, |unit| unit.quantity);
        Some(ReportedValue { name: format!("{}, {word} end of interval", last.name), quantity, value })
    };
    [end(low, "low"), end(high, "high")].into_iter().flatten().collect()
}

pub(super) fn is_measured(headings: &[String], row: &[String]) -> bool {
    let is_name = |heading: &String| heading.starts_with(|sign: char| sign.is_alphabetic() || sign == '#');
    if !row.iter().any(|cell| cell_amount(cell).is_some()) || !headings.iter().all(is_name) {
        return false;
    }
    let columns = columns(headings, &[row.to_vec()], &Options::default());
    let about_time = |name: &str| {
        let name = name.to_lowercase();
        ["latency", "rtt", "round trip", "delay", "p50", "p99", "median"]
            .iter()
            .any(|word| name.contains(word))
    };
    let is_value = |(column, cell): (&Column, &String)| {
        cell_amount(cell).is_some()
            && column.scale().is_some_and(|scale| match scale.quantity {
                Quantity::BitRate => true,
                Quantity::Time => about_time(&column.name),
                _ => false,
            })
    };
    let is_tool = |heading: &String| unread::output(heading).is_some();
    !headings.iter().any(is_tool)
        && columns.iter().zip(row).any(is_value)
        && columns.iter().any(|column| column.role == Role::Factor)
}

fn reported(values: Vec<ReportedValue>, lines: RangeInclusive<u64>, out: &Out) -> ImportedTest {
    let kind = if mentions_round_trips(&out.title) { ImportedKind::PingPong } else { ImportedKind::Other };
    let settings = ImportedSettings::of("a table", kind);
    ImportedTest::new(TABLE, lines, settings, Measurement::Reported(ReportedData { values }))
}

fn with(mut found: ImportedTest, values: Vec<ReportedValue>) -> ImportedTest {
    if values.iter().any(|value| value.quantity == Quantity::BitRate) {
        found.settings.kind = ImportedKind::Stream;
    }
    found.measurement = Measurement::Reported(ReportedData { values });
    found
}

/// Returns whether time and rate show half round trips, as printed by sockperf in ping-pong mode.
fn are_halves(values: &[ReportedValue]) -> bool {
    let first = |quantity| values.iter().find(|value| value.quantity == quantity).map(|value| value.value);
    let under_way =
        first(Quantity::Time).zip(first(Quantity::PerSecond)).map(|(time, rate)| time * 1e-9 * rate);
    under_way.is_some_and(|under_way| (0.49..=0.51).contains(&under_way))
}

fn mentions_round_trips(title: &[String]) -> bool {
    let Some(heading) = title.last().map(|heading| heading.to_lowercase()) else { return false };
    ["latency", "ping-pong", "ping pong", "round trip", "rtt"].iter().any(|word| heading.contains(word))
}

fn value(faults: &mut Faults, line: u64, column: &Column, scale: Scale, text: &str) -> Option<ReportedValue> {
    match cell::read(column, scale, text) {
        Cell::Blank => None,
        Cell::Wrong => {
            faults.wrong(line, &column.name, text);
            None
        }
        Cell::Value { value, approximate } => {
            faults.approximate(line, approximate);
            Some(value)
        }
    }
}

fn is_statistic(value: &ReportedValue) -> bool {
    statistic::statistic(&value.name).is_some()
}

/// Sorts statistics in a fixed order: the minimum comes before the maximum.
fn in_order(mut values: Vec<ReportedValue>) -> Vec<ReportedValue> {
    if values.first().is_some_and(is_statistic) {
        values
            .sort_by_key(|value| statistic::statistic(&value.name).map_or(3, |name| statistic::rank(&name)));
    }
    values
}
