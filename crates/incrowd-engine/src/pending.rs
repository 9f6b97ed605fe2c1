//! A file that is not there until it is finished: written beside its place, put in place by one rename.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use incrowd_core::{Error, Result};

/// A file under way. Dropped before [`Pending::publish`], it leaves nothing behind; after a crash the next run for the same
/// target takes over what is left.
#[derive(Debug)]
pub struct Pending {
    target: PathBuf,
    temporary: PathBuf,
    file: File,
    published: bool,
}

/// The files under way in this process. Whoever makes, publishes or removes one holds the list meanwhile.
static UNDER_WAY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn under_way() -> MutexGuard<'static, Vec<PathBuf>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every file under way, for a process that was told to stop and ends next: the list stays held, so whoever would
/// make or publish a file now waits for the end.
pub fn abandon_all() {
    let under_way = under_way();
    under_way.iter().for_each(|path| drop(std::fs::remove_file(path)));
    std::mem::forget(under_way);
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    let file = path.display();
    let says = match error.kind() {
        ErrorKind::NotFound => "its directory does not exist".to_owned(),
        ErrorKind::NotADirectory => "part of its path is not a directory".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        ErrorKind::StorageFull => "the disk is full".to_owned(),
        _ => error.to_string(),
    };
    Error::resources(format!("cannot write `{file}`: {says}"))
}

/// Whether `path` is still the name of `file`.
#[cfg(unix)]
fn still_there(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |m: std::fs::Metadata| (m.dev(), m.ino());
    matches!((file.metadata().map(id), std::fs::metadata(path).map(id)), (Ok(a), Ok(b)) if a == b)
}

#[cfg(not(unix))]
fn still_there(_: &File, _: &Path) -> bool {
    true
}

/// Where a file lies until it is put in place.
pub fn partial_path(target: &Path) -> PathBuf {
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    target.with_file_name(format!(".{name}.incrowd-partial"))
}

impl Pending {
    /// Starts a file for `target`. Fails if it could not be put there, or if another run is writing it.
    pub fn create(target: &Path) -> Result<Pending> {
        if target.file_name().is_none() || target.is_dir() {
            return Err(
                Error::job(format!("`{}` is a directory", target.display())).help("name a file in it")
            );
        }
        let temporary = partial_path(target);
        let failed = |e: std::io::Error| unwritable(target, &e);
        let mut under_way = under_way();
        let file = loop {
            let file = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&temporary)
                .map_err(failed)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(Error::resources(format!("another run is writing `{}`", target.display())));
                }
                // Some file systems know no locks; then two runs must not be started at once.
                Err(TryLockError::Error(_)) => {}
            }
            // Between opening and locking, the run that had the lock may have put this very file in place.
            if still_there(&file, &temporary) {
                break file;
            }
        };
        under_way.push(temporary.clone());
        drop(under_way);
        let pending = Pending { target: target.to_owned(), temporary, file, published: false };
        pending.file.set_len(0).map_err(failed)?;
        Ok(pending)
    }

    /// Where the file will be.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Where the file is until it is published.
    pub fn path(&self) -> &Path {
        &self.temporary
    }

    /// A handle to write through.
    pub fn writer(&self) -> Result<File> {
        self.file.try_clone().map_err(|e| unwritable(&self.target, &e))
    }

    /// Makes sure the bytes are on disk.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_all().map_err(|e| unwritable(&self.target, &e))
    }

    /// Puts the file in place, replacing what was there, all at once.
    pub fn publish(self) -> Result<()> {
        Self::publish_all([self])
    }

    /// Puts files in place that belong together. All bytes are on disk before the first rename, and nothing but renames
    /// lies between the first file and the last.
    pub fn publish_all(files: impl IntoIterator<Item = Pending>) -> Result<()> {
        let mut files: Vec<Pending> = files.into_iter().collect();
        for file in &files {
            file.sync()?;
        }
        // Held open, an old file is not freed between the renames, which would take longer than all of them.
        let old: Vec<Option<File>> = files.iter().map(|file| File::open(&file.target).ok()).collect();
        let mut under_way = under_way();
        for file in &mut files {
            std::fs::rename(&file.temporary, &file.target).map_err(|e| unwritable(&file.target, &e))?;
            file.published = true;
            under_way.retain(|path| *path != file.temporary);
        }
        drop((under_way, old));
        // The renames must survive a power failure; where directories cannot be synced, it is up to the system.
        for file in &files {
            let directory =
                file.target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            if let Ok(directory) = File::open(directory) {
                directory.sync_all().ok();
            }
        }
        Ok(())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.published {
            let mut under_way = under_way();
            std::fs::remove_file(&self.temporary).ok();
            under_way.retain(|path| *path != self.temporary);
        }
    }
}

pub(crate) fn write_failed(path: &Path, error: &std::io::Error) -> Error {
    unwritable(path, error)
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
            for round in 1..=3000 {
                let Ok(pending) = Pending::create(&target) else { continue };
                pending.writer().unwrap().write_all(&mark).unwrap();
                assert_eq!(std::fs::read(pending.path()).ok(), Some(mark.to_vec()), "another file is there");
                if round % 100 == 0 {
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
