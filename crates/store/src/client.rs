//! A PostgreSQL connection with a timeout for every wait, because the kernel of a stopped server still acknowledges
//! packets.

use std::{
    future::{self, Future},
    iter,
    pin::{Pin, pin},
    task::Poll,
    time::Duration,
};

use futures_util::TryStreamExt;
use tokio::{
    runtime::{self, Runtime},
    time,
};
use tokio_postgres::{
    Config, Error, Row,
    config::TargetSessionAttrs,
    tls::MakeTlsConnect,
    types::{ToSql, Type},
};

use crate::{
    database_error::DatabaseError,
    socket::{Allowance, Socket, Target},
};

/// The maximum number of bytes that the server may send during the handshake.
const HANDSHAKE: usize = 1 << 20;
/// The maximum size of a value in bytes.
pub(crate) const LONGEST: usize = 64 << 20;
/// The maximum size in bytes of a row and the messages that follow it.
const REPLY: usize = LONGEST + (1 << 20);

type Connection = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

pub(crate) struct Client {
    client: tokio_postgres::Client,
    connection: Polled,
    runtime: Runtime,
}

struct Polled {
    connection: Option<Connection>,
    limit: Duration,
    allowance: Allowance,
}

impl Client {
    /// Connects to a server and completes the handshakes within `reach`. `limit` applies to each reply.
    pub(crate) fn connect<T>(
        (target, host): (Target, &str),
        settings: &Config,
        mut tls: T,
        [reach, limit]: [Duration; 2],
    ) -> Result<Self, DatabaseError>
    where
        T: MakeTlsConnect<Socket>,
        T::Stream: Send + 'static,
    {
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| DatabaseError::Away(error.to_string()))?;
        let tls =
            tls.make_tls_connect(host).map_err(|error| DatabaseError::Denied(error.into().to_string()))?;
        let allowance = Allowance::new(HANDSHAKE);
        let connect = async {
            let socket = Socket::connect(target, settings, allowance.clone()).await;
            let socket = socket.map_err(|error| DatabaseError::Away(error.to_string()))?;
            Ok::<_, DatabaseError>(settings.connect_raw(socket, tls).await?)
        };
        let connected = runtime.block_on(async { time::timeout(reach, connect).await });
        let (client, connection) = connected.map_err(|_| silent(reach))??;
        let connection = Polled { connection: Some(Box::pin(connection)), limit, allowance };
        let mut client = Self { client, connection, runtime };
        client.check_session(settings.get_target_session_attrs())?;
        Ok(client)
    }

    fn check_session(&mut self, wanted: TargetSessionAttrs) -> Result<(), DatabaseError> {
        let refused = match wanted {
            TargetSessionAttrs::ReadWrite => ("on", "the server does not allow writes"),
            TargetSessionAttrs::ReadOnly => ("off", "the server is not read-only"),
            _ => return Ok(()),
        };
        let mut is_refused = false;
        self.ask("SELECT current_setting('transaction_read_only')", iter::empty(), &mut |row| {
            is_refused = row.try_get::<_, &str>(0)? == refused.0;
            Ok(())
        })?;
        if is_refused { Err(DatabaseError::Away(refused.1.to_owned())) } else { Ok(()) }
    }

    pub(crate) const fn limit(&mut self, limit: Duration) {
        self.connection.limit = limit;
    }

    pub(crate) fn batch(&mut self, sql: &str) -> Result<(), DatabaseError> {
        let Self { client, connection, runtime } = self;
        runtime.block_on(connection.answer(client.batch_execute(sql)))
    }

    /// Runs a statement in a single exchange, by sending the parameter types instead of preparing the statement first.
    /// Returns the number of rows written.
    pub(crate) fn ask<'a>(
        &mut self,
        sql: &str,
        values: impl Iterator<Item = (&'a (dyn ToSql + Sync), Type)>,
        read: &mut dyn FnMut(&Row) -> Result<(), DatabaseError>,
    ) -> Result<u64, DatabaseError> {
        let Self { client, connection, runtime } = self;
        let rows = runtime.block_on(connection.answer(client.query_typed_raw(sql, values)))?;
        let mut rows = pin!(rows);
        while let Some(row) = runtime.block_on(connection.answer(rows.try_next()))? {
            read(&row)?;
        }
        Ok(rows.rows_affected().unwrap_or(0))
    }
}

impl Polled {
    async fn answer<T>(
        &mut self,
        request: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, DatabaseError> {
        self.allowance.renew(REPLY);
        let mut request = pin!(request);
        let reply = future::poll_fn(|cx| {
            let ended = self.connection.as_mut().map(|connection| connection.as_mut().poll(cx));
            if matches!(ended, Some(Poll::Ready(_))) {
                self.connection = None;
            }
            match (request.as_mut().poll(cx), ended) {
                (Poll::Ready(Ok(answer)), _) => Poll::Ready(Ok(answer)),
                (_, Some(Poll::Ready(Err(error)))) => Poll::Ready(Err(error.into())),
                (Poll::Ready(Err(error)), _) => Poll::Ready(Err(error.into())),
                (Poll::Pending, Some(Poll::Pending)) => Poll::Pending,
                (Poll::Pending, _) => {
                    Poll::Ready(Err(DatabaseError::Away("the server ended the connection".to_owned())))
                }
            }
        });
        time::timeout(self.limit, reply).await.map_err(|_| silent(self.limit))?
    }
}

fn silent(limit: Duration) -> DatabaseError {
    DatabaseError::Away(format!("no answer within {} s", limit.as_secs_f64()))
}
