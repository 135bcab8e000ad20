//! The errors of SQLite and PostgreSQL.

use std::{error::Error, io, iter, path::PathBuf, time::Duration};

use rusqlite::{ErrorCode, ffi::SQLITE_READONLY_DBMOVED};
use thiserror::Error as ThisError;

use crate::{error::StoreError, location::Location};

#[derive(Debug, ThisError)]
pub(crate) enum DatabaseError {
    #[error(transparent)]
    File(#[from] rusqlite::Error),
    #[error("{}", message(.0))]
    Server(#[from] tokio_postgres::Error),
    #[error("{0}")]
    Away(String),
    #[error("{0}")]
    Denied(String),
    #[error("{0} is out of range")]
    OutOfRange(i64),
    #[error(
        "a record of {0} bytes is longer than the 64 MiB that a PostgreSQL store accepts; use a file (`--db FILE`)"
    )]
    TooLong(usize),
    #[error(transparent)]
    Refused(Box<StoreError>),
}

impl DatabaseError {
    pub(crate) fn is_away(&self) -> bool {
        match self {
            Self::Away(_) => true,
            Self::Server(error) => is_away(error),
            _ => false,
        }
    }
}

pub(crate) fn message(error: &tokio_postgres::Error) -> String {
    if let Some(reply) = error.as_db_error() {
        let detail = reply.detail().map(|detail| format!(" ({detail})")).unwrap_or_default();
        return format!("{}{detail}", reply.message());
    }
    let reasons = iter::successors(error.source(), |&reason| reason.source());
    iter::once(error.to_string()).chain(reasons.map(ToString::to_string)).collect::<Vec<_>>().join(": ")
}

pub(crate) fn is_away(error: &tokio_postgres::Error) -> bool {
    if let Some(code) = error.code().map(|code| code.code()) {
        return code.starts_with("08") || matches!(code, "57P01" | "57P02" | "57P03" | "57P05" | "53300");
    }
    let reason = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    // A rejected certificate or an invalid protocol message also appears as a read error.
    let is_refused =
        |error: &io::Error| matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput);
    error.is_closed() || reason.is_some_and(|error| !is_refused(error))
}

/// Name of the operation that copies an import from the connection's temporary table.
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
                DatabaseError::OutOfRange(_) | DatabaseError::TooLong(_) => {
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

    /// See <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
    fn of_server(&self, doing: &'static str, error: &tokio_postgres::Error) -> StoreError {
        let (place, reason) = (self.location.clone(), message(error));
        match error.code().map(|code| code.code()) {
            Some("55P03" | "40P01" | "40001") => StoreError::Locked { place, waited: self.patience },
            // The temporary table was lost together with its connection.
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
