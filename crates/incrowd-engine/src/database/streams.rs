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

use super::session::{Session, database_error};

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
    /// Thread that receives the records. `None` after the last block.
    thread: Option<JoinHandle<()>>,
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
        let thread = std::thread::spawn(move || {
            if let Err(error) = copy_out(&session, before, &sql, &send) {
                let stopped = database_error("the server stopped", &error);
                let _ = send.send(Err(io::Error::other(stopped.message().to_owned())));
            }
        });
        FromServer { blocks, thread: Some(thread) }
    }
}

impl Iterator for FromServer {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<io::Result<Vec<u8>>> {
        if let Ok(block) = self.blocks.recv() {
            return Some(block);
        }
        // The thread has ended. If it panicked, records are missing.
        let panicked = self.thread.take()?.join().is_err();
        panicked.then(|| Err(io::Error::other("the thread that reads the table panicked")))
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
    // An error of the server or of the connection drops the last block. The stream only ends
    // without an error after the message `CopyDone`.
    client.wait(async |client| {
        let mut records = pin!(client.copy_out(sql).await?);
        let mut block = Vec::with_capacity(room);
        while let Some(record) = records.next().await.transpose()? {
            block.extend_from_slice(&record);
            // `send` waits while the queue is full, and nothing is read from the connection
            // meanwhile. It fails if the receiver was dropped.
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
    })
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
                let stopped = database_error("the server does not take the release", &error);
                *reason.lock().unwrap_or_else(PoisonError::into_inner) =
                    Some(stopped.message().to_owned());
                stopped
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

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{Shutdown, TcpListener, TcpStream};
    use std::time::Duration;

    use super::super::address::Address;
    use super::*;

    fn message(letter: u8, body: &[u8]) -> Vec<u8> {
        let length = (body.len() as u32 + 4).to_be_bytes();
        [&[letter], length.as_slice(), body].concat()
    }

    /// Reads a message of the client. Returns its letter.
    fn heard(socket: &mut TcpStream) -> Option<u8> {
        let mut header = [0; 5];
        socket.read_exact(&mut header).ok()?;
        let [letter, length @ ..] = header;
        let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
        socket.read_exact(&mut body).ok()?;
        Some(letter)
    }

    /// Answers one connection. `answer` answers the `COPY` and returns whether the connection shall
    /// last.
    fn talk(mut socket: TcpStream, answer: impl FnOnce(&mut TcpStream) -> bool) -> Option<()> {
        let ready = message(b'Z', b"T");
        let mut length = [0; 4];
        socket.read_exact(&mut length).ok()?;
        let mut startup = vec![0; u32::from_be_bytes(length) as usize - 4];
        socket.read_exact(&mut startup).ok()?;
        socket.write_all(&[message(b'R', &[0; 4]), ready.clone()].concat()).ok()?;
        let mut answer = Some(answer);
        loop {
            let said = match heard(&mut socket)? {
                b'P' => message(b'1', b""),
                b'D' => [message(b't', &[0; 2]), message(b'n', b"")].concat(),
                b'C' => message(b'3', b""),
                b'B' => message(b'2', b""),
                b'Q' => [message(b'C', b"SET\0"), ready.clone()].concat(),
                b'S' => ready.clone(),
                b'E' => {
                    socket.write_all(&message(b'H', &[0; 3])).ok()?;
                    if !answer.take().expect("one COPY")(&mut socket) {
                        // Unread bytes of the client would reset the connection, and the client
                        // would lose bytes that were sent.
                        socket.shutdown(Shutdown::Write).ok()?;
                        io::copy(&mut socket, &mut io::sink()).ok()?;
                        return None;
                    }
                    Vec::new()
                }
                _ => return None,
            };
            socket.write_all(&said).ok()?;
        }
    }

    /// Connects to a server that answers a `COPY` like this.
    fn served(
        listener: &TcpListener,
        answer: impl FnOnce(&mut TcpStream) -> bool + Send + 'static,
    ) -> (Session, JoinHandle<Option<()>>) {
        let server = listener.try_clone().unwrap();
        let server = std::thread::spawn(move || talk(server.accept().unwrap().0, answer));
        let port = listener.local_addr().unwrap().port();
        let path = format!("postgresql://me@127.0.0.1:{port}/db?table=t&sslmode=disable");
        (Session::begin(&Address::parse(&path).unwrap(), "READ ONLY").unwrap(), server)
    }

    /// The end of a `COPY`: `CopyDone`, then `CommandComplete`.
    fn over() -> Vec<u8> {
        [message(b'c', b""), message(b'C', b"COPY 1\0")].concat()
    }

    /// The blocks of a `COPY` that the server answers with these bytes.
    fn received(listener: &TcpListener, answer: Vec<u8>, lasts: bool) -> io::Result<Vec<Vec<u8>>> {
        let (session, server) = served(listener, move |socket| {
            let _ = socket.write_all(&answer);
            lasts
        });
        let blocks = FromServer::start(&session, None, "COPY t TO STDOUT".to_owned()).collect();
        drop(session);
        server.join().unwrap();
        blocks
    }

    #[test]
    fn a_connection_that_breaks_is_an_error_and_never_a_shorter_table() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let records = ["a,1\n", "", "\"b\nc\",2\n", "d,3\n"];
        let mut bytes: Vec<u8> =
            records.iter().flat_map(|record| message(b'd', record.as_bytes())).collect();
        let needed = bytes.len() + message(b'c', b"").len();
        bytes.extend(over());
        for cut in 0..=bytes.len() {
            match received(&listener, bytes[..cut].to_vec(), false) {
                Ok(blocks) => {
                    assert!(cut >= needed && blocks.concat() == records.concat().as_bytes())
                }
                Err(error) => assert!(cut < needed, "{cut}: {error}"),
            }
        }
        let blocks = received(&listener, bytes, true).unwrap();
        assert_eq!(blocks, [records.concat().as_bytes()]);
    }

    #[test]
    fn an_error_of_the_server_comes_last_and_shows_no_cell() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut bytes = message(b'd', &vec![b'x'; BLOCK]);
        bytes.extend(message(b'd', b"more\n"));
        bytes.extend(message(b'E', b"SERROR\0C22P02\0Mthe cell is secret\0\0"));
        let (session, server) = served(&listener, move |socket| socket.write_all(&bytes).is_ok());
        let blocks = FromServer::start(&session, None, "COPY t TO STDOUT".to_owned());
        let blocks: Vec<io::Result<Vec<u8>>> = blocks.collect();
        let [Ok(first), Err(error)] = blocks.as_slice() else { panic!("{}", blocks.len()) };
        assert_eq!(first.len(), BLOCK);
        let error = error.to_string();
        assert!(error.contains("22P02") && !error.contains("secret"), "{error}");
        drop(session);
        server.join().unwrap();
    }

    #[test]
    fn records_arrive_in_large_blocks_of_whole_records() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let records: Vec<String> =
            (0..90_000).map(|i| format!("{i},{}\n", "x".repeat(i % 97))).collect();
        let mut bytes: Vec<u8> =
            records.iter().flat_map(|record| message(b'd', record.as_bytes())).collect();
        bytes.extend(over());
        let blocks = received(&listener, bytes, true).unwrap();
        assert_eq!(blocks.concat(), records.concat().as_bytes());
        let (last, full) = blocks.split_last().unwrap();
        assert!(full.len() > 3 && !last.is_empty());
        assert!(full.iter().all(|block| block.ends_with(b"\n") && block.len() >= BLOCK));
        assert!(blocks.iter().all(|block| block.len() < BLOCK + 200));
    }

    #[test]
    fn a_reader_that_waits_makes_the_server_wait_and_one_that_stops_frees_the_connection() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (stopped, stops) = sync_channel(1);
        let (session, server) = served(&listener, move |socket| {
            let (record, mut sent) = (message(b'd', &vec![b'x'; BLOCK]), 0);
            socket.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
            let mut has_waited = false;
            // More than the queue and the buffers of the sockets take.
            while sent < 100 * record.len() {
                match socket.write(&record[sent % record.len()..]) {
                    Ok(n) => sent += n,
                    Err(_) if has_waited => return false,
                    Err(_) => {
                        has_waited = true;
                        socket.set_write_timeout(Some(Duration::from_secs(60))).unwrap();
                        stopped.send(()).unwrap();
                    }
                }
            }
            has_waited && socket.write_all(&over()).is_ok()
        });
        let mut blocks = FromServer::start(&session, None, "COPY t TO STDOUT".to_owned());
        stops.recv().expect("the server waits");
        assert_eq!(blocks.next().unwrap().unwrap().len(), BLOCK);
        drop(blocks);
        // The connection skips the rest.
        session.run("SELECT 1", "it fails").unwrap();
        drop(session);
        server.join().unwrap();
    }
}
