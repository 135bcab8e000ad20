//! A PostgreSQL connection with a timeout for every wait. Without one, a stopped server would not be
//! detected, because its kernel still acknowledges packets.

use std::{
    future::{self, Future},
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
    Config, Error, Row, Socket,
    tls::MakeTlsConnect,
    types::{ToSql, Type},
};

use crate::database_error::DatabaseError;

type Connection = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

pub(crate) struct Client {
    client: tokio_postgres::Client,
    connection: Polled,
    runtime: Runtime,
}

struct Polled {
    connection: Option<Connection>,
    limit: Duration,
}

impl Client {
    /// Connects. `reach` is the timeout for connecting, including the handshakes, and `limit` is the timeout
    /// for each reply.
    pub(crate) fn connect<T>(
        settings: &Config,
        tls: T,
        reach: Duration,
        limit: Duration,
    ) -> Result<Self, DatabaseError>
    where
        T: MakeTlsConnect<Socket>,
        T::Stream: Send + 'static,
    {
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| DatabaseError::Away(error.to_string()))?;
        let connected = runtime.block_on(async { time::timeout(reach, settings.connect(tls)).await });
        let (client, connection) = connected.map_err(|_| silent(reach))??;
        Ok(Self { client, connection: Polled { connection: Some(Box::pin(connection)), limit }, runtime })
    }

    pub(crate) const fn limit(&mut self, limit: Duration) {
        self.connection.limit = limit;
    }

    pub(crate) fn batch(&mut self, sql: &str) -> Result<(), DatabaseError> {
        let Self { client, connection, runtime } = self;
        runtime.block_on(connection.answer(client.batch_execute(sql)))
    }

    /// Runs a statement in a single exchange, without preparing it first, and sends the parameter types
    /// along. Returns the number of rows written.
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
