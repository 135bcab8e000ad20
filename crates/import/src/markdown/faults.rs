//! What of a table was not understood, told once when it ends. Must not know how it was read.

use std::collections::BTreeMap;

use super::column::{Column, Role};
use crate::{format::Out, places::Places};

/// How much of a cell a note shows.
const SHOWN: usize = 40;

/// What was not understood.
#[derive(Debug)]
pub(super) struct Faults {
    heading: u64,
    ragged: Places,
    unnamed: BTreeMap<String, Places>,
    /// By column, with the first cell.
    wrong: BTreeMap<String, (String, Places)>,
    approximate: Places,
    halves: Places,
    without_values: bool,
    without_factors: bool,
    words: Vec<String>,
}

impl Faults {
    /// None yet, in the table whose heading is at this line.
    pub(super) const fn new(heading: u64) -> Self {
        Self {
            heading,
            ragged: Places::NONE,
            unnamed: BTreeMap::new(),
            wrong: BTreeMap::new(),
            approximate: Places::NONE,
            halves: Places::NONE,
            without_values: false,
            without_factors: false,
            words: Vec::new(),
        }
    }

    /// What the columns lack.
    pub(super) fn columns(&mut self, columns: &[Column]) {
        let has = |wanted: fn(&Column) -> bool| columns.iter().any(wanted);
        self.without_values = !has(|column| column.scale().is_some());
        self.without_factors = !self.without_values && !has(|column| column.role == Role::Factor);
        let words = columns.iter().filter(|column| column.role == Role::Words);
        self.words = words.map(|column| column.name.clone()).collect();
    }

    /// A row has another number of cells than the heading.
    pub(super) fn ragged(&mut self, line: u64) {
        self.ragged.add(line);
    }

    /// A row says nothing in a column of settings.
    pub(super) fn unnamed(&mut self, line: u64, column: &str) {
        self.unnamed.entry(column.to_owned()).or_default().add(line);
    }

    /// A cell is no value of its column.
    pub(super) fn wrong(&mut self, line: u64, column: &str, text: &str) {
        let shown = || text.chars().take(SHOWN).collect();
        self.wrong.entry(column.to_owned()).or_insert_with(|| (shown(), Places::default())).1.add(line);
    }

    /// A cell was marked as about right.
    pub(super) fn approximate(&mut self, line: u64, is: bool) {
        if is {
            self.approximate.add(line);
        }
    }

    /// Its time and its rate fit only if each message took twice that time.
    pub(super) fn half(&mut self, line: u64) {
        self.halves.add(line);
    }

    /// Says all of it.
    pub(super) fn tell(self, out: &mut Out) {
        let table = format!("the table at line {}", self.heading);
        if self.without_values {
            out.note_on_table(format!(
                "No column of {table} holds numbers with a unit: it was not read; name one with --metric."
            ));
            return;
        }
        if self.without_factors {
            out.note_on_table(format!(
                "No column of {table} names a setting: its rows are taken for repetitions."
            ));
        }
        for column in self.words {
            out.note_on_table(format!(
                "Column `{column}` of {table} holds words beside numbers and was left out."
            ));
        }
        if !self.ragged.is_empty() {
            let places = &self.ragged;
            out.note_on_table(
                format!("{table} has other cells than its heading at {places}: left out.")
                    .replacen("the", "The", 1),
            );
        }
        for (column, places) in &self.unnamed {
            out.note_on_table(format!("In {table}, `{column}` is empty at {places}: left out."));
        }
        for (column, (shown, places)) in &self.wrong {
            out.note_on_table(format!(
                "In {table}, `{column}` is no number of its kind at {places} (`{shown}`): unknown."
            ));
        }
        if !self.halves.is_empty() {
            out.note_on_table(format!(
                "In {table}, times at {} look like half round trips: at these rates each round trip takes twice as long.",
                self.halves
            ));
        }
        if !self.approximate.is_empty() {
            out.note_on_table(format!(
                "In {table}, numbers at {} are marked as approximate.",
                self.approximate
            ));
        }
    }
}
