//! A run of other tools' logs: kept whole or not at all, however long it is.
//! Must not know what a log looks like.

use samples::{RunHeader, RunId, RunState, Trial};

use crate::{
    database::{Access, Transaction, values},
    error::{Place, StoreError},
    record,
    store::{Store, WriteError, insert, insert_run},
};

/// Where trials wait: a table of this connection alone, which no other process has to wait for. Of a file it is one of its own.
fn spool_sql(integer: &str) -> String {
    format!(
        "CREATE TEMP TABLE spool (
            place    {integer} PRIMARY KEY,
            cell     TEXT      NOT NULL,
            block    {integer} NOT NULL,
            record   TEXT      NOT NULL,
            checksum {integer} NOT NULL
        )"
    )
}

/// A run that is being imported.
#[derive(Debug)]
pub struct Importing<'a> {
    spool: Transaction<'a>,
    place: &'a Place,
    run: RunId,
    /// The text of a trial: many short ones take no new memory.
    text: Vec<u8>,
}

impl Store {
    /// Keeps a run whole. `work` adds its trials, for as long as it takes, and returns its header; others may write
    /// meanwhile, as all of it is kept in one short transaction at the end. Fails `work`, nothing is kept. Returns
    /// the run's identity: the header's, or one with a number behind it where another run has that by then.
    ///
    /// # Errors
    /// Those of `work`; when a record cannot be kept.
    pub fn import<E: From<StoreError>>(
        &mut self,
        run: &RunId,
        work: impl FnOnce(&mut Importing<'_>) -> Result<RunHeader, E>,
    ) -> Result<RunId, E> {
        let header = self.spool(run, work)?;
        let kept = self.keep_spool(header);
        let dropped = self.database.batch("DROP TABLE spool").map_err(self.place.explain("import into"));
        let id = kept?;
        dropped?;
        Ok(id)
    }

    fn spool<E: From<StoreError>>(
        &mut self,
        run: &RunId,
        work: impl FnOnce(&mut Importing<'_>) -> Result<RunHeader, E>,
    ) -> Result<RunHeader, E> {
        let explain = self.place.explain("prepare an import into");
        let spool = self.database.transaction(Access::Private).map_err(&explain)?;
        spool.batch(&spool_sql(spool.integer())).map_err(&explain)?;
        let mut importing = Importing { spool, place: &self.place, run: run.clone(), text: Vec::new() };
        let header = work(&mut importing)?;
        importing.spool.commit().map_err(&explain)?;
        Ok(header)
    }

    fn keep_spool(&mut self, mut header: RunHeader) -> Result<RunId, StoreError> {
        let sql = "INSERT INTO trial (run, place, cell, block, record, checksum)
                   SELECT ?1, place, cell, block, record, checksum FROM spool ORDER BY place";
        let complete = header.state == RunState::Complete;
        self.write("import into", |transaction| {
            let number = insert_under_free_name(transaction, &mut header)?;
            let completed = "UPDATE run SET complete = ?2 WHERE number = ?1";
            transaction.execute(completed, &values![number, complete])?;
            transaction.execute(sql, &values![number])?;
            Ok(())
        })?;
        Ok(header.id)
    }
}

/// Adds the row of a run, whose identity gets a number behind it where another run has it; the row's number.
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

impl Importing<'_> {
    /// Adds a trial.
    ///
    /// # Errors
    /// When it cannot be kept: then `work` has to give up.
    pub fn trial(&mut self, trial: &Trial) -> Result<(), StoreError> {
        let text = record::trial_text_into(&mut self.text, &self.run, trial)?;
        let sql = "INSERT INTO spool (place, cell, block, record, checksum) VALUES (?1, ?2, ?3, ?4, ?5)
                   ON CONFLICT DO NOTHING";
        let exists = || StoreError::TrialExists { run: self.run.clone(), index: trial.index };
        let columns = values![trial.index, &trial.cell, trial.block, text, record::checksum(text)];
        insert(&self.spool, sql, &columns, exists)
            .map_err(|error| error.explained(self.place.explain("keep a trial in")))
    }
}
