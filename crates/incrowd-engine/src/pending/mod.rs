//! Staged files. A file is written under a random hidden name in the directory of its target. One
//! rename publishes it. Several files of one release are published with a [journal](journal).

mod disk;
mod journal;
mod leftovers;
mod secret;
mod target;

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use incrowd_core::{Error, Result};

pub use disk::Writer;
use journal::Publication;
pub use journal::{Note, read_ledger, whole_lines};
pub use leftovers::{Recovery, recover, refuse_interrupted, unauthenticated_journals};
use secret::Secret;
pub use secret::configuration_directory;
pub use target::Target;
use target::{directory, is_ours};

/// A staged file. It is removed if it is dropped before [`Pending::publish`]. If the process
/// crashes, the next run that publishes into the directory removes the file.
#[derive(Debug)]
pub struct Pending {
    target: Target,
    staged: PathBuf,
    file: File,
    /// The permission bits of the published file.
    mode: u32,
    /// Whether the file is published, or a journal is responsible for it. Then dropping must not
    /// remove it.
    settled: bool,
}

/// Permission bits: only the owner can read and write.
const PRIVATE: u32 = 0o600;

/// The staged files of this process. Code that creates, publishes or removes a staged file holds
/// this lock meanwhile.
static UNDER_WAY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn under_way() -> MutexGuard<'static, Vec<PathBuf>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The first file of each release that this process has published. It is changed only by code that
/// holds the lock of the staged files.
static PUBLISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes all staged files of a process that is about to exit after a signal. The lock is never
/// released, so that no thread can create or publish a file before the process exits. Returns the
/// first file of each release that this process has published.
pub fn abandon_all() -> Vec<PathBuf> {
    let under_way = under_way();
    under_way.iter().for_each(|path| drop(disk::remove(path)));
    std::mem::forget(under_way);
    PUBLISHED.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    let file = path.display();
    let message = match error.kind() {
        ErrorKind::NotFound if directory(path).is_dir() => {
            "no file can be made in its directory".to_owned()
        }
        ErrorKind::NotFound => "its directory does not exist".to_owned(),
        ErrorKind::NotADirectory => "part of its path is not a directory".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::StorageFull => "the disk is full".to_owned(),
        ErrorKind::QuotaExceeded => "the quota is used up".to_owned(),
        ErrorKind::FileTooLarge => {
            "it would be larger than a file may be here (see `ulimit -f`)".to_owned()
        }
        _ => error.to_string(),
    };
    Error::resources(format!("cannot write `{file}`: {message}"))
}

/// Whether `path` still names `file`.
#[cfg(unix)]
fn still_there(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |m: std::fs::Metadata| (m.dev(), m.ino());
    matches!((file.metadata().map(id), std::fs::symlink_metadata(path).map(id)), (Ok(a), Ok(b)) if a == b)
}

#[cfg(not(unix))]
fn still_there(_: &File, path: &Path) -> bool {
    path.exists()
}

/// The suffix of the names of staged files.
const PARTIAL: &str = "incrowd-partial";
/// The maximum number of bytes of a target's name that its hidden names contain.
const MOST_BYTES: usize = 180;

/// The common prefix of all hidden names for a target.
fn hidden(target: &Path) -> String {
    let name =
        target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let end =
        (0..=name.len().min(MOST_BYTES)).rev().find(|&end| name.is_char_boundary(end)).unwrap_or(0);
    format!(".{}.", &name[..end])
}

/// An unpredictable hidden name for a target.
fn unforeseen(target: &Path, ending: &str) -> PathBuf {
    target.with_file_name(format!("{}{:016x}.{ending}", hidden(target), rand::random::<u64>()))
}

/// Creates a file under a random name and locks it. The lock tells other processes that the file is
/// in use.
fn create_locked(target: &Path, ending: &str) -> std::io::Result<(PathBuf, File)> {
    loop {
        let path = unforeseen(target, ending);
        let file = disk::create_new(&path, true)?;
        // Some file systems do not support locks. There, the user must not start two runs at once.
        let locked = !matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        // Before the lock was taken, another run may have removed the file as a leftover.
        if locked && still_there(&file, &path) {
            return Ok((path, file));
        }
        disk::remove(&path).ok();
    }
}

/// The number of attempts if another run creates a staged file for the same target at the same
/// time.
const TRIES: u32 = 6;

impl Pending {
    /// Creates a staged file for `path`. Fails if the file could not be published there, or if
    /// another run is writing it.
    pub fn create(path: &Path) -> Result<Pending> {
        Self::at(&Target::decide(path)?)
    }

    /// Creates a staged file for a target.
    pub fn at(target: &Target) -> Result<Pending> {
        let failed = |e: std::io::Error| unwritable(&target.shown, &e);
        leftovers::clear_for(&target.path);
        for attempt in 1.. {
            let mut list = under_way();
            let mode = mode_of(&target.path).map_err(failed)?;
            let (staged, file) = create_locked(&target.path, PARTIAL).map_err(failed)?;
            list.push(staged.clone());
            drop(list);
            let pending = Pending { target: target.clone(), staged, file, mode, settled: false };
            if !leftovers::has_rival(&pending.staged, &hidden(&target.path)) {
                return Ok(pending);
            }
            drop(pending);
            if attempt == TRIES {
                break;
            }
            std::thread::sleep(Duration::from_micros(rand::random_range(500..20_000)));
        }
        Err(Error::resources(format!("another run is writing `{}`", target.shown.display())))
    }

    /// Creates a staged file that only its owner can read, also after publication.
    pub fn create_private(path: &Path) -> Result<Pending> {
        Ok(Self::create(path)?.private())
    }

    /// Makes the file readable only for its owner, also after publication.
    #[must_use]
    pub fn private(mut self) -> Pending {
        self.mode = PRIVATE;
        self
    }

    /// A name for the journal of a release whose first file this is.
    pub fn journal(&self) -> PathBuf {
        journal::path_for(&self.target.path)
    }

    /// The target path as the caller gave it.
    pub fn target(&self) -> &Path {
        &self.target.shown
    }

    /// The path of the file until it is published.
    pub fn path(&self) -> &Path {
        &self.staged
    }

    /// A handle to write through.
    pub fn writer(&self) -> Result<Writer> {
        let file = self.file.try_clone().map_err(|e| unwritable(self.target(), &e))?;
        Ok(Writer::new(file, self.staged.clone()))
    }

    /// The current length in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.file.metadata().map_or(0, |known| known.len())
    }

    /// Flushes the bytes to disk.
    pub fn sync(&self) -> Result<()> {
        disk::sync(&self.file, &self.staged).map_err(|e| unwritable(self.target(), &e))
    }

    /// Publishes the file: atomically replaces the target.
    pub fn publish(mut self) -> Result<()> {
        self.sync()?;
        let mut list = under_way();
        disk::rename(&self.staged, &self.target.path).map_err(|e| unwritable(self.target(), &e))?;
        self.settled = true;
        list.retain(|path| *path != self.staged);
        // The final permissions are set after the rename, because a staged file must stay private.
        // If this fails, the file has too few readers, not too many.
        disk::set_mode(&self.file, &self.target.path, self.mode).ok();
        disk::sync_directory(directory(&self.target.path)).ok();
        Ok(())
    }

    /// Publishes the file unless the target exists. Returns whether it did.
    pub fn publish_new(self) -> Result<bool> {
        self.sync()?;
        let _list = under_way();
        let linked = disk::link(&self.staged, &self.target.path);
        if linked.is_ok() {
            disk::set_mode(&self.file, &self.target.path, self.mode).ok();
        }
        disk::sync_directory(directory(&self.target.path)).ok();
        match linked {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(false),
            // Some file systems do not support hard links.
            Err(_) if !self.target.path.exists() => {
                drop(_list);
                self.publish().map(|()| true)
            }
            Err(e) => Err(unwritable(self.target(), &e)),
        }
    }

    /// Publishes several files together and adds lines to ledgers: all of that, or nothing. The
    /// journal is written first. After a crash [`recover`] completes the publication.
    pub fn publish_all(mut files: Vec<Pending>, notes: &[Note], journal: &Path) -> Result<()> {
        for file in &files {
            file.sync()?;
        }
        let mut list = under_way();
        let shown = files.first().map(|file| file.target().to_owned()).unwrap_or_default();
        let failed = |e: std::io::Error| unwritable(&shown, &e);
        let secret = Secret::read_or_make()?;
        let publication = Publication::begin(journal, &files, notes, &secret).map_err(failed)?;
        let done = publication.forward().map_err(failed);
        let settled = match &done {
            Ok(()) => {
                PUBLISHED.lock().unwrap_or_else(PoisonError::into_inner).push(shown.clone());
                // If this fails, the next recovery removes the remaining files.
                publication.finish().ok();
                true
            }
            Err(_) => publication.undo().is_err(),
        };
        for file in files.iter_mut().filter(|_| settled) {
            file.settled = true;
            list.retain(|path| *path != file.staged);
        }
        drop(list);
        done.map_err(|error| match settled {
            true => error.help(
                "some files are in place and some are not; `incrowd recover` in that directory puts that right",
            ),
            false => error,
        })
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.settled {
            let mut list = under_way();
            disk::remove(&self.staged).ok();
            list.retain(|path| *path != self.staged);
        }
    }
}

/// The error for a file that could not be written.
pub fn write_failed(path: &Path, error: &std::io::Error) -> Error {
    unwritable(path, error)
}

/// The permission bits of a published file: those of the replaced file if it belongs to this user,
/// otherwise those that the umask gives.
#[cfg(unix)]
fn mode_of(target: &Path) -> std::io::Result<u32> {
    use std::os::unix::fs::MetadataExt;
    match std::fs::symlink_metadata(target) {
        Ok(found) if found.is_file() && is_ours(&found) => Ok(found.mode() & 0o777),
        _ => {
            // The umask cannot be read without changing it. So its effect on an empty file is read.
            let path = unforeseen(target, PARTIAL);
            let seen = disk::create_new(&path, false)?.metadata().map(|found| found.mode() & 0o777);
            disk::remove(&path).ok();
            seen
        }
    }
}

#[cfg(not(unix))]
fn mode_of(_: &Path) -> std::io::Result<u32> {
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn nothing_is_there_until_it_is_published() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("out.csv");
        std::fs::write(&target, "old").unwrap();
        let pending = Pending::create(&target).unwrap();
        pending.writer().unwrap().write_all(b"new").unwrap();
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "old");
        assert!(Pending::create(&target).unwrap_err().message().contains("another run"));
        drop(pending);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        let pending = Pending::create(&target).unwrap();
        pending.writer().unwrap().write_all(b"new").unwrap();
        pending.publish().unwrap();
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "new");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn says_why_it_cannot_be_written() {
        let dir = tempfile::tempdir().unwrap();
        let error = Pending::create(&dir.path().join("no/such/out.csv")).unwrap_err();
        assert!(error.message().contains("directory does not exist"), "{error}");
        assert!(Pending::create(dir.path()).unwrap_err().message().contains("is a directory"));
        #[cfg(target_os = "linux")]
        {
            let error = Pending::create(Path::new("/proc/out.csv")).unwrap_err();
            assert!(error.message().contains("no file can be made in its directory"), "{error}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn whoever_may_write_has_the_very_file_that_is_put_in_place() {
        use std::os::unix::fs::FileExt;
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("out.csv");
        // A thread may open the file just before another thread, which has the lock, publishes or
        // removes it.
        let deadline = std::time::Instant::now() + Duration::from_secs(120);
        let run = |mark: [u8; 1]| {
            let mut published = Vec::new();
            let mut round = 0;
            while round < 200 {
                assert!(std::time::Instant::now() < deadline, "only {round} files were created");
                let pending = match Pending::create(&target) {
                    Ok(pending) => pending,
                    Err(e) if e.message().contains("another run") => continue,
                    Err(e) => panic!("{e}"),
                };
                round += 1;
                pending.writer().unwrap().write_all(&mark).unwrap();
                assert_eq!(
                    std::fs::read(pending.path()).ok(),
                    Some(mark.to_vec()),
                    "another file is there"
                );
                if round % 10 == 0 {
                    published.push(File::open(pending.path()).unwrap());
                    pending.publish().unwrap();
                }
            }
            (mark, published)
        };
        let runs = std::thread::scope(|scope| {
            [*b"a", *b"b", *b"c"]
                .map(|mark| scope.spawn(move || run(mark)))
                .map(|run| run.join().unwrap())
        });
        for (mark, published) in runs {
            assert_eq!(published.len(), 20);
            for file in published {
                let mut bytes = [0; 2];
                let length = file.read_at(&mut bytes, 0).unwrap();
                assert_eq!(bytes[..length], mark, "another run wrote into what was published");
            }
        }
    }
}
