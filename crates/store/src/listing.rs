//! Lists, loads and removes runs.

use samples::{
    MachineChange, ReadError, ResultEnd, RunHeader, RunId, RunRecord, RunState, SCHEMA, SkippedResult, Trial,
    UnixMillis, UnreadablePart,
};

use crate::{
    baseline,
    database::{Database, TransactionKind},
    database_error::DatabaseError,
    error::StoreError,
    record,
    store::{Store, number_of},
    value::{Row, Value, values},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunListing {
    pub id: RunId,
    pub scenario: String,
    pub title: String,
    pub started: UnixMillis,
    pub state: RunState,
    pub imported: bool,
    pub completed: u32,
    pub planned: u32,
}

pub(crate) const LISTED: &str = "SELECT id, scenario, title, started, complete,
           (SELECT count(*) FROM trial WHERE trial.run = run.number), planned,
           EXISTS (SELECT 1 FROM imported WHERE imported.run = run.number), number
    FROM run";
pub(crate) const NUMBER: usize = 8;
const NEWEST_FIRST: &str = "ORDER BY started DESC, number DESC";

impl Store {
    pub fn runs(&self) -> Result<Vec<RunListing>, StoreError> {
        let sql = format!("{LISTED} {NEWEST_FIRST}");
        list(&self.database, &sql, &[]).map_err(self.place.explain("list the runs of"))
    }

    pub fn unfinished(&self, scenario_digest: &str) -> Result<Vec<RunListing>, StoreError> {
        let sql = format!("{LISTED} WHERE digest = ?1 AND complete = FALSE {NEWEST_FIRST}");
        list(&self.database, &sql, &values![scenario_digest])
            .map_err(self.place.explain("list the unfinished runs of"))
    }

    /// Returns a scenario's runs that have trials, newest first.
    pub fn runs_of(&self, scenario_digest: &str) -> Result<Vec<RunListing>, StoreError> {
        self.with_trials("?1", scenario_digest)
    }

    /// Like [`Self::runs_of`], for the scenario that `run` belongs to. Does not read `run`'s record.
    pub fn runs_like(&self, run: &RunId) -> Result<Vec<RunListing>, StoreError> {
        self.with_trials("(SELECT digest FROM run WHERE id = ?1 AND digest <> '')", &run.0)
    }

    fn with_trials(&self, digest: &str, value: &str) -> Result<Vec<RunListing>, StoreError> {
        let completed = "EXISTS (SELECT 1 FROM trial WHERE trial.run = run.number)";
        let sql = format!("{LISTED} WHERE digest = {digest} AND {completed} {NEWEST_FIRST}");
        list(&self.database, &sql, &values![value])
            .map_err(self.place.explain("list the runs of a scenario in"))
    }

    /// Unreadable parts are omitted and listed in the record. Fails if the header is unreadable or the database is
    /// damaged.
    pub fn load(&self, run: &RunId) -> Result<RunRecord, StoreError> {
        let explain = self.place.explain("read a run from");
        let snapshot = self.database.transaction(TransactionKind::Read).map_err(&explain)?;
        let found = header(&snapshot, run).map_err(&explain)?;
        let row = found.ok_or_else(|| StoreError::no_such_run(run))?;
        let mut unreadable = Vec::new();
        let header = self.header(run, &row)?;
        let trials = trials(&snapshot, row.number, &mut unreadable).map_err(&explain)?;
        let skipped = skipped(&snapshot, row.number).map_err(&explain)?;
        let ends = ends(&snapshot, row.number, &mut unreadable).map_err(&explain)?;
        let machine_changes = changes(&snapshot, row.number, &mut unreadable).map_err(&explain)?;
        Ok(RunRecord { header, trials, skipped, ends, machine_changes, unreadable })
    }

    pub fn remove(&mut self, run: &RunId) -> Result<(), StoreError> {
        self.write("remove a run from", |transaction| {
            let number = number_of(transaction, run)?;
            baseline::refuse_removal(transaction, number, run)?;
            transaction.execute("DELETE FROM run WHERE number = ?1", &values![number])?;
            Ok(())
        })
    }

    pub(crate) fn header(&self, run: &RunId, row: &HeaderRow) -> Result<RunHeader, StoreError> {
        let place = || self.place.location.clone();
        let unreadable = |reason| StoreError::Unreadable {
            place: place(),
            run: run.clone(),
            what: "the header".to_owned(),
            reason,
        };
        let text = record::intact(&row.text, row.checksum).map_err(unreadable)?;
        let header = RunHeader::read(text).map_err(|error| match error {
            ReadError::Unsupported { found, tool } => StoreError::Unsupported {
                place: place(),
                found,
                known: SCHEMA,
                writer: format!("plumb {tool}"),
            },
            ReadError::Malformed(error) => unreadable(error.to_string()),
        })?;
        Ok(RunHeader { state: state(row.complete), ..header })
    }
}

pub(crate) struct HeaderRow {
    number: i64,
    complete: bool,
    text: String,
    checksum: u32,
}

impl HeaderRow {
    pub(crate) fn of(row: &Row<'_>, first: usize) -> Result<Self, DatabaseError> {
        let (number, complete) = (row.get(first)?, row.get(first + 1)?);
        Ok(Self { number, complete, text: row.get(first + 2)?, checksum: row.count(first + 3)? })
    }
}

fn list(database: &Database, sql: &str, values: &[Value<'_>]) -> Result<Vec<RunListing>, DatabaseError> {
    database.query(sql, values, listing)
}

pub(crate) fn listing(row: &Row<'_>) -> Result<RunListing, DatabaseError> {
    Ok(RunListing {
        id: RunId(row.get(0)?),
        scenario: row.get(1)?,
        title: row.get(2)?,
        started: UnixMillis(row.get(3)?),
        state: state(row.get(4)?),
        completed: row.count(5)?,
        planned: row.count(6)?,
        imported: row.get(7)?,
    })
}

fn state(complete: bool) -> RunState {
    if complete { RunState::Complete } else { RunState::Unfinished }
}

fn header(database: &Database, run: &RunId) -> Result<Option<HeaderRow>, DatabaseError> {
    let sql = "SELECT number, complete, header, checksum FROM run WHERE id = ?1";
    database.query_row(sql, &values![&run.0], |row| HeaderRow::of(row, 0))
}

/// Parses each row in place: the texts of thousands of trials would take more memory than the records.
fn trials(
    snapshot: &Database,
    number: i64,
    unreadable: &mut Vec<UnreadablePart>,
) -> Result<Vec<Trial>, DatabaseError> {
    let sql = "SELECT place, record, checksum FROM trial WHERE run = ?1 ORDER BY number";
    let mut trials = Vec::new();
    snapshot.ask(sql, &values![number], &mut |row| {
        let (place, checksum) = (row.count(0)?, row.count(2)?);
        let text = row.text(1).map_err(|error| error.to_string());
        match text.and_then(|text| record::trial_of(text, checksum)) {
            Ok(trial) => trials.push(trial),
            Err(reason) => unreadable.push(UnreadablePart { part: format!("trial {place}"), reason }),
        }
        Ok(())
    })?;
    trials.shrink_to_fit();
    Ok(trials)
}

pub(crate) fn skipped(database: &Database, number: i64) -> Result<Vec<SkippedResult>, DatabaseError> {
    let sql = "SELECT result, reason FROM skipped WHERE run = ?1 ORDER BY number";
    database
        .query(sql, &values![number], |row| Ok(SkippedResult { result: row.get(0)?, reason: row.get(1)? }))
}

pub(crate) fn ends(
    database: &Database,
    number: i64,
    unreadable: &mut Vec<UnreadablePart>,
) -> Result<Vec<ResultEnd>, DatabaseError> {
    let sql = "SELECT result, record FROM ended WHERE run = ?1 ORDER BY number";
    let what = |result: String| format!("the end of result {result}");
    parts(database, sql, number, what, record::end_of, unreadable)
}

pub(crate) fn changes(
    database: &Database,
    number: i64,
    unreadable: &mut Vec<UnreadablePart>,
) -> Result<Vec<MachineChange>, DatabaseError> {
    let sql = "SELECT 'a change of the machine', record FROM machine_change WHERE run = ?1 ORDER BY number";
    parts(database, sql, number, |what| what, record::change_of, unreadable)
}

fn parts<T>(
    database: &Database,
    sql: &str,
    number: i64,
    what: impl Fn(String) -> String,
    read: fn(&str) -> Result<T, String>,
    unreadable: &mut Vec<UnreadablePart>,
) -> Result<Vec<T>, DatabaseError> {
    let mut found = Vec::new();
    database.ask(sql, &values![number], &mut |row| {
        match read(row.text(1)?) {
            Ok(part) => found.push(part),
            Err(reason) => unreadable.push(UnreadablePart { part: what(row.get(0)?), reason }),
        }
        Ok(())
    })?;
    Ok(found)
}
