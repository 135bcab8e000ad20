//! The open store and its writes, one transaction per record.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, config::DbConfig};
use samples::{MachineChange, ResultEnd, RunHeader, RunId, RunRecord, Sink, SkippedResult, Trial};

use crate::{
    database::{Database, Transaction, TransactionKind},
    database_error::DatabaseError,
    database_error::Place,
    error::StoreError,
    insert::{
        self, WriteError, insert_change, insert_end, insert_parts, insert_run, insert_skipped, insert_trial,
    },
    location::Location,
    record, schema,
    session::Session,
    value::values,
};

const PATIENCE: Duration = Duration::from_secs(5);

/// Several processes may have a store open at the same time. Files use a rollback journal and are complete while no
/// process writes, so they can be copied, or read from a read-only location.
#[derive(Debug)]
pub struct Store {
    pub(crate) database: Database,
    pub(crate) place: Place,
}

impl Store {
    /// Opens the store, creating or migrating the file. Fails if the file stays locked for 5 s, is damaged, or
    /// belongs to another program or a newer version.
    pub fn open(place: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with_patience(place, PATIENCE)
    }

    /// Returns `None` without creating anything if the file does not exist.
    pub fn open_existing(place: impl AsRef<Path>) -> Result<Option<Self>, StoreError> {
        match Location::parse(place.as_ref()) {
            Ok(Location::File(file)) if !file.is_file() => Ok(None),
            _ => Self::open(place).map(Some),
        }
    }

    pub fn open_with_patience(place: impl AsRef<Path>, patience: Duration) -> Result<Self, StoreError> {
        Self::open_at(Place { location: Location::parse(place.as_ref())?, patience })
    }

    fn open_at(place: Place) -> Result<Self, StoreError> {
        if let Location::File(path) = &place.location {
            create_folder(path)?;
            refuse_special_files(path)?;
        }
        let database = connect(&place).map_err(place.explain("open"))?;
        schema::prepare(&database, &place)?;
        Ok(Self { database, place })
    }

    #[must_use]
    pub const fn location(&self) -> &Location {
        &self.place.location
    }

    pub fn keep(&mut self, record: &RunRecord) -> Result<RunId, StoreError> {
        let mut header = record.header.clone();
        self.write("store a run in", |transaction| {
            let number = insert::insert_under_free_name(transaction, &mut header)?;
            insert_parts(transaction, number, record)
        })?;
        Ok(header.id)
    }

    /// Reopens the path after the file was deleted, moved or replaced, and copies this run from the old file, which
    /// is still readable.
    pub fn follow_path(&mut self, run: &RunId) -> Result<(), StoreError> {
        let is_stored = self.runs()?.iter().any(|listed| listed.id == *run);
        let record = if is_stored { Some(self.load(run)?) } else { None };
        let mut new = Self::open_at(self.place.clone())?;
        let is_there = new.runs()?.iter().any(|listed| listed.id == *run);
        if let Some(record) = record.filter(|_| !is_there) {
            new.keep(&record)?;
        }
        *self = new;
        Ok(())
    }

    pub(crate) fn write<T>(
        &mut self,
        doing: &'static str,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, WriteError>,
    ) -> Result<T, StoreError> {
        let explain = self.place.explain(doing);
        let transaction = self.database.transaction(TransactionKind::Write).map_err(&explain)?;
        let done = work(&transaction).map_err(|error| error.explained(&explain))?;
        transaction.commit().map_err(&explain)?;
        Ok(done)
    }
}

impl Sink for Store {
    type Error = StoreError;

    fn begin(&mut self, header: &RunHeader) -> Result<(), StoreError> {
        let text = record::header_text(header)?;
        self.write("store a new run in", |transaction| insert_run(transaction, header, &text).map(drop))
    }

    fn trial(&mut self, run: &RunId, trial: &Trial) -> Result<(), StoreError> {
        let text = record::trial_text(run, trial)?;
        self.write("store a trial in", |transaction| {
            let number = number_of(transaction, run)?;
            if !trial.discarded.is_empty() {
                let sql = "DELETE FROM trial WHERE run = ?1 AND place = ?2";
                transaction.execute(sql, &values![number, trial.index])?;
            }
            store_trial(transaction, run, number, trial, &text)
        })
    }

    fn skipped(&mut self, run: &RunId, skipped: &SkippedResult) -> Result<(), StoreError> {
        self.write("store a skipped result in", |transaction| {
            let number = number_of(transaction, run)?;
            insert_skipped(transaction, number, skipped)
        })
    }

    fn ended(&mut self, run: &RunId, end: &ResultEnd) -> Result<(), StoreError> {
        let text = record::end_text(run, end)?;
        self.write("store the end of a result in", |transaction| {
            let number = number_of(transaction, run)?;
            insert_end(transaction, number, end, &text)
        })
    }

    fn machine_changed(&mut self, run: &RunId, change: &MachineChange) -> Result<(), StoreError> {
        let text = record::change_text(run, change)?;
        self.write("store a machine change in", |transaction| {
            let number = number_of(transaction, run)?;
            insert_change(transaction, number, &text)
        })
    }

    fn complete(&mut self, run: &RunId) -> Result<(), StoreError> {
        self.write("complete a run in", |transaction| {
            let number = number_of(transaction, run)?;
            transaction.execute("UPDATE run SET complete = TRUE WHERE number = ?1", &values![number])?;
            Ok(())
        })
    }
}

pub(crate) fn number_of(database: &Database, run: &RunId) -> Result<i64, WriteError> {
    let sql = "SELECT number FROM run WHERE id = ?1";
    database
        .query_row(sql, &values![&run.0], |row| row.get(0))?
        .ok_or_else(|| WriteError::Refused(StoreError::no_such_run(run)))
}

/// If an identical trial exists, an earlier attempt stored it, and only the reply was lost.
fn store_trial(
    transaction: &Transaction<'_>,
    run: &RunId,
    number: i64,
    trial: &Trial,
    text: &str,
) -> Result<(), WriteError> {
    let inserted = insert_trial(transaction, run, number, trial, text);
    if matches!(inserted, Err(WriteError::Refused(StoreError::TrialExists { .. }))) {
        let sql = "SELECT record FROM trial WHERE run = ?1 AND place = ?2";
        let is_same =
            transaction.query_row(sql, &values![number, trial.index], |row| Ok(row.text(0)? == text))?;
        return if is_same == Some(true) { Ok(()) } else { inserted };
    }
    inserted
}

fn create_folder(path: &Path) -> Result<(), StoreError> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return Ok(()) };
    fs::create_dir_all(folder).map_err(|source| StoreError::Folder { folder: folder.to_owned(), source })
}

/// SQLite opens a database's journal and WAL without checking their type, and would block on a named pipe.
fn refuse_special_files(path: &Path) -> Result<(), StoreError> {
    for ending in ["", "-journal", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        let path = PathBuf::from(name);
        if fs::metadata(&path).is_ok_and(|known| !known.is_file()) {
            return Err(StoreError::CannotOpen { path, reason: "it is not a regular file".to_owned() });
        }
    }
    Ok(())
}

fn connect(place: &Place) -> Result<Database, DatabaseError> {
    let path = match &place.location {
        Location::File(path) => path,
        Location::Server(address) => {
            return Ok(Database::Server(Box::new(Session::open(address, place.patience)?)));
        }
    };
    // Without SQLITE_OPEN_URI, a path is never interpreted as a URI.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let connection = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // Disable code in the schema, because the file may come from another user.
    for (setting, is_on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
    ] {
        connection.set_db_config(setting, is_on)?;
    }
    connection.busy_timeout(place.patience)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    Ok(Database::File { connection, path: path.clone() })
}
