//! Who is making a run: a lock that goes when its holder ends, however it ends. Of a file it is the kernel's, over a file beside it;
//! of a server it is that of a connection. Must not know what a run holds.

mod file;
mod server;

use std::sync::Arc;

use samples::RunId;

#[cfg(test)]
pub(crate) use self::file::lock_path;
pub(crate) use self::server::ServerClaim;
use crate::{database::Database, error::StoreError, store::Store};

/// The right to add trials to a run. Nobody else has it for this run while this lives.
#[derive(Debug)]
pub struct Claim {
    _lock: ClaimedLock,
}

#[derive(Debug)]
#[expect(dead_code, reason = "what is held is let go of when it is dropped")]
enum ClaimedLock {
    File(file::FileClaim),
    Server(Arc<ServerClaim>),
}

impl Store {
    /// Claims a run, new or unfinished. Locks that ended processes left behind are removed.
    ///
    /// # Errors
    /// [`StoreError::UnderWay`] when another process is making it; when the lock's file cannot be made, or the server is not
    /// reached.
    pub fn claim(&self, run: &RunId) -> Result<Claim, StoreError> {
        let lock = match &self.database {
            Database::File { path, .. } => ClaimedLock::File(file::claim(path, run)?),
            Database::Server(session) => {
                let claim = ServerClaim::take(session, run).map_err(self.place.explain("claim a run in"))?;
                let claim = Arc::new(claim);
                session.remember(&claim);
                ClaimedLock::Server(claim)
            }
        };
        Ok(Claim { _lock: lock })
    }

    /// Whether a process is making the run just now: one of this machine, or of a server's any.
    ///
    /// It looks at the lock of a file by taking a share of it for an instant: a process that claims the run in that very instant is
    /// told that it is under way.
    #[must_use]
    pub fn is_under_way(&self, run: &RunId) -> bool {
        match &self.database {
            Database::File { path, .. } => file::is_claimed(path, run),
            Database::Server(_) => server::owner(&self.database, run).is_ok_and(|owner| owner.is_some()),
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
