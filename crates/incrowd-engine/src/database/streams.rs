//! Text from the server and to it. A thread of its own talks with the server, so that reading, scanning and the server's work
//! go on at the same time.

use std::io::{self, BufRead, Read, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use incrowd_core::{Error, Result};

use super::session::{Session, told};

/// How many bytes go from one thread to the other at a time, about.
const BLOCK: usize = 1 << 20;
/// How many blocks may wait.
const WAITING: usize = 4;

/// Records come in the same order whenever they are read.
const ONE_ORDER: &str = "SET max_parallel_workers_per_gather = 0";

/// What a statement `COPY … TO STDOUT` answers.
pub(super) struct FromServer {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: Vec<u8>,
    at: usize,
}

impl FromServer {
    /// Runs a statement, with another one before it that counts for this one only if it must.
    pub(super) fn start(session: &Session, before: Option<&'static str>, sql: String) -> FromServer {
        let (send, blocks) = sync_channel(WAITING);
        let session = session.clone();
        std::thread::spawn(move || {
            let sender = send.clone();
            if let Err(error) = copy_out(&session, before, &sql, &sender) {
                let says = told("the server stopped", &error);
                let _ = send.send(Err(io::Error::other(says.message().to_owned())));
            }
        });
        FromServer { blocks, block: Vec::new(), at: 0 }
    }
}

fn copy_out(
    session: &Session,
    before: Option<&str>,
    sql: &str,
    send: &SyncSender<io::Result<Vec<u8>>>,
) -> std::result::Result<(), postgres::Error> {
    let mut client = session.client();
    client.batch_execute(before.unwrap_or(ONE_ORDER))?;
    let mut reader = client.copy_out(sql)?;
    let mut block = Vec::with_capacity(BLOCK + (BLOCK >> 2));
    loop {
        let read = match reader.fill_buf() {
            Ok(bytes) => {
                block.extend_from_slice(bytes);
                bytes.len()
            }
            Err(error) => {
                let failed = error.into_inner().and_then(|e| e.downcast::<postgres::Error>().ok());
                if let Some(error) = failed {
                    return Err(*error);
                }
                let _ = send.send(Err(io::Error::other("the connection broke")));
                return Ok(());
            }
        };
        reader.consume(read);
        if block.len() >= BLOCK || read == 0 {
            let full = std::mem::replace(&mut block, Vec::with_capacity(BLOCK + (BLOCK >> 2)));
            // Nobody may want the rest.
            if send.send(Ok(full)).is_err() || read == 0 {
                return Ok(());
            }
        }
    }
}

impl Read for FromServer {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.block.len() {
            match self.blocks.recv() {
                Ok(block) => (self.block, self.at) = (block?, 0),
                Err(_) => return Ok(0),
            }
        }
        let n = buffer.len().min(self.block.len() - self.at);
        buffer[..n].copy_from_slice(&self.block[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

/// Where the bytes of a statement `COPY … FROM STDIN` go.
pub(super) struct ToServer {
    blocks: Option<SyncSender<Vec<u8>>>,
    block: Vec<u8>,
    /// Why the server takes no more.
    why: Arc<Mutex<Option<String>>>,
}

/// The server's side of it: how many records it took.
pub(super) type Taken = JoinHandle<Result<u64>>;

impl ToServer {
    pub(super) fn start(session: &Session, sql: String) -> (ToServer, Taken) {
        let (blocks, received) = sync_channel(WAITING);
        let why = Arc::new(Mutex::new(None));
        let (session, reason) = (session.clone(), why.clone());
        let taken = std::thread::spawn(move || {
            copy_in(&session, &sql, &received).map_err(|error| {
                let says = told("the server does not take the release", &error);
                *reason.lock().unwrap_or_else(PoisonError::into_inner) = Some(says.message().to_owned());
                says
            })
        });
        (ToServer { blocks: Some(blocks), block: Vec::new(), why }, taken)
    }

    fn send(&mut self) -> io::Result<()> {
        let block = std::mem::take(&mut self.block);
        let sent = self.blocks.as_ref().is_some_and(|blocks| block.is_empty() || blocks.send(block).is_ok());
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
    received: &Receiver<Vec<u8>>,
) -> std::result::Result<u64, postgres::Error> {
    let mut client = session.client();
    let mut writer = client.copy_in(sql)?;
    for block in received {
        let written = writer.write_all(&block).and_then(|()| writer.flush());
        if written.is_err() {
            // Finishing tells why.
            return writer.finish();
        }
    }
    writer.finish()
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
