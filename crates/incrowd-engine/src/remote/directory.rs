//! Releases that are directories. They are published, or replace an older release, by one atomic
//! operation of the file system.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use incrowd_core::{Error, Result};

fn failed(path: &Path, error: &std::io::Error) -> Error {
    Error::resources(format!("cannot put `{}` in place: {error}", path.display()))
}

/// Flushes the files of a directory to disk.
fn sync(directory: &Path) -> std::io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() { sync(&path)? } else { File::open(&path)?.sync_all()? }
    }
    File::open(directory)?.sync_all()
}

/// Exchanges two directories atomically. Returns `false` if the file system does not support that.
#[cfg(target_os = "linux")]
fn exchange(one: &Path, other: &Path) -> std::io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn exchange(_: &Path, _: &Path) -> std::io::Result<bool> {
    Ok(false)
}

/// Publishes a staged directory on the same file system. An existing directory is moved to the
/// staged path, and the caller removes it. If the file system cannot exchange directories
/// atomically, the target is absent for a moment. It never has a part of either directory.
pub fn put_directory(staged: &Path, target: &Path) -> Result<()> {
    let failure = |e: std::io::Error| failed(target, &e);
    sync(staged).map_err(failure)?;
    match std::fs::symlink_metadata(target) {
        Err(e) if e.kind() == ErrorKind::NotFound => {
            std::fs::rename(staged, target).map_err(failure)?
        }
        Err(e) => return Err(failure(e)),
        Ok(_) if exchange(staged, target).map_err(failure)? => {}
        Ok(_) => {
            let mut aside = staged.as_os_str().to_owned();
            aside.push("-old");
            let aside = PathBuf::from(aside);
            std::fs::rename(target, &aside).map_err(failure)?;
            if let Err(e) = std::fs::rename(staged, target) {
                // Restores the old directory. If that fails too, the message names both paths.
                std::fs::rename(&aside, target).map_err(|_| {
                    let error = Error::resources(format!(
                        "cannot put `{}` in place: {e}",
                        target.display()
                    ));
                    error.help(format!("the release that was there is `{}`", aside.display()))
                })?;
                return Err(failure(e));
            }
            std::fs::rename(&aside, staged).map_err(failure)?;
        }
    }
    let parent = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(parent).and_then(|parent| parent.sync_all()).map_err(failure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_published_and_replaces_another() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for text in ["first", "second"] {
            std::fs::create_dir(at("staged")).unwrap();
            std::fs::write(at("staged").join("part"), text).unwrap();
            put_directory(&at("staged"), &at("release")).unwrap();
            assert_eq!(std::fs::read_to_string(at("release").join("part")).unwrap(), text);
        }
        assert_eq!(std::fs::read_to_string(at("staged").join("part")).unwrap(), "first");
        std::fs::remove_dir_all(at("staged")).unwrap();
        assert!(put_directory(&at("staged"), &at("release")).is_err());
        assert_eq!(std::fs::read_to_string(at("release").join("part")).unwrap(), "second");
    }
}
