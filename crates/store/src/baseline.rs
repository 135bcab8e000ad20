//! Named baselines. A baseline is a run that other runs are compared with.

use samples::RunId;

use crate::{
    database::{Database, Transaction},
    database_error::DatabaseError,
    error::StoreError,
    insert::WriteError,
    store::{Store, number_of},
    value::values,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    pub name: String,
    pub run: RunId,
}

impl Store {
    pub fn baselines(&self) -> Result<Vec<Baseline>, StoreError> {
        let sql = "SELECT name, id FROM baseline JOIN run ON run.number = baseline.run ORDER BY name";
        self.database
            .query(sql, &[], |row| Ok(Baseline { name: row.get(0)?, run: RunId(row.get(1)?) }))
            .map_err(self.place.explain("list the baselines of"))
    }

    pub fn baseline(&self, name: &str) -> Result<RunId, StoreError> {
        let known = self.baselines()?;
        known
            .iter()
            .find(|baseline| baseline.name == name)
            .map(|baseline| baseline.run.clone())
            .ok_or_else(|| StoreError::NoBaseline { name: name.to_owned(), hint: hint(&known) })
    }

    pub fn set_baseline(&mut self, name: &str, run: &RunId) -> Result<Option<RunId>, StoreError> {
        self.write("store a baseline in", |transaction| {
            let number = number_of(transaction, run)?;
            let before = run_of(transaction, name)?;
            let sql = "INSERT INTO baseline (name, run) VALUES (?1, ?2)
                       ON CONFLICT (name) DO UPDATE SET run = excluded.run";
            transaction.execute(sql, &values![name, number])?;
            Ok(before)
        })
    }

    pub fn remove_baseline(&mut self, name: &str) -> Result<RunId, StoreError> {
        let run = self.baseline(name)?;
        self.write("remove a baseline from", |transaction| {
            transaction.execute("DELETE FROM baseline WHERE name = ?1", &values![name])?;
            Ok(())
        })?;
        Ok(run)
    }
}

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
        return "no baseline exists; set one with `plumb baseline set NAME RUN`".to_owned();
    }
    let names: Vec<&str> = known.iter().map(|baseline| baseline.name.as_str()).collect();
    format!("existing baselines: {}", names.join(", "))
}
