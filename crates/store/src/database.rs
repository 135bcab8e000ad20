//! The common interface of SQLite and PostgreSQL. The SQL must be valid for both, and `?1` is the first value.

use std::{ops::Deref, path::PathBuf};

use rusqlite::{Connection, params_from_iter};

use crate::{
    database_error::DatabaseError,
    session::Session,
    value::{Row, Value},
};

#[derive(Debug)]
pub(crate) enum Database {
    File { connection: Connection, path: PathBuf },
    Server(Box<Session>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransactionKind {
    Read,
    Write,
    Private,
}

#[derive(Debug)]
pub(crate) struct Transaction<'a> {
    database: &'a Database,
    is_open: bool,
}

impl Database {
    pub(crate) fn ask(
        &self,
        sql: &str,
        values: &[Value<'_>],
        read: &mut dyn FnMut(&Row<'_>) -> Result<(), DatabaseError>,
    ) -> Result<u64, DatabaseError> {
        let connection = match self {
            Self::File { connection, .. } => connection,
            Self::Server(session) => return session.ask(sql, values, read),
        };
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        let mut count = 0;
        while let Some(row) = rows.next()? {
            read(&Row::File(row))?;
            count += 1;
        }
        Ok(count)
    }

    pub(crate) fn query<T>(
        &self,
        sql: &str,
        values: &[Value<'_>],
        read: impl Fn(&Row<'_>) -> Result<T, DatabaseError>,
    ) -> Result<Vec<T>, DatabaseError> {
        let all = || {
            let mut found = Vec::new();
            self.ask(sql, values, &mut |row| read(row).map(|row| found.push(row)))?;
            Ok(found)
        };
        match self {
            Self::File { .. } => all(),
            Self::Server(session) => session.with_retry(all),
        }
    }

    pub(crate) fn query_row<T>(
        &self,
        sql: &str,
        values: &[Value<'_>],
        read: impl Fn(&Row<'_>) -> Result<T, DatabaseError>,
    ) -> Result<Option<T>, DatabaseError> {
        Ok(self.query(sql, values, read)?.pop())
    }

    pub(crate) fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<u64, DatabaseError> {
        match self {
            Self::File { connection, .. } => {
                let written = connection.prepare_cached(sql)?.execute(params_from_iter(values))?;
                Ok(written as u64)
            }
            Self::Server(session) => session.ask(sql, values, &mut |_| Ok(())),
        }
    }

    pub(crate) fn batch(&self, sql: &str) -> Result<(), DatabaseError> {
        match self {
            Self::File { connection, .. } => Ok(connection.execute_batch(sql)?),
            Self::Server(session) => session.batch(sql),
        }
    }

    pub(crate) fn transaction(&self, access: TransactionKind) -> Result<Transaction<'_>, DatabaseError> {
        match (self, access) {
            (Self::File { connection, .. }, TransactionKind::Write) => {
                connection.execute_batch("BEGIN IMMEDIATE")?;
            }
            (Self::File { connection, .. }, _) => connection.execute_batch("BEGIN")?,
            (Self::Server(session), TransactionKind::Read) => {
                session.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
            }
            (Self::Server(session), TransactionKind::Write) => {
                // The separate connection that holds a claim may have failed.
                session.renew_claims()?;
                session.begin("BEGIN ISOLATION LEVEL READ COMMITTED")?;
            }
            (Self::Server(session), TransactionKind::Private) => session.begin("BEGIN")?,
        }
        Ok(Transaction { database: self, is_open: true })
    }

    pub(crate) fn contains(&self, text: &str, part: &str) -> String {
        match self {
            Self::File { .. } => format!("instr(lower({text}), lower({part})) > 0"),
            Self::Server(_) => format!("strpos(lower({text}), lower({part} COLLATE \"C\")) > 0"),
        }
    }

    pub(crate) const fn integer(&self) -> &'static str {
        match self {
            Self::File { .. } => "INTEGER",
            Self::Server(_) => "BIGINT",
        }
    }

    pub(crate) const fn file(&self) -> Option<&Connection> {
        match self {
            Self::File { connection, .. } => Some(connection),
            Self::Server(_) => None,
        }
    }

    fn end(&self, sql: &str) -> Result<(), DatabaseError> {
        match self {
            Self::File { connection, .. } => Ok(connection.execute_batch(sql)?),
            Self::Server(session) => session.end(sql),
        }
    }
}

impl Transaction<'_> {
    pub(crate) fn commit(mut self) -> Result<(), DatabaseError> {
        self.database.end("COMMIT")?;
        self.is_open = false;
        Ok(())
    }
}

impl Deref for Transaction<'_> {
    type Target = Database;

    fn deref(&self) -> &Database {
        self.database
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // If the connection is broken, the transaction has already been rolled back.
            let _ = self.database.end("ROLLBACK");
        }
    }
}
