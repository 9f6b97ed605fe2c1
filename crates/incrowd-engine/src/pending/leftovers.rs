//! Files that crashed runs left in a directory: interrupted publications, and staged files that no
//! process is writing.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use hashbrown::{HashMap, HashSet};
use incrowd_core::{Error, Result};

use crate::source::Source;

use super::journal::{self, Inspected, Recovered, is_hidden, is_hidden_name};
use super::secret::{Secret, configuration_directory};
use super::{PARTIAL, directory, disk, hidden, is_ours, still_there};

/// All hidden files of a directory with the form `.NAME.<16 hex>.ENDING`. A directory that cannot
/// be listed has none.
fn hidden_files(place: &Path, ending: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(place) else { return Vec::new() };
    let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
    let is_wanted = |name: &OsString| is_hidden(&name.to_string_lossy(), ending);
    let mut paths: Vec<PathBuf> = names.filter(is_wanted).map(|name| place.join(name)).collect();
    paths.sort();
    paths
}

/// Opens a file of this user to change it; `None` if it is another user's, a link, or not a file.
pub(super) fn open_ours(path: &Path) -> std::io::Result<Option<File>> {
    open(path, OpenOptions::new().read(true).write(true))
}

/// Opens a file of this user to read it; `None` if it is another user's, a link, or not a file.
pub(super) fn open_ours_to_read(path: &Path) -> std::io::Result<Option<File>> {
    open(path, OpenOptions::new().read(true))
}

/// Opens a regular file to read it and to append to it. A symbolic link is refused, because it may
/// lead to a file that is not meant.
pub(super) fn open_to_append(path: &Path) -> std::io::Result<File> {
    let refused = |what: &str| Err(std::io::Error::new(ErrorKind::InvalidInput, what));
    let found = std::fs::symlink_metadata(path)?;
    if found.is_symlink() {
        return refused("it is a symbolic link, which is not followed");
    }
    if !found.is_file() {
        return refused("it is not a file");
    }
    let file = without_links(OpenOptions::new().read(true).append(true)).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { refused("it is not a file") }
}

/// Makes opening fail at a symbolic link. A pipe is opened without waiting for its other end.
#[cfg(unix)]
fn without_links(options: &mut OpenOptions) -> &mut OpenOptions {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags.bits().cast_signed())
}

#[cfg(not(unix))]
fn without_links(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

fn open(path: &Path, options: &mut OpenOptions) -> std::io::Result<Option<File>> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_file() && is_ours(&found) => {}
        Ok(_) => return Ok(None),
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    }
    match without_links(options).open(path) {
        Ok(file) => {
            let found = file.metadata()?;
            Ok((found.is_file() && is_ours(&found)).then_some(file))
        }
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// The result of recovery in a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Interrupted publications that were completed.
    pub completed: u64,
    /// Interrupted publications that were undone.
    pub undone: u64,
    /// Staged files of dead runs that were removed.
    pub removed: u64,
    /// Journals that this user's key does not authenticate. They were neither executed nor removed.
    pub unauthenticated: Vec<PathBuf>,
    /// Journals of other users, who can complete these publications.
    pub of_others: Vec<PathBuf>,
}

/// Completes or undoes every interrupted publication in a directory, then removes the staged files
/// of processes that died. Only commands that publish call this.
pub fn recover(place: &Path) -> Result<Recovery> {
    let mut recovery = Recovery::default();
    let journals = hidden_files(place, journal::ENDING);
    // A key that cannot be used is an error at once, before a release is made.
    let secret = Secret::existing()?;
    for path in journals {
        let existed = path.symlink_metadata().is_ok();
        match journal::recover(&path, secret.as_ref()) {
            Ok(Recovered::Completed) => recovery.completed += 1,
            // Another journal of the same publication may have been recovered before this one.
            Ok(Recovered::Undone) => recovery.undone += u64::from(existed),
            Ok(Recovered::NotOurs) => recovery.of_others.push(path),
            Ok(Recovered::Unauthenticated) => recovery.unauthenticated.push(path),
            Err(error) => {
                return Err(Error::resources(format!(
                    "a publication in `{}` was interrupted and cannot be completed: {error}",
                    place.display()
                ))
                .help(
                    "`incrowd recover` tries again; until then the files there may not belong together. If a directory of the \
                     publication is gone for good, remove the journal by hand: the old files are `.NAME.DIGITS.incrowd-old`. \
                     If a file was changed since, put it elsewhere first",
                ));
            }
        }
    }
    recovery.removed = clear(place, |_| true);
    if let Some(place) = configuration_directory() {
        recovery.removed += clear(&place, |_| true);
    }
    Ok(recovery)
}

/// Removes staged files that no process is writing and no journal needs.
fn clear(place: &Path, wanted: impl Fn(&Path) -> bool) -> u64 {
    let mut files = hidden_files(place, PARTIAL);
    files.retain(|path| wanted(path));
    if files.is_empty() {
        return 0;
    }
    let Some(needed) = needed(place) else { return 0 };
    let is_needed =
        |path: &PathBuf| needed.iter().any(|name| path.file_name() == Some(name.as_os_str()));
    let mut removed = 0;
    for staged in files.iter().filter(|path| !is_needed(path)) {
        // The process that writes a file has locked it.
        if let Ok(Some(file)) = open_ours(staged)
            && file.try_lock().is_ok()
            && still_there(&file, staged)
        {
            removed += u64::from(disk::remove(staged).is_ok());
        }
    }
    removed
}

/// The names of the staged files that the journals of a directory may need. `None`: all of them.
fn needed(place: &Path) -> Option<Vec<OsString>> {
    let journals = hidden_files(place, journal::ENDING);
    if journals.is_empty() {
        return Some(Vec::new());
    }
    // A key that cannot be read may authenticate any journal.
    let secret = Secret::existing().ok()?;
    let mut names = Vec::new();
    for path in journals {
        names.extend(journal::needed_by(&path, secret.as_ref())?);
    }
    Some(names)
}

/// Removes staged files for `target` that no process is writing.
pub(super) fn clear_for(target: &Path) {
    let begins = hidden(target);
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    clear(directory(target), |path| {
        name(path).is_some_and(|name| is_hidden_name(&name, &begins, PARTIAL))
    });
}

/// A directory in which files of a table may have been published, with their names there.
#[derive(Debug)]
struct TableDirectory {
    directory: PathBuf,
    names: HashSet<OsString>,
}

impl TableDirectory {
    /// The paths of the table's files in this directory.
    fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.names.iter().map(|name| self.directory.join(name))
    }

    fn journals(&self) -> Vec<PathBuf> {
        hidden_files(&self.directory, journal::ENDING)
    }
}

/// The directories of a table, each once. A directory may have several spellings.
#[derive(Debug, Default)]
struct TableDirectories {
    all: Vec<TableDirectory>,
    /// The index in `all` of every spelling of a directory.
    known: HashMap<PathBuf, usize>,
    /// Whether the table is a pattern or a directory.
    is_collection: bool,
}

impl TableDirectories {
    /// The directories a table may have been published in. A pattern or a directory stands for its
    /// files. A publication through a symbolic link takes place where the link leads.
    fn of(table: &Path) -> TableDirectories {
        let mut places = TableDirectories::default();
        places.add(directory(table), table.file_name());
        if table.is_dir() {
            places.add(table, None);
        }
        // An error is reported when the table is opened.
        let files = Source::matching(&[table.to_owned()]).unwrap_or_default();
        places.is_collection = files != [table];
        for file in files {
            places.add(directory(&file), file.file_name());
            if file.is_symlink()
                && let Ok(real) = file.canonicalize()
            {
                places.add(directory(&real), real.file_name());
            }
        }
        places
    }

    fn add(&mut self, directory: &Path, name: Option<&OsStr>) {
        let at = match self.known.get(directory) {
            Some(&at) => at,
            None => {
                let real = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
                let next = self.all.len();
                let at = *self.known.entry(real).or_insert(next);
                if at == next {
                    self.all.push(TableDirectory {
                        directory: directory.to_owned(),
                        names: HashSet::default(),
                    });
                }
                self.known.insert(directory.to_owned(), at);
                at
            }
        };
        self.all[at].names.extend(name.map(OsStr::to_owned));
    }
}

/// Journals beside a table that this user's key does not authenticate. The table may be a pattern
/// or a directory. Nothing is changed.
pub fn unauthenticated_journals(table: &Path) -> Vec<PathBuf> {
    let secret = Secret::existing().ok().flatten();
    let mut found = Vec::new();
    for place in TableDirectories::of(table).all {
        // Another user may have journals in a shared directory. Only those about the table matter.
        let is_about_table = |path: &Path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            place.files().any(|file| is_hidden_name(&name, &hidden(&file), journal::ENDING))
        };
        let is_reported = |path: &PathBuf| match journal::inspect(path, |_| false, secret.as_ref())
        {
            Ok(Inspected::Unauthenticated) => true,
            Ok(Inspected::NotOurs) => is_about_table(path),
            _ => false,
        };
        found.extend(place.journals().into_iter().filter(is_reported));
    }
    found
}

/// Refuses a table if the publication of one of its files was interrupted, because its files may
/// not belong together. The table may be a pattern or a directory. Waits for a run that is
/// publishing. Nothing is changed.
pub fn refuse_interrupted(table: &Path) -> Result<()> {
    let shown = table.display();
    let TableDirectories { all, is_collection, .. } = TableDirectories::of(table);
    let pattern = table.file_name().filter(|_| is_collection && !table.is_dir());
    let pattern = pattern.and_then(|name| glob::Pattern::new(&name.to_string_lossy()).ok());
    let own = table.is_dir().then(|| table.canonicalize().ok()).flatten();
    let mut secret = None;
    for place in all {
        // The files of a directory are below it, not in its parent.
        let is_within = own.as_ref().is_none_or(|own| {
            place.directory.canonicalize().is_ok_and(|directory| directory.starts_with(own))
        });
        for path in place.journals() {
            if secret.is_none() {
                secret = Some(Secret::existing()?);
            }
            let known = secret.as_ref().and_then(Option::as_ref);
            let at = place.directory.display();
            // A pattern or a directory also stands for files that are still to be put there.
            let may_come = |name: &OsStr| {
                is_collection
                    && is_within
                    && place.directory.join(name).symlink_metadata().is_err()
                    && pattern.as_ref().is_none_or(|own| own.matches(&name.to_string_lossy()))
            };
            let is_of_table = |name: &OsStr| place.names.contains(name) || may_come(name);
            match journal::inspect(&path, is_of_table, known) {
                Ok(Inspected::Irrelevant | Inspected::Unauthenticated) => {}
                Ok(Inspected::Interrupted) => {
                    let message = match is_collection {
                        true => format!("a publication in `{at}` was interrupted"),
                        false => format!("the publication of `{shown}` was interrupted"),
                    };
                    return Err(Error::resources(message).help(format!(
                        "`incrowd recover {at}` completes it, or puts the old release back"
                    )));
                }
                Ok(Inspected::NotOurs) => {
                    for file in place.files() {
                        refuse_others(&file, if is_collection { &file } else { table }, &path)?;
                    }
                }
                Err(error) => {
                    return Err(Error::resources(format!("`{shown}` cannot be read now: {error}")));
                }
            }
        }
    }
    Ok(())
}

/// Refuses a file of a table if its owner, another user, has a journal about it. Messages contain
/// the path `shown`.
fn refuse_others(file: &Path, shown: &Path, journal: &Path) -> Result<()> {
    let (Ok(release), Ok(found)) = (std::fs::metadata(file), std::fs::symlink_metadata(journal))
    else {
        return Ok(());
    };
    let begins = hidden(file);
    let name =
        journal.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let about = is_hidden_name(&name, &begins, journal::ENDING);
    // In a shared directory every user can create a file of that name. Only a journal of the
    // release's owner counts.
    if about && same_owner(&found, &release) && !journal::vanishes(journal) {
        return Err(Error::resources(format!(
            "the publication of `{}` was interrupted, and only its owner can complete it",
            shown.display()
        ))
        .help(format!("its owner runs `incrowd recover {}`", directory(file).display())));
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

/// Whether another run is writing a staged file for the same place.
pub(super) fn has_rival(own: &Path, begins: &str) -> bool {
    hidden_files(directory(own), PARTIAL).iter().any(|other| {
        let name = other.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        is_hidden_name(&name, begins, PARTIAL)
            && other.file_name() != own.file_name()
            && matches!(open_ours(other), Ok(Some(file)) if matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    })
}
