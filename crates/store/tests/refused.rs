//! Tests that unusable files are rejected unchanged, with the file name and a remedy in the message.
#![expect(clippy::disallowed_methods, reason = "damages files on purpose")]

mod record;

use std::{fs, process::Command};

use record::{header, place, trial};
use rusqlite::Connection;
use samples::Sink;
use store::{Store, StoreError};

fn refused(bytes: &[u8], part: &str) {
    let (_folder, path) = place();
    fs::create_dir_all(path.parent().expect("has a folder")).expect("creates the folder");
    fs::write(&path, bytes).expect("writes");
    let error = Store::open(&path).expect_err("unusable");
    let message = error.to_string();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
    assert!(message.contains(part) && message.contains("runs.db"), "{message}");
    assert!(message.contains("nothing was changed"), "{message}");
    assert_eq!(fs::read(&path).expect("exists"), bytes);
}

#[test]
fn leaves_files_that_are_not_databases_unchanged() {
    refused(
        b"name = \"quick\"\n# a scenario, given by mistake, longer than a database's first line",
        ".recover",
    );
    refused(&[0xff; 4096], "not a database");
}

#[test]
fn rejects_truncated_database() {
    let (_folder, path) = place();
    let mut store = Store::open(&path).expect("opens");
    let header = header("quick-20261121-1", 1);
    store.begin(&header).expect("begins");
    (0..20).for_each(|index| store.trial(&header.id, &trial(index)).expect("keeps"));
    drop(store);
    let whole = fs::read(&path).expect("exists");
    fs::write(&path, &whole[..whole.len() / 3]).expect("writes");
    let outcome = Store::open(&path).and_then(|store| store.load(&header.id).map(drop));
    let error = outcome.expect_err("truncated");
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}");
}

#[test]
fn turns_empty_file_into_a_store() {
    let (_folder, path) = place();
    fs::create_dir_all(path.parent().expect("has a folder")).expect("creates the folder");
    fs::write(&path, b"").expect("writes");
    Store::open(&path).expect("opens").begin(&header("quick-20261121-1", 1)).expect("begins");
}

#[test]
fn rejects_newer_format_without_migration_table() {
    let (_folder, path) = place();
    drop(Store::open(&path).expect("opens"));
    let later = Connection::open(&path).expect("opens");
    later.pragma_update(None, "user_version", 9).expect("a later format");
    later.execute("DROP TABLE migration", []).expect("a later plumb");
    let message = Store::open(&path).expect_err("newer format").to_string();
    assert!(message.contains("written by a later plumb (format 9"), "{message}");
}

#[test]
fn ignores_altered_user_version() {
    let (_folder, path) = place();
    let header = header("quick-20261121-1", 1);
    Store::open(&path).and_then(|mut store| store.begin(&header)).expect("begins");
    let other = Connection::open(&path).expect("opens");
    for format in [0, 1, 3, -1, 9, i32::MIN] {
        other.pragma_update(None, "user_version", format).expect("alters the format");
        let store = Store::open(&path).expect("uses the migration table");
        assert_eq!(store.load(&header.id).expect("loads").header, header, "{format}");
    }
    other.execute_batch("DROP TABLE migration; PRAGMA user_version = 0").expect("removes the format");
    let message = Store::open(&path).expect_err("no known format").to_string();
    assert!(message.contains("no known format") && !message.contains("CREATE"), "{message}");
}

/// Without a lock, a format check could fall between two migration steps of another process.
#[test]
fn several_processes_can_create_the_same_file() {
    for _ in 0..100 {
        let (_folder, path) = place();
        std::thread::scope(|scope| {
            for opened in [0; 4].map(|_| scope.spawn(|| Store::open(&path).map(drop))) {
                opened.join().expect("ended").expect("opens");
            }
        });
    }
}

const HOSTILE: [(&str, &str); 10] = [
    ("thief", "CREATE TRIGGER thief AFTER INSERT ON trial BEGIN DELETE FROM trial; END"),
    ("thief", "CREATE TRIGGER thief AFTER UPDATE ON run BEGIN DELETE FROM run; END"),
    (
        "run",
        "DROP TABLE run; CREATE VIEW run AS WITH RECURSIVE n(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM n)
         SELECT number, '' AS id FROM n",
    ),
    (
        "migration",
        "DROP TABLE migration; CREATE VIEW migration AS
         WITH RECURSIVE n(version) AS (SELECT 1 UNION ALL SELECT version + 1 FROM n) SELECT version, '' AS tool FROM n",
    ),
    (
        "migration",
        "DROP TABLE migration; CREATE TABLE migration (tool TEXT, version GENERATED ALWAYS AS (length(hex(tool))))",
    ),
    ("note", "CREATE VIEW note AS SELECT 1"),
    ("by_note", "CREATE INDEX by_note ON run (hex(header))"),
    ("extra", "CREATE TABLE extra (number INTEGER)"),
    (
        "baseline",
        "DROP TABLE baseline; CREATE TABLE baseline (name TEXT PRIMARY KEY CHECK (length(hex(name)) > 1),
         run INTEGER NOT NULL REFERENCES run (number)) STRICT",
    ),
    ("words", "CREATE VIRTUAL TABLE words USING fts5(word)"),
];

#[test]
fn rejects_unknown_schema_objects_without_running_them() {
    for (name, sql) in HOSTILE {
        let (_folder, path) = place();
        let header = header("quick-20261121-1", 1);
        let mut open = Store::open(&path).expect("opens");
        open.begin(&header).expect("begins");
        Connection::open(&path).and_then(|other| other.execute_batch(sql)).expect(sql);
        let before = fs::read(&path).expect("exists");
        let error = Store::open(&path).expect_err(sql);
        assert!(matches!(error, StoreError::UnknownObject { .. }), "{sql}: {error:?}");
        let message = error.to_string();
        assert!(message.contains(&format!("`{name}`")) && message.contains("runs.db"), "{message}");
        assert_eq!(fs::read(&path).expect("exists"), before, "{sql}");
        if sql.starts_with("CREATE TRIGGER") {
            open.trial(&header.id, &trial(0)).and_then(|()| open.complete(&header.id)).expect("is stored");
            assert_eq!(open.load(&header.id).expect("loads").trials.len(), 1, "{sql}");
        }
    }
}

#[test]
fn opens_analyzed_file() {
    let (_folder, path) = place();
    let header = header("quick-20261121-1", 1);
    Store::open(&path).and_then(|mut store| store.begin(&header)).expect("begins");
    Connection::open(&path).and_then(|other| other.execute_batch("ANALYZE")).expect("analyzes");
    assert_eq!(Store::open(&path).and_then(|store| store.runs()).expect("opens").len(), 1);
}

/// SQLite would block on a pipe.
#[test]
fn rejects_pipes_in_place_of_database_files() {
    for ending in ["", "-journal", "-wal", "-shm"] {
        let (_folder, path) = place();
        fs::create_dir_all(path.parent().expect("has a folder")).expect("creates the folder");
        if !ending.is_empty() {
            drop(Store::open(&path).expect("opens"));
        }
        let mut pipe = path.clone().into_os_string();
        pipe.push(ending);
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("coreutils").success());
        let message = Store::open(&path).expect_err("is a pipe").to_string();
        assert!(message.contains("not a regular file"), "{ending}: {message}");
    }
}

#[test]
fn names_path_that_cannot_be_a_file() {
    let (folder, _path) = place();
    let message = Store::open(folder.path()).expect_err("is a folder").to_string();
    assert!(message.contains("cannot open") && message.contains("check that it is a file"), "{message}");
    let below_a_file = folder.path().join("file");
    fs::write(&below_a_file, b"").expect("writes");
    let message = Store::open(below_a_file.join("runs.db")).expect_err("has no folder").to_string();
    assert!(message.contains("cannot create the folder"), "{message}");
}
