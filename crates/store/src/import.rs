//! Imports a run of any length from other tools' logs, atomically.

use std::{collections::BTreeSet, mem};

use samples::{RunHeader, RunId, RunState, Trial};

use crate::{
    database::{Transaction, TransactionKind},
    database_error::{IMPORT, Place},
    error::StoreError,
    insert::{insert, insert_under_free_name},
    record,
    store::Store,
    value::values,
};

/// Trials go to a temporary table first, so as not to block other processes. SQLite keeps this table in a separate
/// file.
fn spool_sql(integer: &str) -> String {
    format!(
        "CREATE TEMP TABLE spool (
            place    {integer} PRIMARY KEY,
            result   TEXT      NOT NULL,
            block    {integer} NOT NULL,
            record   TEXT      NOT NULL,
            checksum {integer} NOT NULL
        )"
    )
}

/// Trials are inserted in batches, because each statement waits for a reply. Batches are also limited in bytes.
const TRIALS_AT_ONCE: usize = 500;
const BYTES_AT_ONCE: usize = 1 << 20;
const COPIED_AT_ONCE: u32 = 10_000;

#[derive(Debug)]
pub struct Importing<'a> {
    spool: Transaction<'a>,
    place: &'a Place,
    run: RunId,
    text: Vec<u8>,
    unsent: Vec<SpooledTrial>,
    unsent_bytes: usize,
}

#[derive(Debug)]
struct SpooledTrial {
    place: u32,
    result: String,
    block: u32,
    record: String,
}

impl Store {
    /// Commits everything in one short transaction at the end, so other processes can write until then. Stores nothing
    /// if `work` fails. Returns the name of the run, with a number appended if the name is taken.
    pub fn import<E: From<StoreError>>(
        &mut self,
        run: &RunId,
        work: impl FnOnce(&mut Importing<'_>) -> Result<RunHeader, E>,
    ) -> Result<RunId, E> {
        let header = self.spool(run, work)?;
        let stored = self.store_spool(header);
        let dropped = self.database.batch("DROP TABLE spool").map_err(self.place.explain(IMPORT));
        let id = stored?;
        dropped?;
        Ok(id)
    }

    fn spool<E: From<StoreError>>(
        &mut self,
        run: &RunId,
        work: impl FnOnce(&mut Importing<'_>) -> Result<RunHeader, E>,
    ) -> Result<RunHeader, E> {
        let explain = self.place.explain("prepare an import into");
        let spool = self.database.transaction(TransactionKind::Private).map_err(&explain)?;
        spool.batch(&spool_sql(spool.integer())).map_err(&explain)?;
        let mut importing = Importing {
            spool,
            place: &self.place,
            run: run.clone(),
            text: Vec::new(),
            unsent: Vec::new(),
            unsent_bytes: 0,
        };
        let header = work(&mut importing)?;
        importing.send()?;
        importing.spool.commit().map_err(&explain)?;
        Ok(header)
    }

    fn store_spool(&mut self, mut header: RunHeader) -> Result<RunId, StoreError> {
        let sql = "INSERT INTO trial (run, place, result, block, record, checksum)
                   SELECT ?1, place, result, block, record, checksum FROM spool
                   WHERE place >= ?2 AND place < ?3 ORDER BY place";
        let complete = header.state == RunState::Complete;
        self.write(IMPORT, |transaction| {
            let number = insert_under_free_name(transaction, &mut header)?;
            let completed = "UPDATE run SET complete = ?2 WHERE number = ?1";
            transaction.execute(completed, &values![number, complete])?;
            let last = "SELECT coalesce(max(place), -1) FROM spool";
            let last = transaction.query_row(last, &[], |row| row.get::<i64>(0))?.unwrap_or(-1);
            for first in (0..=last).step_by(COPIED_AT_ONCE as usize) {
                transaction.execute(sql, &values![number, first, first + i64::from(COPIED_AT_ONCE)])?;
            }
            Ok(())
        })?;
        Ok(header.id)
    }
}

impl Importing<'_> {
    pub fn trial(&mut self, trial: &Trial) -> Result<(), StoreError> {
        let text = record::trial_text_into(&mut self.text, &self.run, trial)?;
        if self.spool.file().is_none() {
            self.unsent_bytes += text.len();
            let (result, record) = (trial.result.clone(), text.to_owned());
            self.unsent.push(SpooledTrial { place: trial.index, result, block: trial.block, record });
            let is_enough = self.unsent.len() >= TRIALS_AT_ONCE || self.unsent_bytes >= BYTES_AT_ONCE;
            return if is_enough { self.send() } else { Ok(()) };
        }
        let sql = "INSERT INTO spool (place, result, block, record, checksum) VALUES (?1, ?2, ?3, ?4, ?5)
                   ON CONFLICT DO NOTHING";
        let exists = || StoreError::TrialExists { run: self.run.clone(), index: trial.index };
        let columns = values![trial.index, &trial.result, trial.block, text, record::checksum(text)];
        insert(&self.spool, sql, &columns, exists)
            .map_err(|error| error.explained(self.place.explain("store a trial in")))
    }
    fn send(&mut self) -> Result<(), StoreError> {
        self.unsent_bytes = 0;
        let unsent = mem::take(&mut self.unsent);
        if unsent.is_empty() {
            return Ok(());
        }
        let row = |row: usize| {
            let [place, result, block, record, checksum] = [1, 2, 3, 4, 5].map(|column| 5 * row + column);
            format!("(?{place}, ?{result}, ?{block}, ?{record}, ?{checksum})")
        };
        let rows = (0..unsent.len()).map(row).collect::<Vec<_>>().join(", ");
        let sql = format!(
            "INSERT INTO spool (place, result, block, record, checksum) VALUES {rows}
             ON CONFLICT DO NOTHING RETURNING place"
        );
        let mut values = Vec::with_capacity(5 * unsent.len());
        for SpooledTrial { place, result, block, record } in &unsent {
            values.extend(values![*place, result, *block, record, record::checksum(record)]);
        }
        let sent = self.spool.query(&sql, &values, |row| row.count(0));
        let sent = sent.map_err(self.place.explain("store a trial in"))?;
        let mut sent: BTreeSet<u32> = sent.into_iter().collect();
        match unsent.iter().find(|trial| !sent.remove(&trial.place)) {
            None => Ok(()),
            Some(trial) => Err(StoreError::TrialExists { run: self.run.clone(), index: trial.place }),
        }
    }
}
