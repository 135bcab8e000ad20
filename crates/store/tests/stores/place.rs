//! Where a test keeps runs: a file, or a database of a server, in which nothing is yet.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use plumb_tests::PostgresServer;
use postgres::{Client, NoTls};
use rusqlite::Connection;
use store::Store;
use tempfile::TempDir;

use crate::record;

pub(crate) struct Place {
    path: PathBuf,
    /// Of a file.
    folder: Option<TempDir>,
}

/// A connection of another program.
pub(crate) enum OtherProgram {
    File(Box<Connection>),
    Server(Box<Client>),
}

impl Place {
    pub(crate) fn file() -> Self {
        let (folder, path) = record::place();
        Self { path, folder: Some(folder) }
    }

    pub(crate) fn database(server: &PostgresServer) -> Self {
        Self { path: server.database().into(), folder: None }
    }

    /// A path, or an address.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) const fn is_file(&self) -> bool {
        self.folder.is_some()
    }

    pub(crate) fn open(&self) -> Store {
        Store::open(&self.path).expect("opens")
    }

    pub(crate) fn open_with_patience(&self, patience: Duration) -> Store {
        Store::open_with_patience(&self.path, patience).expect("opens")
    }

    /// How many bytes a file has.
    pub(crate) fn size(&self) -> Option<u64> {
        self.is_file().then(|| fs::metadata(&self.path).expect("is there").len())
    }

    /// How another program keeps trials from being written.
    pub(crate) const fn locks(&self) -> &'static [&'static str] {
        match self.is_file() {
            true => &["BEGIN EXCLUSIVE", "BEGIN IMMEDIATE", "BEGIN; SELECT count(*) FROM run"],
            false => &["BEGIN; LOCK TABLE trial", "BEGIN; LOCK TABLE run IN EXCLUSIVE MODE"],
        }
    }

    /// Makes it as if nothing had been there.
    pub(crate) fn empty(&self) {
        if self.is_file() {
            // There may be none yet.
            let _ = fs::remove_file(&self.path);
        } else {
            self.other().run("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
        }
    }

    pub(crate) fn other(&self) -> OtherProgram {
        if self.is_file() {
            fs::create_dir_all(self.path.parent().expect("has a folder")).expect("creates it");
            return OtherProgram::File(Box::new(Connection::open(&self.path).expect("opens")));
        }
        let address = self.path.to_str().expect("is text");
        OtherProgram::Server(Box::new(Client::connect(address, NoTls).expect("connects")))
    }
}

impl OtherProgram {
    pub(crate) fn run(&mut self, sql: &str) {
        match self {
            Self::File(connection) => connection.execute_batch(sql).expect("is done"),
            Self::Server(client) => client.batch_execute(sql).expect("is done"),
        }
    }

    /// How many rows a statement changed.
    pub(crate) fn change(&mut self, sql: &str) -> u64 {
        match self {
            Self::File(connection) => connection.execute(sql, []).expect("is done") as u64,
            Self::Server(client) => client.execute(sql, &[]).expect("is done"),
        }
    }

    /// Whether a statement makes sense.
    pub(crate) fn can(&mut self, sql: &str) -> bool {
        match self {
            Self::File(connection) => connection.execute_batch(sql).is_ok(),
            Self::Server(client) => client.batch_execute(sql).is_ok(),
        }
    }
}
