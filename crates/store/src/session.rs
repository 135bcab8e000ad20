//! A server connection that reconnects after a failure outside of transactions, and renews its claims.

use std::{
    cell::{Cell, RefCell},
    error::Error,
    fmt,
    io::{self, ErrorKind},
    net::ToSocketAddrs,
    sync::{Arc, Weak},
    time::Duration,
};

use tokio_postgres::{Config, NoTls, Socket, config::SslMode, tls::MakeTlsConnect};

use crate::{
    certificates,
    claim::ServerClaim,
    client::Client,
    database::{DatabaseError, Row, Value, message},
    location::{Certificate, ServerAddress},
};

pub(crate) const LEAST_PATIENCE: Duration = Duration::from_secs(1);
const ANSWER: Duration = Duration::from_secs(30);

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
            // The default user name changes in a user namespace, which may be entered before reconnecting.
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

    /// A broken connection has no transaction to end.
    pub(crate) fn end(&self, sql: &str) -> Result<(), DatabaseError> {
        let is_connected = self.client.borrow().is_some();
        let ended = if is_connected { self.batch(sql) } else { Err(broken()) };
        self.is_in_transaction.set(false);
        ended
    }

    /// The operation must be idempotent.
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

pub(crate) fn connected(address: &ServerAddress, patience: Duration) -> Result<Client, DatabaseError> {
    let reach = address.settings.get_connect_timeout().copied().unwrap_or(patience.max(LEAST_PATIENCE));
    let limits = (reach, patience + ANSWER);
    let attempts = address.hosts.iter().map(|(host, port)| {
        let mut settings = address.settings.clone();
        settings.port(*port);
        match host.starts_with('/') {
            true => connect(settings.host_path(host).ssl_mode(SslMode::Disable), NoTls, limits),
            false => connected_to(&settings, host, *port, &address.certificate, limits),
        }
    });
    let mut client = first(attempts)?;
    client.batch(&session_settings(patience))?;
    Ok(client)
}

/// The client library would start a thread to resolve names, and a multithreaded process cannot enter a user namespace.
fn connected_to(
    settings: &Config,
    host: &str,
    port: u16,
    certificate: &Certificate,
    limits: (Duration, Duration),
) -> Result<Client, DatabaseError> {
    let addresses = (host, port).to_socket_addrs().map_err(|error| DatabaseError::Away(error.to_string()))?;
    let encryption = certificates::encryption(certificate).map_err(DatabaseError::Denied)?;
    first(addresses.map(|address| {
        let mut settings = settings.clone();
        settings.host(host).hostaddr(address.ip());
        match settings.get_ssl_mode() {
            SslMode::Disable => connect(&settings, NoTls, limits),
            _ => connect(&settings, encryption.clone(), limits),
        }
    }))
}

fn first(attempts: impl Iterator<Item = Result<Client, DatabaseError>>) -> Result<Client, DatabaseError> {
    let mut last = DatabaseError::Away("the host has no address".to_owned());
    for attempt in attempts {
        match attempt {
            Err(error) if error.is_away() => last = error,
            done => return done,
        }
    }
    Err(last)
}

fn connect<T>(
    settings: &Config,
    tls: T,
    (reach, limit): (Duration, Duration),
) -> Result<Client, DatabaseError>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    Client::connect(settings, tls, reach, limit).map_err(|error| match error {
        DatabaseError::Server(error) if is_away(&error) => DatabaseError::Away(message(&error)),
        DatabaseError::Server(error) => DatabaseError::Denied(message(&error)),
        other => other,
    })
}

/// Detects dead clients within a minute, and permits idle connections during measurements. Settings unknown to older servers
/// are omitted.
fn session_settings(patience: Duration) -> String {
    let patience = patience.as_millis().clamp(1, i32::MAX as u128);
    format!(
        "SELECT set_config(name, value, false) FROM (VALUES ('lock_timeout', '{patience}'), ('idle_session_timeout', '0'), \
         ('idle_in_transaction_session_timeout', '0'), ('statement_timeout', '0'), ('transaction_timeout', '0'), ('tcp_keepalives_idle', '30'), ('tcp_keepalives_interval', '10'), \
         ('tcp_keepalives_count', '3')) AS wanted (name, value) WHERE name IN (SELECT name FROM pg_settings)"
    )
}

pub(crate) fn ask(
    client: &mut Client,
    sql: &str,
    values: &[Value<'_>],
    read: &mut dyn FnMut(&Row<'_>) -> Result<(), DatabaseError>,
) -> Result<u64, DatabaseError> {
    client.ask(&sql.replace('?', "$"), values.iter().map(Value::typed), &mut |row| read(&Row::Server(row)))
}

pub(crate) fn is_away(error: &tokio_postgres::Error) -> bool {
    if let Some(code) = error.code().map(|code| code.code()) {
        return code.starts_with("08") || matches!(code, "57P01" | "57P02" | "57P03" | "57P05" | "53300");
    }
    let reason = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    // Rejected certificates and invalid protocol messages are also reported as read errors.
    let is_refused =
        |error: &io::Error| matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::InvalidInput);
    error.is_closed() || reason.is_some_and(|error| !is_refused(error))
}
