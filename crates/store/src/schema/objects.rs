//! Rejects SQLite files that contain tables, indexes, views or triggers that plumb did not create. A trigger
//! could delete rows, and a view could be an endless query.

use std::path::Path;

use rusqlite::Connection;

use super::{MIGRATION_TABLE, OF_FILES};
use crate::{database::Database, database_error::DatabaseError, error::StoreError, insert::WriteError};

const ALL: &str = "SELECT type, name, coalesce(sql, '') FROM sqlite_schema";
/// The prefix of constraint indexes and of ANALYZE's statistics tables.
const RESERVED: &str = "sqlite_";

#[derive(Debug, PartialEq, Eq)]
struct SchemaObject {
    kind: String,
    name: String,
    sql: Vec<String>,
}

impl SchemaObject {
    fn new(kind: String, name: String, sql: &str) -> Self {
        Self { kind, name, sql: tokens(sql) }
    }

    fn is_reserved(&self) -> bool {
        self.name.starts_with(RESERVED) && matches!(&*self.kind, "table" | "index")
    }
}

pub(super) fn refuse_unknown_migrations(database: &Database, path: &Path) -> Result<(), WriteError> {
    refuse(database, path, 1, |object| object.name.eq_ignore_ascii_case(MIGRATION_TABLE))
}

pub(super) fn refuse_unknown(database: &Database, path: &Path, format: u32) -> Result<(), WriteError> {
    refuse(database, path, format, |object| !object.is_reserved())
}

fn refuse(
    database: &Database,
    path: &Path,
    format: u32,
    concerns: impl Fn(&SchemaObject) -> bool,
) -> Result<(), WriteError> {
    let known = created(format)?;
    let row =
        |row: &crate::value::Row<'_>| Ok(SchemaObject::new(row.get(0)?, row.get(1)?, &row.get::<String>(2)?));
    let found = database.query(ALL, &[], row)?;
    match found.into_iter().find(|object| concerns(object) && !known.contains(object)) {
        Some(SchemaObject { kind, name, .. }) => {
            Err(WriteError::Refused(StoreError::UnknownObject { path: path.to_owned(), kind, name }))
        }
        None => Ok(()),
    }
}

fn created(format: u32) -> Result<Vec<SchemaObject>, DatabaseError> {
    let empty = Connection::open_in_memory()?;
    for step in &OF_FILES[..format as usize] {
        empty.execute_batch(step)?;
    }
    let mut statement = empty.prepare(ALL)?;
    let row =
        |row: &rusqlite::Row<'_>| Ok(SchemaObject::new(row.get(0)?, row.get(1)?, &row.get::<_, String>(2)?));
    Ok(statement.query_map([], row)?.collect::<Result<_, _>>()?)
}

/// Splits a statement into lower-case words and punctuation, without comments. Quotes never match, because the
/// migrations contain none.
fn tokens(sql: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let length = if let Some(comment) = rest.strip_prefix("--") {
            comment.find('\n').map_or(rest.len(), |end| "--".len() + end)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.find("*/").map_or(rest.len(), |end| "/**/".len() + end)
        } else if first.is_ascii_whitespace() {
            1
        } else {
            let word = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
            let length = word.max(first.len_utf8());
            tokens.push(rest[..length].to_ascii_lowercase());
            length
        };
        rest = &rest[length..];
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_statements_without_comments_and_spaces() {
        let plain = tokens("create table t (a text not null)");
        for equal in [
            "CREATE TABLE t(a TEXT NOT NULL)",
            "CREATE TABLE t (\n  a TEXT -- JSON\n NOT/* never */NULL\n)",
            "CREATE TABLE t (a TEXT NOT NULL) -- the end",
        ] {
            assert_eq!(tokens(equal), plain, "{equal}");
        }
        for other in [
            "CREATE TABLE t (a TEXT NOTNULL)",
            "CREATE TABLE t (a\u{a0}TEXT NOT NULL)",
            "CREATE TABLE t (a TEXT NOT NULL '--\n')",
            "CREATE TABLE t (a TEXT NOT NULL CHECK (a))",
            "CREATE VIRTUAL TABLE t (a TEXT NOT NULL)",
        ] {
            assert_ne!(tokens(other), plain, "{other}");
        }
    }
}
