//! Claims on a PostgreSQL server, using an advisory lock on a separate connection
//! (<https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS>).

use std::{fmt, time::Duration};

use parking_lot::Mutex;
use samples::RunId;

use crate::{
    client::Client,
    connect::{LEAST_PATIENCE, ask, connected},
    database_error::DatabaseError,
    error::StoreError,
    location::ServerAddress,
    value::values,
};

const KEY: &str = "hashtextextended('plumb run ' || ?1, 0)";

pub(crate) struct ServerClaim {
    run: RunId,
    address: ServerAddress,
    patience: Duration,
    lock: Mutex<HeldLock>,
}

struct HeldLock {
    client: Client,
    backend: i64,
}

impl ServerClaim {
    pub(crate) fn take(
        address: &ServerAddress,
        patience: Duration,
        run: &RunId,
    ) -> Result<Self, DatabaseError> {
        let (run, address) = (run.clone(), address.clone());
        let held = acquire(connected(&address, patience)?, &run, None)?;
        Ok(Self { run, address, patience, lock: Mutex::new(held) })
    }

    /// Takes the lock again if the server lost it, e.g. after a restart.
    pub(crate) fn renew(&self) -> Result<(), DatabaseError> {
        let mut held = self.lock.lock();
        if held.client.batch("").is_ok() {
            return Ok(());
        }
        let new = connected(&self.address, self.patience)?;
        *held = acquire(new, &self.run, Some(held.backend))?;
        Ok(())
    }
}

/// Takes the lock. `before` is the backend PID of the broken connection that held it.
fn acquire(mut client: Client, run: &RunId, before: Option<i64>) -> Result<HeldLock, DatabaseError> {
    let (mut is_locked, mut is_standby, mut backend) = (false, false, 0);
    let sql = "SELECT pg_is_in_recovery(), pg_backend_pid()::bigint";
    let _ = ask(&mut client, sql, &[], &mut |row| {
        (is_standby, backend) = (row.get(0)?, row.get(1)?);
        Ok(())
    })?;
    if is_standby {
        let reason = "this server is a standby, and locks on a standby are local; add target_session_attrs=read-write to the address to reach the primary";
        return Err(DatabaseError::Denied(reason.to_owned()));
    }
    let sql = format!("SELECT pg_try_advisory_lock({KEY})");
    let _ = ask(&mut client, &sql, &values![&run.0], &mut |row| row.get(0).map(|locked| is_locked = locked))?;
    if is_locked {
        return Ok(HeldLock { client, backend });
    }
    let (mut owner, mut holder) = ("another process".to_owned(), None);
    let _ = ask(&mut client, &owner_sql(), &values![&run.0], &mut |row| {
        (owner, holder) = (row.get(0)?, Some(row.get(1)?));
        Ok(())
    })?;
    if holder.is_some() && holder == before {
        let reason = "the server has not noticed yet that the previous connection broke";
        return Err(DatabaseError::Away(reason.to_owned()));
    }
    Err(DatabaseError::Refused(Box::new(StoreError::UnderWay { run: run.clone(), owner })))
}

pub(super) fn owner_sql() -> String {
    format!(
        "SELECT application_name, pid::bigint FROM pg_locks JOIN pg_stat_activity USING (pid) JOIN pg_database ON oid = database
         WHERE locktype = 'advisory' AND granted AND objsubid = 1 AND pg_database.datname = current_database()
         AND (classid::bigint << 32 | objid::bigint) = {KEY}"
    )
}

impl fmt::Debug for ServerClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerClaim").field("run", &self.run).finish_non_exhaustive()
    }
}

impl Drop for ServerClaim {
    fn drop(&mut self) {
        // Otherwise, the server would hold the lock until it notices that the connection has ended.
        let HeldLock { client, .. } = self.lock.get_mut();
        client.limit(LEAST_PATIENCE);
        let sql = format!("SELECT pg_advisory_unlock({KEY})");
        let _ = ask(client, &sql, &values![&self.run.0], &mut |_| Ok(()));
    }
}
