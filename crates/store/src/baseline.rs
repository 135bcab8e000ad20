//! Runs that others are compared with, by names that users gave them.
//! Must not know what such a run holds, nor what a comparison comes to.

use rusqlite::{Connection, OptionalExtension, Transaction};
use samples::RunId;

use crate::{
    error::StoreError,
    store::{Store, WriteError, number_of},
};

/// A name and the run that it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    pub name: String,
    pub run: RunId,
}

impl Store {
    /// All baselines, by name.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn baselines(&self) -> Result<Vec<Baseline>, StoreError> {
        let read = |connection: &Connection| -> rusqlite::Result<Vec<Baseline>> {
            let sql = "SELECT name, id FROM baseline JOIN run ON run.number = baseline.run ORDER BY name";
            let mut statement = connection.prepare(sql)?;
            let row = |row: &rusqlite::Row<'_>| Ok(Baseline { name: row.get(0)?, run: RunId(row.get(1)?) });
            statement.query_map([], row)?.collect()
        };
        read(&self.connection).map_err(self.place.explain("list the baselines of"))
    }

    /// The run that a baseline's name stands for.
    ///
    /// # Errors
    /// When there is no such baseline, naming those that there are; when the file cannot be read.
    pub fn baseline(&self, name: &str) -> Result<RunId, StoreError> {
        let known = self.baselines()?;
        known
            .iter()
            .find(|baseline| baseline.name == name)
            .map(|baseline| baseline.run.clone())
            .ok_or_else(|| StoreError::NoBaseline { name: name.to_owned(), hint: hint(&known) })
    }

    /// Gives a name to a run; tells which run had it before.
    ///
    /// # Errors
    /// When there is no such run, or the file cannot be written; nothing was changed then.
    pub fn set_baseline(&mut self, name: &str, run: &RunId) -> Result<Option<RunId>, StoreError> {
        self.write("keep a baseline in", |transaction| {
            let number = number_of(transaction, run)?;
            let before = run_of(transaction, name)?;
            let sql = "INSERT OR REPLACE INTO baseline (name, run) VALUES (?1, ?2)";
            transaction.execute(sql, (name, number))?;
            Ok(before)
        })
    }

    /// Takes a name away; the run stays, and is told.
    ///
    /// # Errors
    /// When there is no such baseline, or the file cannot be written; nothing was changed then.
    pub fn remove_baseline(&mut self, name: &str) -> Result<RunId, StoreError> {
        let run = self.baseline(name)?;
        self.write("remove a baseline from", |transaction| {
            transaction.execute("DELETE FROM baseline WHERE name = ?1", [name])?;
            Ok(())
        })?;
        Ok(run)
    }
}

/// Keeps a run that others are compared with.
pub(crate) fn refuse_removal(
    transaction: &Transaction<'_>,
    number: i64,
    run: &RunId,
) -> Result<(), WriteError> {
    let mut statement = transaction.prepare("SELECT name FROM baseline WHERE run = ?1 ORDER BY name")?;
    let names = statement.query_map([number], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    if names.is_empty() {
        return Ok(());
    }
    let names = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
    Err(WriteError::Refused(StoreError::IsBaseline { run: run.clone(), names }))
}

fn run_of(transaction: &Transaction<'_>, name: &str) -> rusqlite::Result<Option<RunId>> {
    let sql = "SELECT id FROM baseline JOIN run ON run.number = baseline.run WHERE name = ?1";
    transaction.query_row(sql, [name], |row| row.get(0).map(RunId)).optional()
}

fn hint(known: &[Baseline]) -> String {
    if known.is_empty() {
        return "none is set yet: `plumb baseline set NAME RUN` gives a run a name".to_owned();
    }
    let names: Vec<&str> = known.iter().map(|baseline| baseline.name.as_str()).collect();
    format!("there are {}", names.join(", "))
}
