//! Collects problems in a table and reports them at its end.

use std::collections::BTreeMap;

use super::column::{Column, Role};
use crate::{format::Out, places::Places};

const SHOWN: usize = 40;

#[derive(Debug, Default)]
pub(super) struct Faults {
    heading: u64,
    ragged: Places,
    unnamed: BTreeMap<String, Places>,
    wrong: BTreeMap<String, (String, Places)>,
    approximate: Places,
    halves: Places,
    summaries: Places,
    without_values: bool,
    without_factors: bool,
    words: Vec<String>,
}

impl Faults {
    pub(super) fn new(heading: u64) -> Self {
        Self { heading, ..Self::default() }
    }

    pub(super) fn columns(&mut self, columns: &[Column]) {
        let has = |wanted: fn(&Column) -> bool| columns.iter().any(wanted);
        self.without_values = !has(|column| column.scale().is_some());
        self.without_factors =
            !self.without_values && !has(|column| matches!(column.role, Role::Factor | Role::Repeat));
        let words = columns.iter().filter(|column| column.role == Role::Words);
        self.words = words.map(|column| column.name.clone()).collect();
    }

    pub(super) fn ragged(&mut self, line: u64) {
        self.ragged.add(line);
    }

    pub(super) fn unnamed(&mut self, line: u64, column: &str) {
        self.unnamed.entry(column.to_owned()).or_default().add(line);
    }

    pub(super) fn wrong(&mut self, line: u64, column: &str, text: &str) {
        let shown = || text.chars().take(SHOWN).collect();
        self.wrong.entry(column.to_owned()).or_insert_with(|| (shown(), Places::default())).1.add(line);
    }

    pub(super) fn approximate(&mut self, line: u64, is: bool) {
        if is {
            self.approximate.add(line);
        }
    }

    /// Records a row in which time and rate match only if each round trip took twice the stated time.
    pub(super) fn half(&mut self, line: u64) {
        self.halves.add(line);
    }

    pub(super) fn summary(&mut self, line: u64) {
        self.summaries.add(line);
    }

    pub(super) fn report(self, out: &mut Out) {
        let table = format!("the table at line {}", self.heading);
        if self.without_values {
            out.note_on_table(format!(
                "Skipped {table}: no column has numbers with a unit; name one with --metric."
            ));
            return;
        }
        if self.without_factors {
            out.note_on_table(format!(
                "No column of {table} names a setting, so each row is a separate result; use --together to read the rows as trials of one result."
            ));
        }
        for column in self.words {
            out.note_on_table(format!(
                "Skipped column `{column}` of {table}: it has text to the right of values."
            ));
        }
        for (places, problem) in [
            (&self.ragged, "skipped rows whose number of cells differs from the heading:"),
            (&self.summaries, "skipped averages and other statistics of the trials:"),
            (
                &self.halves,
                "times appear to be half round trips, because at these rates a round trip takes twice as long:",
            ),
            (&self.approximate, "numbers are marked as approximate:"),
        ] {
            if !places.is_empty() {
                out.note_on_table(format!("In {table}, {problem} {places}."));
            }
        }
        for (column, places) in &self.unnamed {
            out.note_on_table(format!("In {table}, skipped rows with an empty `{column}`: {places}."));
        }
        for (column, (shown, places)) in &self.wrong {
            out.note_on_table(format!(
                "In {table}, `{column}` is not a valid number at {places} (`{shown}`); treated as unknown."
            ));
        }
    }
}
