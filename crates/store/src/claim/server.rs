//! A run that is claimed on a server: an advisory lock of a connection of its own, which the server takes back when that ends
//! (<https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS>).

use std::{
    fmt,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use postgres::Client;
use samples::RunId;

use crate::{
    database::{Database, DatabaseError, Value, values},
    error::StoreError,
    location::ServerAddress,
    session::{self, Session},
};

/// By which a run is known among the locks of its database.
const KEY: &str = "hashtextextended('plumb run ' || ?1, 0)";

pub(crate) struct ServerClaim {
    run: RunId,
    address: ServerAddress,
    patience: Duration,
    client: Mutex<Client>,
}

impl ServerClaim {
    pub(crate) fn take(session: &Session, run: &RunId) -> Result<Self, DatabaseError> {
        let (run, address, patience) = (run.clone(), session.address.clone(), session.patience);
        let mut client = session::connected(&address, patience)?;
        lock(&mut client, &run)?;
        Ok(Self { run, address, patience, client: Mutex::new(client) })
    }

    /// Takes it once more where the server has lost it, as one does that was restarted.
    pub(crate) fn renew(&self) -> Result<(), DatabaseError> {
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        if client.batch_execute("").is_ok() {
            return Ok(());
        }
        let mut new = session::connected(&self.address, self.patience)?;
        match lock(&mut new, &self.run) {
            Err(DatabaseError::Refused(refused)) if self.is_own(&refused) => {
                let reason = "it has not noticed yet that the last connection broke";
                return Err(DatabaseError::Away(reason.to_owned()));
            }
            locked => locked?,
        }
        *client = new;
        Ok(())
    }

    fn is_own(&self, refused: &StoreError) -> bool {
        let own = self.address.settings.get_application_name();
        matches!(refused, StoreError::UnderWay { owner, .. } if Some(owner.as_str()) == own)
    }
}

fn lock(client: &mut Client, run: &RunId) -> Result<(), DatabaseError> {
    let mut is_locked = false;
    let sql = format!("SELECT pg_try_advisory_lock({KEY})");
    session::ask(client, &sql, &values![&run.0], &mut |row| row.get(0).map(|locked| is_locked = locked))?;
    if is_locked {
        return Ok(());
    }
    let mut owner = "another process".to_owned();
    session::ask(client, &owner_sql(), &values![&run.0], &mut |row| row.get(0).map(|name| owner = name))?;
    Err(DatabaseError::Refused(Box::new(StoreError::UnderWay { run: run.clone(), owner })))
}

/// Who makes a run, as its connection is called: `plumb 4711 on h1`.
pub(super) fn owner(database: &Database, run: &RunId) -> Result<Option<String>, DatabaseError> {
    database.query_row(&owner_sql(), &[Value::from(&run.0)], |row| row.get(0))
}

fn owner_sql() -> String {
    format!(
        "SELECT application_name FROM pg_locks JOIN pg_stat_activity USING (pid) JOIN pg_database ON oid = database
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
        // The server would take it back too, but a moment after the connection ends.
        let client = self.client.get_mut().unwrap_or_else(PoisonError::into_inner);
        let sql = format!("SELECT pg_advisory_unlock({KEY})");
        let _ = session::ask(client, &sql, &values![&self.run.0], &mut |_| Ok(()));
    }
}
