//! What is kept: the list of runs, a whole run again, and its removal.
//! Must not know how a run is found by a part of its name.

use rusqlite::{Connection, OptionalExtension, Row};
use samples::{
    CellEnd, MachineChange, ReadError, RunHeader, RunId, RunRecord, RunState, SCHEMA, SkippedCell, Trial,
    UnixMillis, UnreadablePart,
};

use crate::{
    baseline,
    error::StoreError,
    record,
    store::{Store, number_of},
};

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunListing {
    /// Its identity.
    pub id: RunId,
    /// The scenario's name.
    pub scenario: String,
    /// The scenario's title.
    pub title: String,
    /// When it began.
    pub started: UnixMillis,
    /// How far it got.
    pub state: RunState,
    /// Whether its numbers are of other tools' logs.
    pub imported: bool,
    /// Trials that are kept.
    pub made: u32,
    /// Trials that were planned.
    pub planned: u32,
}

pub(crate) const LISTED: &str = "SELECT id, scenario, title, started, complete,
           (SELECT count(*) FROM trial WHERE trial.run = run.number), planned,
           EXISTS (SELECT 1 FROM imported WHERE imported.run = run.number), number
    FROM run";
/// The column of [`LISTED`] that is the row's number.
pub(crate) const NUMBER: usize = 8;
const NEWEST_FIRST: &str = "ORDER BY started DESC, number DESC";

impl Store {
    /// All runs, newest first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn runs(&self) -> Result<Vec<RunListing>, StoreError> {
        let sql = format!("{LISTED} {NEWEST_FIRST}");
        list(&self.connection, &sql, []).map_err(self.place.explain("list the runs of"))
    }

    /// The runs of a scenario (by the digest of its text) that were begun and not completed, newest first:
    /// what can be resumed.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn unfinished(&self, scenario_digest: &str) -> Result<Vec<RunListing>, StoreError> {
        let sql = format!("{LISTED} WHERE digest = ?1 AND complete = 0 {NEWEST_FIRST}");
        list(&self.connection, &sql, [scenario_digest])
            .map_err(self.place.explain("list the unfinished runs of"))
    }

    /// The runs of a scenario (by the digest of its text) of which at least one trial is kept, newest first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn runs_of(&self, scenario_digest: &str) -> Result<Vec<RunListing>, StoreError> {
        let made = "EXISTS (SELECT 1 FROM trial WHERE trial.run = run.number)";
        let sql = format!("{LISTED} WHERE digest = ?1 AND {made} {NEWEST_FIRST}");
        list(&self.connection, &sql, [scenario_digest])
            .map_err(self.place.explain("list the runs of a scenario in"))
    }

    /// A whole run as it was handed in, its trials in the order in which they were made. What was altered since, or cannot
    /// be read, is left out, and is named in the record.
    ///
    /// # Errors
    /// When there is no such run, its header cannot be read, or the file is damaged as a database.
    pub fn load(&self, run: &RunId) -> Result<RunRecord, StoreError> {
        let explain = self.place.explain("read a run from");
        // One snapshot, so that a run that is being made is read as of one moment.
        let snapshot = self.connection.unchecked_transaction().map_err(&explain)?;
        let found = header(&snapshot, run).map_err(&explain)?;
        let row = found.ok_or_else(|| StoreError::no_such_run(run))?;
        let mut unreadable = Vec::new();
        let (header, written) = self.header(run, &row)?;
        let trials = trials(&snapshot, row.number, written, &mut unreadable).map_err(&explain)?;
        let skipped = skipped(&snapshot, row.number).map_err(&explain)?;
        let ends = ends(&snapshot, row.number, &mut unreadable).map_err(&explain)?;
        let machine_changes = changes(&snapshot, row.number, &mut unreadable).map_err(&explain)?;
        Ok(RunRecord { header, trials, skipped, ends, machine_changes, unreadable })
    }

    /// Forgets a run and all its trials.
    ///
    /// # Errors
    /// When there is no such run, it is a baseline, or the file cannot be written; nothing was removed then.
    pub fn remove(&mut self, run: &RunId) -> Result<(), StoreError> {
        self.write("remove a run from", |transaction| {
            let number = number_of(transaction, run)?;
            baseline::refuse_removal(transaction, number, run)?;
            transaction.execute("DELETE FROM run WHERE number = ?1", [number])?;
            Ok(())
        })
    }

    pub(crate) fn header(&self, run: &RunId, row: &HeaderRow) -> Result<(RunHeader, u32), StoreError> {
        let path = || self.place.path.clone();
        let unreadable = |reason| StoreError::Unreadable {
            path: path(),
            run: run.clone(),
            what: "the header".to_owned(),
            reason,
        };
        let text = record::intact(&row.text, row.checksum).map_err(unreadable)?;
        let (header, written) = RunHeader::read(text).map_err(|error| match error {
            ReadError::Newer { found, tool } => {
                StoreError::Newer { path: path(), found, known: SCHEMA, writer: format!("plumb {tool}") }
            }
            ReadError::Malformed(error) => unreadable(error.to_string()),
        })?;
        Ok((RunHeader { state: state(row.complete), ..header }, written))
    }
}

/// The row of a run, unread.
pub(crate) struct HeaderRow {
    number: i64,
    complete: bool,
    text: String,
    checksum: Option<u32>,
}

impl HeaderRow {
    /// From number, complete, header and checksum, in columns from `first` on.
    pub(crate) fn of(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        let (number, complete) = (row.get(first)?, row.get(first + 1)?);
        Ok(Self { number, complete, text: row.get(first + 2)?, checksum: row.get(first + 3)? })
    }
}

fn list(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
) -> rusqlite::Result<Vec<RunListing>> {
    connection.prepare(sql)?.query_map(parameters, listing)?.collect()
}

pub(crate) fn listing(row: &Row<'_>) -> rusqlite::Result<RunListing> {
    Ok(RunListing {
        id: RunId(row.get(0)?),
        scenario: row.get(1)?,
        title: row.get(2)?,
        started: UnixMillis(row.get(3)?),
        state: state(row.get(4)?),
        made: row.get(5)?,
        planned: row.get(6)?,
        imported: row.get(7)?,
    })
}

fn state(complete: bool) -> RunState {
    if complete { RunState::Complete } else { RunState::Unfinished }
}

fn header(connection: &Connection, run: &RunId) -> rusqlite::Result<Option<HeaderRow>> {
    let sql = "SELECT number, complete, header, checksum FROM run WHERE id = ?1";
    connection.query_row(sql, [&run.0], |row| HeaderRow::of(row, 0)).optional()
}

/// Each is read where it stands: the texts of thousands together would be more than what is read of them.
fn trials(
    snapshot: &Connection,
    number: i64,
    written: u32,
    unreadable: &mut Vec<UnreadablePart>,
) -> rusqlite::Result<Vec<Trial>> {
    let sql = "SELECT place, record, checksum FROM trial WHERE run = ?1 ORDER BY number";
    let mut statement = snapshot.prepare_cached(sql)?;
    let mut rows = statement.query([number])?;
    let mut trials = Vec::new();
    while let Some(row) = rows.next()? {
        let (place, checksum): (u32, Option<u32>) = (row.get(0)?, row.get(2)?);
        let text = row.get_ref(1)?.as_str().map_err(|error| error.to_string());
        match text.and_then(|text| record::trial_of(written, text, checksum)) {
            Ok(trial) => trials.push(trial),
            Err(because) => unreadable.push(UnreadablePart { what: format!("trial {place}"), because }),
        }
    }
    trials.shrink_to_fit();
    Ok(trials)
}

pub(crate) fn skipped(connection: &Connection, number: i64) -> rusqlite::Result<Vec<SkippedCell>> {
    let mut statement =
        connection.prepare("SELECT cell, because FROM skipped WHERE run = ?1 ORDER BY number")?;
    statement
        .query_map([number], |row| Ok(SkippedCell { cell: row.get(0)?, because: row.get(1)? }))?
        .collect()
}

pub(crate) fn ends(
    connection: &Connection,
    number: i64,
    unreadable: &mut Vec<UnreadablePart>,
) -> rusqlite::Result<Vec<CellEnd>> {
    let sql = "SELECT cell, record FROM ended WHERE run = ?1 ORDER BY number";
    let what = |cell: String| format!("the end of cell {cell}");
    parts(connection, sql, number, what, record::end_of, unreadable)
}

pub(crate) fn changes(
    connection: &Connection,
    number: i64,
    unreadable: &mut Vec<UnreadablePart>,
) -> rusqlite::Result<Vec<MachineChange>> {
    let sql = "SELECT 'a change of the machine', record FROM machine_change WHERE run = ?1 ORDER BY number";
    parts(connection, sql, number, |what| what, record::change_of, unreadable)
}

/// What can be read of the rows of a query that returns a name and a text.
fn parts<T>(
    connection: &Connection,
    sql: &str,
    number: i64,
    what: impl Fn(String) -> String,
    read: fn(&str) -> Result<T, String>,
    unreadable: &mut Vec<UnreadablePart>,
) -> rusqlite::Result<Vec<T>> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([number])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (name, text): (String, String) = (row.get(0)?, row.get(1)?);
        match read(&text) {
            Ok(part) => found.push(part),
            Err(because) => unreadable.push(UnreadablePart { what: what(name), because }),
        }
    }
    Ok(found)
}
