//! Connects to a PostgreSQL server.

use std::{net::ToSocketAddrs, path::Path, time::Duration};

use tokio_postgres::{Config, NoTls, config::SslMode, tls::MakeTlsConnect};

use crate::{
    certificates,
    client::{Client, LONGEST},
    database_error::{DatabaseError, is_away, message},
    location::{Certificate, ServerAddress},
    socket::{Socket, Target},
    value::{Row, Value},
};

pub(crate) const LEAST_PATIENCE: Duration = Duration::from_secs(1);

/// The timeout for replies, in addition to the lock timeout.
const ANSWER: Duration = Duration::from_secs(30);

pub(crate) fn connected(address: &ServerAddress, patience: Duration) -> Result<Client, DatabaseError> {
    let reach = address.settings.get_connect_timeout().copied().unwrap_or(patience.max(LEAST_PATIENCE));
    let limits = [reach, patience + ANSWER];
    let attempts = address.hosts.iter().map(|(host, port)| match host.starts_with('/') {
        true => {
            let target = Target::Unix(Path::new(host).join(format!(".s.PGSQL.{port}")));
            let mut settings = address.settings.clone();
            connect((target, host), settings.ssl_mode(SslMode::Disable), NoTls, limits)
        }
        false => connected_to(&address.settings, (host, *port), &address.certificate, limits),
    });
    let mut client = first(attempts)?;
    client.batch(&session_settings(patience))?;
    Ok(client)
}

/// Resolves names itself: the client library would start a thread, and a process with several threads cannot enter a
/// user namespace.
fn connected_to(
    settings: &Config,
    (host, port): (&str, u16),
    certificate: &Certificate,
    limits: [Duration; 2],
) -> Result<Client, DatabaseError> {
    let addresses = (host, port).to_socket_addrs().map_err(|error| DatabaseError::Away(error.to_string()))?;
    let encryption = certificates::encryption(certificate).map_err(DatabaseError::Denied)?;
    first(addresses.map(|address| match settings.get_ssl_mode() {
        SslMode::Disable => connect((Target::Tcp(address), host), settings, NoTls, limits),
        _ => connect((Target::Tcp(address), host), settings, encryption.clone(), limits),
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
    target: (Target, &str),
    settings: &Config,
    tls: T,
    limits: [Duration; 2],
) -> Result<Client, DatabaseError>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    Client::connect(target, settings, tls, limits).map_err(|error| match error {
        DatabaseError::Server(error) if is_away(&error) => DatabaseError::Away(message(&error)),
        DatabaseError::Server(error) => DatabaseError::Denied(message(&error)),
        other => other,
    })
}

/// Returns settings that make the server detect dead clients within a minute and permit idle connections during
/// measurements. Omits settings that an older server lacks.
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
    let longest = values.iter().map(Value::length).max().unwrap_or(0);
    if longest > LONGEST {
        return Err(DatabaseError::TooLong(longest));
    }
    client.ask(&sql.replace('?', "$"), values.iter().map(Value::typed), &mut |row| read(&Row::Server(row)))
}
