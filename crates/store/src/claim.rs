//! Who is making a run: a lock that the kernel lets go of when its holder ends, however it ends.
//! Must not know what a run holds.

use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use samples::RunId;

use crate::{error::StoreError, store::Store};

/// How the file of a lock ends.
const LOCK: &str = ".lock";

/// The right to add trials to a run. Nobody else has it for this run while this lives.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl Store {
    /// Claims a run, new or unfinished. Locks that ended processes left behind are removed.
    ///
    /// # Errors
    /// [`StoreError::UnderWay`] when another process is making it; when the lock's file cannot be made.
    pub fn claim(&self, run: &RunId) -> Result<Claim, StoreError> {
        self.remove_left_locks();
        let path = self.lock_path(&run.0);
        let cannot =
            |reason: io::Error| StoreError::CannotOpen { path: path.clone(), reason: reason.to_string() };
        loop {
            let mut file = lock_file(&path).map_err(cannot)?;
            match file.try_lock() {
                // Its last owner may have removed it between both steps: what is locked then is nobody's lock.
                Ok(()) if !is_at(&file, &path) => {}
                Ok(()) => {
                    // Only for whoever finds it locked: nothing depends on it.
                    let _ = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
                    return Ok(Claim { path, _file: file });
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(StoreError::UnderWay { run: run.clone(), owner: owner(file) });
                }
                Err(TryLockError::Error(error)) => return Err(cannot(error)),
            }
        }
    }

    pub(crate) fn lock_path(&self, run: &str) -> PathBuf {
        let mut name = self.place.path.clone().into_os_string();
        name.push(format!(".{run}{LOCK}"));
        PathBuf::from(name)
    }

    /// Nobody holds the lock of a process that was killed, and only its file is left.
    fn remove_left_locks(&self) {
        let Some(name) = self.place.path.file_name().and_then(OsStr::to_str) else { return };
        let folder = self.place.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let Ok(entries) = fs::read_dir(folder.unwrap_or(Path::new("."))) else { return };
        let is_lock = |path: &Path| {
            let file = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            file.strip_prefix(name).is_some_and(|rest| rest.starts_with('.') && rest.ends_with(LOCK))
        };
        for path in entries.flatten().map(|entry| entry.path()).filter(|path| is_lock(path)) {
            let Ok(file) = File::open(&path) else { continue };
            if file.try_lock().is_ok() && is_at(&file, &path) {
                let _ = fs::remove_file(&path);
            }
        }
    }

    /// Claims a new run called `wanted`, or so with a number behind it where another run is called that already.
    ///
    /// # Errors
    /// When the lock's file cannot be made, or the runs cannot be read.
    pub fn claim_new(&self, wanted: &str) -> Result<(RunId, Claim), StoreError> {
        let mut id = RunId(wanted.to_owned());
        for number in 2.. {
            // Claimed before it is looked for: a run that begins just now is not in the store yet.
            let claim = self.claim(&id);
            let known = self.runs()?.iter().any(|run| run.id == id);
            match claim {
                Ok(claim) if !known => return Ok((id, claim)),
                Ok(_) | Err(StoreError::UnderWay { .. }) => id = RunId(format!("{wanted}-{number}")),
                Err(error) => return Err(error),
            }
        }
        unreachable!("there are more numbers than runs")
    }
}

fn lock_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

/// Whether this file is what the path names.
fn is_at(file: &File, path: &Path) -> bool {
    let identity = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    let there = fs::metadata(path).map(identity);
    there.is_ok_and(|there| file.metadata().is_ok_and(|file| identity(file) == there))
}

/// Who holds a lock: `process 4711 (plumb run quick)`.
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

impl Drop for Claim {
    fn drop(&mut self) {
        // One that stays is only an empty file, and is locked anew by whoever resumes the run.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_claimed_once_and_anew_when_the_claim_is_gone() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = Store::open(folder.path().join("runs.db")).expect("a new store");
        let (one, other) = (RunId("one".into()), RunId("other".into()));
        let claim = store.claim(&one).expect("nobody has it");
        let refused = store.claim(&one).expect_err("it is claimed");
        assert!(
            refused.to_string().contains("one") && matches!(refused, StoreError::UnderWay { .. }),
            "{refused}"
        );
        let _other = store.claim(&other).expect("another run is free");
        drop(claim);
        assert!(store.claim(&one).is_ok());
    }
}
