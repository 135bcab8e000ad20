//! Common interface of SQLite and PostgreSQL, for SQL that both understand, with `?1` for the first value.

use std::{borrow::Cow, error::Error, iter, ops::Deref, path::PathBuf};

use rusqlite::{
    Connection, params_from_iter,
    types::{FromSql, ToSqlOutput},
};
use thiserror::Error as ThisError;
use tokio_postgres::types::{FromSqlOwned, ToSql, Type};

use crate::{
    error::StoreError,
    session::{self, Session},
};

#[derive(Debug)]
pub(crate) enum Database {
    File { connection: Connection, path: PathBuf },
    Server(Box<Session>),
}

#[derive(Debug, Clone)]
pub(crate) enum Value<'a> {
    Integer(i64),
    Text(Cow<'a, str>),
    Flag(bool),
}

pub(crate) enum Row<'a> {
    File(&'a rusqlite::Row<'a>),
    Server(&'a tokio_postgres::Row),
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
    #[error(transparent)]
    Refused(Box<StoreError>),
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
                // The connection of a claim may have broken separately.
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
            // Matches the collation of the columns.
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
            // A broken connection has already rolled it back.
            let _ = self.database.end("ROLLBACK");
        }
    }
}

impl Value<'_> {
    pub(crate) fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Self::Integer(number) => (number, Type::INT8),
            Self::Text(text) => (text, Type::TEXT),
            Self::Flag(flag) => (flag, Type::BOOL),
        }
    }
}

impl rusqlite::ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Integer(number) => rusqlite::ToSql::to_sql(number),
            Self::Text(text) => rusqlite::ToSql::to_sql(text),
            Self::Flag(flag) => rusqlite::ToSql::to_sql(flag),
        }
    }
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<u32> for Value<'_> {
    fn from(number: u32) -> Self {
        Self::Integer(number.into())
    }
}

impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        // PostgreSQL cannot store NUL. JSON escapes it; other texts are only searched and listed.
        Self::Text(match text.contains('\0') {
            true => text.replace('\0', "\u{2400}").into(),
            false => text.into(),
        })
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        text.as_str().into()
    }
}

impl Row<'_> {
    pub(crate) fn get<T: FromSql + FromSqlOwned>(&self, column: usize) -> Result<T, DatabaseError> {
        match self {
            Self::File(row) => Ok(row.get(column)?),
            Self::Server(row) => Ok(row.try_get(column)?),
        }
    }

    pub(crate) fn text(&self, column: usize) -> Result<&str, DatabaseError> {
        match self {
            Self::File(row) => Ok(row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?),
            Self::Server(row) => Ok(row.try_get(column)?),
        }
    }

    pub(crate) fn count(&self, column: usize) -> Result<u32, DatabaseError> {
        small(self.get(column)?)
    }
}

fn small(number: i64) -> Result<u32, DatabaseError> {
    u32::try_from(number).map_err(|_| DatabaseError::OutOfRange(number))
}

impl DatabaseError {
    pub(crate) fn is_away(&self) -> bool {
        match self {
            Self::Away(_) => true,
            Self::Server(error) => session::is_away(error),
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

macro_rules! values {
    ($($value:expr),* $(,)?) => { [$($crate::database::Value::from($value)),*] };
}
pub(crate) use values;
