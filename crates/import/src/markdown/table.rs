//! Reads one table: heading, sample rows to classify the columns, then row by row.

use std::{mem, ops::RangeInclusive};

use samples::{ImportedKind, ImportedSettings, ValidityWarning};
use workload::{Measurement, Quantity, ReportedData, ReportedValue};

use super::{
    cell::{self, Cell},
    column::{Column, Role, columns, is_blank},
    faults::Faults,
    known_settings::KnownSettings,
    row::Row,
    statistics,
};
use crate::{
    format::{Line, Out, TABLE},
    imported_test::ImportedTest,
    options::Options,
};

/// Number of sample rows, which are held until the columns are classified.
const ROWS: usize = 64;

/// A table after its heading and delimiter row.
#[derive(Debug)]
pub(super) struct Table {
    heading: Row,
    /// Rows waiting for the columns.
    waiting: Vec<(u64, Vec<String>)>,
    columns: Vec<Column>,
    faults: Faults,
}

impl Table {
    /// Starts a table with its heading at `line`.
    pub(super) fn new(heading: Row, line: u64) -> Self {
        Self { heading, waiting: Vec::new(), columns: Vec::new(), faults: Faults::new(line) }
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

    /// Classifies the columns by the waiting rows.
    fn settle(&mut self, options: &Options, known: &mut KnownSettings) {
        let rows: Vec<Vec<String>> = self.waiting.iter().map(|(_, cells)| cells.clone()).collect();
        self.columns = columns(&self.heading.cells, &rows, options);
        for (column, at) in self.columns.iter().zip(0..).filter(|(column, _)| column.role == Role::Factor) {
            rows.iter().for_each(|cells| known.learn(&column.name, &cells[at]));
        }
        self.faults.columns(&self.columns);
    }

    fn release(&mut self, out: &mut Out) {
        for (line, cells) in mem::take(&mut self.waiting) {
            self.emit(line, &cells, out);
        }
    }

    fn emit(&mut self, line: u64, cells: &[String], out: &mut Out) {
        let mut found = reported(Vec::new(), line..=line, out);
        let mut values = Vec::new();
        for (column, text) in self.columns.iter().zip(cells) {
            match column.role {
                Role::Factor if is_blank(text) => return self.faults.unnamed(line, &column.name),
                Role::Factor => {
                    found.levels.insert(column.name.clone(), text.clone());
                }
                Role::Repeat | Role::Words => {}
                Role::Value(scale) => match cell::read(column, scale, text) {
                    Cell::Blank => {}
                    Cell::Wrong => self.faults.wrong(line, &column.name, text),
                    Cell::Value { value, approximate } => {
                        self.faults.approximate(line, approximate);
                        values.push(value);
                    }
                },
            }
        }
        if are_halves(&values) {
            self.faults.half(line);
            found.warnings.push(ValidityWarning::HalfRoundTrips);
        }
        if !values.is_empty() {
            out.found(with(found, values));
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

/// Whether time and rate show half round trips, as sockperf prints in ping-pong mode.
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
