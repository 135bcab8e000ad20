//! Errors of the store and their remedies.

use std::{io, path::PathBuf, time::Duration};

use samples::RunId;
use thiserror::Error;

use crate::location::Location;

/// Every message names the location or the run and suggests a remedy.
#[derive(Debug, Error)]
pub enum StoreError {
    #[error("cannot create the folder {folder}: {source}; choose a writable location")]
    Folder { folder: PathBuf, source: io::Error },
    #[error(
        "cannot open {path} ({reason}); check that it is a file that you can read, in a folder \
         that you can write to, or choose another file"
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
        "{path} has an object `{name}` ({kind}) that plumb did not create in this form. It could delete \
         or forge results, so nothing was \
         changed in the file. {advice}, or choose another file",
        path = path.display(), name = name.escape_debug(), advice = without(kind)
    )]
    UnknownObject { path: PathBuf, kind: String, name: String },
    #[error(
        "{place} was written by {writer} (format {found}, this plumb reads {known}); use that version, or another \
         {} for this version",
        place.kind()
    )]
    Unsupported { place: Location, found: u32, known: u32, writer: String },
    #[error(
        "cannot read {what} of run {run} in {place}: {reason}; to continue without the run, remove it with `plumb runs remove {run}`"
    )]
    Unreadable { place: Location, run: RunId, what: String, reason: String },
    #[error("cannot store {what} of run {run}: {reason}; it contains a number that is not finite")]
    Unkeepable { run: RunId, what: String, reason: String },
    #[error("run {run} already exists; resume it, or start a new run with another name")]
    RunExists { run: RunId },
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
        "invalid store address: {reason}; use \
         postgres://USER@HOST:PORT/DATABASE?sslmode=verify-full&sslrootcert=FILE, or start a file name with ./ or /"
    )]
    Address { reason: String },
    #[error(
        "cannot reach {place} ({reason}); check that the server is running, allows connections from this machine and is below its connection limit"
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
