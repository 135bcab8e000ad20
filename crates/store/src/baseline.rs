//! Runs that others are compared with, by names that users gave them.
//! Must not know what such a run holds, nor what a comparison comes to.

use samples::RunId;

use crate::{
    database::{Database, DatabaseError, Transaction, values},
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
        let sql = "SELECT name, id FROM baseline JOIN run ON run.number = baseline.run ORDER BY name";
        self.database
            .query(sql, &[], |row| Ok(Baseline { name: row.get(0)?, run: RunId(row.get(1)?) }))
            .map_err(self.place.explain("list the baselines of"))
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
            let sql = "INSERT INTO baseline (name, run) VALUES (?1, ?2)
                       ON CONFLICT (name) DO UPDATE SET run = excluded.run";
            transaction.execute(sql, &values![name, number])?;
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
            transaction.execute("DELETE FROM baseline WHERE name = ?1", &values![name])?;
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
    let sql = "SELECT name FROM baseline WHERE run = ?1 ORDER BY name";
    let names: Vec<String> = transaction.query(sql, &values![number], |row| row.get(0))?;
    if names.is_empty() {
        return Ok(());
    }
    let names = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
    Err(WriteError::Refused(StoreError::IsBaseline { run: run.clone(), names }))
}

fn run_of(database: &Database, name: &str) -> Result<Option<RunId>, DatabaseError> {
    let sql = "SELECT id FROM baseline JOIN run ON run.number = baseline.run WHERE name = ?1";
    database.query_row(sql, &values![name], |row| row.get(0).map(RunId))
}

fn hint(known: &[Baseline]) -> String {
    if known.is_empty() {
        return "none is set yet: `plumb baseline set NAME RUN` gives a run a name".to_owned();
    }
    let names: Vec<&str> = known.iter().map(|baseline| baseline.name.as_str()).collect();
    format!("there are {}", names.join(", "))
}
