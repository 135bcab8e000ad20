//! Who is making a run: a lock that the kernel lets go of when its holder ends, however it ends.
//! Must not know what a run holds.

use std::{
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
};

use samples::RunId;

use crate::{error::StoreError, store::Store};

/// The right to add trials to a run. Nobody else has it for this run while this lives.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    /// Holds the lock.
    _file: File,
}

impl Store {
    /// Claims a run, new or unfinished.
    ///
    /// # Errors
    /// [`StoreError::UnderWay`] when another process is making it; when the lock's file cannot be made.
    pub fn claim(&self, run: &RunId) -> Result<Claim, StoreError> {
        let path = lock_path(&self.place.path, run);
        let cannot = |reason: std::io::Error| StoreError::CannotOpen {
            path: path.clone(),
            reason: reason.to_string(),
        };
        let file = File::create(&path).map_err(cannot)?;
        match file.try_lock() {
            Ok(()) => Ok(Claim { path, _file: file }),
            Err(TryLockError::WouldBlock) => Err(StoreError::UnderWay { run: run.clone() }),
            Err(TryLockError::Error(error)) => Err(cannot(error)),
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

/// The file that whoever makes a run has locked.
pub(crate) fn lock_path(store: &Path, run: &RunId) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(format!(".{run}.lock"));
    PathBuf::from(name)
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
