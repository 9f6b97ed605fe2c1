//! Writing past the cache.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Result};
use std::path::Path;
use std::time::{Duration, Instant};

use super::{BLOCK, ROOM, Room, open};

/// After so many bytes a disk has shown how fast it is.
const LOOK: usize = 64 << 20;
/// A disk that takes fewer bytes in a second is slow: then waiting for it costs more than copying.
const SLOW: f64 = 1e9;

/// A file whose bytes go past the cache.
#[derive(Debug)]
pub(crate) struct PastWriter {
    file: File,
    room: Room,
    /// How many bytes are there that are not sent yet, and where the first of them belongs in the file.
    held: usize,
    at: u64,
    /// How many bytes went lately, and how long it took.
    sent: usize,
    took: Duration,
    /// Fewer bytes in a second are too few.
    slow: f64,
}

/// How sending went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Went {
    /// The whole blocks are on their way, and so may the next be.
    Well,
    /// What is still held, and all that comes, should go through the cache.
    Enough,
}

impl PastWriter {
    /// Opens a file for writing from `at` on, if that can be done here.
    pub(crate) fn open(path: &Path, at: u64) -> Option<PastWriter> {
        let file =
            open(path, OpenOptions::new().write(true)).ok().filter(|_| at.is_multiple_of(BLOCK as u64))?;
        Some(PastWriter { file, room: Room::new()?, held: 0, at, sent: 0, took: Duration::ZERO, slow: SLOW })
    }

    /// The file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Takes as many bytes as there is room for.
    pub(crate) fn hold(&mut self, bytes: &[u8]) -> usize {
        let taken = bytes.len().min(ROOM - self.held);
        self.room.all_mut()[self.held..self.held + taken].copy_from_slice(&bytes[..taken]);
        self.held += taken;
        taken
    }

    /// Whether there is no room for more.
    pub(crate) fn is_full(&self) -> bool {
        self.held == ROOM
    }

    /// What is not sent yet, and where it belongs.
    pub(crate) fn held(&self) -> (u64, &[u8]) {
        (self.at, &self.room.all()[..self.held])
    }

    /// Sends all whole blocks. What does not fill one stays.
    pub(crate) fn send(&mut self) -> Result<Went> {
        let whole = self.held - self.held % BLOCK;
        let began = Instant::now();
        let mut gone = 0;
        let mut went = Went::Well;
        while gone < whole {
            match write_at(&self.file, &self.room.all()[gone..whole], self.at) {
                Ok(n) if n > 0 && n.is_multiple_of(BLOCK) => {
                    gone += n;
                    self.at += n as u64;
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() != ErrorKind::InvalidInput => return Err(e),
                // Not all of a block was taken, or none may be: whoever writes it through the cache learns what is wrong, if anything.
                _ => {
                    went = Went::Enough;
                    break;
                }
            }
        }
        self.room.all_mut().copy_within(gone..self.held, 0);
        self.held -= gone;
        self.sent += gone;
        self.took += began.elapsed();
        if self.sent >= LOOK {
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
            for room in 1..=LOOK / ROOM {
                assert_eq!(past.hold(&text(ROOM + 1)), ROOM);
                assert!(past.is_full());
                let sent = past.send().unwrap();
                assert_eq!(sent, if room < LOOK / ROOM { Went::Well } else { expected });
                assert_eq!(past.held(), ((room * ROOM) as u64, &[][..]));
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
        // No disk has blocks that begin there.
        let mut past = PastWriter { at: 7, ..PastWriter::open(&path, 0).unwrap() };
        past.hold(&text(2 * BLOCK));
        assert_eq!(past.send().unwrap(), Went::Enough);
        assert_eq!(past.held(), (7, text(2 * BLOCK).as_slice()));
    }
}
