//! Inserts the rows of a run, within the caller's transaction.

use samples::{ResultEnd, RunHeader, RunId, RunRecord, RunState, SkippedResult, Trial};

use crate::{
    database::Transaction,
    database_error::DatabaseError,
    error::StoreError,
    record,
    value::{Value, values},
};

pub(crate) enum WriteError {
    Database(DatabaseError),
    Refused(StoreError),
}

impl WriteError {
    pub(crate) fn explained(self, explain: impl Fn(DatabaseError) -> StoreError) -> StoreError {
        match self {
            Self::Database(error) => explain(error),
            Self::Refused(error) => error,
        }
    }
}

impl From<DatabaseError> for WriteError {
    fn from(error: DatabaseError) -> Self {
        Self::Database(error)
    }
}

pub(crate) fn insert_run(
    transaction: &Transaction<'_>,
    header: &RunHeader,
    text: &str,
) -> Result<i64, WriteError> {
    let sql = "INSERT INTO run (id, scenario, title, digest, started, planned, header, checksum)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING RETURNING number";
    let scenario = &header.scenario;
    let columns = values![
        &header.id.0,
        &scenario.name,
        &scenario.title,
        &scenario.digest,
        header.started.0,
        header.planned,
        text,
        record::checksum(text),
    ];
    let exists = || WriteError::Refused(StoreError::RunExists { run: header.id.clone() });
    let number: i64 = transaction.query_row(sql, &columns, |row| row.get(0))?.ok_or_else(exists)?;
    if header.origin.imported().is_some() {
        transaction.execute("INSERT INTO imported (run) VALUES (?1)", &values![number])?;
    }
    Ok(number)
}

pub(crate) fn insert_trial(
    transaction: &Transaction<'_>,
    run: &RunId,
    number: i64,
    trial: &Trial,
    text: &str,
) -> Result<(), WriteError> {
    let sql =
        "INSERT INTO trial (run, place, result, block, record, checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
               ON CONFLICT DO NOTHING";
    let columns = values![number, trial.index, &trial.result, trial.block, text, record::checksum(text)];
    insert(transaction, sql, &columns, || StoreError::TrialExists { run: run.clone(), index: trial.index })
}

pub(crate) fn insert_skipped(
    transaction: &Transaction<'_>,
    number: i64,
    skipped: &SkippedResult,
) -> Result<(), WriteError> {
    let sql = "INSERT INTO skipped (run, result, reason) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    transaction.execute(sql, &values![number, &skipped.result, &skipped.reason])?;
    Ok(())
}

pub(crate) fn insert_end(
    transaction: &Transaction<'_>,
    number: i64,
    end: &ResultEnd,
    text: &str,
) -> Result<(), WriteError> {
    // Delete the earlier row first, so that the new one comes last.
    transaction.execute("DELETE FROM ended WHERE run = ?1 AND result = ?2", &values![number, &end.result])?;
    let sql = "INSERT INTO ended (run, result, record) VALUES (?1, ?2, ?3)";
    transaction.execute(sql, &values![number, &end.result, text])?;
    Ok(())
}

pub(crate) fn insert_change(
    transaction: &Transaction<'_>,
    number: i64,
    text: &str,
) -> Result<(), WriteError> {
    let sql = "INSERT INTO machine_change (run, record) SELECT ?1, ?2
               WHERE NOT EXISTS (SELECT 1 FROM machine_change WHERE run = ?1 AND record = ?2)";
    transaction.execute(sql, &values![number, text])?;
    Ok(())
}

pub(crate) fn insert_parts(
    transaction: &Transaction<'_>,
    number: i64,
    record: &RunRecord,
) -> Result<(), WriteError> {
    let run = &record.header.id;
    let refused = WriteError::Refused;
    for trial in &record.trials {
        let text = record::trial_text(run, trial).map_err(refused)?;
        insert_trial(transaction, run, number, trial, &text)?;
    }
    for skipped in &record.skipped {
        insert_skipped(transaction, number, skipped)?;
    }
    for end in &record.ends {
        insert_end(transaction, number, end, &record::end_text(run, end).map_err(refused)?)?;
    }
    for change in &record.machine_changes {
        insert_change(transaction, number, &record::change_text(run, change).map_err(refused)?)?;
    }
    let complete = record.header.state == RunState::Complete;
    transaction.execute("UPDATE run SET complete = ?2 WHERE number = ?1", &values![number, complete])?;
    Ok(())
}

pub(crate) fn insert(
    transaction: &Transaction<'_>,
    sql: &str,
    columns: &[Value<'_>],
    exists: impl FnOnce() -> StoreError,
) -> Result<(), WriteError> {
    match transaction.execute(sql, columns)? {
        0 => Err(WriteError::Refused(exists())),
        _ => Ok(()),
    }
}

pub(crate) fn insert_under_free_name(
    transaction: &Transaction<'_>,
    header: &mut RunHeader,
) -> Result<i64, WriteError> {
    let wanted = header.id.clone();
    let mut number = 2;
    loop {
        let text = record::header_text(header).map_err(WriteError::Refused)?;
        match insert_run(transaction, header, &text) {
            Err(WriteError::Refused(StoreError::RunExists { .. })) => {
                header.id = RunId(format!("{wanted}-{number}"));
                number += 1;
            }
            other => return other,
        }
    }
}
