//! A run of other tools' logs: kept whole or not at all, however long it is.
//! Must not know what a log looks like.

use rusqlite::{Transaction, TransactionBehavior};
use samples::{RunHeader, RunId, RunState, Trial};

use crate::{
    error::{Place, StoreError},
    record,
    store::{Store, WriteError, insert_run, insert_trial},
};

/// A run that is being imported.
#[derive(Debug)]
pub struct Importing<'a> {
    transaction: Transaction<'a>,
    place: &'a Place,
    run: RunId,
    number: i64,
}

impl Store {
    /// Keeps a run in one transaction. `begin` is what is known of it beforehand; `work` adds its trials and returns
    /// its whole header, of the same identity, which replaces `begin`. Fails it, nothing is kept.
    ///
    /// # Errors
    /// Those of `work`; when a record cannot be kept.
    pub fn import<E: From<StoreError>>(
        &mut self,
        begin: &RunHeader,
        work: impl FnOnce(&mut Importing<'_>) -> Result<RunHeader, E>,
    ) -> Result<(), E> {
        let explain = self.place.explain("import into");
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(&explain)?;
        let text = record::header_text(begin)?;
        insert_run(&transaction, begin, &text).map_err(|error| error.explained(&explain))?;
        let number = transaction.last_insert_rowid();
        let run = begin.id.clone();
        let mut importing = Importing { transaction, place: &self.place, run, number };
        let header = work(&mut importing)?;
        importing.end(&header)?;
        Ok(())
    }
}

impl Importing<'_> {
    /// Adds a trial.
    ///
    /// # Errors
    /// When it cannot be kept: then `work` has to give up.
    pub fn trial(&mut self, trial: &Trial) -> Result<(), StoreError> {
        let text = record::trial_text(&self.run, trial)?;
        insert_trial(&self.transaction, &self.run, self.number, trial, &text)
            .map_err(|error| error.explained(self.place.explain("keep a trial in")))
    }

    fn end(self, header: &RunHeader) -> Result<(), StoreError> {
        let text = record::header_text(header)?;
        let scenario = &header.scenario;
        let sql = "UPDATE run SET scenario = ?2, title = ?3, digest = ?4, started = ?5, planned = ?6, complete = ?7,
                   header = ?8 WHERE number = ?1";
        let columns = (
            self.number,
            &scenario.name,
            &scenario.title,
            &scenario.digest,
            header.started.0,
            header.planned,
            header.state == RunState::Complete,
            &text,
        );
        let explain = self.place.explain("import into");
        self.transaction.execute(sql, columns).map_err(&explain)?;
        self.transaction.commit().map_err(explain)
    }
}

impl WriteError {
    fn explained(self, explain: impl Fn(rusqlite::Error) -> StoreError) -> StoreError {
        match self {
            Self::Sqlite(error) => explain(error),
            Self::Refused(error) => error,
        }
    }
}
