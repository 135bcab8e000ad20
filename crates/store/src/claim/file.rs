//! Claims on runs in an SQLite file. Each run has a lock file.

use std::{
    ffi::OsStr,
    fs::{self, File, TryLockError},
    io::{self, Read, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use samples::RunId;
use sys::output_file;

use crate::error::StoreError;

const LOCK: &str = ".lock";

#[derive(Debug)]
pub(super) struct FileClaim {
    path: PathBuf,
    _file: File,
}

pub(super) fn claim(database: &Path, run: &RunId) -> Result<FileClaim, StoreError> {
    remove_left_locks(database);
    let path = lock_path(database, &run.0);
    let cannot =
        |reason: io::Error| StoreError::CannotOpen { path: path.clone(), reason: reason.to_string() };
    loop {
        let mut file = output_file::open_lock(&path).map_err(|error| cannot(error.into()))?;
        match file.try_lock() {
            // The previous owner may have removed the file between opening and locking it here.
            Ok(()) if !is_at(&file, &path) => {}
            Ok(()) => {
                let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
                return Ok(FileClaim { path, _file: file });
            }
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::UnderWay { run: run.clone(), owner: owner(file) });
            }
            Err(TryLockError::Error(error)) => return Err(cannot(error)),
        }
    }
}

pub(super) fn is_claimed(database: &Path, run: &RunId) -> bool {
    let Ok(lock) = output_file::open_existing(&lock_path(database, &run.0)) else { return false };
    matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))
}

pub(crate) fn lock_path(database: &Path, run: &str) -> PathBuf {
    let mut name = database.to_owned().into_os_string();
    name.push(format!(".{run}{LOCK}"));
    PathBuf::from(name)
}

fn remove_left_locks(database: &Path) {
    let Some(name) = database.file_name().and_then(OsStr::to_str) else { return };
    let folder = database.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = fs::read_dir(folder.unwrap_or(Path::new("."))) else { return };
    let is_lock = |path: &Path| {
        let file = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        file.strip_prefix(name).is_some_and(|rest| rest.starts_with('.') && rest.ends_with(LOCK))
    };
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| is_lock(path)) {
        let Ok(file) = output_file::open_existing(&path) else { continue };
        if file.try_lock().is_ok() && is_at(&file, &path) {
            let _ = fs::remove_file(&path);
        }
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let at_path = fs::symlink_metadata(path).map(identity);
    at_path.is_ok_and(|at_path| file.metadata().is_ok_and(|file| identity(file) == at_path))
}

/// Describes the owner, e.g. `process 4711 (plumb run quick)`.
fn owner(mut file: File) -> String {
    let mut pid = String::new();
    if file.read_to_string(&mut pid).is_err() || pid.parse::<u32>().is_err() {
        return "another process".to_owned();
    }
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<_> = line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    let command = words.join(" ");
    match command.trim() {
        "" => format!("process {pid}"),
        command => format!("process {pid} ({})", command.escape_debug()),
    }
}

impl Drop for FileClaim {
    fn drop(&mut self) {
        // A leftover file is empty, and resuming the run reuses it.
        let _ = fs::remove_file(&self.path);
    }
}
