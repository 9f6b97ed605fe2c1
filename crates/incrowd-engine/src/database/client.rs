//! A blocking client. One thread at a time sends a statement and waits for the result. The
//! connection is only polled while a thread waits.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Config, Error, Row, Statement};

use super::tls::{Connector, Tls};

/// The connection task of `tokio-postgres`. It completes when the connection is closed.
type Connection = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;

/// Values of the parameters `$1`, `$2`, … of a statement.
type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A connection to a server.
pub(super) struct Client {
    runtime: Runtime,
    /// `None` after the connection was closed.
    connection: Option<Connection>,
    /// `None` once the connection is to be closed.
    asking: Option<tokio_postgres::Client>,
}

/// Reason why a connection failed.
pub(super) enum Unreachable {
    /// The server or the network.
    Server(Error),
    /// The local operating system.
    System(std::io::Error),
}

impl Client {
    pub(super) fn connect(config: &Config, tls: Tls) -> Result<Client, Unreachable> {
        let runtime =
            Builder::new_current_thread().enable_all().build().map_err(Unreachable::System)?;
        let made = runtime.block_on(config.connect(Connector { tls }));
        let (asking, connection) = made.map_err(Unreachable::Server)?;
        Ok(Client { runtime, connection: Some(Box::pin(connection)), asking: Some(asking) })
    }

    /// Sends a statement and waits for the result. If the connection fails, the error contains the
    /// reason.
    pub(super) fn wait<T>(
        &mut self,
        ask: impl AsyncFnOnce(&tokio_postgres::Client) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let Client { runtime, connection, asking } = self;
        let Some(asking) = asking else { unreachable!("nobody asks after the end") };
        let mut answer = pin!(ask(asking));
        let mut broken = None;
        let answer = runtime.block_on(poll_fn(|context| {
            if let Some(own) = connection
                && let Poll::Ready(ended) = own.as_mut().poll(context)
            {
                // The pending request is polled below and returns an error.
                (*connection, broken) = (None, ended.err());
            }
            answer.as_mut().poll(context)
        }));
        match (answer, broken) {
            (Err(error), Some(broken)) if error.as_db_error().is_none() => Err(broken),
            (answer, _) => answer,
        }
    }

    pub(super) fn batch_execute(&mut self, sql: &str) -> Result<(), Error> {
        self.wait(async |client| client.batch_execute(sql).await)
    }

    pub(super) fn prepare(&mut self, sql: &str) -> Result<Statement, Error> {
        self.wait(async |client| client.prepare(sql).await)
    }

    pub(super) fn execute(&mut self, sql: &str, values: Values<'_>) -> Result<u64, Error> {
        self.wait(async |client| client.execute(sql, values).await)
    }

    pub(super) fn query(&mut self, sql: &str, values: Values<'_>) -> Result<Vec<Row>, Error> {
        self.wait(async |client| client.query(sql, values).await)
    }

    pub(super) fn query_one(&mut self, sql: &str, values: Values<'_>) -> Result<Row, Error> {
        self.wait(async |client| client.query_one(sql, values).await)
    }

    pub(super) fn query_opt(
        &mut self,
        sql: &str,
        values: Values<'_>,
    ) -> Result<Option<Row>, Error> {
        self.wait(async |client| client.query_opt(sql, values).await)
    }
}

impl Drop for Client {
    /// Ends the session properly, so that the server does not have to detect the end.
    fn drop(&mut self) {
        self.asking = None;
        if let Some(connection) = self.connection.take() {
            let _ = self.runtime.block_on(connection);
        }
    }
}
