//! Text streams from and to the server. A separate thread communicates with the server, so that
//! reading, scanning and the work of the server run in parallel.

use std::io::{self, Write};
use std::pin::pin;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use incrowd_core::{Error, Result};
use tokio::sync::mpsc;

use super::session::{Session, told};

/// Approximate size in bytes of the blocks passed between threads.
const BLOCK: usize = 1 << 20;
/// Maximum number of queued blocks.
const WAITING: usize = 4;
/// Maximum size of a message to the server in bytes. The server buffers a whole message before it
/// processes it.
const MESSAGE: usize = 1 << 16;

/// Disables parallel scans, so that the order of the records is the same in every read.
const ONE_ORDER: &str = "SET max_parallel_workers_per_gather = 0";

/// The output of a `COPY … TO STDOUT` statement in blocks of whole records. The server sends each
/// record in a separate message.
pub(super) struct FromServer {
    blocks: Receiver<io::Result<Vec<u8>>>,
}

impl FromServer {
    /// Runs a statement. The statement `before` is run first and sets parameters. Its default is
    /// [`ONE_ORDER`].
    pub(super) fn start(
        session: &Session,
        before: Option<&'static str>,
        sql: String,
    ) -> FromServer {
        let (send, blocks) = sync_channel(WAITING);
        let session = session.clone();
        std::thread::spawn(move || {
            if let Err(error) = copy_out(&session, before, &sql, &send) {
                let says = told("the server stopped", &error);
                let _ = send.send(Err(io::Error::other(says.message().to_owned())));
            }
        });
        FromServer { blocks }
    }
}

impl Iterator for FromServer {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<io::Result<Vec<u8>>> {
        self.blocks.recv().ok()
    }
}

fn copy_out(
    session: &Session,
    before: Option<&str>,
    sql: &str,
    send: &SyncSender<io::Result<Vec<u8>>>,
) -> std::result::Result<(), tokio_postgres::Error> {
    let mut client = session.client();
    client.batch_execute(before.unwrap_or(ONE_ORDER))?;
    let room = BLOCK + (BLOCK >> 4);
    let tap = client.tap();
    tap.open(BLOCK, send.clone());
    let copied = client.wait(async |client| {
        // Records arrive here if the connection has no tap, or if the receiver of the tap was
        // dropped.
        let mut records = pin!(client.copy_out(sql).await?);
        let mut block = Vec::with_capacity(room);
        while let Some(record) = records.next().await.transpose()? {
            block.extend_from_slice(&record);
            // The receiver may have been dropped.
            if block.len() >= BLOCK
                && send.send(Ok(std::mem::replace(&mut block, Vec::with_capacity(room)))).is_err()
            {
                return Ok(());
            }
        }
        if !block.is_empty() {
            let _ = send.send(Ok(block));
        }
        Ok(())
    });
    // After an error, the last block is dropped, because its last record may be incomplete.
    tap.close(copied.is_ok());
    copied
}

/// Writer for the input of a `COPY … FROM STDIN` statement.
pub(super) struct ToServer {
    blocks: Option<mpsc::Sender<Vec<u8>>>,
    block: Vec<u8>,
    /// Reason why the server accepts no more data.
    why: Arc<Mutex<Option<String>>>,
}

/// Handle of the thread that sends the data. It returns the number of records that the server
/// stored.
pub(super) type Taken = JoinHandle<Result<u64>>;

impl ToServer {
    pub(super) fn start(session: &Session, sql: String) -> (ToServer, Taken) {
        let (blocks, received) = mpsc::channel(WAITING);
        let why = Arc::new(Mutex::new(None));
        let (session, reason) = (session.clone(), why.clone());
        let taken = std::thread::spawn(move || {
            copy_in(&session, &sql, received).map_err(|error| {
                let says = told("the server does not take the release", &error);
                *reason.lock().unwrap_or_else(PoisonError::into_inner) =
                    Some(says.message().to_owned());
                says
            })
        });
        (ToServer { blocks: Some(blocks), block: Vec::new(), why }, taken)
    }

    fn send(&mut self) -> io::Result<()> {
        let block = std::mem::take(&mut self.block);
        let sent = self
            .blocks
            .as_ref()
            .is_some_and(|blocks| block.is_empty() || blocks.blocking_send(block).is_ok());
        if sent {
            return Ok(());
        }
        let why = self.why.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Err(io::Error::other(why.unwrap_or_else(|| "the server takes no more".to_owned())))
    }
}

fn copy_in(
    session: &Session,
    sql: &str,
    mut received: mpsc::Receiver<Vec<u8>>,
) -> std::result::Result<u64, tokio_postgres::Error> {
    session.client().wait(async |client| {
        let mut sink = pin!(client.copy_in::<str, Bytes>(sql).await?);
        while let Some(block) = received.recv().await {
            let mut block = Bytes::from(block);
            while !block.is_empty() {
                let message = block.split_to(block.len().min(MESSAGE));
                if sink.feed(message).await.is_err() {
                    // `finish` returns the reason of the failure.
                    return sink.finish().await;
                }
            }
        }
        sink.finish().await
    })
}

impl Write for ToServer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.block.extend_from_slice(bytes);
        if self.block.len() >= BLOCK {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send()
    }
}

impl Drop for ToServer {
    fn drop(&mut self) {
        // If the send fails, the data are missing when the table is read back, and the thread
        // reports the reason.
        let _ = self.send();
        self.blocks = None;
    }
}

/// Waits until the server has stored all data.
pub(super) fn wait(taken: Taken) -> Result<u64> {
    taken
        .join()
        .unwrap_or_else(|_| Err(Error::bug("the thread that talks with the server panicked")))
}
