//! A server connection that reconnects after failures outside of transactions and then renews its claims.

use std::{
    cell::{Cell, RefCell},
    fmt,
    sync::{Arc, Weak},
    time::Duration,
};

use crate::{
    claim::ServerClaim,
    client::Client,
    connect::{ask, connected},
    database_error::DatabaseError,
    location::ServerAddress,
    value::{Row, Value},
};

pub(crate) struct Session {
    pub(crate) address: ServerAddress,
    pub(crate) patience: Duration,
    client: RefCell<Option<Client>>,
    is_in_transaction: Cell<bool>,
    claims: RefCell<Vec<Weak<ServerClaim>>>,
}

impl Session {
    pub(crate) fn open(address: &ServerAddress, patience: Duration) -> Result<Self, DatabaseError> {
        let mut client = connected(address, patience)?;
        let mut address = address.clone();
        if address.settings.get_user().is_none() {
            // Before reconnecting, this process may enter a user namespace, where the default user name differs.
            let mut name = String::new();
            let sql = "SELECT session_user::text";
            let _ = ask(&mut client, sql, &[], &mut |row| row.get(0).map(|user| name = user))?;
            address.settings.user(name);
        }
        Ok(Self {
            address,
            patience,
            client: RefCell::new(Some(client)),
            is_in_transaction: Cell::new(false),
            claims: RefCell::default(),
        })
    }

    pub(crate) fn ask(
        &self,
        sql: &str,
        values: &[Value<'_>],
        read: &mut dyn FnMut(&Row<'_>) -> Result<(), DatabaseError>,
    ) -> Result<u64, DatabaseError> {
        self.with_client(|client| ask(client, sql, values, read))
    }

    pub(crate) fn batch(&self, sql: &str) -> Result<(), DatabaseError> {
        self.with_client(|client| client.batch(sql))
    }

    pub(crate) fn begin(&self, sql: &str) -> Result<(), DatabaseError> {
        self.with_retry(|| self.batch(sql))?;
        self.is_in_transaction.set(true);
        Ok(())
    }

    pub(crate) fn end(&self, sql: &str) -> Result<(), DatabaseError> {
        let is_connected = self.client.borrow().is_some();
        let ended = if is_connected { self.batch(sql) } else { Err(broken()) };
        self.is_in_transaction.set(false);
        ended
    }

    /// Repeats an operation after a connection failure. The operation must be idempotent.
    pub(crate) fn with_retry<T>(
        &self,
        work: impl Fn() -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        let was_connected = self.client.borrow().is_some() && !self.is_in_transaction.get();
        match work() {
            Err(error) if was_connected && error.is_away() => work(),
            done => done,
        }
    }

    pub(crate) fn remember(&self, claim: &Arc<ServerClaim>) {
        self.claims.borrow_mut().push(Arc::downgrade(claim));
    }

    fn with_client<T>(
        &self,
        work: impl FnOnce(&mut Client) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        let mut place = self.client.borrow_mut();
        let client = match &mut *place {
            Some(client) => client,
            none if self.is_in_transaction.get() => {
                debug_assert!(none.is_none());
                return Err(broken());
            }
            none => none.insert(self.reconnected()?),
        };
        let done = work(client);
        if done.as_ref().is_err_and(DatabaseError::is_away) {
            *place = None;
        }
        done
    }

    fn reconnected(&self) -> Result<Client, DatabaseError> {
        let client = connected(&self.address, self.patience)?;
        self.renew_claims()?;
        Ok(client)
    }

    /// Fails if another process has taken over a run in the meantime.
    pub(crate) fn renew_claims(&self) -> Result<(), DatabaseError> {
        let mut claims = self.claims.borrow_mut();
        claims.retain(|claim| claim.strong_count() > 0);
        claims.iter().filter_map(Weak::upgrade).try_for_each(|claim| claim.renew())
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("address", &self.address).finish_non_exhaustive()
    }
}

fn broken() -> DatabaseError {
    DatabaseError::Away("the connection broke in a transaction".to_owned())
}
