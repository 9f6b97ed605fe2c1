//! Text from the server and to it. A thread of its own talks with the server, so that reading, scanning and the server's work
//! go on at the same time.

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

/// How many bytes go from one thread to the other at a time, about.
const BLOCK: usize = 1 << 20;
/// How many blocks may wait.
const WAITING: usize = 4;
/// How many bytes a message to the server has at most: it keeps one in memory before it looks at it.
const MESSAGE: usize = 1 << 16;

/// Records come in the same order whenever they are read.
const ONE_ORDER: &str = "SET max_parallel_workers_per_gather = 0";

/// What a statement `COPY … TO STDOUT` answers, in blocks of whole records: the server sends each record in a message of its own.
pub(super) struct FromServer {
    blocks: Receiver<io::Result<Vec<u8>>>,
}

impl FromServer {
    /// Runs a statement, with another one before it that counts for this one only if it must.
    pub(super) fn start(session: &Session, before: Option<&'static str>, sql: String) -> FromServer {
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
        // Where the connection has no tap, or nobody wants more, records come here.
        let mut records = pin!(client.copy_out(sql).await?);
        let mut block = Vec::with_capacity(room);
        while let Some(record) = records.next().await.transpose()? {
            block.extend_from_slice(&record);
            // Nobody may want the rest.
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
    // Of a record that came in part nobody shall see anything.
    tap.close(copied.is_ok());
    copied
}

/// Where the bytes of a statement `COPY … FROM STDIN` go.
pub(super) struct ToServer {
    blocks: Option<mpsc::Sender<Vec<u8>>>,
    block: Vec<u8>,
    /// Why the server takes no more.
    why: Arc<Mutex<Option<String>>>,
}

/// The server's side of it: how many records it took.
pub(super) type Taken = JoinHandle<Result<u64>>;

impl ToServer {
    pub(super) fn start(session: &Session, sql: String) -> (ToServer, Taken) {
        let (blocks, received) = mpsc::channel(WAITING);
        let why = Arc::new(Mutex::new(None));
        let (session, reason) = (session.clone(), why.clone());
        let taken = std::thread::spawn(move || {
            copy_in(&session, &sql, received).map_err(|error| {
                let says = told("the server does not take the release", &error);
                *reason.lock().unwrap_or_else(PoisonError::into_inner) = Some(says.message().to_owned());
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
                    // Finishing tells why.
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
        // What cannot be sent is missing when the table is read back, and the thread knows why.
        let _ = self.send();
        self.blocks = None;
    }
}

/// Waits until the server has all of it.
pub(super) fn wait(taken: Taken) -> Result<u64> {
    taken.join().unwrap_or_else(|_| Err(Error::bug("the thread that talks with the server panicked")))
}
