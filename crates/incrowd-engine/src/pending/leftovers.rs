//! What killed runs left in a directory: publications to complete, and files under way that nobody is at work on.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use incrowd_core::{Error, Result};

use super::journal::{self, Recovered};
use super::{PARTIAL, directory, disk, hidden, is_ours, still_there};

/// All hidden files of a directory with this ending. A directory that is not there or cannot be listed has none.
fn hidden_files(place: &Path, ending: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(place) else { return Vec::new() };
    let wanted = |name: &[u8]| {
        name.first() == Some(&b'.')
            && name.strip_suffix(ending.as_bytes()).is_some_and(|name| name.last() == Some(&b'.'))
    };
    let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
    let mut found: Vec<PathBuf> =
        names.filter(|name| wanted(name.as_encoded_bytes())).map(|name| place.join(name)).collect();
    found.sort();
    found
}

/// Opens a file of ours; none if it is somebody else's, a link, or not a file.
pub(super) fn open_ours(path: &Path) -> std::io::Result<Option<File>> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_file() && is_ours(&found) => {}
        Ok(_) => return Ok(None),
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    {
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    match options.open(path) {
        Ok(file) => {
            let found = file.metadata()?;
            Ok((found.is_file() && is_ours(&found)).then_some(file))
        }
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// Completes or takes back every publication that was interrupted in a directory, then clears away the files under way of
/// processes that are gone. This comes first wherever a release is read or written.
pub fn recover(place: &Path) -> Result<()> {
    for journal in hidden_files(place, journal::ENDING) {
        match journal::recover(&journal) {
            Ok(Recovered::Settled | Recovered::NotOurs) => {}
            Err(error) => {
                return Err(Error::resources(format!(
                    "a publication in `{}` was interrupted and cannot be completed: {error}",
                    place.display()
                ))
                .help("every incrowd command there tries again; until then the files there may not belong together"));
            }
        }
    }
    for partial in hidden_files(place, PARTIAL) {
        // Whoever is at work on a file has locked it.
        if let Ok(Some(file)) = open_ours(&partial)
            && file.try_lock().is_ok()
            && still_there(&file, &partial)
        {
            disk::remove(&partial).ok();
        }
    }
    Ok(())
}

/// The same for the directory of a table that is about to be read; of a publication that somebody else has to complete, it says so.
pub fn recover_beside(table: &Path) -> Result<()> {
    let place = directory(table);
    recover(place)?;
    // A link may stand for a file elsewhere.
    if let Ok(real) = table.canonicalize() {
        recover(directory(&real))?;
    }
    let own = hidden(table);
    let Ok(release) = std::fs::metadata(table) else { return Ok(()) };
    for journal in hidden_files(place, journal::ENDING) {
        let about = journal.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&own));
        let Ok(found) = std::fs::symlink_metadata(&journal) else { continue };
        // Anybody may put a file of that name into a directory for all; only the publisher's counts.
        if about && !is_ours(&found) && same_owner(&found, &release) && !journal::vanishes(&journal) {
            return Err(Error::resources(format!(
                "the publication of `{}` was interrupted, and only its owner can complete it",
                table.display()
            ))
            .help("its owner runs any incrowd command about it, for example incrowd verify"));
        }
    }
    Ok(())
}

#[cfg(unix)]
fn same_owner(a: &std::fs::Metadata, b: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    a.uid() == b.uid()
}

#[cfg(not(unix))]
fn same_owner(_: &std::fs::Metadata, _: &std::fs::Metadata) -> bool {
    true
}

/// Whether another run has a file under way that will be in the same place.
pub(super) fn has_rival(own: &Path, beginning: &str) -> bool {
    hidden_files(directory(own), PARTIAL).iter().any(|other| {
        let name = other.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        // After the file's name come sixteen digits and the ending.
        let same = name.strip_prefix(beginning).is_some_and(|rest| rest.len() == 16 + 1 + PARTIAL.len());
        same && other.file_name() != own.file_name()
            && matches!(open_ours(other), Ok(Some(file)) if matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    })
}
