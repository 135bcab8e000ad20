//! Errors of the store, from the error codes of SQLite and PostgreSQL, and their remedies.

use std::{io, path::PathBuf, time::Duration};

use rusqlite::{ErrorCode, ffi::SQLITE_READONLY_DBMOVED};
use samples::RunId;
use thiserror::Error;

use crate::{
    database::{DatabaseError, message},
    location::Location,
};

/// Every message names the location or the run, and a remedy.
#[derive(Debug, Error)]
pub enum StoreError {
    #[error("cannot create the folder {folder}: {source}; choose a writable location")]
    Folder { folder: PathBuf, source: io::Error },
    #[error(
        "cannot open {path} ({reason}); check that it is a file that you can read, in a folder \
         that you can write, or choose another file"
    )]
    CannotOpen { path: PathBuf, reason: String },
    #[error("cannot write to {place}: {}", place.when_read_only())]
    ReadOnly { place: Location },
    #[error(
        "{place} is locked by another process (waited {} s); try again later or stop that process",
        waited.as_secs_f64()
    )]
    Locked { place: Location, waited: Duration },
    #[error("{path} was deleted, moved or replaced while in use; restore it, or restart")]
    Moved { path: PathBuf },
    #[error("run {run} is in progress in {owner}; wait until it ends, or stop it and resume the run")]
    UnderWay { run: RunId, owner: String },
    #[error(
        "no space left to write {place}; earlier results are intact: free some space, then resume the run"
    )]
    Full { place: Location },
    #[error(
        "{path} cannot be used as a database of runs: {reason}; nothing was changed in it. `plumb runs repair` copies \
         the readable data to a new file and keeps the old one. `sqlite3 FILE .recover` can often rescue more"
    )]
    Corrupt { path: PathBuf, reason: String },
    #[error(
        "{place} is a database of another program and was not changed; choose another {}", place.kind()
    )]
    Foreign { place: Location },
    #[error(
        "{path} has an object `{name}` ({kind}) that plumb did not create in this form, which could delete or invent results; nothing was \
         changed in the file. {advice}, or choose another file",
        path = path.display(), name = name.escape_debug(), advice = without(kind)
    )]
    UnknownObject { path: PathBuf, kind: String, name: String },
    #[error(
        "{place} was written by {writer} (format {found}, this plumb reads {known}); use that version, or another \
         {} for this version",
        place.kind()
    )]
    Unsupported {
        place: Location,
        found: u32,
        /// The supported format.
        known: u32,
        /// The program that wrote it, e.g. `plumb 0.3.0`.
        writer: String,
    },
    #[error(
        "cannot read {what} of run {run} in {place}: {reason}; to continue without the run, remove it with `plumb runs remove {run}`"
    )]
    Unreadable { place: Location, run: RunId, what: String, reason: String },
    /// A record could not be read back and was not stored.
    #[error("cannot store {what} of run {run}: {reason}; it contains a number that is not finite")]
    Unkeepable { run: RunId, what: String, reason: String },
    #[error("run {run} already exists; resume it, or start a new run with another name")]
    RunExists { run: RunId },
    /// Another process is writing to the same run.
    #[error("trial {index} of run {run} already exists; check that no other process is resuming this run")]
    TrialExists { run: RunId, index: u32 },
    #[error("no run is called `{text}`; {hint}")]
    Unknown { text: String, hint: String },
    #[error("`{text}` matches several runs: {matches}; use a longer prefix")]
    Ambiguous { text: String, matches: String },
    #[error("no baseline is called `{name}`; {hint}")]
    NoBaseline { name: String, hint: String },
    #[error(
        "run {run} is the baseline {names} and cannot be removed; remove the baseline first \
         (plumb baseline remove NAME), or move it to another run (plumb baseline set NAME RUN)"
    )]
    IsBaseline { run: RunId, names: String },
    #[error(
        "invalid store address: {reason}; the format is \
         postgres://USER@HOST:PORT/DATABASE?sslmode=verify-full&sslrootcert=FILE, or start a file name with ./ or /"
    )]
    Address { reason: String },
    #[error(
        "cannot reach {place} ({reason}); check that the server is running, allows connections from this machine and has a connection left"
    )]
    Away { place: Location, reason: String },
    #[error(
        "access to {place} denied ({reason}); check user, password, database and sslmode in the address. The \
         database must exist and belong to the user who stores the first run"
    )]
    Denied { place: Location, reason: String },
    #[error(
        "{place} is on a server: repair it by restoring a backup. `plumb runs export` saves single \
         runs to files, and `plumb runs remove` removes damaged runs"
    )]
    NotAFile { place: Location },
    #[error("cannot {doing} {place}: {reason}")]
    Failed { doing: &'static str, place: Location, reason: String },
}

impl StoreError {
    #[must_use]
    pub const fn may_pass(&self) -> bool {
        matches!(self, Self::Locked { .. } | Self::Moved { .. } | Self::CannotOpen { .. } | Self::Away { .. })
    }
}

fn without(kind: &str) -> String {
    match kind {
        "table" => "Restore the file from a backup".to_owned(),
        kind => {
            format!("If you trust the file, remove the {kind} with DROP {} in sqlite3", kind.to_uppercase())
        }
    }
}

pub(crate) const IMPORT: &str = "import into";

#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) location: Location,
    pub(crate) patience: Duration,
}

impl Place {
    pub(crate) fn explain(&self, doing: &'static str) -> impl Fn(DatabaseError) -> StoreError + '_ {
        move |error| {
            let place = self.location.clone();
            match error {
                DatabaseError::File(error) => self.of_file(doing, &error),
                DatabaseError::Server(ref code) if error.is_away() => {
                    StoreError::Away { place, reason: message(code) }
                }
                DatabaseError::Server(error) => self.of_server(doing, &error),
                DatabaseError::Away(reason) => StoreError::Away { place, reason },
                DatabaseError::Denied(reason) => StoreError::Denied { place, reason },
                DatabaseError::OutOfRange(_) => {
                    StoreError::Failed { doing, place, reason: error.to_string() }
                }
                DatabaseError::Refused(error) => *error,
            }
        }
    }

    fn of_file(&self, doing: &'static str, error: &rusqlite::Error) -> StoreError {
        let (place, reason) = (self.location.clone(), error.to_string());
        let path = || match &self.location {
            Location::File(path) => path.clone(),
            Location::Server(_) => PathBuf::new(),
        };
        if error.sqlite_error().is_some_and(|error| error.extended_code == SQLITE_READONLY_DBMOVED) {
            return StoreError::Moved { path: path() };
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                StoreError::Locked { place, waited: self.patience }
            }
            Some(ErrorCode::DiskFull) => StoreError::Full { place },
            Some(ErrorCode::ReadOnly) => StoreError::ReadOnly { place },
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                StoreError::CannotOpen { path: path(), reason }
            }
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                StoreError::Corrupt { path: path(), reason }
            }
            _ => StoreError::Failed { doing, place, reason },
        }
    }

    /// Source of the codes: <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
    fn of_server(&self, doing: &'static str, error: &tokio_postgres::Error) -> StoreError {
        let (place, reason) = (self.location.clone(), message(error));
        match error.code().map(|code| code.code()) {
            // Lock timeout, deadlock, serialization failure.
            Some("55P03" | "40P01" | "40001") => StoreError::Locked { place, waited: self.patience },
            // The temporary table is lost with its connection.
            Some("42P01") if doing == IMPORT => {
                StoreError::Away { place, reason: "the connection broke during the import".to_owned() }
            }
            Some("53100") => StoreError::Full { place },
            Some("25006") => StoreError::ReadOnly { place },
            Some("28000" | "28P01" | "3D000" | "3F000" | "42501") => StoreError::Denied { place, reason },
            _ => StoreError::Failed { doing, place, reason },
        }
    }
}
