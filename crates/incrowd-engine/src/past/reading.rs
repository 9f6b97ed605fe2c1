//! Direct reading. A separate thread reads ahead.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use super::{AlignedBuffer, BLOCK, BUFFER_BYTES, open};

/// The number of buffers that are being filled, waiting or being read.
const BUFFERS: usize = 3;

/// Reads a file from beginning to end with direct I/O.
#[derive(Debug)]
pub(crate) struct PastReader {
    filled: Receiver<Result<Filled>>,
    emptied: Sender<AlignedBuffer>,
    now: Option<Filled>,
}

/// A buffer with bytes of the file.
#[derive(Debug)]
struct Filled {
    buffer: AlignedBuffer,
    bytes: usize,
    used: usize,
}

impl PastReader {
    /// Opens a file, if it supports direct I/O.
    pub(crate) fn open(path: &Path) -> Option<PastReader> {
        let file = open(path, OpenOptions::new().read(true)).ok()?;
        let cached = File::open(path).ok()?;
        let (give, filled) = sync_channel(BUFFERS);
        let (emptied, take) = channel();
        for _ in 0..BUFFERS {
            emptied.send(AlignedBuffer::new()?).ok()?;
        }
        let ahead = Ahead { file, cached, at: 0, past: true };
        let reads = move || ahead.run(&take, &give);
        std::thread::Builder::new().name("incrowd read".to_owned()).spawn(reads).ok()?;
        Some(PastReader { filled, emptied, now: None })
    }
}

impl Read for PastReader {
    fn read(&mut self, wanted: &mut [u8]) -> Result<usize> {
        let mut now = match self.now.take() {
            Some(now) => now,
            // The reader thread sends an empty buffer at end of file. A closed channel without it
            // is an error.
            None => self.filled.recv().map_err(|_| Error::other("reading ahead stopped"))??,
        };
        let taken = wanted.len().min(now.bytes - now.used);
        wanted[..taken].copy_from_slice(&now.buffer.all()[now.used..now.used + taken]);
        now.used += taken;
        // The empty buffer at end of file is kept, so that further reads return 0.
        if now.used < now.bytes || now.bytes == 0 {
            self.now = Some(now);
        } else {
            self.emptied.send(now.buffer).ok();
        }
        Ok(taken)
    }
}

/// The state of the reader thread.
struct Ahead {
    file: File,
    /// The same file through the page cache. Some file systems reject direct I/O only on the first
    /// read.
    cached: File,
    at: u64,
    past: bool,
}

impl Ahead {
    /// Fills buffers. Stops at end of file after sending an empty buffer, after an error, or when
    /// the receiver is gone.
    fn run(mut self, take: &Receiver<AlignedBuffer>, give: &SyncSender<Result<Filled>>) {
        while let Ok(mut buffer) = take.recv() {
            let next = self.fill(&mut buffer).map(|bytes| Filled { buffer, bytes, used: 0 });
            let is_last = next.as_ref().map_or(true, |filled| filled.bytes == 0);
            if give.send(next).is_err() || is_last {
                return;
            }
        }
    }

    fn fill(&mut self, buffer: &mut AlignedBuffer) -> Result<usize> {
        let mut bytes = 0;
        while bytes < BUFFER_BYTES {
            // Only the last block of a file may be short. After a short block a direct read would
            // be unaligned.
            if self.past && !bytes.is_multiple_of(BLOCK) {
                break;
            }
            match self.read(&mut buffer.all_mut()[bytes..]) {
                Ok(0) => break,
                Ok(n) => {
                    bytes += n;
                    self.at += n as u64;
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::InvalidInput && self.past => {
                    self.past = false;
                    self.cached.seek(SeekFrom::Start(self.at))?;
                }
                Err(e) => return Err(e),
            }
        }
        Ok(bytes)
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if self.past { read_at(&self.file, buffer, self.at) } else { self.cached.read(buffer) }
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, at)
}

#[cfg(not(unix))]
fn read_at(_: &File, _: &mut [u8], _: u64) -> Result<usize> {
    Err(ErrorKind::InvalidInput.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::past::tests::{skipped, takes_all, text};

    #[test]
    fn files_of_any_length_are_read_whole_or_in_part() {
        let directory = tempfile::tempdir().unwrap();
        if skipped(directory.path()) {
            return;
        }
        let path = directory.path().join("large");
        for bytes in [
            0,
            1,
            BLOCK - 1,
            BLOCK,
            BLOCK + 1,
            BUFFER_BYTES - 1,
            BUFFER_BYTES,
            BUFFER_BYTES + 1,
            4 * BUFFER_BYTES + 5,
        ] {
            std::fs::write(&path, text(bytes)).unwrap();
            let mut all = Vec::new();
            PastReader::open(&path).unwrap().read_to_end(&mut all).unwrap();
            assert!(all == text(bytes), "{bytes} bytes");
            // If the reader is dropped early, its thread must not block for ever.
            let mut some = vec![0; bytes.min(10)];
            PastReader::open(&path).unwrap().read_exact(&mut some).unwrap();
            assert_eq!(some, &text(bytes)[..some.len()]);
        }
        std::fs::remove_file(&path).unwrap();
        assert!(PastReader::open(&path).is_none());
    }

    #[test]
    fn what_goes_wrong_is_no_end() {
        let directory = tempfile::tempdir().unwrap();
        // Reading a directory fails, with direct I/O and without.
        let cached = || File::open(directory.path());
        let (Ok(file), Ok(cached)) = (cached(), cached()) else {
            incrowd_testing::skip!("a directory cannot be opened here");
        };
        let (give, filled) = sync_channel(BUFFERS);
        let (emptied, take) = channel();
        emptied.send(AlignedBuffer::new().unwrap()).unwrap();
        Ahead { file, cached, at: 0, past: true }.run(&take, &give);
        let mut reader = PastReader { filled, emptied, now: None };
        assert!(reader.read(&mut [0; 10]).is_err());
        // A closed channel without an empty buffer is not the end of file.
        drop(give);
        assert!(reader.read(&mut [0; 10]).is_err());
    }

    #[test]
    fn what_cannot_be_read_past_the_cache_is_read_through_it() {
        let directory = tempfile::tempdir().unwrap();
        if skipped(directory.path()) || takes_all(directory.path()) {
            return;
        }
        let path = directory.path().join("large");
        std::fs::write(&path, text(BUFFER_BYTES)).unwrap();
        let file = open(&path, OpenOptions::new().read(true)).unwrap();
        // No disk has blocks with this alignment.
        let mut ahead = Ahead { file, cached: File::open(&path).unwrap(), at: 7, past: true };
        let mut buffer = AlignedBuffer::new().unwrap();
        assert_eq!(ahead.fill(&mut buffer).unwrap(), BUFFER_BYTES - 7);
        assert!(!ahead.past && buffer.all()[..BUFFER_BYTES - 7] == text(BUFFER_BYTES)[7..]);
    }
}
