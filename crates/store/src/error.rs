//! What can go wrong with the file that runs are kept in, and what to do about it.
//! Owns the translation of SQLite's codes; must not know SQL.

use std::{io, path::PathBuf, time::Duration};

use rusqlite::{ErrorCode, ffi::SQLITE_READONLY_DBMOVED};
use samples::RunId;
use thiserror::Error;

/// Why runs could not be kept or read. Every message names the file or the run, and what to do.
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
    #[error(
        "cannot write to {path}: it, or its folder, is read-only; make it writable or choose another file"
    )]
    ReadOnly {
        /// Which file.
        path: PathBuf,
    },
    /// Another process held it for longer than we waited.
    #[error(
        "{path} is locked by another process (waited {} s); end that process or try again when it is done",
        waited.as_secs_f64()
    )]
    Locked {
        /// Which file.
        path: PathBuf,
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
        "no space left to write {path}; what was kept before is whole: free some space, then resume the run"
    )]
    Full {
        /// Which file.
        path: PathBuf,
    },
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
    #[error("{path} is a database of another program; nothing was changed in it, choose another file")]
    Foreign {
        /// Which file.
        path: PathBuf,
    },
    /// It was written by a later plumb.
    #[error(
        "{path} was written by {writer} (format {found}, this plumb reads up to {known}); use that plumb or a \
         later one, or keep the runs of this one in another file"
    )]
    Newer {
        /// Which file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format that we know.
        known: u32,
        /// Who wrote it: `plumb 0.3.0`.
        writer: String,
    },
    /// A record in it is not what we write.
    #[error(
        "cannot read {what} of run {run} in {path}: {reason}; `plumb runs remove {run}` goes on without it"
    )]
    Unreadable {
        /// Which file.
        path: PathBuf,
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
    /// Anything else that SQLite says.
    #[error("cannot {doing} {path}: {source}")]
    Sqlite {
        /// What was tried.
        doing: &'static str,
        /// Which file.
        path: PathBuf,
        /// In SQLite's words.
        source: rusqlite::Error,
    },
}

impl StoreError {
    /// Whether it may pass by itself, so that whoever has something to keep had better wait.
    #[must_use]
    pub const fn may_pass(&self) -> bool {
        matches!(self, Self::Locked { .. } | Self::Moved { .. } | Self::CannotOpen { .. })
    }
}

/// Where and for how long: what a message needs beside SQLite's code.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) patience: Duration,
}

impl Place {
    /// Says what SQLite's code means for this file.
    pub(crate) fn explain(&self, doing: &'static str) -> impl Fn(rusqlite::Error) -> StoreError + '_ {
        move |source| {
            let path = self.path.clone();
            if source.sqlite_error().is_some_and(|error| error.extended_code == SQLITE_READONLY_DBMOVED) {
                return StoreError::Moved { path };
            }
            match source.sqlite_error_code() {
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                    StoreError::Locked { path, waited: self.patience }
                }
                Some(ErrorCode::DiskFull) => StoreError::Full { path },
                Some(ErrorCode::ReadOnly) => StoreError::ReadOnly { path },
                Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                    StoreError::CannotOpen { path, reason: source.to_string() }
                }
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                    StoreError::Corrupt { path, reason: source.to_string() }
                }
                _ => StoreError::Sqlite { doing, path, source },
            }
        }
    }
}
