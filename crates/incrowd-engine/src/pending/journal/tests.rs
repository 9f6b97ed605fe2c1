use std::collections::BTreeMap;

use proptest::prelude::*;

use super::text::FIRST_LINE;
use super::*;

fn secret() -> Secret {
    Secret::of_test(1)
}

fn hidden_name(name: &str, ending: &str) -> String {
    format!(".{name}.0123456789abcdef.{ending}")
}

/// Stages a file and returns its move.
fn staged(dir: &Path, name: &str) -> Move {
    let staged = dir.join(hidden_name(name, PARTIAL));
    std::fs::write(&staged, "new").unwrap();
    let target = dir.join(name);
    Move {
        new: Identity::of(&std::fs::metadata(&staged).unwrap()),
        replaced: Replaced::at(&target).unwrap(),
        old: dir.join(hidden_name(name, OLD)),
        mode: 0o644,
        staged,
        target,
    }
}

/// Writes an authentic journal in a state and returns its path.
fn write_journal(dir: &Path, content: &Content, state: State) -> PathBuf {
    let journal = dir.join(hidden_name("out.csv", ENDING));
    let (file, text) = put(&journal, content, &secret()).unwrap();
    if state != State::Forward {
        disk::write(&file, &journal, mark(&secret(), &text, state).as_bytes()).unwrap();
    }
    journal
}

fn first(moves: Vec<Move>, others: Vec<PathBuf>) -> Content {
    let publication = "1".to_owned();
    Content { publication, is_first: true, moves, notes: Vec::new(), others }
}

fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let paths = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.is_file()).map(|p| (p.clone(), std::fs::read(p).unwrap())).collect()
}

/// Removes a file and creates another one, which often gets the inode number of the removed one.
/// The pause is longer than the granularity of birth times.
fn replace(path: &Path, text: &str) {
    std::fs::remove_file(path).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    std::fs::write(path, text).unwrap();
}

/// An interrupted publication of two files that cannot be completed: the first one is in place, and
/// the second one is gone.
fn interrupted(dir: &Path) -> (PathBuf, Move) {
    std::fs::write(dir.join("out.csv"), "old").unwrap();
    let (table, manifest) = (staged(dir, "out.csv"), staged(dir, "out.json"));
    let content = first(vec![table.clone(), manifest.clone()], Vec::new());
    let journal = write_journal(dir, &content, State::Forward);
    std::fs::rename(&table.target, &table.old).unwrap();
    std::fs::rename(&table.staged, &table.target).unwrap();
    std::fs::remove_file(&manifest.staged).unwrap();
    (journal, table)
}

#[test]
fn the_replaced_file_is_restored() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, table) = interrupted(dir.path());
    assert_eq!(recover(&journal, Some(&secret())).unwrap(), Recovered::Undone);
    assert_eq!(files(dir.path()), BTreeMap::from([(table.target, b"old".to_vec())]));
}

#[test]
fn another_file_under_the_second_name_is_reported_and_nothing_is_changed() {
    for state in [State::Forward, State::Undo] {
        let dir = tempfile::tempdir().unwrap();
        let (journal, table) = interrupted(dir.path());
        if state == State::Undo {
            let text = std::fs::read_to_string(&journal).unwrap();
            let (text, _) = unsealed(&text, &secret()).unwrap();
            let marked = format!("{}{}", sealed(text, &secret()), mark(&secret(), text, state));
            std::fs::write(&journal, marked).unwrap();
        }
        replace(&table.old, "planted");
        let before = files(dir.path());
        let error = recover(&journal, Some(&secret())).unwrap_err().to_string();
        assert!(error.contains("is not the file that was replaced"), "{error}");
        assert_eq!(files(dir.path()), before);
    }
}

#[test]
fn a_completed_publication_does_not_remove_another_file_under_the_second_name() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("out.csv"), "old").unwrap();
    let table = staged(dir.path(), "out.csv");
    let journal = write_journal(dir.path(), &first(vec![table.clone()], Vec::new()), State::Done);
    std::fs::rename(&table.staged, &table.target).unwrap();
    std::fs::write(&table.old, "").unwrap();
    replace(&table.old, "planted");
    assert_eq!(recover(&journal, Some(&secret())).unwrap(), Recovered::Completed);
    let left = [(table.target, b"new".to_vec()), (table.old, b"planted".to_vec())];
    assert_eq!(files(dir.path()), BTreeMap::from(left));
}

#[test]
fn a_file_that_was_changed_after_the_interruption_is_not_replaced() {
    for is_there in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("out.csv");
        if is_there {
            std::fs::write(&target, "old").unwrap();
        }
        let content = first(vec![staged(dir.path(), "out.csv")], Vec::new());
        let journal = write_journal(dir.path(), &content, State::Forward);
        if is_there {
            replace(&target, "of the user");
        } else {
            std::fs::write(&target, "of the user").unwrap();
        }
        assert_eq!(recover(&journal, Some(&secret())).unwrap(), Recovered::Undone);
        let left = BTreeMap::from([(target, b"of the user".to_vec())]);
        assert_eq!(files(dir.path()), left);
    }
}

/// Changes a file in place and keeps its length.
fn edit(path: &Path) {
    std::thread::sleep(Duration::from_millis(50));
    std::fs::write(path, "new!").unwrap();
}

#[test]
fn a_file_that_was_edited_in_place_is_kept() {
    // Before it had its second name, and while it had both.
    for has_second_name in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("out.csv");
        std::fs::write(&target, "old!").unwrap();
        let table = staged(dir.path(), "out.csv");
        let content = first(vec![table.clone()], Vec::new());
        let journal = write_journal(dir.path(), &content, State::Forward);
        if has_second_name {
            std::fs::hard_link(&target, &table.old).unwrap();
        }
        edit(&target);
        let recovered = recover(&journal, Some(&secret()));
        match has_second_name {
            false => assert_eq!(recovered.unwrap(), Recovered::Undone),
            true => {
                let error = recovered.unwrap_err().to_string();
                assert!(error.contains("is not the file that was replaced"), "{error}");
            }
        }
        assert_eq!(std::fs::read(&target).unwrap(), b"new!");
    }
    // After the new file was put in its place: the edited file keeps its second name.
    let dir = tempfile::tempdir().unwrap();
    let (journal, table) = interrupted(dir.path());
    edit(&table.old);
    let error = recover(&journal, Some(&secret())).unwrap_err().to_string();
    assert!(error.contains("is not the file that was replaced"), "{error}");
    assert_eq!(std::fs::read(&table.old).unwrap(), b"new!");
}

/// A first journal, another one in a second directory, and a file in a third directory that is not
/// authentic.
fn in_three_directories(dir: &Path, state: State) -> [PathBuf; 3] {
    let place = |name: &str| {
        let place = dir.join(name);
        std::fs::create_dir(&place).unwrap();
        place
    };
    let [a, b, c] = ["a", "b", "c"].map(place);
    let journal = |place: &Path| place.join(hidden_name("out.csv", ENDING));
    let other = Content { is_first: false, ..first(Vec::new(), vec![journal(&a)]) };
    let authentic = write_journal(&b, &other, State::Forward);
    std::fs::write(journal(&c), "notes").unwrap();
    let content = first(Vec::new(), vec![authentic.clone(), journal(&c)]);
    [write_journal(&a, &content, state), authentic, journal(&c)]
}

#[test]
fn only_authentic_journals_of_the_publication_are_removed() {
    let dir = tempfile::tempdir().unwrap();
    let [journal, authentic, foreign] = in_three_directories(dir.path(), State::Done);
    assert_eq!(recover(&journal, Some(&secret())).unwrap(), Recovered::Completed);
    assert!(!exists(&journal) && !exists(&authentic));
    assert_eq!(std::fs::read(&foreign).unwrap(), b"notes");

    let dir = tempfile::tempdir().unwrap();
    let [journal, authentic, foreign] = in_three_directories(dir.path(), State::Forward);
    let error = recover(&journal, Some(&secret())).unwrap_err().to_string();
    assert!(error.contains("missing or not authentic"), "{error}");
    assert!(exists(&journal) && exists(&authentic) && exists(&foreign));
}

#[test]
fn journals_that_name_each_other_as_the_first_one_are_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let journal = dir.path().join(hidden_name("out.csv", ENDING));
    let content = Content { is_first: false, ..first(Vec::new(), vec![journal]) };
    let journal = write_journal(dir.path(), &content, State::Forward);
    let error = recover(&journal, Some(&secret())).unwrap_err().to_string();
    assert!(error.contains("is not the first journal"), "{error}");
    assert!(exists(&journal));
}

#[test]
#[cfg(unix)]
fn a_ledger_that_is_a_link_is_not_changed() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let line = r#"{"done":1}"#;
    let note = |name: &str| Note { path: path(name), line: line.to_owned() };
    std::fs::write(path("victim.txt"), "a line\nan incomplete line").unwrap();
    std::os::unix::fs::symlink("victim.txt", path("link.ledger")).unwrap();
    std::fs::create_dir(path("directory.ledger")).unwrap();
    let error = note("link.ledger").add().unwrap_err();
    assert!(error.message().contains("it is a symbolic link"), "{error}");
    let error = note("directory.ledger").add().unwrap_err();
    assert!(error.message().contains("it is not a file"), "{error}");
    assert_eq!(std::fs::read(path("victim.txt")).unwrap(), b"a line\nan incomplete line");
    for incomplete in ["", "{", r#"{"tab"#] {
        std::fs::write(path("my.ledger"), format!("{{}}\n{incomplete}")).unwrap();
        note("my.ledger").add().unwrap();
        note("my.ledger").add().unwrap();
        assert_eq!(std::fs::read_to_string(path("my.ledger")).unwrap(), format!("{{}}\n{line}\n"));
    }
}

#[test]
fn a_file_that_is_no_ledger_is_not_changed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("my.ledger");
    for text in ["notes", "{}\nnotes", "{ notes"] {
        std::fs::write(&path, text).unwrap();
        let error = Note { path: path.clone(), line: "{1}".to_owned() }.add().unwrap_err();
        assert!(error.message().contains("its last line is none of a ledger"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
    File::options().write(true).open(&path).unwrap().set_len(MOST_LEDGER_BYTES + 1).unwrap();
    let error = Note { path: path.clone(), line: "{1}".to_owned() }.add().unwrap_err();
    assert!(error.message().contains("too large"), "{error}");
    assert_eq!(std::fs::metadata(&path).unwrap().len(), MOST_LEDGER_BYTES + 1);
}

#[test]
fn a_journal_that_is_not_authentic_needs_only_the_files_it_names() {
    let dir = tempfile::tempdir().unwrap();
    let table = staged(dir.path(), "out.csv");
    let journal = write_journal(dir.path(), &first(vec![table], Vec::new()), State::Forward);
    assert_eq!(needed_by(&journal, Some(&secret())), None);
    assert_eq!(needed_by(&journal, None), None, "there is no key");
    let names: Vec<OsString> = vec![hidden_name("out.csv", PARTIAL).into()];
    assert_eq!(needed_by(&journal, Some(&Secret::of_test(2))), Some(names));
    std::fs::write(&journal, b"\xff").unwrap();
    assert_eq!(needed_by(&journal, Some(&secret())), Some(Vec::new()));
    std::fs::remove_file(&journal).unwrap();
    assert_eq!(needed_by(&journal, Some(&secret())), Some(Vec::new()));
}

/// Lines that a journal may have. `DIR` is its directory. `INODE` identifies the staged file, and
/// `REPLACED` the replaced file.
const VALID: [&str; 8] = [
    "publication 1",
    "first",
    "other",
    "file STAGED out.csv OLD new 644 INODE 3",
    "file STAGED out.csv OLD REPLACED 644 INODE 3",
    "note DIR/my.ledger x%0ay",
    "with DIR/FOREIGN",
    "with DIR/OWN",
];
/// Lines that no journal may have.
const HOSTILE: [&str; 15] = [
    "",
    "publication",
    "file STAGED out.csv OLD REPLACED 4777 INODE 3",
    "file STAGED victim.txt OLD new 644 INODE 3",
    "file victim.txt out.csv OLD new 644 INODE 6",
    "file STAGED out.csv victim.txt REPLACED 644 INODE 3",
    "file STAGED out.csv DIR/OLD new 644 INODE 3",
    "file STAGED ../victim.txt OLD new 644 INODE 3",
    "file STAGED %2e%2e/victim.txt OLD new 644 INODE 3",
    "file STAGED DIR/victim.txt OLD new 644 INODE 3",
    "note DIR/victim.txt x",
    "note my.ledger x",
    "with DIR/victim.txt",
    "with FOREIGN",
    "see DIR/victim.txt",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The unauthenticated journals of `incrowd-fuzz` do not reach the parser.
    #[test]
    fn a_sealed_journal_of_any_content_changes_only_files_of_its_publication(
        valid in prop::collection::vec(prop::sample::select(VALID.to_vec()), 0..4),
        hostile in prop::collection::vec(prop::sample::select(HOSTILE.to_vec()), 0..2),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..2),
        link in any::<bool>(),
        state in prop::sample::select(vec![State::Forward, State::Undo, State::Done]),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let own = hidden_name("out.csv", ENDING);
        let foreign = hidden_name("out.json", ENDING);
        for name in ["out.csv", "victim.txt", "my.ledger", foreign.as_str()] {
            std::fs::write(path(name), "a line").unwrap();
        }
        std::fs::write(path("my.ledger"), "{}\n{\"inc").unwrap();
        #[cfg(unix)]
        if link {
            std::fs::remove_file(path("my.ledger")).unwrap();
            std::os::unix::fs::symlink("victim.txt", path("my.ledger")).unwrap();
        }
        #[cfg(not(unix))]
        let _ = link;
        let table = staged(dir.path(), "out.csv");
        // A valid line has the identities of both files.
        let content = first(vec![table.clone()], Vec::new());
        let file = File::create(path(&own)).unwrap();
        let sound = content.text(&path(&own), &file).unwrap();
        let words: Vec<&str> = sound.lines().nth(4).unwrap().split(' ').collect();
        let lines = ["first"].into_iter().chain(valid).chain(hostile);
        let mut body: String = lines.map(|line| format!("{line}\n")).collect();
        for (from, to) in [
            ("STAGED", words[1]),
            ("OLD", words[3]),
            ("REPLACED", words[4]),
            ("INODE", words[6]),
            ("FOREIGN", foreign.as_str()),
            ("OWN", own.as_str()),
            ("DIR", dir.path().display().to_string().as_str()),
        ] {
            body = body.replace(from, to);
        }
        let mut bytes = body.into_bytes();
        for (at, byte) in damage {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        let place = place(&path(&own), &file).unwrap();
        let text = format!("{FIRST_LINE}\n{place}\n{}", String::from_utf8_lossy(&bytes));
        let mut whole = sealed(&text, &secret());
        if state != State::Forward {
            whole += &mark(&secret(), &text, state);
        }
        disk::write(&file, &path(&own), whole.as_bytes()).unwrap();
        drop(file);

        drop(inspect(&path(&own), |name| name == "out.csv", Some(&secret())));
        drop(needed_by(&path(&own), Some(&secret())));
        let recovered = recover(&path(&own), Some(&secret()));
        let after = files(dir.path());
        for name in ["victim.txt", foreign.as_str()] {
            prop_assert_eq!(&after[&path(name)], b"a line", "{:?}", recovered);
        }
        let table = after.get(&path("out.csv")).map(Vec::as_slice);
        prop_assert!(
            matches!(table, None | Some(b"a line" | b"new")),
            "{:?}: {:?}", recovered, table
        );
        let names = ["out.csv", "victim.txt", "my.ledger", words[1], words[3], &own, &foreign];
        let known = names.map(path);
        prop_assert!(after.keys().all(|path| known.contains(path)), "{:?}", after.keys());
    }
}
