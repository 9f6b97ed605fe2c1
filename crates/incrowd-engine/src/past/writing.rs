//! Direct writing.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Result};
use std::path::Path;
use std::time::{Duration, Instant};

use super::{AlignedBuffer, BLOCK, BUFFER_BYTES, open};

/// The number of bytes after which the speed of the disk is evaluated.
const EVALUATED: usize = 64 << 20;
/// The minimum speed in bytes per second. Below it, waiting for the disk costs more than copying to
/// the page cache.
const SLOW: f64 = 1e9;

/// Writes a file with direct I/O.
#[derive(Debug)]
pub(crate) struct PastWriter {
    file: File,
    buffer: AlignedBuffer,
    /// The number of buffered bytes, and the file offset of the first of them.
    held: usize,
    at: u64,
    /// The bytes written since the last evaluation of the speed, and the time they took.
    sent: usize,
    took: Duration,
    /// The minimum speed in bytes per second.
    slow: f64,
}

/// The result of [`PastWriter::send`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Went {
    /// The whole blocks were written. Direct I/O may continue.
    Well,
    /// The buffered bytes and all further bytes should go through the page cache.
    Enough,
}

impl PastWriter {
    /// Opens a file for writing from offset `at` on, if it supports direct I/O.
    pub(crate) fn open(path: &Path, at: u64) -> Option<PastWriter> {
        let file = open(path, OpenOptions::new().write(true))
            .ok()
            .filter(|_| at.is_multiple_of(BLOCK as u64))?;
        Some(PastWriter {
            file,
            buffer: AlignedBuffer::new()?,
            held: 0,
            at,
            sent: 0,
            took: Duration::ZERO,
            slow: SLOW,
        })
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Copies as many bytes as fit into the buffer. Returns their number.
    pub(crate) fn hold(&mut self, bytes: &[u8]) -> usize {
        let taken = bytes.len().min(BUFFER_BYTES - self.held);
        self.buffer.all_mut()[self.held..self.held + taken].copy_from_slice(&bytes[..taken]);
        self.held += taken;
        taken
    }

    /// Whether the buffer is full.
    pub(crate) fn is_full(&self) -> bool {
        self.held == BUFFER_BYTES
    }

    /// The buffered bytes, and the file offset of the first of them.
    pub(crate) fn held(&self) -> (u64, &[u8]) {
        (self.at, &self.buffer.all()[..self.held])
    }

    /// Writes all whole blocks. An incomplete last block stays in the buffer.
    pub(crate) fn send(&mut self) -> Result<Went> {
        let whole = self.held - self.held % BLOCK;
        let began = Instant::now();
        let mut gone = 0;
        let mut went = Went::Well;
        while gone < whole {
            match write_at(&self.file, &self.buffer.all()[gone..whole], self.at) {
                Ok(n) if n > 0 && n.is_multiple_of(BLOCK) => {
                    gone += n;
                    self.at += n as u64;
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() != ErrorKind::InvalidInput => return Err(e),
                // The write was not a whole number of blocks, or the file system rejects direct
                // I/O. The caller writes the rest through the page cache, which reports an error if
                // there is one.
                _ => {
                    went = Went::Enough;
                    break;
                }
            }
        }
        self.buffer.all_mut().copy_within(gone..self.held, 0);
        self.held -= gone;
        self.sent += gone;
        self.took += began.elapsed();
        if self.sent >= EVALUATED {
            if self.took.as_secs_f64() * self.slow > self.sent as f64 {
                went = Went::Enough;
            }
            (self.sent, self.took) = (0, Duration::ZERO);
        }
        Ok(went)
    }
}

#[cfg(unix)]
pub(super) fn write_at(file: &File, bytes: &[u8], at: u64) -> Result<usize> {
    std::os::unix::fs::FileExt::write_at(file, bytes, at)
}

#[cfg(not(unix))]
pub(super) fn write_at(_: &File, _: &[u8], _: u64) -> Result<usize> {
    Err(ErrorKind::InvalidInput.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::past::tests::{skipped, takes_all, text};

    #[test]
    fn a_slow_disk_is_given_no_more() {
        let directory = tempfile::tempdir().unwrap();
        if skipped(directory.path()) {
            return;
        }
        let path = directory.path().join("large");
        std::fs::write(&path, "").unwrap();
        for (slow, expected) in [(0.0, Went::Well), (f64::INFINITY, Went::Enough)] {
            let mut past = PastWriter { slow, ..PastWriter::open(&path, 0).unwrap() };
            for buffer in 1..=EVALUATED / BUFFER_BYTES {
                assert_eq!(past.hold(&text(BUFFER_BYTES + 1)), BUFFER_BYTES);
                assert!(past.is_full());
                let sent = past.send().unwrap();
                assert_eq!(
                    sent,
                    if buffer < EVALUATED / BUFFER_BYTES { Went::Well } else { expected }
                );
                assert_eq!(past.held(), ((buffer * BUFFER_BYTES) as u64, &[][..]));
            }
        }
    }

    #[test]
    fn what_is_refused_is_still_held() {
        let directory = tempfile::tempdir().unwrap();
        if skipped(directory.path()) || takes_all(directory.path()) {
            return;
        }
        let path = directory.path().join("large");
        std::fs::write(&path, "").unwrap();
        assert!(PastWriter::open(&path, 7).is_none());
        // No disk has blocks with this alignment.
        let mut past = PastWriter { at: 7, ..PastWriter::open(&path, 0).unwrap() };
        past.hold(&text(2 * BLOCK));
        assert_eq!(past.send().unwrap(), Went::Enough);
        assert_eq!(past.held(), (7, text(2 * BLOCK).as_slice()));
    }
}
