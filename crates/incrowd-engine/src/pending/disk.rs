//! All changes that staging and publishing make to a file system. Tests can make each of them fail,
//! or end the process in its place.

use std::fs::{File, OpenOptions};
use std::io::{Result, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::past::{FIRST, PastWriter, Went};

/// Creates a file. It is an error if the path exists, also as a symbolic link. Only the owner can
/// read and write a private file.
pub(super) fn create_new(path: &Path, private: bool) -> Result<File> {
    faults::before("create", path)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    if private {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = private;
    options.open(path)
}

pub(super) fn rename(from: &Path, to: &Path) -> Result<()> {
    faults::before("rename", to)?;
    std::fs::rename(from, to)
}

pub(super) fn link(from: &Path, to: &Path) -> Result<()> {
    faults::before("link", to)?;
    std::fs::hard_link(from, to)
}

pub(super) fn remove(path: &Path) -> Result<()> {
    faults::before("unlink", path)?;
    std::fs::remove_file(path)
}

pub(super) fn sync(file: &File, path: &Path) -> Result<()> {
    faults::before("fsync", path)?;
    file.sync_all()
}

/// Makes renames in a directory survive a power failure. Errors other than EIO are ignored, because
/// some systems cannot sync directories.
pub(super) fn sync_directory(directory: &Path) -> Result<()> {
    faults::before("fsync", directory)?;
    match File::open(directory).and_then(|directory| directory.sync_all()) {
        Err(e) if e.raw_os_error() == Some(EIO) => Err(e),
        _ => Ok(()),
    }
}

/// The error number of a failed disk access. Other errors mean that the directory cannot be synced.
const EIO: i32 = 5;

pub(super) fn write(mut file: &File, path: &Path, bytes: &[u8]) -> Result<()> {
    faults::before_writing("write", path, file, bytes)?;
    file.write_all(bytes)
}

#[cfg(unix)]
pub(super) fn set_mode(file: &File, path: &Path, mode: u32) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    faults::before("chmod", path)?;
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
pub(super) fn set_mode(_: &File, _: &Path, _: u32) -> Result<()> {
    Ok(())
}

/// Writes into a staged file. The caller must [flush](Write::flush) after the last write.
#[derive(Debug)]
pub struct Writer {
    file: File,
    path: PathBuf,
    /// The number of bytes written.
    written: u64,
    way: Way,
    /// The number of bytes written with direct I/O, shared with [`Pending`](super::Pending).
    past: Arc<AtomicU64>,
}

/// How bytes are written to the disk.
#[derive(Debug)]
enum Way {
    /// All bytes go through the page cache.
    Cached,
    /// Bytes go through the page cache up to this file length, and then with direct I/O if
    /// possible.
    CachedUntil(u64),
    /// Direct I/O, bypassing the page cache.
    Past(Box<PastWriter>),
}

impl Writer {
    /// Makes a writer that uses the page cache only.
    pub(super) fn new(file: File, path: PathBuf) -> Writer {
        Writer { file, path, written: 0, way: Way::Cached, past: Arc::default() }
    }

    /// Makes a writer for an empty file that may become large. Bytes after the first [`FIRST`] use
    /// direct I/O where that is faster. They are added to `past`.
    pub(super) fn large(file: File, path: PathBuf, past: Arc<AtomicU64>) -> Writer {
        Writer { file, path, written: 0, way: Way::CachedUntil(FIRST), past }
    }

    /// Discards all written bytes.
    pub fn restart(&mut self) -> Result<()> {
        (self.written, self.way) = (0, Way::Cached);
        self.file.set_len(0)?;
        self.file.rewind()
    }

    /// Waits until the written bytes are on disk.
    pub(crate) fn flush_to_disk(&self) -> Result<()> {
        self.file.sync_data()
    }

    /// Writes the buffered bytes through the page cache, at their file offset.
    fn write_held(&mut self) -> Result<()> {
        let Way::Past(past) = &self.way else { return Ok(()) };
        let (at, held) = past.held();
        self.file.seek(SeekFrom::Start(at))?;
        write(&self.file, &self.path, held)
    }

    /// Writes the buffered blocks with direct I/O. If the disk is slow or rejects the write, all
    /// further bytes go through the page cache.
    fn send(&mut self) -> Result<()> {
        let Way::Past(past) = &mut self.way else { return Ok(()) };
        faults::before_writing("write", &self.path, past.file(), past.held().1)?;
        let before = past.held().0;
        let sent = past.send()?;
        self.past.fetch_add(past.held().0 - before, Ordering::Relaxed);
        if sent == Went::Enough {
            self.write_held()?;
            self.way = Way::Cached;
        }
        Ok(())
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let taken = match &mut self.way {
            Way::Past(past) => {
                let taken = past.hold(bytes);
                if past.is_full() {
                    self.send()?;
                }
                taken
            }
            way => {
                let left = match way {
                    Way::CachedUntil(first) => *first - self.written,
                    _ => u64::MAX,
                };
                let now = &bytes[..bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
                faults::before_writing("write", &self.path, &self.file, now)?;
                self.file.write(now)?
            }
        };
        self.written += taken as u64;
        if let Way::CachedUntil(first) = self.way
            && first == self.written
        {
            let past = PastWriter::open(&self.path, first)
                .filter(|_| super::still_there(&self.file, &self.path));
            self.way = past.map_or(Way::Cached, |past| Way::Past(Box::new(past)));
        }
        Ok(taken)
    }

    /// Writes an incomplete last block through the page cache. The block is written again if more
    /// bytes follow.
    fn flush(&mut self) -> Result<()> {
        self.send()?;
        self.write_held()?;
        self.file.flush()
    }
}

#[cfg(not(feature = "faults"))]
mod faults {
    use std::fs::File;
    use std::io::Result;
    use std::path::Path;

    #[inline]
    pub(super) fn before(_: &str, _: &Path) -> Result<()> {
        Ok(())
    }

    #[inline]
    pub(super) fn before_writing(_: &str, _: &Path, _: &File, _: &[u8]) -> Result<()> {
        Ok(())
    }
}

/// Fault injection. `INCROWD_FAULT` is `fail:7` (the seventh change fails), `break:7` (all later
/// changes fail too) or `kill:7` (the process ends there; a write has written half of its bytes by
/// then). The fault is reported on standard error.
#[cfg(feature = "faults")]
mod faults {
    use std::fs::File;
    use std::io::{Error, Result, Write};
    use std::path::Path;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[derive(Clone, Copy, PartialEq)]
    enum Kind {
        Fail,
        Break,
        Kill,
    }

    static CHANGES: AtomicU64 = AtomicU64::new(0);

    fn planned() -> Option<(Kind, u64)> {
        static PLAN: OnceLock<Option<(Kind, u64)>> = OnceLock::new();
        *PLAN.get_or_init(|| {
            let text = std::env::var("INCROWD_FAULT").ok()?;
            let (kind, at) = text.split_once(':')?;
            let kind = match kind {
                "fail" => Kind::Fail,
                "break" => Kind::Break,
                "kill" => Kind::Kill,
                _ => return None,
            };
            Some((kind, at.parse().ok()?))
        })
    }

    fn strike(what: &str, path: &Path, half: impl FnOnce()) -> Result<()> {
        let Some((kind, at)) = planned() else { return Ok(()) };
        let now = CHANGES.fetch_add(1, Ordering::SeqCst) + 1;
        if now < at || now > at && kind != Kind::Break {
            return Ok(());
        }
        if now == at {
            eprintln!("fault {now}: {what} {}", path.display());
        }
        if kind == Kind::Kill {
            half();
            std::process::exit(137);
        }
        Err(Error::from_raw_os_error(super::EIO))
    }

    pub(super) fn before(what: &str, path: &Path) -> Result<()> {
        strike(what, path, || {})
    }

    pub(super) fn before_writing(
        what: &str,
        path: &Path,
        mut file: &File,
        bytes: &[u8],
    ) -> Result<()> {
        strike(what, path, || drop(file.write_all(&bytes[..bytes.len() / 2])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::past::PastReader;
    use crate::past::tests::{skipped, text};
    use proptest::prelude::*;
    use std::io::Read;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn a_large_file_has_the_bytes_that_were_written(
            first in prop::sample::select(vec![4096_u64, 8192, 1 << 20, 1 << 22]),
            pieces in prop::collection::vec((0_usize..3_000_000, prop::bool::weighted(0.2)), 1..12),
        ) {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("large");
            let (file, past) = (create_new(&path, true).unwrap(), Arc::default());
            let mut writer = Writer::large(file, path.clone(), Arc::clone(&past));
            writer.way = Way::CachedUntil(first);
            let mut expected = Vec::new();
            for (length, flush) in pieces {
                let piece = text(length);
                writer.write_all(&piece).unwrap();
                expected.extend(piece);
                if flush {
                    writer.flush().unwrap();
                    prop_assert!(std::fs::read(&path).unwrap() == expected);
                }
            }
            writer.flush().unwrap();
            prop_assert!(std::fs::read(&path).unwrap() == expected);
            if !skipped(directory.path()) {
                let whole = expected.len() as u64 / 4096 * 4096;
                let past = past.load(Ordering::Relaxed);
                match writer.way {
                    Way::Past(_) => prop_assert_eq!(past, whole - first),
                    Way::CachedUntil(_) => prop_assert_eq!(past, 0),
                    // The disk was slow or has larger blocks.
                    Way::Cached => prop_assert!(past <= whole - first),
                }
                let mut back = Vec::new();
                PastReader::open(&path).unwrap().read_to_end(&mut back).unwrap();
                prop_assert!(back == expected);
            }
        }
    }

    #[test]
    fn what_is_begun_again_is_written_from_the_beginning() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("large");
        let mut writer =
            Writer::large(create_new(&path, true).unwrap(), path.clone(), Arc::default());
        writer.way = Way::CachedUntil(4096);
        writer.write_all(&text(100_000)).unwrap();
        writer.restart().unwrap();
        writer.write_all(b"again").unwrap();
        writer.flush().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"again");
    }
}
