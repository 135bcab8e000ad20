//! What is kept: the list of runs, a whole run again, and its removal.
//! Must not know how a run is found by a part of its name.

use std::cmp::Ordering;

use rusqlite::{Connection, OptionalExtension, Row};
use samples::{CellEnd, RunHeader, RunId, RunRecord, RunState, SCHEMA, SkippedCell, Trial, UnixMillis};

use crate::{
    baseline,
    error::StoreError,
    record::{self, Origin},
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

    /// A whole run as it was handed in, its trials in the order in which they were made.
    ///
    /// # Errors
    /// When there is no such run, or it cannot be read.
    pub fn load(&self, run: &RunId) -> Result<RunRecord, StoreError> {
        let explain = self.place.explain("read a run from");
        // One snapshot, so that a run that is being made is read as of one moment.
        let snapshot = self.connection.unchecked_transaction().map_err(&explain)?;
        let found = header(&snapshot, run).map_err(&explain)?;
        let (number, complete, text) = found.ok_or_else(|| StoreError::no_such_run(run))?;
        let header = self.header(run, &text, complete)?;
        let trials = self.trials(&snapshot, run, number)?;
        let skipped = skipped(&snapshot, number).map_err(&explain)?;
        let ends = ends(&snapshot, number).map_err(&explain)?;
        Ok(RunRecord { header, trials, skipped, ends: self.ends(run, &ends)? })
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

    fn header(&self, run: &RunId, text: &str, complete: bool) -> Result<RunHeader, StoreError> {
        let unreadable = |reason| self.unreadable(run, "the header", reason);
        // Looked at first: what another plumb recorded need not have the shape that is read below.
        let origin = record::origin_of(text).map_err(unreadable)?;
        self.refuse_other_shapes(run, &origin)?;
        let header = record::header_of(text).map_err(unreadable)?;
        Ok(RunHeader { state: state(complete), ..header })
    }

    fn refuse_other_shapes(&self, run: &RunId, origin: &Origin) -> Result<(), StoreError> {
        let (path, writer) = (self.place.path.clone(), format!("plumb {}", origin.tool));
        match origin.schema.cmp(&SCHEMA) {
            Ordering::Equal => Ok(()),
            Ordering::Greater => Err(StoreError::Newer { path, found: origin.schema, known: SCHEMA, writer }),
            Ordering::Less => {
                Err(StoreError::Older { path, run: run.clone(), found: origin.schema, known: SCHEMA, writer })
            }
        }
    }

    /// Each is read where it stands: the texts of thousands together would be more than what is read of them.
    fn trials(&self, snapshot: &Connection, run: &RunId, number: i64) -> Result<Vec<Trial>, StoreError> {
        let explain = self.place.explain("read a run from");
        let sql = "SELECT place, record FROM trial WHERE run = ?1 ORDER BY number";
        let mut statement = snapshot.prepare_cached(sql).map_err(&explain)?;
        let mut rows = statement.query([number]).map_err(&explain)?;
        let mut trials = Vec::new();
        while let Some(row) = rows.next().map_err(&explain)? {
            let place: u32 = row.get(0).map_err(&explain)?;
            let text = row.get_ref(1).and_then(|text| Ok(text.as_str()?)).map_err(&explain)?;
            let unreadable = |reason| self.unreadable(run, &format!("trial {place}"), reason);
            trials.push(record::trial_of(text).map_err(unreadable)?);
        }
        trials.shrink_to_fit();
        Ok(trials)
    }

    fn ends(&self, run: &RunId, texts: &[String]) -> Result<Vec<CellEnd>, StoreError> {
        let read = |text: &String| {
            record::end_of(text).map_err(|reason| self.unreadable(run, "the end of a cell", reason))
        };
        texts.iter().map(read).collect()
    }

    pub(crate) fn unreadable(&self, run: &RunId, what: &str, reason: String) -> StoreError {
        StoreError::Unreadable {
            path: self.place.path.clone(),
            run: run.clone(),
            what: what.to_owned(),
            reason,
        }
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

fn header(connection: &Connection, run: &RunId) -> rusqlite::Result<Option<(i64, bool, String)>> {
    let sql = "SELECT number, complete, header FROM run WHERE id = ?1";
    connection.query_row(sql, [&run.0], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()
}

fn skipped(connection: &Connection, number: i64) -> rusqlite::Result<Vec<SkippedCell>> {
    let mut statement =
        connection.prepare("SELECT cell, because FROM skipped WHERE run = ?1 ORDER BY number")?;
    statement
        .query_map([number], |row| Ok(SkippedCell { cell: row.get(0)?, because: row.get(1)? }))?
        .collect()
}

fn ends(connection: &Connection, number: i64) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT record FROM ended WHERE run = ?1 ORDER BY number")?;
    statement.query_map([number], |row| row.get(0))?.collect()
}
