//! Locks on runs in progress. Locks are released when their process ends for any reason.

mod file;
mod server;

use std::sync::Arc;

use samples::RunId;

#[cfg(test)]
pub(crate) use self::file::lock_path;
pub(crate) use self::server::ServerClaim;
use crate::{database::Database, error::StoreError, store::Store, value::Value};

#[derive(Debug)]
pub struct Claim {
    _lock: ClaimedLock,
}

#[derive(Debug)]
#[expect(dead_code, reason = "released on drop")]
enum ClaimedLock {
    File(file::FileClaim),
    Server(Arc<ServerClaim>),
}

impl Store {
    /// Claims a run and removes stale lock files. Fails with [`StoreError::UnderWay`] if another process holds the
    /// claim.
    pub fn claim(&self, run: &RunId) -> Result<Claim, StoreError> {
        let lock = match &self.database {
            Database::File { path, .. } => ClaimedLock::File(file::claim(path, run)?),
            Database::Server(session) => {
                let claim = ServerClaim::take(&session.address, session.patience, run);
                let claim = Arc::new(claim.map_err(self.place.explain("claim a run in"))?);
                session.remember(&claim);
                ClaimedLock::Server(claim)
            }
        };
        Ok(Claim { _lock: lock })
    }

    /// Returns whether the run is in progress. Takes a shared lock for this: a process that claims the run at that
    /// moment gets [`StoreError::UnderWay`].
    #[must_use]
    pub fn is_under_way(&self, run: &RunId) -> bool {
        match &self.database {
            Database::File { path, .. } => file::is_claimed(path, run),
            Database::Server(_) => {
                let of_run = [Value::from(&run.0)];
                let owner =
                    self.database.query_row(&server::owner_sql(), &of_run, |row| row.get::<String>(0));
                owner.is_ok_and(|owner| owner.is_some())
            }
        }
    }

    pub fn claim_new(&self, wanted: &str) -> Result<(RunId, Claim), StoreError> {
        let mut id = RunId(wanted.to_owned());
        for number in 2.. {
            // Claim the run before looking it up, because a starting run is not in the store yet.
            let claim = self.claim(&id);
            let known = self.runs()?.iter().any(|run| run.id == id);
            match claim {
                Ok(claim) if !known => return Ok((id, claim)),
                Ok(_) | Err(StoreError::UnderWay { .. }) => id = RunId(format!("{wanted}-{number}")),
                Err(error) => return Err(error),
            }
        }
        unreachable!("some number is free")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_a_run_once_until_released() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = Store::open(folder.path().join("runs.db")).expect("a new store");
        let (one, other) = (RunId("one".into()), RunId("other".into()));
        let claim = store.claim(&one).expect("the run is free");
        let refused = store.claim(&one).expect_err("already claimed");
        assert!(
            refused.to_string().contains("one") && matches!(refused, StoreError::UnderWay { .. }),
            "{refused}"
        );
        let _other = store.claim(&other).expect("another run is free");
        drop(claim);
        assert!(store.claim(&one).is_ok());
    }
}
