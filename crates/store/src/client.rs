//! A connection to a server that is polled by whoever asks over it, and waited for no longer than a limit: the kernel of a server
//! that is stopped goes on to acknowledge what is sent. Must not know what is asked.

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

use crate::database::DatabaseError;

type Connection = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// Dropped, it is closed at once, whatever the server does.
pub(crate) struct Client {
    client: tokio_postgres::Client,
    connection: Polled,
    runtime: Runtime,
}

/// What has to be polled for an answer.
struct Polled {
    /// None once it has ended.
    connection: Option<Connection>,
    /// For how long the server may be silent.
    limit: Duration,
}

impl Client {
    /// `reach` is for all of it, the handshakes included; `limit` for each answer.
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

    /// From now on the server may be silent for so long.
    pub(crate) const fn limit(&mut self, limit: Duration) {
        self.connection.limit = limit;
    }

    pub(crate) fn batch(&mut self, sql: &str) -> Result<(), DatabaseError> {
        let Self { client, connection, runtime } = self;
        runtime.block_on(connection.answer(client.batch_execute(sql)))
    }

    /// Hands each row to `read`; how many rows were written. In one exchange: the types of what is asked with are said, and nothing
    /// is prepared.
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
    async fn answer<T>(&mut self, asked: impl Future<Output = Result<T, Error>>) -> Result<T, DatabaseError> {
        let mut asked = pin!(asked);
        let answered = future::poll_fn(|cx| {
            let ended = self.connection.as_mut().map(|connection| connection.as_mut().poll(cx));
            if matches!(ended, Some(Poll::Ready(_))) {
                self.connection = None;
            }
            match (asked.as_mut().poll(cx), ended) {
                (Poll::Ready(Ok(answer)), _) => Poll::Ready(Ok(answer)),
                (_, Some(Poll::Ready(Err(error)))) => Poll::Ready(Err(error.into())),
                (Poll::Ready(Err(error)), _) => Poll::Ready(Err(error.into())),
                (Poll::Pending, Some(Poll::Pending)) => Poll::Pending,
                (Poll::Pending, _) => {
                    Poll::Ready(Err(DatabaseError::Away("the server ended the connection".to_owned())))
                }
            }
        });
        time::timeout(self.limit, answered).await.map_err(|_| silent(self.limit))?
    }
}

fn silent(limit: Duration) -> DatabaseError {
    DatabaseError::Away(format!("no answer within {} s", limit.as_secs_f64()))
}
