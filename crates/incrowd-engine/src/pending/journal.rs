//! Several files put in place as one.
//!
//! The journal says which files under way belong where. It is on disk before anything is moved. From then on the publication
//! counts: whoever finds the journal of a run that is gone completes it. If a file cannot be put in place, what was there before
//! is put back, and the journal says so first. Either way everything is done twice without harm, so that nobody has to know how
//! far the run came.
//!
//! 1. The journal is written and synced, and so is its directory. Where files go to other directories, a pointer to the
//!    journal lies in each of them, written before it.
//! 2. What is in the way gets a second name.
//! 3. The files get the mode they will have, and are renamed. The directories are synced.
//! 4. Lines are added to other files, such as a ledger.
//! 5. The journal is marked as done; the second names, the pointers and the journal itself are removed.
//!
//! A journal counts only if it belongs to whoever reads it. One that was not finished has no valid digest, and nothing was moved.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind, Read, Result, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::leftovers::open_ours;
use super::{Pending, directory, disk, still_there, unforeseen};

/// How the names of journals end.
pub(super) const ENDING: &str = "incrowd-journal";
/// How the second names of old files end.
const OLD: &str = "incrowd-old";
const FIRST_LINE: &str = "incrowd journal 1";

/// A line that is added to a file once a release is in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The file; it must exist.
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

#[derive(Clone, Debug, PartialEq)]
struct Move {
    staged: PathBuf,
    target: PathBuf,
    /// The second name of what was there before.
    old: PathBuf,
    replaces: bool,
    mode: u32,
    new: Identity,
}

/// By what a file is known again whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    number: u64,
    bytes: u64,
}

impl Identity {
    fn of(found: &Metadata) -> Identity {
        #[cfg(unix)]
        let number = std::os::unix::fs::MetadataExt::ino(found);
        #[cfg(not(unix))]
        let number = 0;
        Identity { number, bytes: found.len() }
    }

    fn is_at(self, path: &Path) -> bool {
        std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && Identity::of(&found) == self)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Forward,
    Undo,
    Done,
}

/// A publication of several files.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    moves: Vec<Move>,
    notes: Vec<Note>,
    pointers: Vec<PathBuf>,
    state: State,
}

/// What became of a journal.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Recovered {
    /// All new files are in place, or all old ones.
    Settled,
    /// Somebody else's; it says nothing to us.
    NotOurs,
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Removes a file; one that is gone already is as good.
fn remove(path: &Path) -> Result<()> {
    match disk::remove(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

impl Journal {
    /// Writes the journal of a publication. On failure nothing of it is left, and nothing has happened.
    pub(super) fn write(path: &Path, files: &[Pending], notes: &[Note]) -> Result<Journal> {
        let moves = files.iter().map(|file| {
            let target = std::path::absolute(&file.target.path)?;
            Ok(Move {
                staged: std::path::absolute(&file.staged)?,
                old: unforeseen(&target, OLD),
                replaces: exists(&target),
                target,
                mode: file.mode,
                new: Identity::of(&file.file.metadata()?),
            })
        });
        let moves: Vec<Move> = moves.collect::<Result<_>>()?;
        let note =
            |note: &Note| std::path::absolute(&note.path).map(|path| Note { path, line: note.line.clone() });
        let notes = notes.iter().map(note).collect::<Result<Vec<Note>>>()?;
        let path = std::path::absolute(path)?;
        let mut pointers = Vec::new();
        let mut elsewhere: Vec<&Path> = vec![directory(&path)];
        for one in &moves {
            if !elsewhere.contains(&directory(&one.target)) {
                elsewhere.push(directory(&one.target));
                pointers.push(unforeseen(&one.target, ENDING));
            }
        }
        let file = disk::create_new(&path, true);
        let mut held = Vec::new();
        let written = file.and_then(|file| {
            file.try_lock().ok();
            let journal = Journal { path: path.clone(), file, moves, notes, pointers, state: State::Forward };
            for pointer in &journal.pointers {
                let file = disk::create_new(pointer, true)?;
                file.try_lock().ok();
                disk::write(&file, pointer, sealed(&format!("see {}\n", coded(&path))).as_bytes())?;
                disk::sync(&file, pointer)?;
                disk::sync_directory(directory(pointer))?;
                held.push((pointer.clone(), file));
            }
            disk::write(&journal.file, &path, journal.text().as_bytes())?;
            disk::sync(&journal.file, &path)?;
            disk::sync_directory(directory(&path))?;
            Ok(journal)
        });
        if written.is_err() {
            // Without its digest the journal is none: if it cannot be removed, it must not be whole.
            if let Ok(Some(file)) = open_ours(&path) {
                file.set_len(0).ok();
            }
            remove(&path).ok();
            held.iter().for_each(|(pointer, _)| drop(remove(pointer)));
        }
        written
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let own = directory(&self.path);
        // What lies beside the journal is found beside it wherever the directory is moved to.
        let near = |path: &Path| coded(path.strip_prefix(own).unwrap_or(path));
        for one in &self.moves {
            let Move { staged, target, old, replaces, mode, new } = one;
            text += &format!(
                "file {} {} {} {} {mode:o} {} {}\n",
                near(staged),
                near(target),
                near(old),
                if *replaces { "replaces" } else { "new" },
                new.number,
                new.bytes
            );
        }
        for note in &self.notes {
            text += &format!("note {} {}\n", near(&note.path), coded(Path::new(&note.line)));
        }
        for pointer in &self.pointers {
            text += &format!("pointer {}\n", coded(pointer));
        }
        sealed(&text)
    }

    fn mark(&mut self, state: State, word: &str) -> Result<()> {
        self.state = state;
        self.file.seek(SeekFrom::End(0))?;
        // On a line of its own, even if another mark was cut off.
        disk::write(&self.file, &self.path, format!("\n{word}\n").as_bytes())
    }

    fn directories(&self) -> Vec<&Path> {
        let mut all: Vec<&Path> = self.moves.iter().map(|one| directory(&one.target)).collect();
        all.sort();
        all.dedup();
        all
    }

    /// Puts everything in place that is not there yet.
    pub(super) fn forward(&self) -> Result<()> {
        for one in self.moves.iter().filter(|one| one.new.is_at(&one.staged)) {
            if one.replaces && !exists(&one.old) && exists(&one.target) {
                // Some file systems know no second names; then the file is away for a moment.
                disk::link(&one.target, &one.old).or_else(|_| disk::rename(&one.target, &one.old))?;
            }
            // Rather too few may read it than none.
            disk::set_mode(&one.staged, one.mode).ok();
        }
        for one in &self.moves {
            if one.new.is_at(&one.staged) {
                disk::rename(&one.staged, &one.target)?;
            } else if !one.new.is_at(&one.target) {
                return Err(Error::new(ErrorKind::NotFound, "a file that was under way is gone"));
            }
        }
        for place in self.directories() {
            disk::sync_directory(place)?;
        }
        self.notes.iter().try_for_each(append)
    }

    /// Puts back what was there before.
    pub(super) fn undo(mut self) -> Result<()> {
        if self.state != State::Undo {
            self.mark(State::Undo, "undo")?;
            disk::sync(&self.file, &self.path)?;
        }
        for one in self.moves.iter().rev() {
            if exists(&one.old) {
                disk::rename(&one.old, &one.target)?;
                // Two names of one file are not renamed to each other.
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

    /// Clears away what is needed no more.
    pub(super) fn finish(mut self) -> Result<()> {
        if self.state != State::Done {
            self.mark(State::Done, "done")?;
        }
        for one in &self.moves {
            remove(&one.old)?;
        }
        self.clear()
    }

    fn clear(&self) -> Result<()> {
        // Without its journal a pointer leads nowhere, and whoever finds it removes it.
        remove(&self.path)?;
        self.pointers.iter().try_for_each(|pointer| remove(pointer))
    }
}

/// Adds a line to a file unless it is there already: all of it, or nothing.
fn append(note: &Note) -> Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).open(&note.path)?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    if text.split(|byte| *byte == b'\n').any(|line| line == note.line.as_bytes()) {
        return Ok(());
    }
    // Half a line is nobody's: whoever wrote it did not live to tell.
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1) as u64;
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

/// How long another run may take to put its files in place.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(3);

/// Completes the publication of a run that is gone, or takes it back; waits for one that is under way.
pub(super) fn recover(path: &Path) -> Result<Recovered> {
    let Some(mut file) = open_ours(path)? else {
        return Ok(if exists(path) { Recovered::NotOurs } else { Recovered::Settled });
    };
    let began = Instant::now();
    while let Err(TryLockError::WouldBlock) = file.try_lock() {
        if began.elapsed() > PATIENCE {
            return Err(Error::new(ErrorKind::WouldBlock, "another run is publishing"));
        }
        std::thread::sleep(PAUSE);
    }
    if !still_there(&file, path) {
        return Ok(Recovered::Settled);
    }
    let mut text = String::new();
    let read = file.read_to_string(&mut text);
    match read.ok().and_then(|_| parse(path, &text)) {
        // Not finished: nothing was moved.
        None => remove(path)?,
        Some(Found::Pointer(journal)) => {
            recover(&journal)?;
            remove(path)?;
        }
        Some(Found::Journal { moves, notes, pointers, state }) => {
            let path = std::path::absolute(path)?;
            let journal = Journal { path, file, moves, notes, pointers, state };
            match state {
                State::Done => journal.finish()?,
                State::Undo => journal.undo()?,
                State::Forward => match journal.forward() {
                    Ok(()) => journal.finish()?,
                    Err(_) => journal.undo()?,
                },
            }
        }
    }
    Ok(Recovered::Settled)
}

/// Whether somebody else's journal is gone soon.
pub(super) fn vanishes(path: &Path) -> bool {
    let began = Instant::now();
    while exists(path) && began.elapsed() < PATIENCE / 5 {
        std::thread::sleep(PAUSE);
    }
    !exists(path)
}

enum Found {
    Pointer(PathBuf),
    Journal { moves: Vec<Move>, notes: Vec<Note>, pointers: Vec<PathBuf>, state: State },
}

/// Lines with the first one before them and their digest after them.
fn sealed(lines: &str) -> String {
    let text = format!("{FIRST_LINE}\n{lines}");
    let digest = blake3::hash(text.as_bytes()).to_hex();
    format!("{text}digest {digest}\n")
}

fn parse(path: &Path, text: &str) -> Option<Found> {
    let end = text.rfind("\ndigest ")? + 1;
    let lines = text[..end].strip_prefix(FIRST_LINE)?.strip_prefix('\n')?;
    let rest = text[end..].strip_prefix(sealed(lines)[end..].as_ref() as &str)?;
    let state = match rest.lines().last() {
        Some("done") => State::Done,
        Some("undo") => State::Undo,
        _ => State::Forward,
    };
    let own = directory(path);
    let near = |word: &str| Some(own.join(decoded(word)?));
    let (mut moves, mut notes, mut pointers) = (Vec::new(), Vec::new(), Vec::new());
    for line in lines.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["see", journal] => return Some(Found::Pointer(decoded(journal)?)),
            ["file", staged, target, old, replaces, mode, number, bytes] => moves.push(Move {
                staged: near(staged)?,
                target: near(target)?,
                old: near(old)?,
                replaces: replaces == "replaces",
                mode: u32::from_str_radix(mode, 8).ok()?,
                new: Identity { number: number.parse().ok()?, bytes: bytes.parse().ok()? },
            }),
            ["note", path, line] => {
                notes.push(Note { path: near(path)?, line: decoded(line)?.to_str()?.to_owned() });
            }
            ["pointer", path] => pointers.push(decoded(path)?),
            _ => return None,
        }
    }
    Some(Found::Journal { moves, notes, pointers, state })
}

/// A path in one word, whatever bytes it has.
fn coded(path: &Path) -> String {
    let mut word = String::new();
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' | b'/' | b':' => {
                word.push(byte.into())
            }
            _ => word += &format!("%{byte:02x}"),
        }
    }
    word
}

fn decoded(word: &str) -> Option<PathBuf> {
    let mut bytes = Vec::new();
    let mut rest = word.as_bytes();
    while let Some((&first, more)) = rest.split_first() {
        if first == b'%' {
            let digits = std::str::from_utf8(more.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &more[2..];
        } else {
            bytes.push(first);
            rest = more;
        }
    }
    #[cfg(unix)]
    return Some(PathBuf::from(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes)));
    #[cfg(not(unix))]
    Some(PathBuf::from(String::from_utf8(bytes).ok()?))
}

/// Where the journal of a release at `target` will be.
pub(super) fn path_for(target: &Path) -> PathBuf {
    unforeseen(target, ENDING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_path_is_one_word() {
        for path in ["/tmp/a b/ü%.csv", "out\n.csv", "plain.csv", ""] {
            let word = coded(Path::new(path));
            assert!(!word.contains([' ', '\n']), "{word}");
            assert_eq!(decoded(&word).unwrap(), Path::new(path));
        }
    }

    #[test]
    fn half_a_journal_is_none() {
        let whole = sealed("file a b c new 600 1 2\n");
        let path = Path::new("/d/.x.incrowd-journal");
        for end in 0..whole.len() {
            assert!(parse(path, &whole[..end]).is_none(), "{end}");
        }
        assert!(parse(path, &whole.replace(" b ", " e ")).is_none());
        let state = |marks: &str| match parse(path, &format!("{whole}{marks}")) {
            Some(Found::Journal { moves, state, .. }) => {
                assert_eq!(moves[0].target, Path::new("/d/b"));
                state
            }
            _ => panic!("{marks}"),
        };
        assert_eq!(
            [state(""), state("un"), state("\nun\nundo\n"), state("\nundo\n\ndone\n")],
            [State::Forward, State::Forward, State::Undo, State::Done]
        );
    }
}
