//! Publishes several files as one.
//!
//! A journal lists the staged files of one directory and where each of them belongs. It is on disk
//! before anything is moved. From then on the publication counts: if the run dies, recovery
//! completes it. If a file cannot be put in place, the old files are put back, and the journal
//! records that first. Every step can be repeated without harm, so recovery does not need to know
//! how far the run came.
//!
//! 1. The journals are written under staged names, synced, and renamed. There is one for each
//!    directory that gets a file. The *first* journal is renamed last; that rename decides that
//!    there is a publication.
//! 2. Each file that will be replaced gets a second name.
//! 3. The staged files are renamed, then get their final mode. The directories are synced.
//! 4. Lines are added to ledgers.
//! 5. The first journal is marked as done; the second names and the journals are removed, the first
//!    journal first.
//!
//! # Which journals are executed
//!
//! A journal may arrive with files from another person: unpacking an archive makes the user its
//! owner. So a journal is executed only if it carries the authentication code of the user's
//! [`Secret`]. The code covers the journal's name and the inode numbers and birth times of the
//! journal and its directory, so that a copy of an authentic journal is not authentic. A file
//! system without birth times may give a copy the inode number of the removed original. The marks
//! are authenticated too. Anything else is reported; it is neither executed nor removed.
//!
//! Even an authentic journal moves and removes only names in its own directory: a target `NAME`,
//! `.NAME.<16 hex>.incrowd-partial` and `.NAME.<16 hex>.incrowd-old`. A file with such a name must
//! also be the staged file, or the file that was replaced. Otherwise it is reported, and everything
//! is left as it is. Files in other directories are moved by the journals there, which must be
//! authentic themselves and belong to the same publication. Lines are added only to regular files
//! whose names end in `.ledger`. A symbolic link is not followed.

#[cfg(test)]
mod tests;
mod text;

use std::ffi::{OsStr, OsString};
use std::fs::{File, TryLockError};
use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::leftovers::{open_ours, open_ours_to_read, open_to_append};
use super::secret::Secret;
use super::{PARTIAL, Pending, create_locked, directory, disk, still_there, unforeseen};
use text::{
    Content, Identity, Move, Replaced, State, mark, may_be_noted_in, place, sealed, staged_names,
    unsealed,
};
pub(super) use text::{is_hidden, is_hidden_name};

/// How the names of journals end.
pub(super) const ENDING: &str = "incrowd-journal";
/// How the second names of replaced files end.
const OLD: &str = "incrowd-old";
/// No journal of ours is longer.
const MOST_BYTES: u64 = 1 << 20;

/// A line that is added to a ledger when a release is published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The ledger. It must exist, and its name must end in `.ledger`.
    pub path: PathBuf,
    /// The line, without its end.
    pub line: String,
}

impl Note {
    /// Adds the line now, unless it is there already.
    pub fn add(&self) -> incrowd_core::Result<()> {
        append(self).map_err(|e| super::unwritable(&self.path, &e))
    }
}

/// A publication of several files: the moves of all its journals.
#[derive(Debug)]
pub(super) struct Publication {
    secret: Secret,
    /// The first journal.
    path: PathBuf,
    file: File,
    /// The first journal's text, which its marks refer to.
    text: String,
    moves: Vec<Move>,
    notes: Vec<Note>,
    /// The other journals, all of them authentic and of this publication.
    others: Vec<PathBuf>,
    state: State,
}

/// The result of recovering one journal.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Recovered {
    /// All new files are in place.
    Completed,
    /// All old files are back, or there was nothing to do.
    Undone,
    /// The journal belongs to another user.
    NotOurs,
    /// The journal is not authentic: it was neither executed nor removed.
    Unauthenticated,
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Removes a file, if it exists.
fn remove(path: &Path) -> Result<()> {
    match disk::remove(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

impl Publication {
    /// Writes the journals of a publication, the first one at `path`. On failure nothing has
    /// happened.
    pub(super) fn begin(
        path: &Path,
        files: &[Pending],
        notes: &[Note],
        secret: &Secret,
    ) -> Result<Publication> {
        let path = std::path::absolute(path)?;
        // One journal for each directory, the first one for the directory of `path`.
        let mut places: Vec<(PathBuf, Vec<Move>)> = vec![(path.clone(), Vec::new())];
        for file in files {
            let target = std::path::absolute(&file.target.path)?;
            let at =
                places.iter().position(|(journal, _)| directory(journal) == directory(&target));
            let at = at.unwrap_or_else(|| {
                places.push((unforeseen(&target, ENDING), Vec::new()));
                places.len() - 1
            });
            places[at].1.push(Move {
                staged: std::path::absolute(&file.staged)?,
                old: unforeseen(&target, OLD),
                replaced: Replaced::at(&target)?,
                target,
                mode: file.mode,
                new: Identity::of(&file.file.metadata()?),
            });
        }
        let note = |note: &Note| {
            let path = std::path::absolute(&note.path)?;
            if !may_be_noted_in(&path) {
                return Err(Error::new(ErrorKind::InvalidInput, "lines are added to ledgers only"));
            }
            Ok(Note { path, line: note.line.clone() })
        };
        let notes = notes.iter().map(note).collect::<Result<Vec<Note>>>()?;
        let publication = format!("{:032x}", rand::random::<u128>());
        let others: Vec<PathBuf> = places[1..].iter().map(|(journal, _)| journal.clone()).collect();
        let mut written: Vec<(PathBuf, File)> = Vec::new();
        let mut text = String::new();
        // The first journal comes last: without it the others mean nothing.
        for (i, (journal, moves)) in places.iter().enumerate().rev() {
            let content = Content {
                publication: publication.clone(),
                is_first: i == 0,
                moves: moves.clone(),
                notes: if i == 0 { notes.clone() } else { Vec::new() },
                others: if i == 0 { others.clone() } else { vec![path.clone()] },
            };
            match put(journal, &content, secret) {
                Ok((file, its_text)) => {
                    written.push((journal.clone(), file));
                    text = its_text;
                }
                Err(error) => {
                    remove(&path).ok();
                    written.iter().for_each(|(journal, _)| drop(remove(journal)));
                    return Err(error);
                }
            }
        }
        // The locks of the other journals are released here. The lock of the first one protects the
        // publication.
        let Some((_, file)) = written.pop() else {
            return Err(Error::other("there is no journal"));
        };
        let moves = places.into_iter().flat_map(|(_, moves)| moves).collect();
        Ok(Publication {
            secret: secret.clone(),
            path,
            file,
            text,
            moves,
            notes,
            others,
            state: State::Forward,
        })
    }

    fn mark(&mut self, state: State) -> Result<()> {
        self.state = state;
        self.file.seek(SeekFrom::End(0))?;
        disk::write(&self.file, &self.path, mark(&self.secret, &self.text, state).as_bytes())
    }

    fn directories(&self) -> Vec<&Path> {
        let mut all: Vec<&Path> = self.moves.iter().map(|one| directory(&one.target)).collect();
        all.push(directory(&self.path));
        all.sort();
        all.dedup();
        all
    }

    /// Puts everything in place that is not there yet.
    pub(super) fn forward(&self) -> Result<()> {
        // The journal's own name must survive a power failure before anything is moved.
        disk::sync_directory(directory(&self.path))?;
        for one in &self.moves {
            one.check_old()?;
            if one.new.is_at(&one.staged) {
                one.check_target()?;
            }
        }
        for one in self.moves.iter().filter(|one| one.new.is_at(&one.staged)) {
            if one.replaced.is_some() && !exists(&one.old) && exists(&one.target) {
                // Some file systems have no hard links; there the file is absent for a moment.
                disk::link(&one.target, &one.old)
                    .or_else(|_| disk::rename(&one.target, &one.old))?;
            }
        }
        for one in &self.moves {
            if one.new.is_at(&one.staged) {
                // The replaced file may have been changed since it got its second name.
                one.check_old()?;
                one.check_target()?;
                disk::rename(&one.staged, &one.target)?;
            } else if !one.new.is_at(&one.target) {
                return Err(Error::new(ErrorKind::NotFound, "a staged file is gone"));
            }
            // The final permissions are set after the rename, because a staged file must stay
            // private. If this fails, the release has too few readers, not too many.
            if let Ok(Some(file)) = open_ours(&one.target)
                && file.metadata().is_ok_and(|found| Identity::of(&found) == one.new)
            {
                disk::set_mode(&file, &one.target, one.mode).ok();
            }
        }
        for place in self.directories() {
            disk::sync_directory(place)?;
        }
        self.notes.iter().try_for_each(append)
    }

    /// Puts the old files back. If a file is neither the new nor the replaced one, this returns an
    /// error and changes nothing.
    pub(super) fn undo(mut self) -> Result<()> {
        for one in &self.moves {
            one.check_old()?;
            if one.has_old() {
                one.check_target()?;
            }
        }
        if self.state != State::Undo {
            self.mark(State::Undo)?;
            disk::sync(&self.file, &self.path)?;
        }
        for one in self.moves.iter().rev() {
            if one.has_old() {
                disk::rename(&one.old, &one.target)?;
                // A rename between two names of one file does nothing.
                remove(&one.old)?;
            } else if one.new.is_at(&one.target) {
                remove(&one.target)?;
            }
            if one.new.is_at(&one.staged) {
                remove(&one.staged)?;
            }
        }
        for place in self.directories() {
            disk::sync_directory(place)?;
        }
        self.clear()
    }

    /// Removes the files that a completed publication no longer needs.
    pub(super) fn finish(mut self) -> Result<()> {
        if self.state != State::Done {
            self.mark(State::Done)?;
        }
        for one in self.moves.iter().filter(|one| one.has_old()) {
            remove(&one.old)?;
        }
        self.clear()
    }

    /// Removes the journals, which are all authentic. Without the first one the others mean
    /// nothing, and recovery removes them.
    fn clear(&self) -> Result<()> {
        remove(&self.path)?;
        self.others.iter().try_for_each(|journal| remove(journal))
    }
}

/// Writes one journal: under a staged name first, so that there is never half a journal. It stays
/// locked as long as the file is open.
fn put(journal: &Path, content: &Content, secret: &Secret) -> Result<(File, String)> {
    // The staged name of a journal is that of a staged file, so that leftovers are cleared away.
    let about = content.moves.first().map_or(journal, |one| &one.target);
    let (staged, file) = create_locked(about, PARTIAL)?;
    let text = content.text(journal, &file);
    let written = text.and_then(|text| {
        disk::write(&file, &staged, sealed(&text, secret).as_bytes())?;
        disk::sync(&file, &staged)?;
        if !content.is_first {
            disk::rename(&staged, journal)?;
            disk::sync_directory(directory(journal)).map(|()| text)
        } else {
            disk::rename(&staged, journal).map(|()| text)
        }
    });
    match written {
        Ok(text) => Ok((file, text)),
        Err(error) => {
            remove(&staged).ok();
            remove(journal).ok();
            Err(error)
        }
    }
}

/// The maximum length of a ledger, which is read whole.
const MOST_LEDGER_BYTES: u64 = 256 << 20;

/// How a line of a ledger begins: it is a JSON object with at least one key.
const LINE_BEGINS: &[u8] = b"{\"";

/// The number of bytes of the complete lines of a ledger. An incomplete last line was written by a
/// run that died, and is truncated. It is an error if it does not begin like a line of a ledger:
/// then the file has other content, which must not be lost.
pub fn whole_lines(text: &[u8]) -> Result<usize> {
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let last = &text[whole..];
    if last.starts_with(LINE_BEGINS) || LINE_BEGINS.starts_with(last) {
        return Ok(whole);
    }
    Err(Error::new(ErrorKind::InvalidData, "its last line is none of a ledger"))
}

/// Reads a ledger. It is an error if it is too large.
pub fn read_ledger(file: &mut File) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    file.take(MOST_LEDGER_BYTES + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MOST_LEDGER_BYTES {
        return Err(Error::new(ErrorKind::InvalidData, "it is too large for a ledger"));
    }
    Ok(text)
}

/// Appends a line to a ledger unless the ledger has it already: the whole line, or nothing. A
/// symbolic link is refused.
fn append(note: &Note) -> Result<()> {
    let mut file = open_to_append(&note.path)?;
    let text = read_ledger(&mut file)?;
    if text.split(|byte| *byte == b'\n').any(|line| line == note.line.as_bytes()) {
        return Ok(());
    }
    let whole = whole_lines(&text)? as u64;
    if whole < text.len() as u64 {
        file.set_len(whole)?;
    }
    let written = disk::write(&file, &note.path, format!("{}\n", note.line).as_bytes())
        .and_then(|()| disk::sync(&file, &note.path));
    if written.is_err() {
        file.set_len(whole).ok();
    }
    written
}

/// The maximum time to wait for the publication of another process.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(3);

/// A journal that was read and is authentic.
struct Authentic {
    content: Content,
    text: String,
    state: State,
}

/// Reads an open journal. `None`: it is not authentic.
fn authentic(path: &Path, file: &File, secret: Option<&Secret>) -> Result<Option<Authentic>> {
    let mut text = String::new();
    let mut from = file;
    from.seek(SeekFrom::Start(0))?;
    match from.take(MOST_BYTES).read_to_string(&mut text) {
        Err(e) if e.kind() != ErrorKind::InvalidData => return Err(e),
        Err(_) => return Ok(None),
        Ok(_) => {}
    }
    let Some(secret) = secret else { return Ok(None) };
    let Some((text, state)) = unsealed(&text, secret) else { return Ok(None) };
    if text.lines().nth(1) != Some(place(path, file)?.as_str()) {
        return Ok(None);
    }
    let content = Content::parse(text, &std::path::absolute(directory(path))?);
    Ok(content.map(|content| Authentic { content, text: text.to_owned(), state }))
}

/// The names of the staged files that a journal may need. `None`: all in its directory. A journal
/// that is not authentic may be a damaged one of ours, so the files that it names are kept. It does
/// not prevent the removal of other files.
pub(super) fn needed_by(path: &Path, secret: Option<&Secret>) -> Option<Vec<OsString>> {
    let file = match opened(path, open_ours_to_read) {
        Ok(Opened::Ours(file)) => file,
        Ok(_) => return Some(Vec::new()),
        Err(_) => return None,
    };
    // Without a key, any journal of this user may be authentic.
    let secret = secret?;
    if authentic(path, &file, Some(secret)).ok()?.is_some() {
        return None;
    }
    let (mut bytes, mut from) = (Vec::new(), &file);
    from.seek(SeekFrom::Start(0)).ok()?;
    from.take(MOST_BYTES).read_to_end(&mut bytes).ok()?;
    Some(staged_names(&String::from_utf8_lossy(&bytes)))
}

/// Waits until no other process holds the journal.
fn wait_for(file: &File, exclusive: bool) -> Result<()> {
    let began = Instant::now();
    let lock = || if exclusive { file.try_lock() } else { file.try_lock_shared() };
    while let Err(TryLockError::WouldBlock) = lock() {
        if began.elapsed() > PATIENCE {
            return Err(Error::new(ErrorKind::WouldBlock, "another run is publishing"));
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

/// A journal that was opened.
enum Opened {
    Ours(File),
    /// There is none.
    Missing,
    NotOurs,
    /// It is no file, or its mode is none that a publication gives it.
    Strange,
}

fn opened(path: &Path, open: impl Fn(&Path) -> Result<Option<File>>) -> Result<Opened> {
    match open(path) {
        Ok(Some(file)) => Ok(Opened::Ours(file)),
        Ok(None) => Ok(match path.symlink_metadata() {
            Err(_) => Opened::Missing,
            Ok(found) if found.is_file() => Opened::NotOurs,
            Ok(_) => Opened::Strange,
        }),
        Err(e) if e.kind() == ErrorKind::PermissionDenied => Ok(Opened::Strange),
        Err(e) => Err(e),
    }
}

/// Completes the publication of a run that died, or undoes it. Waits for a run that is publishing.
pub(super) fn recover(path: &Path, secret: Option<&Secret>) -> Result<Recovered> {
    recover_from(path, secret, false)
}

/// Recovers a publication from one of its journals, or from its first journal only.
fn recover_from(path: &Path, secret: Option<&Secret>, only_first: bool) -> Result<Recovered> {
    let file = match opened(path, open_ours)? {
        Opened::Ours(file) => file,
        Opened::Missing => return Ok(Recovered::Undone),
        Opened::NotOurs => return Ok(Recovered::NotOurs),
        Opened::Strange => return Ok(Recovered::Unauthenticated),
    };
    let Some(secret) = secret else { return Ok(Recovered::Unauthenticated) };
    // Before the lock: another process may hold the lock of a forged journal for ever.
    if authentic(path, &file, Some(secret))?.is_none() {
        return Ok(Recovered::Unauthenticated);
    }
    wait_for(&file, true)?;
    if !still_there(&file, path) {
        return Ok(Recovered::Undone);
    }
    let Some(Authentic { content, text, state }) = authentic(path, &file, Some(secret))? else {
        return Ok(Recovered::Unauthenticated);
    };
    let path = std::path::absolute(path)?;
    if !content.is_first && only_first {
        let message = format!("`{}` is not the first journal of a publication", path.display());
        return Err(Error::new(ErrorKind::InvalidData, message));
    }
    if !content.is_first {
        return recover_first(&path, file, &content, secret);
    }
    let Content { publication, mut moves, notes, others: named, .. } = content;
    let mut others = Vec::new();
    for other in named {
        let journal = open_ours(&other)?
            .map(|file| authentic(&other, &file, Some(secret)))
            .transpose()?
            .flatten();
        match journal {
            Some(journal)
                if !journal.content.is_first && journal.content.publication == publication =>
            {
                moves.extend(journal.content.moves);
                others.push(other);
            }
            // A completed publication may have removed it, though it removes the first one before.
            // Another file of that name stays where it is.
            _ if state == State::Done => {}
            _ => {
                let message =
                    format!("its journal `{}` is missing or not authentic", other.display());
                return Err(Error::new(ErrorKind::NotFound, message));
            }
        }
    }
    let publication =
        Publication { secret: secret.clone(), path, file, text, moves, notes, others, state };
    match state {
        State::Done => publication.finish().map(|()| Recovered::Completed),
        State::Undo => publication.undo().map(|()| Recovered::Undone),
        State::Forward => match publication.forward() {
            Ok(()) => publication.finish().map(|()| Recovered::Completed),
            Err(_) => publication.undo().map(|()| Recovered::Undone),
        },
    }
}

/// Recovers a publication from one of its other journals.
fn recover_first(path: &Path, file: File, content: &Content, secret: &Secret) -> Result<Recovered> {
    let Some(first) = content.others.first() else { return Ok(Recovered::Unauthenticated) };
    if !directory(first).is_dir() {
        let message = format!(
            "the directory of its first journal is not there: `{}`",
            directory(first).display()
        );
        return Err(Error::new(ErrorKind::NotFound, message));
    }
    let mut outcome = Recovered::Undone;
    if exists(first) {
        // The first journal's lock protects the publication, so this one is released before that
        // one is taken.
        drop(file);
        outcome = recover_from(first, Some(secret), true)?;
    }
    if !exists(first) {
        remove(path)?;
    }
    Ok(outcome)
}

/// The effect of a journal on a table that is about to be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Inspected {
    /// The journal is about other files, or its publication is completed.
    Irrelevant,
    /// The table's publication was interrupted.
    Interrupted,
    NotOurs,
    Unauthenticated,
}

/// Reads a journal in a directory of a table. `is_of_table` returns whether a file of that name
/// belongs to the table. Waits for a run that is publishing. Changes nothing.
pub(super) fn inspect(
    path: &Path,
    is_of_table: impl Fn(&OsStr) -> bool,
    secret: Option<&Secret>,
) -> Result<Inspected> {
    let file = match opened(path, open_ours_to_read)? {
        Opened::Ours(file) => file,
        Opened::Missing => return Ok(Inspected::Irrelevant),
        Opened::NotOurs => return Ok(Inspected::NotOurs),
        Opened::Strange => return Ok(Inspected::Unauthenticated),
    };
    if authentic(path, &file, secret)?.is_none() {
        return Ok(Inspected::Unauthenticated);
    }
    wait_for(&file, false)?;
    if !still_there(&file, path) {
        return Ok(Inspected::Irrelevant);
    }
    let Some(journal) = authentic(path, &file, secret)? else {
        return Ok(Inspected::Unauthenticated);
    };
    // The journals of other directories have no marks; without the first one they mean nothing.
    let open = journal.state != State::Done
        && (journal.content.is_first || journal.content.others.iter().any(|first| exists(first)));
    let concerns = |one: &Move| one.target.file_name().is_some_and(&is_of_table);
    Ok(match open && journal.content.moves.iter().any(concerns) {
        true => Inspected::Interrupted,
        false => Inspected::Irrelevant,
    })
}

/// Whether another user's journal disappears within a short time.
pub(super) fn vanishes(path: &Path) -> bool {
    let began = Instant::now();
    while exists(path) && began.elapsed() < PATIENCE / 5 {
        std::thread::sleep(PAUSE);
    }
    !exists(path)
}

/// The path of the journal of a release at `target`.
pub(super) fn path_for(target: &Path) -> PathBuf {
    unforeseen(target, ENDING)
}
