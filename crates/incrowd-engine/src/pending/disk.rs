//! All changes that staging and publishing make to a file system. Tests can make each of them fail,
//! or end the process in its place.

use std::fs::{File, OpenOptions};
use std::io::{Result, Seek, Write};
use std::path::{Path, PathBuf};

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
}

impl Writer {
    pub(super) fn new(file: File, path: PathBuf) -> Writer {
        Writer { file, path }
    }

    /// Discards all written bytes.
    pub fn restart(&mut self) -> Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()
    }

    /// Waits until the written bytes are on disk.
    pub(crate) fn flush_to_disk(&self) -> Result<()> {
        self.file.sync_data()
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        faults::before_writing("write", &self.path, &self.file, bytes)?;
        self.file.write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
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

    #[test]
    fn what_is_begun_again_is_written_from_the_beginning() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("large");
        let mut writer = Writer::new(create_new(&path, true).unwrap(), path.clone());
        writer.write_all(&[b'x'; 100_000]).unwrap();
        writer.restart().unwrap();
        writer.write_all(b"again").unwrap();
        writer.flush().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"again");
    }
}
