//! The database schemas and their migrations. `user_version` and `application_id` mark files, and a comment marks
//! databases on servers.

mod objects;

use crate::{
    database::{Database, TransactionKind},
    database_error::DatabaseError,
    database_error::Place,
    error::StoreError,
    location::Location,
    value::values,
};

/// `Plmb`, which marks SQLite files created by plumb.
const APPLICATION: i32 = 0x506c_6d62;

/// The table that stores the format, unchanged since format 1.
const MIGRATION_TABLE: &str = "migration";

const COMMENT: &str = "runs of plumb";

/// Step `n` migrates format `n` to `n + 1`. A step must never be edited after its release.
const OF_FILES: &[&str] = &[include_str!("schema/1.sql")];

const OF_SERVERS: &[&str] = &[include_str!("schema/postgres/1.sql")];

/// Migrates the database. Rejects databases that belong to other programs or to newer versions.
pub(crate) fn prepare(database: &Database, place: &Place) -> Result<(), StoreError> {
    let known = steps(database).len() as u32;
    let found = format(database, place)?;
    if found > known {
        let writer = writer(database).unwrap_or_else(|| "a later plumb".to_owned());
        return Err(StoreError::Unsupported { place: place.location.clone(), found, known, writer });
    }
    if found < known {
        migrate(database).map_err(place.explain("upgrade"))?;
    }
    Ok(())
}

const fn steps(database: &Database) -> &'static [&'static str] {
    match database {
        Database::File { .. } => OF_FILES,
        Database::Server(_) => OF_SERVERS,
    }
}

/// Returns the format. Falls back to the file's `user_version`, which anyone can alter.
fn version(database: &Database) -> Result<u32, DatabaseError> {
    let newest = "SELECT max(version) FROM migration";
    let found: Option<i64> = match has_migrations(database)? {
        true => database.query_row(newest, &[], |row| row.get(0))?.flatten(),
        false => None,
    };
    let found = match (found, database) {
        (None, Database::File { .. }) => database.query_row("PRAGMA user_version", &[], |row| row.get(0))?,
        (found, _) => found,
    };
    Ok(u32::try_from(found.unwrap_or(0)).unwrap_or(0))
}

fn has_migrations(database: &Database) -> Result<bool, DatabaseError> {
    let found = match database {
        Database::File { .. } => {
            let sql =
                "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migration')";
            database.query_row(sql, &[], |row| row.get(0))?
        }
        Database::Server(_) => {
            // Catalog tables show the current state, whereas `to_regclass` may use a snapshot from before the lock.
            let sql = "SELECT EXISTS (SELECT 1 FROM pg_class JOIN pg_description ON objoid = pg_class.oid
                       WHERE classoid = 'pg_class'::regclass AND objsubid = 0 AND relname = 'migration'
                       AND pg_table_is_visible(pg_class.oid) AND description = ?1)";
            database.query_row(sql, &values![COMMENT], |row| row.get(0))?
        }
    };
    Ok(found.unwrap_or(false))
}

fn format(database: &Database, place: &Place) -> Result<u32, StoreError> {
    let explain = place.explain("read the format of");
    // Read in one transaction, because another process may be creating the tables.
    let look = database.transaction(TransactionKind::Read).map_err(&explain)?;
    let is_marked = is_marked(&look).map_err(&explain)?;
    let has_tables = has_tables(&look).map_err(&explain)?;
    let of_ours = match (&place.location, is_marked) {
        (Location::File(path), Some(true)) => Some(path),
        (Location::File(_), _) if has_tables => {
            return Err(StoreError::Foreign { place: place.location.clone() });
        }
        _ => None,
    };
    if let Some(path) = of_ours {
        objects::refuse_unknown_migrations(&look, path).map_err(|error| error.explained(&explain))?;
    }
    let found = version(&look).map_err(&explain)?;
    if let Some(path) = of_ours.filter(|_| (1..=OF_FILES.len() as u32).contains(&found)) {
        objects::refuse_unknown(&look, path, found).map_err(|error| error.explained(&explain))?;
    }
    match (has_tables, is_marked) {
        (false, None) if found == 0 => Ok(0),
        (true, Some(true)) if found == 0 => {
            let reason =
                "its tables have no known format (user_version and the table `migration`)".to_owned();
            Err(StoreError::Corrupt { path: place.location.to_string().into(), reason })
        }
        (_, Some(true)) => Ok(found),
        _ => Err(StoreError::Foreign { place: place.location.clone() }),
    }
}

fn is_marked(database: &Database) -> Result<Option<bool>, DatabaseError> {
    if database.file().is_none() {
        return Ok(has_migrations(database)?.then_some(true));
    }
    let mark: Option<i64> = database.query_row("PRAGMA application_id", &[], |row| row.get(0))?;
    Ok(mark.filter(|mark| *mark != 0).map(|mark| mark == i64::from(APPLICATION)))
}

fn has_tables(database: &Database) -> Result<bool, DatabaseError> {
    let sql = match database {
        Database::File { .. } => "SELECT count(*) > 0 FROM sqlite_schema",
        Database::Server(_) => {
            "SELECT EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = to_regnamespace(quote_ident(current_schema()))
             AND relkind IN ('r', 'p', 'f')
             AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e'))"
        }
    };
    Ok(database.query_row(sql, &[], |row| row.get(0))?.unwrap_or(false))
}

fn writer(database: &Database) -> Option<String> {
    let newest = "SELECT tool FROM migration ORDER BY version DESC LIMIT 1";
    let tool: String = database.query_row(newest, &[], |row| row.get(0)).ok()??;
    Some(format!("plumb {tool}"))
}

fn migrate(database: &Database) -> Result<(), DatabaseError> {
    if let Some(file) = database.file() {
        // Return the space of removed runs to the file system. This only takes effect before the first table is
        // created.
        file.pragma_update(None, "auto_vacuum", "FULL")?;
    }
    let transaction = database.transaction(TransactionKind::Write)?;
    if database.file().is_none() {
        transaction.execute("SELECT pg_advisory_xact_lock(?1)", &values![i64::from(APPLICATION)])?;
    }
    let found = version(&transaction)?;
    for (step, sql) in steps(database).iter().enumerate().skip(found as usize) {
        take_step(&transaction, step as u32 + 1, sql)?;
    }
    transaction.commit()
}

fn take_step(database: &Database, version: u32, sql: &str) -> Result<(), DatabaseError> {
    database.batch(sql)?;
    let tool = env!("CARGO_PKG_VERSION");
    database.execute("INSERT INTO migration (version, tool) VALUES (?1, ?2)", &values![version, tool])?;
    if let Some(file) = database.file() {
        file.pragma_update(None, "application_id", APPLICATION)?;
        file.pragma_update(None, "user_version", version)?;
    }
    Ok(())
}
