//! Reading past the cache: a thread of its own is always some blocks ahead.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

use super::{BLOCK, ROOM, Room, open};

/// How many rooms are filled, waiting or being emptied.
const ROOMS: usize = 3;

/// A file that is read from its beginning to its end, past the cache.
#[derive(Debug)]
pub(crate) struct PastReader {
    filled: Receiver<Result<Filled>>,
    emptied: Sender<Room>,
    now: Option<Filled>,
}

/// Bytes of the file.
#[derive(Debug)]
struct Filled {
    room: Room,
    bytes: usize,
    used: usize,
}

impl PastReader {
    /// Opens a file, if that can be done here.
    pub(crate) fn open(path: &Path) -> Option<PastReader> {
        let file = open(path, OpenOptions::new().read(true)).ok()?;
        let cached = File::open(path).ok()?;
        let (give, filled) = sync_channel(ROOMS);
        let (emptied, take) = channel();
        for _ in 0..ROOMS {
            emptied.send(Room::new()?).ok()?;
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
            // Whoever reads ahead says where the file ends before it goes.
            None => self.filled.recv().map_err(|_| Error::other("reading ahead stopped"))??,
        };
        let taken = wanted.len().min(now.bytes - now.used);
        wanted[..taken].copy_from_slice(&now.room.all()[now.used..now.used + taken]);
        now.used += taken;
        // Nothing comes after the end: it is kept.
        if now.used < now.bytes || now.bytes == 0 {
            self.now = Some(now);
        } else {
            self.emptied.send(now.room).ok();
        }
        Ok(taken)
    }
}

/// The one that reads ahead.
struct Ahead {
    file: File,
    /// The same file through the cache, for a file system that says only now that it has no other way.
    cached: File,
    at: u64,
    past: bool,
}

impl Ahead {
    /// Fills rooms until the file ends, which an empty one says, something is wrong, or nobody wants more.
    fn run(mut self, take: &Receiver<Room>, give: &SyncSender<Result<Filled>>) {
        while let Ok(mut room) = take.recv() {
            let next = self.fill(&mut room).map(|bytes| Filled { room, bytes, used: 0 });
            let is_last = next.as_ref().map_or(true, |filled| filled.bytes == 0);
            if give.send(next).is_err() || is_last {
                return;
            }
        }
    }

    fn fill(&mut self, room: &mut Room) -> Result<usize> {
        let mut bytes = 0;
        while bytes < ROOM {
            // Only the last block of a file may be short; after it there is nothing that is asked for at an odd place.
            if self.past && !bytes.is_multiple_of(BLOCK) {
                break;
            }
            match self.read(&mut room.all_mut()[bytes..]) {
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

    fn read(&mut self, room: &mut [u8]) -> Result<usize> {
        if self.past { read_at(&self.file, room, self.at) } else { self.cached.read(room) }
    }
}

#[cfg(unix)]
fn read_at(file: &File, room: &mut [u8], at: u64) -> Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, room, at)
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
        for bytes in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, ROOM - 1, ROOM, ROOM + 1, 4 * ROOM + 5] {
            std::fs::write(&path, text(bytes)).unwrap();
            let mut all = Vec::new();
            PastReader::open(&path).unwrap().read_to_end(&mut all).unwrap();
            assert!(all == text(bytes), "{bytes} bytes");
            // Whoever stops early leaves a thread behind that must not wait for ever.
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
        // A directory has no bytes to be read, either way.
        let cached = || File::open(directory.path());
        let (Ok(file), Ok(cached)) = (cached(), cached()) else {
            incrowd_testing::skip!("a directory cannot be opened here");
        };
        let (give, filled) = sync_channel(ROOMS);
        let (emptied, take) = channel();
        emptied.send(Room::new().unwrap()).unwrap();
        Ahead { file, cached, at: 0, past: true }.run(&take, &give);
        let mut reader = PastReader { filled, emptied, now: None };
        assert!(reader.read(&mut [0; 10]).is_err());
        // Somebody who goes without a word has not come to the end.
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
        std::fs::write(&path, text(ROOM)).unwrap();
        let file = open(&path, OpenOptions::new().read(true)).unwrap();
        // No disk has blocks that begin there.
        let mut ahead = Ahead { file, cached: File::open(&path).unwrap(), at: 7, past: true };
        let mut room = Room::new().unwrap();
        assert_eq!(ahead.fill(&mut room).unwrap(), ROOM - 7);
        assert!(!ahead.past && room.all()[..ROOM - 7] == text(ROOM)[7..]);
    }
}
