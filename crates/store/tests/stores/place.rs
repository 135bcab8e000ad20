//! An empty store for a test: a file, or a database on a server.

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
    folder: Option<TempDir>,
}

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

    pub(crate) fn size(&self) -> Option<u64> {
        self.is_file().then(|| fs::metadata(&self.path).expect("exists").len())
    }

    pub(crate) const fn locks(&self) -> &'static [&'static str] {
        match self.is_file() {
            true => &["BEGIN EXCLUSIVE", "BEGIN IMMEDIATE", "BEGIN; SELECT count(*) FROM run"],
            false => &["BEGIN; LOCK TABLE trial", "BEGIN; LOCK TABLE run IN EXCLUSIVE MODE"],
        }
    }

    pub(crate) fn empty(&self) {
        if self.is_file() {
            let _ = fs::remove_file(&self.path);
        } else {
            self.other().run("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
        }
    }

    pub(crate) fn other(&self) -> OtherProgram {
        if self.is_file() {
            fs::create_dir_all(self.path.parent().expect("has a folder")).expect("creates the folder");
            return OtherProgram::File(Box::new(Connection::open(&self.path).expect("opens")));
        }
        let address = self.path.to_str().expect("is text");
        OtherProgram::Server(Box::new(Client::connect(address, NoTls).expect("connects")))
    }
}

impl OtherProgram {
    pub(crate) fn run(&mut self, sql: &str) {
        match self {
            Self::File(connection) => connection.execute_batch(sql).expect("succeeds"),
            Self::Server(client) => client.batch_execute(sql).expect("succeeds"),
        }
    }

    pub(crate) fn change(&mut self, sql: &str) -> u64 {
        match self {
            Self::File(connection) => connection.execute(sql, []).expect("succeeds") as u64,
            Self::Server(client) => client.execute(sql, &[]).expect("succeeds"),
        }
    }

    pub(crate) fn can(&mut self, sql: &str) -> bool {
        match self {
            Self::File(connection) => connection.execute_batch(sql).is_ok(),
            Self::Server(client) => client.batch_execute(sql).is_ok(),
        }
    }
}
