//! A file that is not there until it is finished: written beside its place under a name nobody can foresee, put in place by one
//! rename. Files that belong together are put in place by a [journal](journal).

mod disk;
mod journal;
mod leftovers;
mod target;

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use incrowd_core::{Error, Result};

pub use disk::Writer;
use journal::Journal;
pub use journal::Note;
pub use leftovers::{recover, recover_beside};
pub use target::Target;
use target::{directory, is_ours};

/// A file under way. Dropped before [`Pending::publish`], it leaves nothing behind; what a crash leaves is cleared away by the next
/// run that writes into the directory.
#[derive(Debug)]
pub struct Pending {
    target: Target,
    staged: PathBuf,
    file: File,
    /// How many of its bytes went past the system's cache.
    past: Arc<AtomicU64>,
    /// What others may do with it once it is in place.
    mode: u32,
    /// Whether it is in place, or it is up to a journal to put it there.
    settled: bool,
}

/// For the eyes of its owner only.
const PRIVATE: u32 = 0o600;

/// The files under way in this process. Whoever makes, publishes or removes one holds the list meanwhile.
static UNDER_WAY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn under_way() -> MutexGuard<'static, Vec<PathBuf>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every file under way, for a process that was told to stop and ends next: the list stays held, so whoever would
/// make or publish a file now waits for the end.
pub fn abandon_all() {
    let under_way = under_way();
    under_way.iter().for_each(|path| drop(disk::remove(path)));
    std::mem::forget(under_way);
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    let file = path.display();
    let says = match error.kind() {
        ErrorKind::NotFound if directory(path).is_dir() => "no file can be made in its directory".to_owned(),
        ErrorKind::NotFound => "its directory does not exist".to_owned(),
        ErrorKind::NotADirectory => "part of its path is not a directory".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::StorageFull => "the disk is full".to_owned(),
        ErrorKind::QuotaExceeded => "the quota is used up".to_owned(),
        ErrorKind::FileTooLarge => "it would be larger than a file may be here (see `ulimit -f`)".to_owned(),
        _ => error.to_string(),
    };
    Error::resources(format!("cannot write `{file}`: {says}"))
}

/// Whether `path` is still the name of `file`.
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

/// How the names of files under way end.
const PARTIAL: &str = "incrowd-partial";
/// Bytes of a file's name that are part of the name it has until it is in place.
const MOST_BYTES: usize = 180;

/// How all hidden names for a file begin.
fn hidden(target: &Path) -> String {
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let end = (0..=name.len().min(MOST_BYTES)).rev().find(|&end| name.is_char_boundary(end)).unwrap_or(0);
    format!(".{}.", &name[..end])
}

/// A hidden name for a file that nobody can foresee.
fn unforeseen(target: &Path, ending: &str) -> PathBuf {
    target.with_file_name(format!("{}{:016x}.{ending}", hidden(target), rand::random::<u64>()))
}

/// Makes a file under a name of its own and locks it, so that others know that somebody is at work on it.
fn create_locked(target: &Path, ending: &str) -> std::io::Result<(PathBuf, File)> {
    loop {
        let path = unforeseen(target, ending);
        let file = disk::create_new(&path, true)?;
        // Some file systems know no locks; then two runs must not be started at once.
        let locked = !matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        // Before it was locked, another run may have taken it for a leftover.
        if locked && still_there(&file, &path) {
            return Ok((path, file));
        }
        disk::remove(&path).ok();
    }
}

/// How often a file is begun if another run begins the same one at the same moment.
const TRIES: u32 = 6;

impl Pending {
    /// Starts a file for `path`. Fails if it could not be put there, or if another run is writing it.
    pub fn create(path: &Path) -> Result<Pending> {
        Self::at(&Target::decide(path)?)
    }

    /// Starts a file where it was decided that it will be.
    pub fn at(target: &Target) -> Result<Pending> {
        let failed = |e: std::io::Error| unwritable(&target.shown, &e);
        let place = directory(&target.path);
        recover(place)?;
        for attempt in 1.. {
            let mut list = under_way();
            let mode = mode_of(&target.path).map_err(failed)?;
            let (staged, file) = create_locked(&target.path, PARTIAL).map_err(failed)?;
            list.push(staged.clone());
            drop(list);
            let pending =
                Pending { target: target.clone(), staged, file, past: Arc::default(), mode, settled: false };
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

    /// Starts a file that only its owner will be able to read.
    pub fn create_private(path: &Path) -> Result<Pending> {
        Ok(Self::create(path)?.private())
    }

    /// The same for its owner's eyes only, even in its place.
    #[must_use]
    pub fn private(mut self) -> Pending {
        self.mode = PRIVATE;
        self
    }

    /// A name for the journal of a release whose first file this is.
    pub fn journal(&self) -> PathBuf {
        journal::path_for(&self.target.path)
    }

    /// Where the file will be, as it was asked for.
    pub fn target(&self) -> &Path {
        &self.target.shown
    }

    /// Where the file is until it is published.
    pub fn path(&self) -> &Path {
        &self.staged
    }

    /// A handle to write through.
    pub fn writer(&self) -> Result<Writer> {
        let file = self.file.try_clone().map_err(|e| unwritable(self.target(), &e))?;
        Ok(Writer::new(file, self.staged.clone()))
    }

    /// The same for a file that is empty and may become large.
    pub(crate) fn large_writer(&self) -> Result<Writer> {
        let file = self.file.try_clone().map_err(|e| unwritable(self.target(), &e))?;
        Ok(Writer::large(file, self.staged.clone(), self.past.clone()))
    }

    /// Whether most of its bytes went past the system's cache, so that they are not found there.
    pub(crate) fn went_past(&self) -> bool {
        self.past.load(Ordering::Relaxed) > self.bytes() / 2
    }

    /// How many bytes it has by now.
    pub(crate) fn bytes(&self) -> u64 {
        self.file.metadata().map_or(0, |known| known.len())
    }

    /// Makes sure the bytes are on disk.
    pub fn sync(&self) -> Result<()> {
        disk::sync(&self.file, &self.staged).map_err(|e| unwritable(self.target(), &e))
    }

    /// Puts the file in place, replacing what was there, all at once.
    pub fn publish(mut self) -> Result<()> {
        self.sync()?;
        let mut list = under_way();
        // Rather too few may read it than none.
        disk::set_mode(&self.staged, self.mode).ok();
        disk::rename(&self.staged, &self.target.path).map_err(|e| unwritable(self.target(), &e))?;
        self.settled = true;
        list.retain(|path| *path != self.staged);
        disk::sync_directory(directory(&self.target.path)).ok();
        Ok(())
    }

    /// Puts the file in place unless something is there; whether it did.
    pub fn publish_new(self) -> Result<bool> {
        self.sync()?;
        let _list = under_way();
        disk::set_mode(&self.staged, self.mode).ok();
        let linked = disk::link(&self.staged, &self.target.path);
        disk::sync_directory(directory(&self.target.path)).ok();
        match linked {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(false),
            // Some file systems know no links.
            Err(_) if !self.target.path.exists() => {
                drop(_list);
                self.publish().map(|()| true)
            }
            Err(e) => Err(unwritable(self.target(), &e)),
        }
    }

    /// Puts files in place that belong together, and adds lines to files that tell of them: all of that, or nothing. The journal
    /// is written first; whoever comes after a crash does what it says.
    pub fn publish_all(mut files: Vec<Pending>, notes: &[Note], journal: &Path) -> Result<()> {
        for file in &files {
            file.sync()?;
        }
        let mut list = under_way();
        let shown = files.first().map(|file| file.target().to_owned()).unwrap_or_default();
        let failed = |e: std::io::Error| unwritable(&shown, &e);
        let written = Journal::write(journal, &files, notes).map_err(failed)?;
        let done = written.forward().map_err(failed);
        let settled = match &done {
            Ok(()) => {
                // What is left over is cleared away by whoever comes next.
                written.finish().ok();
                true
            }
            Err(_) => written.undo().is_err(),
        };
        for file in files.iter_mut().filter(|_| settled) {
            file.settled = true;
            list.retain(|path| *path != file.staged);
        }
        drop(list);
        done.map_err(|error| match settled {
            true => error.help(
                "some files are in place and some are not; the next incrowd command about them puts that right",
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

/// What is said of a file that could not be written.
pub fn write_failed(path: &Path, error: &std::io::Error) -> Error {
    unwritable(path, error)
}

/// What others will be allowed to do with a file: what they were allowed with ours that it replaces, otherwise what the umask says.
#[cfg(unix)]
fn mode_of(target: &Path) -> std::io::Result<u32> {
    use std::os::unix::fs::MetadataExt;
    match std::fs::symlink_metadata(target) {
        Ok(found) if found.is_file() && is_ours(&found) => Ok(found.mode() & 0o777),
        _ => {
            // Nobody can ask for the umask without changing it, but everybody can see what it does to an empty file.
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
        // Some open the file just before another, who has the lock, puts it in place or removes it.
        let run = |mark: [u8; 1]| {
            let mut published = Vec::new();
            for round in 1..=400 {
                let Ok(pending) = Pending::create(&target) else { continue };
                pending.writer().unwrap().write_all(&mark).unwrap();
                assert_eq!(std::fs::read(pending.path()).ok(), Some(mark.to_vec()), "another file is there");
                if round % 20 == 0 {
                    published.push(File::open(pending.path()).unwrap());
                    pending.publish().unwrap();
                }
            }
            (mark, published)
        };
        let runs = std::thread::scope(|scope| {
            [*b"a", *b"b", *b"c"].map(|mark| scope.spawn(move || run(mark))).map(|run| run.join().unwrap())
        });
        for (mark, published) in runs {
            for file in published {
                let mut bytes = [0; 2];
                let length = file.read_at(&mut bytes, 0).unwrap();
                assert_eq!(bytes[..length], mark, "another run wrote into what was published");
            }
        }
    }
}
