//! Extracts the records of `COPY … TO STDOUT` from the network stream. The server sends each record
//! in a separate message. `tokio-postgres` allocates an object for every message and passes it
//! between tasks, which takes longer than reading it. This module removes record messages from the
//! stream and collects them in blocks. It passes all other messages to `tokio-postgres` unchanged.

use std::io;
use std::pin::Pin;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Maximum number of bytes per read.
const READ: usize = 1 << 16;
/// Pause before the next read after all received bytes were processed. The server sends small
/// pieces, and a wakeup for each of them takes both sides longer than the transfer.
const PAUSE: Duration = Duration::from_micros(200);
/// Size of a message header: a type byte and the length of the message without the type byte.
const HEADER: usize = 5;
/// Type byte of record messages.
const RECORD: u8 = b'd';

/// Channel for blocks of whole records.
pub(super) type Blocks = SyncSender<io::Result<Vec<u8>>>;

/// Extracts records from a connection while a receiver is registered.
#[derive(Clone, Default)]
pub(super) struct Tap(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Whether the stream consists of messages. It does after the connection was established.
    in_messages: bool,
    wanted: Option<Wanted>,
}

/// Receiver of records, with the block being filled.
struct Wanted {
    block: Vec<u8>,
    /// Approximate size of a block in bytes.
    size: usize,
    blocks: Blocks,
}

impl Tap {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the interpretation of the stream as messages.
    pub(super) fn begin(&self) {
        self.state().in_messages = true;
    }

    /// Starts the extraction. Records are sent to `blocks` in blocks of about `size` bytes.
    pub(super) fn open(&self, size: usize, blocks: Blocks) {
        let block = Vec::with_capacity(size + (size >> 4));
        self.state().wanted = Some(Wanted { block, size, blocks });
    }

    /// Stops the extraction. Sends the last block if `is_whole` is set.
    pub(super) fn close(&self, is_whole: bool) {
        let wanted =
            self.state().wanted.take().filter(|wanted| is_whole && !wanted.block.is_empty());
        if let Some(Wanted { block, blocks, .. }) = wanted {
            let _ = blocks.send(Ok(block));
        }
    }
}

impl Wanted {
    /// Called after each record. Sends the block if it is full. Returns whether the receiver still
    /// accepts blocks.
    fn is_wanted(&mut self) -> bool {
        if self.block.len() < self.size {
            return true;
        }
        let room = Vec::with_capacity(self.size + (self.size >> 4));
        self.blocks.send(Ok(std::mem::replace(&mut self.block, room))).is_ok()
    }
}

/// A connection with a [`Tap`].
pub(super) struct Tapped<S> {
    stream: S,
    tap: Tap,
    /// Buffer of bytes that were read but not processed.
    read: Box<[u8]>,
    from: usize,
    upto: usize,
    message: Message,
}

/// State of the current message.
#[derive(Default)]
struct Message {
    header: [u8; HEADER],
    /// Number of header bytes received, and number of header bytes passed on.
    came: usize,
    went: usize,
    /// Remaining bytes of the body.
    left: usize,
    is_record: bool,
}

impl Message {
    /// Whether the next byte starts a new message.
    fn is_over(&self) -> bool {
        self.came == HEADER && self.left == 0 && (self.is_record || self.went == HEADER)
    }
}

impl<S> Tapped<S> {
    pub(super) fn new(stream: S, tap: Tap) -> Tapped<S> {
        let read = vec![0; READ].into_boxed_slice();
        Tapped { stream, tap, read, from: 0, upto: 0, message: Message::default() }
    }

    /// Processes the buffer: appends records to the block, and other bytes to `others` while it has
    /// space.
    fn sort(&mut self, others: &mut ReadBuf<'_>) -> io::Result<()> {
        let mut state = self.tap.state();
        let message = &mut self.message;
        loop {
            if message.is_over() {
                let was_record = message.is_record;
                *message = Message::default();
                if was_record && state.wanted.as_mut().is_some_and(|wanted| !wanted.is_wanted()) {
                    // The receiver was dropped. Pass the remaining records to `tokio-postgres`,
                    // whose caller then notices it.
                    state.wanted = None;
                }
            }
            let here = &self.read[self.from..self.upto];
            if message.came < HEADER {
                if here.is_empty() {
                    return Ok(());
                }
                let n = here.len().min(HEADER - message.came);
                message.header[message.came..message.came + n].copy_from_slice(&here[..n]);
                (message.came, self.from) = (message.came + n, self.from + n);
                if message.came == HEADER {
                    let [letter, length @ ..] = message.header;
                    let left = (u32::from_be_bytes(length) as usize).checked_sub(HEADER - 1);
                    message.left =
                        left.ok_or_else(|| io::Error::other("the server sends no message"))?;
                    message.is_record = letter == RECORD && state.wanted.is_some();
                }
                continue;
            }
            if message.is_record
                && let Some(wanted) = &mut state.wanted
            {
                let n = here.len().min(message.left);
                // More bytes of the record must be read first.
                if n == 0 && message.left > 0 {
                    return Ok(());
                }
                wanted.block.extend_from_slice(&here[..n]);
                (message.left, self.from) = (message.left - n, self.from + n);
                continue;
            }
            // Not a record, or no receiver. Pass on the header, then the body, while `others` has
            // space.
            let header = &message.header[message.went..];
            let n = header.len().min(others.remaining());
            others.put_slice(&header[..n]);
            message.went += n;
            let n = here.len().min(message.left).min(others.remaining());
            others.put_slice(&here[..n]);
            (message.left, self.from) = (message.left - n, self.from + n);
            if !message.is_over() {
                return Ok(());
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Tapped<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        others: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let own = self.get_mut();
        if !own.tap.state().in_messages {
            return Pin::new(&mut own.stream).poll_read(context, others);
        }
        let before = others.filled().len();
        loop {
            own.sort(others)?;
            // A result without bytes would mean the end of the stream. If `sort` passed nothing on,
            // read more.
            if others.filled().len() > before || others.remaining() == 0 {
                return Poll::Ready(Ok(()));
            }
            let mut room = ReadBuf::new(&mut own.read);
            let Poll::Ready(read) = Pin::new(&mut own.stream).poll_read(context, &mut room) else {
                if own.tap.state().wanted.is_some() {
                    std::thread::sleep(PAUSE);
                }
                return Poll::Pending;
            };
            read?;
            (own.from, own.upto) = (0, room.filled().len());
            if own.upto == 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Tapped<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use proptest::prelude::*;
    use tokio::io::AsyncReadExt;

    use super::*;

    /// A stream that returns its bytes in pieces of these sizes.
    struct Pieces {
        bytes: Vec<u8>,
        sizes: Vec<usize>,
        at: usize,
    }

    impl AsyncRead for Pieces {
        fn poll_read(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            room: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            let size =
                self.sizes.pop().unwrap_or(7).min(room.remaining()).min(self.bytes.len() - self.at);
            room.put_slice(&self.bytes[self.at..self.at + size]);
            self.at += size;
            Poll::Ready(Ok(()))
        }
    }

    fn message(letter: u8, body: &[u8]) -> Vec<u8> {
        let mut bytes = vec![letter];
        bytes.extend((body.len() as u32 + 4).to_be_bytes());
        bytes.extend_from_slice(body);
        bytes
    }

    proptest! {
        /// For all sizes of reads and buffers, the blocks contain all records and the other
        /// messages are unchanged.
        #[test]
        fn records_are_taken_out_and_the_rest_stays(
            messages in prop::collection::vec((prop::sample::select(b"dTCdZd".to_vec()), prop::collection::vec(0u8..3, 0..9)), 0..30),
            sizes in prop::collection::vec(1usize..20, 0..40),
            room in 1usize..12,
            size in 1usize..20,
        ) {
            let bytes = messages.iter().flat_map(|(letter, body)| message(*letter, body)).collect();
            let tap = Tap::default();
            let mut tapped = Tapped::new(Pieces { bytes, sizes, at: 0 }, tap.clone());
            let (send, blocks) = sync_channel(100);
            tap.begin();
            tap.open(size, send);
            let mut others = Vec::new();
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(async {
                let mut buffer = vec![0; room];
                loop {
                    match tapped.read(&mut buffer).await.unwrap() {
                        0 => break,
                        n => others.extend_from_slice(&buffer[..n]),
                    }
                }
            });
            tap.close(true);
            let blocks: Vec<Vec<u8>> = blocks.into_iter().map(Result::unwrap).collect();
            let records: Vec<&Vec<u8>> = messages.iter().filter(|m| m.0 == RECORD).map(|m| &m.1).collect();
            let rest: Vec<u8> = messages.iter().filter(|m| m.0 != RECORD).flat_map(|m| message(m.0, &m.1)).collect();
            prop_assert_eq!(others, rest);
            prop_assert_eq!(blocks.concat(), records.iter().flat_map(|r| r.iter().copied()).collect::<Vec<u8>>());
            // A block is sent when it is full, and always ends with a whole record.
            let mut ends = vec![0];
            records.iter().for_each(|record| ends.push(ends[ends.len() - 1] + record.len()));
            let mut end = 0;
            for (i, block) in blocks.iter().enumerate() {
                end += block.len();
                prop_assert!(ends.contains(&end));
                prop_assert!(block.len() >= size || i + 1 == blocks.len());
                prop_assert!(block.len() < size + 9);
            }
        }
    }

    #[test]
    fn what_nobody_wants_goes_the_usual_way() {
        let bytes: Vec<u8> = (0..5).flat_map(|_| message(RECORD, b"xyz")).collect();
        let tap = Tap::default();
        let mut tapped =
            Tapped::new(Pieces { bytes: bytes.clone(), sizes: Vec::new(), at: 0 }, tap.clone());
        let (send, blocks) = sync_channel(100);
        drop(blocks);
        tap.begin();
        tap.open(6, send);
        let mut others = Vec::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(tapped.read_to_end(&mut others)).unwrap();
        // The rejected block was filled by two records.
        assert_eq!(others, bytes[2 * 8..]);
    }
}
