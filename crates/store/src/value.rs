//! Query parameters and rows of both kinds of databases.

use std::borrow::Cow;

use rusqlite::types::{FromSql, ToSqlOutput};
use tokio_postgres::types::{FromSqlOwned, ToSql, Type};

use crate::database_error::DatabaseError;

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

impl Value<'_> {
    pub(crate) fn typed(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Self::Integer(number) => (number, Type::INT8),
            Self::Text(text) => (text, Type::TEXT),
            Self::Flag(flag) => (flag, Type::BOOL),
        }
    }

    pub(crate) fn length(&self) -> usize {
        if let Self::Text(text) = self { text.len() } else { 0 }
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
        // PostgreSQL cannot store NUL. JSON escapes NUL, and other texts are only for searching and listing.
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

macro_rules! values {
    ($($value:expr),* $(,)?) => { [$($crate::value::Value::from($value)),*] };
}
pub(crate) use values;
