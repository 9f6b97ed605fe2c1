//! A directory that no other user can read and that is removed when the server ends.
//!
//! A killed process cannot remove its directory. The next server of the same user does. It
//! recognizes the directory by its lock, which the system released when the process ended.

use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use incrowd::{Error, Result};
use tempfile::TempDir;

const PREFIX: &str = "incrowd-serve-";
/// The lock file in each directory.
const LOCK: &str = "lock";

/// The private directory of a server, with its uploads.
#[derive(Debug)]
pub(crate) struct PrivateDir {
    /// The directory and its lock, which is released after the directory was removed.
    dir: Mutex<Option<(TempDir, Option<File>)>>,
    path: PathBuf,
}

fn failed(e: std::io::Error) -> Error {
    Error::resources(format!("cannot create a private directory: {e}"))
}

impl PrivateDir {
    /// Creates the directory with mode 0700, and removes those of killed servers.
    pub(crate) fn new() -> Result<PrivateDir> {
        PrivateDir::new_in(&std::env::temp_dir())
    }

    fn new_in(parent: &Path) -> Result<PrivateDir> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o700));
        }
        let dir = builder.tempdir_in(parent).map_err(failed)?;
        let path = dir.path().to_owned();
        // On file systems without locks there is no lock file, and no other server removes the
        // directory.
        let lock = locked(&path).ok();
        remove_abandoned(parent, &path);
        Ok(PrivateDir { dir: Mutex::new(Some((dir, lock))), path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Creates a subdirectory, which is removed when it is dropped.
    pub(crate) fn below(&self) -> Result<TempDir> {
        tempfile::Builder::new().prefix("table-").tempdir_in(&self.path).map_err(failed)
    }

    /// Removes the directory with its content.
    pub(crate) fn remove(&self) {
        let dir = self.dir.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some((dir, lock)) = dir {
            drop(dir);
            drop(lock);
        }
    }
}

/// Creates the lock file of a directory. The file is locked before it gets its final name, so an
/// unlocked file of that name belongs to no running process.
fn locked(dir: &Path) -> std::io::Result<File> {
    let unnamed = dir.join("lock.new");
    let lock = File::create_new(&unnamed)?;
    lock.lock()?;
    std::fs::rename(&unnamed, dir.join(LOCK))?;
    Ok(lock)
}

/// Removes the directories of killed servers of this user. Failures are ignored.
fn remove_abandoned(parent: &Path, own: &Path) {
    let Ok(own_meta) = own.symlink_metadata() else { return };
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let named = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if !named
            || path == own
            || !path.symlink_metadata().is_ok_and(|meta| is_alike(&meta, &own_meta))
        {
            continue;
        }
        // Of two servers that start at the same time only one gets the lock.
        if let Ok(lock) = File::options().write(true).open(path.join(LOCK))
            && lock.try_lock().is_ok()
        {
            let _ = std::fs::remove_dir_all(&path);
        }
    }
}

/// Returns whether a directory has the owner and the mode of our own, so that no other user can
/// have created it.
fn is_alike(meta: &Metadata, own: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if meta.uid() != own.uid() || meta.mode() != own.mode() {
            return false;
        }
    }
    meta.file_type() == own.file_type()
}

/// Returns the last component of an untrusted path if it is a valid file name that is not hidden.
pub(crate) fn file_name(given: &str) -> Option<String> {
    let name = given.rsplit(['/', '\\']).next().unwrap_or_default().trim();
    let sound = !name.is_empty()
        && name.len() <= 200
        && !name.starts_with('.')
        && !name.chars().any(|c| c.is_control() || "*?[]\"<>|:".contains(c));
    sound.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_private_and_removed() {
        let dir = PrivateDir::new().unwrap();
        let path = dir.path().to_owned();
        std::fs::write(dir.below().unwrap().keep().join("people.csv"), "a\n1\n").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        }
        dir.remove();
        assert!(!path.exists());
    }

    /// Creates the directory of a killed server: its lock is free.
    fn abandoned(parent: &Path) -> PathBuf {
        let killed = PrivateDir::new_in(parent).unwrap();
        let (dir, lock) = killed.dir.lock().unwrap().take().unwrap();
        drop(lock);
        std::fs::write(dir.path().join("people.csv"), "a\n1\n").unwrap();
        dir.keep()
    }

    #[test]
    fn directories_of_killed_servers_are_removed_and_no_others() {
        let parent = tempfile::tempdir().unwrap();
        let running = PrivateDir::new_in(parent.path()).unwrap();
        let dead = abandoned(parent.path());
        let without_lock = abandoned(parent.path());
        // The second one removed the first.
        assert!(!dead.exists());
        std::fs::remove_file(without_lock.join(LOCK)).unwrap();
        let other_name = parent.path().join("incrowd-served");
        std::fs::rename(abandoned(parent.path()), &other_name).unwrap();
        let mut kept = vec![running.path().to_owned(), without_lock, other_name];
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let open = parent.path().join("incrowd-serve-open");
            std::fs::rename(abandoned(parent.path()), &open).unwrap();
            std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o755)).unwrap();
            let target = tempfile::tempdir().unwrap().keep();
            let elsewhere = target.join("x");
            std::fs::rename(abandoned(parent.path()), &elsewhere).unwrap();
            std::os::unix::fs::symlink(&elsewhere, parent.path().join("incrowd-serve-link"))
                .unwrap();
            kept.extend([open, elsewhere]);
        }
        let last = PrivateDir::new_in(parent.path()).unwrap();
        for path in kept.iter().map(PathBuf::as_path).chain([last.path()]) {
            assert!(path.exists(), "{}", path.display());
        }
    }

    #[test]
    fn file_names_have_no_directories() {
        assert_eq!(file_name("people.csv").as_deref(), Some("people.csv"));
        assert_eq!(file_name("../../etc/passwd").as_deref(), Some("passwd"));
        assert_eq!(file_name("C:\\tables\\people.csv").as_deref(), Some("people.csv"));
        for bad in ["", "..", ".hidden", "a/..", "part-*.csv", "a\nb", "x/", &"n".repeat(300)] {
            assert_eq!(file_name(bad), None, "{bad:?}");
        }
    }
}
