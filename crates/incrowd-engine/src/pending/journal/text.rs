//! The text of a journal, and how it is authenticated.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{Error, ErrorKind, Result};
use std::path::{Component, Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::super::secret::Secret;
use super::super::{PARTIAL, directory, hidden};
use super::{ENDING, Note, OLD, exists};

pub(super) const FIRST_LINE: &str = "incrowd journal 4";
/// The suffix of files to which lines may be added.
const LEDGER: &str = ".ledger";
/// The word for a file that replaces none.
const NEW: &str = "new";

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Move {
    pub(super) staged: PathBuf,
    pub(super) target: PathBuf,
    /// The second name of the file that is replaced.
    pub(super) old: PathBuf,
    /// The file that is replaced, if there is one.
    pub(super) replaced: Option<Replaced>,
    pub(super) mode: u32,
    pub(super) new: Identity,
}

impl Move {
    /// Whether all names have the form that a publication gives them, so that no other file can be
    /// meant.
    fn is_sound(&self) -> bool {
        let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let (Some(staged), Some(old)) = (name(&self.staged), name(&self.old)) else { return false };
        let target = self.target.file_name().is_some();
        let begins = hidden(&self.target);
        target
            && is_hidden_name(&staged, &begins, PARTIAL)
            && is_hidden_name(&old, &begins, OLD)
            && self.mode & !0o777 == 0
    }

    /// Whether the replaced file has its second name.
    pub(super) fn has_old(&self) -> bool {
        self.replaced.is_some_and(|replaced| replaced.is_at(&self.old))
    }

    /// Returns an error if another file has the second name of the replaced file. Such a file is
    /// neither restored nor removed.
    pub(super) fn check_old(&self) -> Result<()> {
        if self.has_old() || !exists(&self.old) {
            return Ok(());
        }
        let message = format!("`{}` is not the file that was replaced", self.old.display());
        Err(Error::new(ErrorKind::InvalidData, message))
    }

    /// Returns an error if the target is neither the new nor the replaced file. Such a file is
    /// neither replaced nor removed.
    pub(super) fn check_target(&self) -> Result<()> {
        let is_known = self.new.is_at(&self.target)
            || self.replaced.is_some_and(|replaced| replaced.is_at(&self.target));
        if is_known || !exists(&self.target) {
            return Ok(());
        }
        let message =
            format!("`{}` was changed while the release was published", self.target.display());
        Err(Error::new(ErrorKind::InvalidData, message))
    }
}

/// Whether a name has the form `.NAME.<16 hex>.ENDING`, for any NAME.
pub(in crate::pending) fn is_hidden(name: &str, ending: &str) -> bool {
    // The name ends with 16 digits, a dot and the ending. The rest is the prefix.
    let before = name.len().saturating_sub(16 + 1 + ending.len());
    name.starts_with('.')
        && name.get(..before).is_some_and(|begins| {
            begins.len() > 1 && begins.ends_with('.') && is_hidden_name(name, begins, ending)
        })
}

/// Whether a name is `begins`, then 16 hexadecimal digits, a dot and `ending`.
pub(in crate::pending) fn is_hidden_name(name: &str, begins: &str, ending: &str) -> bool {
    let digits =
        name.strip_prefix(begins).and_then(|rest| rest.strip_suffix(ending)?.strip_suffix('.'));
    digits.is_some_and(|digits| {
        digits.len() == 16 && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// Recognises a file after it was renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    inode: u64,
    bytes: u64,
}

impl Identity {
    pub(super) fn of(metadata: &Metadata) -> Identity {
        Identity { inode: inode(metadata), bytes: metadata.len() }
    }

    pub(super) fn is_at(self, path: &Path) -> bool {
        std::fs::symlink_metadata(path)
            .is_ok_and(|found| found.is_file() && Identity::of(&found) == self)
    }
}

/// Recognises a replaced file under another name, if it was not changed since. File systems give
/// the inode number of a removed file to a new file, so there is also the birth time. A changed file
/// has another modification time or length; a rename and a second name change neither. The device
/// is left out: its number may change when the system restarts, and a file keeps its file system
/// when it is renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Replaced {
    inode: u64,
    /// The birth time in nanoseconds. `None` where the system does not know it.
    born: Option<u128>,
    /// The modification time in nanoseconds.
    modified: u128,
    bytes: u64,
}

impl Replaced {
    /// The file at a path. `None` if there is none. It is an error if it is not a regular file.
    pub(super) fn at(path: &Path) -> Result<Option<Replaced>> {
        match std::fs::symlink_metadata(path) {
            Ok(found) if found.is_file() => Ok(Some(Replaced::of(&found))),
            Ok(_) => Err(Error::new(ErrorKind::InvalidInput, "it is not a file")),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    fn of(metadata: &Metadata) -> Replaced {
        Replaced {
            inode: inode(metadata),
            // Windows gives a new file the birth time of the file that had its name before.
            born: birth(metadata).filter(|_| cfg!(unix)),
            modified: metadata.modified().ok().and_then(nanoseconds).unwrap_or(0),
            bytes: metadata.len(),
        }
    }

    fn is_at(self, path: &Path) -> bool {
        matches!(Replaced::at(path), Ok(Some(found)) if found == self)
    }

    /// Encodes the file as one word.
    fn word(self) -> String {
        let born = self.born.map_or_else(|| "-".to_owned(), |time| time.to_string());
        format!("{}:{born}:{}:{}", self.inode, self.modified, self.bytes)
    }

    fn parse(word: &str) -> Option<Replaced> {
        let [inode, born, modified, bytes] = word.split(':').collect::<Vec<_>>()[..] else {
            return None;
        };
        Some(Replaced {
            inode: inode.parse().ok()?,
            born: if born == "-" { None } else { Some(born.parse().ok()?) },
            modified: modified.parse().ok()?,
            bytes: bytes.parse().ok()?,
        })
    }
}

/// The time since the epoch. `None` for an earlier time.
fn nanoseconds(time: SystemTime) -> Option<u128> {
    time.duration_since(UNIX_EPOCH).ok().map(|since| since.as_nanos())
}

/// The birth time of a file in nanoseconds. `None` if the system does not know it.
fn birth(metadata: &Metadata) -> Option<u128> {
    metadata.created().ok().and_then(nanoseconds)
}

/// The birth time as one word.
fn birth_word(metadata: &Metadata) -> String {
    birth(metadata).map_or_else(|| "-".to_owned(), |time| time.to_string())
}

#[cfg(unix)]
fn inode(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn inode(_: &Metadata) -> u64 {
    0
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Forward,
    Undo,
    Done,
}

/// The content of a journal.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Content {
    /// An identifier that all journals of a publication share.
    pub(super) publication: String,
    pub(super) is_first: bool,
    pub(super) moves: Vec<Move>,
    pub(super) notes: Vec<Note>,
    /// The first journal names all other journals. Each of the others names the first.
    pub(super) others: Vec<PathBuf>,
}

impl Content {
    /// The lines before the authentication code. They contain the journal's location and birth
    /// time, so that a copy is not authentic.
    pub(super) fn text(&self, journal: &Path, file: &File) -> Result<String> {
        let mut text =
            format!("{FIRST_LINE}\n{}\npublication {}\n", place(journal, file)?, self.publication);
        text += if self.is_first { "first\n" } else { "other\n" };
        let name = |path: &Path| coded(Path::new(path.file_name().unwrap_or_default()));
        for one in &self.moves {
            let Move { staged, target, old, replaced, mode, new } = one;
            text += &format!(
                "file {} {} {} {} {mode:o} {} {}\n",
                name(staged),
                name(target),
                name(old),
                replaced.map_or_else(|| NEW.to_owned(), Replaced::word),
                new.inode,
                new.bytes
            );
        }
        for note in &self.notes {
            text += &format!("note {} {}\n", coded(&note.path), coded(Path::new(&note.line)));
        }
        for journal in &self.others {
            text += &format!("with {}\n", coded(journal));
        }
        Ok(text)
    }

    pub(super) fn parse(text: &str, own: &Path) -> Option<Content> {
        let mut content = Content {
            publication: String::new(),
            is_first: false,
            moves: Vec::new(),
            notes: Vec::new(),
            others: Vec::new(),
        };
        let near = |word: &str| {
            let name = decoded(word)?;
            let mut components = name.components();
            let plain = matches!((components.next(), components.next()), (Some(Component::Normal(one)), None) if one == name.as_os_str());
            plain.then(|| own.join(name))
        };
        for line in text.lines().skip(2) {
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["publication", id] => content.publication = id.to_owned(),
                ["first"] => content.is_first = true,
                ["other"] => content.is_first = false,
                ["file", staged, target, old, replaced, mode, inode, bytes] => {
                    content.moves.push(Move {
                        staged: near(staged)?,
                        target: near(target)?,
                        old: near(old)?,
                        replaced: match replaced {
                            NEW => None,
                            word => Some(Replaced::parse(word)?),
                        },
                        mode: u32::from_str_radix(mode, 8).ok()?,
                        new: Identity { inode: inode.parse().ok()?, bytes: bytes.parse().ok()? },
                    })
                }
                ["note", path, line] => {
                    let note =
                        Note { path: decoded(path)?, line: decoded(line)?.to_str()?.to_owned() };
                    content.notes.push(Some(note).filter(|note| may_be_noted_in(&note.path))?);
                }
                ["with", path] => {
                    content.others.push(decoded(path).filter(|path| may_be_journal(path))?);
                }
                _ => return None,
            }
        }
        content.moves.iter().all(Move::is_sound).then_some(content)
    }
}

/// The location of a journal: its name, and the inode numbers and birth times of the file and its
/// directory. A copy may get the inode number of a removed journal, but it has its own birth time.
/// A directory may be moved with its journal.
#[cfg(unix)]
pub(super) fn place(journal: &Path, file: &File) -> Result<String> {
    let name = coded(Path::new(journal.file_name().unwrap_or_default()));
    let identity = |found: &Metadata| format!("{} {}", inode(found), birth_word(found));
    let (own, around) = (file.metadata()?, std::fs::metadata(directory(journal))?);
    Ok(format!("place {name} {} {}", identity(&own), identity(&around)))
}

/// The location of a journal: its path, and the birth time of the file.
#[cfg(not(unix))]
pub(super) fn place(journal: &Path, file: &File) -> Result<String> {
    let path = coded(&std::path::absolute(journal)?);
    Ok(format!("place {path} {}", birth_word(&file.metadata()?)))
}

/// Whether a path may be that of another journal of a publication.
fn may_be_journal(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.is_absolute() && is_hidden(&name, ENDING)
}

/// The names of staged files in the text of a journal that is not authentic.
pub(super) fn staged_names(text: &str) -> Vec<OsString> {
    let is_staged = |name: &OsString| is_hidden(&name.to_string_lossy(), PARTIAL);
    let words = text.split_ascii_whitespace().filter_map(decoded);
    words.map(PathBuf::into_os_string).filter(is_staged).collect()
}

/// Whether lines may be added to a file.
pub(super) fn may_be_noted_in(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    path.is_absolute() && OsStr::as_encoded_bytes(name).ends_with(LEDGER.as_bytes())
}

/// A text with its authentication code.
pub(super) fn sealed(text: &str, secret: &Secret) -> String {
    format!("{text}code {}\n", secret.code(text))
}

/// The line that changes a journal's state. It begins on a new line even if another mark was cut
/// off.
pub(super) fn mark(secret: &Secret, text: &str, state: State) -> String {
    let word = match state {
        State::Forward => "forward",
        State::Undo => "undo",
        State::Done => "done",
    };
    format!("\n{word} {}\n", secret.code(&format!("{text}{word}\n")))
}

/// The text of an authentic journal, and its state. A mark that was cut off does not count;
/// anything else after the code makes the journal unauthentic.
pub(super) fn unsealed<'a>(whole: &'a str, secret: &Secret) -> Option<(&'a str, State)> {
    if !whole.starts_with(&format!("{FIRST_LINE}\n")) {
        return None;
    }
    let at = whole.find("\ncode ")? + 1;
    let (text, rest) = whole.split_at(at);
    let (code, rest) = rest.strip_prefix("code ")?.split_once('\n')?;
    if !secret.admits(text, code) {
        return None;
    }
    let mut state = State::Forward;
    let marks = [State::Undo, State::Done].map(|state| (state, mark(secret, text, state)));
    for line in rest.split('\n').filter(|line| !line.is_empty()) {
        match marks.iter().find(|(_, mark)| mark.trim() == line) {
            Some((marked, _)) => state = *marked,
            // The run died while it wrote this mark.
            None if marks.iter().any(|(_, mark)| mark.trim().starts_with(line)) => {}
            None => return None,
        }
    }
    Some((text, state))
}

/// Encodes a path as one word, whatever bytes it has.
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
    return Some(PathBuf::from(<std::ffi::OsString as std::os::unix::ffi::OsStringExt>::from_vec(
        bytes,
    )));
    #[cfg(not(unix))]
    Some(PathBuf::from(String::from_utf8(bytes).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARTIAL_NAME: &str = ".out.csv.0123456789abcdef.incrowd-partial";
    const OLD_NAME: &str = ".out.csv.fedcba9876543210.incrowd-old";

    fn text(file: &str) -> String {
        format!("{FIRST_LINE}\nplace .out.csv.1 2 3 4 5\npublication 12\nfirst\n{file}\n")
    }

    fn sound() -> String {
        text(&format!("file {PARTIAL_NAME} out.csv {OLD_NAME} new 644 1 2"))
    }

    #[test]
    fn any_path_is_one_word() {
        for path in ["/tmp/a b/ü%.csv", "out\n.csv", "plain.csv", ""] {
            let word = coded(Path::new(path));
            assert!(!word.contains([' ', '\n']), "{word}");
            assert_eq!(decoded(&word).unwrap(), Path::new(path));
        }
    }

    #[test]
    fn a_journal_that_was_cut_or_edited_is_not_authentic() {
        let secret = Secret::of_test(1);
        let whole = sealed(&sound(), &secret);
        assert_eq!(unsealed(&whole, &secret), Some((sound().as_str(), State::Forward)));
        for end in 0..whole.len() {
            assert_eq!(unsealed(&whole[..end], &secret), None, "{end}");
        }
        for at in 0..whole.len() {
            for edit in [b'0', b'1', b'\n', b'.'] {
                let mut bytes = whole.clone().into_bytes();
                if bytes[at] != edit {
                    bytes[at] = edit;
                    assert_eq!(
                        unsealed(std::str::from_utf8(&bytes).unwrap(), &secret),
                        None,
                        "{at}"
                    );
                }
            }
        }
        assert_eq!(unsealed(&whole, &Secret::of_test(2)), None, "the key of another user");
    }

    #[test]
    fn marks_are_authentic_or_cut_off() {
        let secret = Secret::of_test(1);
        let whole = sealed(&sound(), &secret);
        let [undo, done] = [State::Undo, State::Done].map(|state| mark(&secret, &sound(), state));
        let state =
            |marks: &str| unsealed(&format!("{whole}{marks}"), &secret).map(|(_, state)| state);
        assert_eq!(state(&undo), Some(State::Undo));
        assert_eq!(state(&done), Some(State::Done));
        // Without its last line break a mark is complete.
        for end in 1..undo.len() - 1 {
            assert_eq!(state(&undo[..end]), Some(State::Forward), "{end}");
            assert_eq!(state(&format!("{}{done}", &undo[..end])), Some(State::Done), "{end}");
        }
        // A word without its code is a mark that was cut off: it does not count.
        assert_eq!(
            (state("\nundo\n"), state("\ndone\n")),
            (Some(State::Forward), Some(State::Forward))
        );
        for edited in ["\nundo 0g\n", "\nelse\n", &done.replace("done", "undo")] {
            assert_eq!(state(edited), None, "{edited:?}");
        }
        let other = mark(&Secret::of_test(2), &sound(), State::Done);
        assert_eq!(state(&other), None);
    }

    #[test]
    fn even_an_authentic_journal_names_only_files_of_its_own_form() {
        let parse = |file: &str| Content::parse(&text(file), Path::new("/d"));
        let content = Content::parse(&sound(), Path::new("/d")).unwrap();
        assert_eq!(content.moves[0].target, Path::new("/d/out.csv"));
        let refused = [
            format!("file {PARTIAL_NAME} ../out.csv {OLD_NAME} new 644 1 2"),
            format!("file {PARTIAL_NAME} /etc/out.csv {OLD_NAME} new 644 1 2"),
            format!("file {PARTIAL_NAME} .. {OLD_NAME} new 644 1 2"),
            format!("file {PARTIAL_NAME} . {OLD_NAME} new 644 1 2"),
            format!("file {PARTIAL_NAME}  {OLD_NAME} new 644 1 2"),
            format!("file {PARTIAL_NAME} %2e%2e/out.csv {OLD_NAME} new 644 1 2"),
            format!("file {PARTIAL_NAME} other.csv {OLD_NAME} new 644 1 2"),
            format!("file packed.csv out.csv {OLD_NAME} new 644 1 2"),
            format!("file ../{PARTIAL_NAME} out.csv {OLD_NAME} new 644 1 2"),
            format!("file {PARTIAL_NAME} out.csv packed.csv new 644 1 2"),
            format!("file {PARTIAL_NAME} out.csv {OLD_NAME} new 4755 1 2"),
            "note /home/a/.bashrc x".to_owned(),
            "note my.key.ledger x".to_owned(),
            "see /home/a/notes.txt".to_owned(),
            "with /home/a/notes.txt".to_owned(),
            "with /home/a/.incrowd-journal".to_owned(),
            "with /home/a/.m.json.0123456789abcdef.incrowd-old".to_owned(),
            "with /home/a/.m.json.0123456789ABCDEF.incrowd-journal".to_owned(),
            "with /home/a/m.json.0123456789abcdef.incrowd-journal".to_owned(),
            "with .m.json.0123456789abcdef.incrowd-journal".to_owned(),
            "with /home/a/.m.json.0123456789abcdef.incrowd-journal/notes.txt".to_owned(),
            format!("file {PARTIAL_NAME} out.csv {OLD_NAME} replaces 644 1 2"),
            format!("file {PARTIAL_NAME} out.csv {OLD_NAME} 1:2:3 644 1 2"),
            format!("file {PARTIAL_NAME} out.csv {OLD_NAME} 1:-:-:3 644 1 2"),
            format!("file {PARTIAL_NAME} out.csv {OLD_NAME} 1:born:2:3 644 1 2"),
        ];
        for file in refused {
            assert_eq!(parse(&file), None, "{file}");
        }
        assert!(parse("note /home/a/my.key.ledger x").is_some());
        assert!(parse("with /home/a/.m.json.0123456789abcdef.incrowd-journal").is_some());
        for replaced in
            ["7:1795033866574530044:1795033866574530045:9", "7:-:1795033866574530044:90"]
        {
            let file = format!("file {PARTIAL_NAME} out.csv {OLD_NAME} {replaced} 644 1 2");
            let replaced = parse(&file).unwrap().moves[0].replaced;
            assert_eq!(replaced.map(Replaced::word).as_deref(), file.split(' ').nth(4));
        }
    }

    #[test]
    fn another_file_with_the_inode_number_of_the_replaced_one_is_not_taken_for_it() {
        let replaced = |born, modified, bytes| Replaced { inode: 7, born, modified, bytes };
        let one = replaced(Some(1), 2, 3);
        for other in [
            replaced(Some(2), 2, 3),
            replaced(None, 2, 3),
            replaced(Some(1), 3, 3),
            replaced(Some(1), 2, 4),
        ] {
            assert_ne!(one, other);
        }
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        assert_eq!(Replaced::at(&path("out.csv")).unwrap(), None);
        assert!(Replaced::at(dir.path()).is_err());
        std::fs::write(path("out.csv"), "old").unwrap();
        let old = Replaced::at(&path("out.csv")).unwrap().unwrap();
        std::fs::rename(path("out.csv"), path("old")).unwrap();
        assert!(old.is_at(&path("old")) && !old.is_at(&path("out.csv")));
        std::fs::remove_file(path("old")).unwrap();
        // The new file often gets the inode number. The pause is longer than the granularity of
        // birth times. The length differs for systems without birth times.
        std::thread::sleep(std::time::Duration::from_millis(50));
        std::fs::write(path("old"), "planted").unwrap();
        assert!(!old.is_at(&path("old")));
    }

    #[test]
    fn a_journal_that_is_not_authentic_names_staged_files() {
        assert_eq!(staged_names(&sound()), [PARTIAL_NAME]);
        let names = staged_names(&text("file .a%20b.csv.0123456789abcdef.incrowd-partial out.csv"));
        assert_eq!(names, [".a b.csv.0123456789abcdef.incrowd-partial"]);
        assert!(staged_names("incrowd journal 1\nfile out.csv packed.txt").is_empty());
    }
}
