//! What can go wrong with the file or the server that runs are kept in, and what to do about it.
//! Owns the translation of SQLite's codes and PostgreSQL's; must not know SQL.

use std::{io, path::PathBuf, time::Duration};

use rusqlite::{ErrorCode, ffi::SQLITE_READONLY_DBMOVED};
use samples::RunId;
use thiserror::Error;

use crate::{
    database::{DatabaseError, told},
    location::Location,
};

/// Why runs could not be kept or read. Every message names the place or the run, and what to do.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The folder of the file could not be created.
    #[error("cannot create the folder {folder} for the runs: {source}; choose one that can be written")]
    Folder {
        folder: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The file could not be opened or created.
    #[error(
        "cannot open {path} ({reason}); is it a file, and may you read it and write in its folder? \
         Choose another file otherwise"
    )]
    CannotOpen {
        /// Which file.
        path: PathBuf,
        /// In SQLite's words.
        reason: String,
    },
    /// It can be read but not written.
    #[error("cannot write to {place}: {}", place.when_read_only())]
    ReadOnly { place: Location },
    /// Another process held it for longer than we waited.
    #[error(
        "{place} is locked by another process (waited {} s); end that process or try again when it is done",
        waited.as_secs_f64()
    )]
    Locked {
        place: Location,
        /// For how long we waited.
        waited: Duration,
    },
    /// The file is not any more at its path.
    #[error(
        "{path} was deleted, moved or replaced while it was in use; put it back, or end this and try again"
    )]
    Moved {
        /// Which file.
        path: PathBuf,
    },
    /// Another process is making this run.
    #[error("run {run} is under way in {owner}; wait until it ends, or end it and resume")]
    UnderWay {
        run: RunId,
        /// Which process.
        owner: String,
    },
    /// There is no space left.
    #[error(
        "no space left to write {place}; what was kept before is whole: free some space, then resume the run"
    )]
    Full { place: Location },
    /// It is damaged, or not a database at all.
    #[error(
        "{path} cannot be used as a database of runs: {reason}; nothing was changed in it. `plumb runs repair` keeps \
         what can be read of it in a new file, and the old one aside. What else is left in it can often be rescued with \
         sqlite3 FILE .recover"
    )]
    Corrupt {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// It is a database, but another program's.
    #[error(
        "{place} is a database of another program; nothing was changed in it, choose another {}", place.kind()
    )]
    Foreign { place: Location },
    /// The file is a plumb database, but its schema has an unknown object.
    #[error(
        "{path} has an object `{name}` ({kind}) that plumb did not create in this form, which could delete or invent results; nothing was \
         changed in the file. {advice}, or choose another file",
        path = path.display(), name = name.escape_debug(), advice = without(kind)
    )]
    UnknownObject {
        /// Which file.
        path: PathBuf,
        /// SQLite's name for its type: `table`, `index`, `trigger` or `view`.
        kind: String,
        name: String,
    },
    /// It was written by a later plumb.
    #[error(
        "{place} was written by {writer} (format {found}, this plumb reads up to {known}); use that plumb or a \
         later one, or keep the runs of this one in another {}",
        place.kind()
    )]
    Newer {
        place: Location,
        /// Its format.
        found: u32,
        /// The newest format that we know.
        known: u32,
        /// Who wrote it: `plumb 0.3.0`.
        writer: String,
    },
    /// A record in it is not what we write.
    #[error(
        "cannot read {what} of run {run} in {place}: {reason}; `plumb runs remove {run}` goes on without it"
    )]
    Unreadable {
        place: Location,
        run: RunId,
        /// Which record.
        what: String,
        /// Why.
        reason: String,
    },
    /// A record would not come back as it is; it was not kept.
    #[error("cannot keep {what} of run {run}: {reason}; it holds a number that is not finite")]
    Unkeepable {
        run: RunId,
        /// Which record.
        what: String,
        /// Why.
        reason: String,
    },
    /// A run of this identity is there already.
    #[error("run {run} is kept already; resume it, or start a new one under another identity")]
    RunExists { run: RunId },
    /// This trial is there already: another process works on the same run.
    #[error("trial {index} of run {run} is kept already; is another process resuming the same run?")]
    TrialExists { run: RunId, index: u32 },
    /// No such run.
    #[error("no run is called `{text}`; {hint}")]
    Unknown {
        /// What was asked for.
        text: String,
        /// What there is.
        hint: String,
    },
    /// Several runs begin so.
    #[error("`{text}` could be any of {matches}; write more of it")]
    Ambiguous {
        /// What was asked for.
        text: String,
        /// The runs that begin so, newest first.
        matches: String,
    },
    #[error("no baseline is called `{name}`; {hint}")]
    NoBaseline {
        /// What was asked for.
        name: String,
        /// What there is.
        hint: String,
    },
    /// Others are compared with this run.
    #[error(
        "run {run} is the baseline {names}, and is kept for that; take the name away first \
         (plumb baseline remove NAME), or give it to another run (plumb baseline set NAME RUN)"
    )]
    IsBaseline { run: RunId, names: String },
    /// An address of a server is not understood.
    #[error(
        "cannot understand the address of the runs: {reason}; write it as \
         postgres://USER@HOST:PORT/DATABASE?sslmode=verify-full&sslrootcert=FILE, or start a file name with ./ or /"
    )]
    Address { reason: String },
    /// The server, or the way to it, is away.
    #[error(
        "cannot reach {place} ({reason}); is the server running, may this machine connect to it, and has it a connection left?"
    )]
    Away {
        place: Location,
        /// In its words, or the system's.
        reason: String,
    },
    /// The server is there, and does not let us in or at what we need.
    #[error(
        "{place} is not open to this user ({reason}); look at user, password, database and sslmode of the address. The \
         database has to exist, and to belong to the user who is the first to keep a run in it"
    )]
    Denied {
        place: Location,
        /// In its words, or the client's.
        reason: String,
    },
    /// It is not a file, which could be made anew.
    #[error(
        "{place} is a server's database: it is repaired by restoring a backup of it. `plumb runs export` keeps single \
         runs in files, and `plumb runs remove` goes on without those that are damaged"
    )]
    NotAFile { place: Location },
    /// Anything else that SQLite or the server says.
    #[error("cannot {doing} {place}: {reason}")]
    Failed {
        /// What was tried.
        doing: &'static str,
        place: Location,
        /// In its words.
        reason: String,
    },
}

impl StoreError {
    /// Whether it may pass by itself, so that whoever has something to keep had better wait.
    #[must_use]
    pub const fn may_pass(&self) -> bool {
        matches!(self, Self::Locked { .. } | Self::Moved { .. } | Self::CannotOpen { .. } | Self::Away { .. })
    }
}

/// Suggests a remedy for an unknown object.
fn without(kind: &str) -> String {
    match kind {
        "table" => "Restore the file from a backup".to_owned(),
        kind => {
            format!("If you trust the file, remove the {kind} with DROP {} in sqlite3", kind.to_uppercase())
        }
    }
}

/// What is being done when the trials of an import, which waited in a table of the connection, are kept.
pub(crate) const IMPORT: &str = "import into";

/// Where and for how long: what a message needs beside a code.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) location: Location,
    pub(crate) patience: Duration,
}

impl Place {
    /// Says what a code means for this place.
    pub(crate) fn explain(&self, doing: &'static str) -> impl Fn(DatabaseError) -> StoreError + '_ {
        move |error| {
            let place = self.location.clone();
            match error {
                DatabaseError::File(error) => self.of_file(doing, &error),
                DatabaseError::Server(ref code) if error.is_away() => {
                    StoreError::Away { place, reason: told(code) }
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

    /// By its codes (<https://www.postgresql.org/docs/current/errcodes-appendix.html>).
    fn of_server(&self, doing: &'static str, error: &tokio_postgres::Error) -> StoreError {
        let (place, reason) = (self.location.clone(), told(error));
        match error.code().map(|code| code.code()) {
            // A lock, a deadlock, and what was decided against us.
            Some("55P03" | "40P01" | "40001") => StoreError::Locked { place, waited: self.patience },
            // What only the connection had.
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
