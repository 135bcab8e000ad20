//! The tables and how an older file becomes a current one.
//! Owns `user_version`, `application_id` and the list of migrations; must not know what the tables hold.

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::error::{Place, StoreError};

/// `Plmb`: tells our files from other programs' databases.
const APPLICATION: i32 = 0x506c_6d62;

/// Step `n` makes format `n + 1` of format `n`. Steps that were released are never edited.
const MIGRATIONS: &[&str] = &[
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
];

/// The format that this plumb writes.
pub(crate) const CURRENT: u32 = MIGRATIONS.len() as u32;

/// Makes the tables of a new file, brings an older file up to date, and refuses what is not ours or newer.
pub(crate) fn prepare(connection: &mut Connection, place: &Place) -> Result<(), StoreError> {
    let found = format(connection, place)?;
    if found > CURRENT {
        let writer = writer(connection).unwrap_or_else(|| "a later plumb".to_owned());
        return Err(StoreError::Newer { path: place.path.clone(), found, known: CURRENT, writer });
    }
    if found < CURRENT {
        migrate(connection).map_err(place.explain("bring up to date"))?;
    }
    Ok(())
}

/// The format: what the table of migrations says, which has been there since format 1. `user_version` is anybody's to
/// alter; it counts where that table is not there.
fn version(connection: &Connection) -> rusqlite::Result<u32> {
    let table = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migration')";
    let newest = "SELECT max(version) FROM migration";
    let migrated: Option<i64> = match connection.query_row(table, [], |row| row.get(0))? {
        true => connection.query_row(newest, [], |row| row.get(0))?,
        false => None,
    };
    let found = match migrated {
        Some(version) => version,
        None => connection.pragma_query_value(None, "user_version", |row| row.get(0))?,
    };
    Ok(u32::try_from(found).unwrap_or(0))
}

/// The format of a file of ours, or of a new one: 0.
fn format(connection: &mut Connection, place: &Place) -> Result<u32, StoreError> {
    let explain = place.explain("read the format of");
    // One look: another process that makes the tables meanwhile has made all of them or none.
    let look = connection.transaction().map_err(&explain)?;
    let found = version(&look).map_err(&explain)?;
    let application: i32 =
        look.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(&explain)?;
    let path = place.path.clone();
    match (has_tables(&look).map_err(&explain)?, application) {
        (false, 0) if found == 0 => Ok(0),
        (true, APPLICATION) if found == 0 => {
            let reason =
                "its tables are of no known format (user_version and the table `migration`)".to_owned();
            Err(StoreError::Corrupt { path, reason })
        }
        (_, APPLICATION) => Ok(found),
        _ => Err(StoreError::Foreign { path }),
    }
}

fn has_tables(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT count(*) > 0 FROM sqlite_schema", [], |row| row.get(0))
}

/// Who brought the file to its format; the table has been there since format 1.
fn writer(connection: &Connection) -> Option<String> {
    let newest = "SELECT tool FROM migration ORDER BY version DESC LIMIT 1";
    let tool: String = connection.query_row(newest, [], |row| row.get(0)).ok()?;
    Some(format!("plumb {tool}"))
}

fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    // Only heeded while the file has no tables: what a removed run occupied goes back to the file system.
    connection.pragma_update(None, "auto_vacuum", "FULL")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been first.
    let found = version(&transaction)?;
    for (step, sql) in MIGRATIONS.iter().enumerate().skip(found as usize) {
        take_step(&transaction, step as u32 + 1, sql)?;
    }
    transaction.commit()
}

fn take_step(transaction: &Transaction<'_>, version: u32, sql: &str) -> rusqlite::Result<()> {
    transaction.execute_batch(sql)?;
    transaction.execute(
        "INSERT INTO migration (version, tool) VALUES (?1, ?2)",
        (version, env!("CARGO_PKG_VERSION")),
    )?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", version)
}
