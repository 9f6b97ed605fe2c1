//! Records of `COPY … TO STDOUT` taken off the wire. The server sends each record in a message of its own. `tokio-postgres` makes an
//! object of every message and hands it on from one task to another, which takes longer than to read it. Here messages with
//! records are taken out of what comes and put into blocks; all others go on to `tokio-postgres` as they are.

use std::io;
use std::pin::Pin;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How many bytes are read at a time, at most.
const READ: usize = 1 << 16;
/// Whoever has read all that came waits so long before he looks again: the server sends little at a time, and to be woken for each
/// piece takes both sides longer than to read it.
const PAUSE: Duration = Duration::from_micros(200);
/// A message begins with a letter and the number of bytes that follow the letter.
const HEADER: usize = 5;
/// The letter of messages with records.
const RECORD: u8 = b'd';

/// Where blocks of whole records go.
pub(super) type Blocks = SyncSender<io::Result<Vec<u8>>>;

/// Takes records out of what comes by a connection, while somebody wants them.
#[derive(Clone, Default)]
pub(super) struct Tap(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Whether what comes are messages. They are once the connection is made.
    in_messages: bool,
    wanted: Option<Wanted>,
}

/// Records that somebody wants.
struct Wanted {
    block: Vec<u8>,
    /// A block has so many bytes, about.
    size: usize,
    blocks: Blocks,
}

impl Tap {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on messages come.
    pub(super) fn begin(&self) {
        self.state().in_messages = true;
    }

    /// From now on records go there, in blocks of about that size.
    pub(super) fn open(&self, size: usize, blocks: Blocks) {
        let block = Vec::with_capacity(size + (size >> 4));
        self.state().wanted = Some(Wanted { block, size, blocks });
    }

    /// Takes no more records. Sends what is left, if it is whole.
    pub(super) fn close(&self, is_whole: bool) {
        let wanted = self.state().wanted.take().filter(|wanted| is_whole && !wanted.block.is_empty());
        if let Some(Wanted { block, blocks, .. }) = wanted {
            let _ = blocks.send(Ok(block));
        }
    }
}

impl Wanted {
    /// After a record: sends the block if it is full. Whether somebody wants more.
    fn is_wanted(&mut self) -> bool {
        if self.block.len() < self.size {
            return true;
        }
        let room = Vec::with_capacity(self.size + (self.size >> 4));
        self.blocks.send(Ok(std::mem::replace(&mut self.block, room))).is_ok()
    }
}

/// A connection with a tap.
pub(super) struct Tapped<S> {
    stream: S,
    tap: Tap,
    /// What was read and not looked at yet.
    read: Box<[u8]>,
    from: usize,
    upto: usize,
    message: Message,
}

/// How far a message has come.
#[derive(Default)]
struct Message {
    header: [u8; HEADER],
    /// How many bytes of the header have come, and how many of those went on.
    came: usize,
    went: usize,
    /// How many bytes of its body are to come.
    left: usize,
    is_record: bool,
}

impl Message {
    /// Whether the next byte begins another one.
    fn is_over(&self) -> bool {
        self.came == HEADER && self.left == 0 && (self.is_record || self.went == HEADER)
    }
}

impl<S> Tapped<S> {
    pub(super) fn new(stream: S, tap: Tap) -> Tapped<S> {
        let read = vec![0; READ].into_boxed_slice();
        Tapped { stream, tap, read, from: 0, upto: 0, message: Message::default() }
    }

    /// Sorts what was read: records into blocks, everything else into `others` as far as it has room.
    fn sort(&mut self, others: &mut ReadBuf<'_>) -> io::Result<()> {
        let mut state = self.tap.state();
        let message = &mut self.message;
        loop {
            if message.is_over() {
                let was_record = message.is_record;
                *message = Message::default();
                if was_record && state.wanted.as_mut().is_some_and(|wanted| !wanted.is_wanted()) {
                    // The rest goes the usual way, and whoever waits there hears of it.
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
                    message.left = left.ok_or_else(|| io::Error::other("the server sends no message"))?;
                    message.is_record = letter == RECORD && state.wanted.is_some();
                }
                continue;
            }
            if message.is_record
                && let Some(wanted) = &mut state.wanted
            {
                let n = here.len().min(message.left);
                if n == 0 && message.left > 0 {
                    return Ok(());
                }
                wanted.block.extend_from_slice(&here[..n]);
                (message.left, self.from) = (message.left - n, self.from + n);
                continue;
            }
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

    /// What comes, in pieces of these sizes.
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
            let size = self.sizes.pop().unwrap_or(7).min(room.remaining()).min(self.bytes.len() - self.at);
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
        /// However bytes come and whatever room there is: records are in blocks, the rest is as it was.
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
            // Blocks end where records end, and as soon as they are full.
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
        let mut tapped = Tapped::new(Pieces { bytes: bytes.clone(), sizes: Vec::new(), at: 0 }, tap.clone());
        let (send, blocks) = sync_channel(100);
        drop(blocks);
        tap.begin();
        tap.open(6, send);
        let mut others = Vec::new();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(tapped.read_to_end(&mut others)).unwrap();
        // Two records filled the block that was refused.
        assert_eq!(others, bytes[2 * 8..]);
    }
}
