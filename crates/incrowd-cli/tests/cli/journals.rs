//! Journals that arrive with files of another person are never executed. Commands that only read
//! never change a directory.

use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::Command;

use incrowd_testing::{skip, skipped};

use crate::test_dir::{Outcome, PEOPLE, TestDir};

const RELEASE: &str = "anonymize people.csv --quasi age,zip --sensitive disease -k 2 -o out.csv";
const AGAIN: &str = "anonymize people.csv --quasi age,zip --sensitive disease -k 3 -o out.csv";
const JOURNAL: &str = ".out.csv.0123456789abcdef.incrowd-journal";
/// A journal in the directory of a demo.
const DEMO_JOURNAL: &str = "demo/.people.release.csv.0123456789abcdef.incrowd-journal";

/// Commands that only read. All of them read the release.
const READING: [&str; 8] = [
    "verify out.csv",
    "attack out.csv",
    "measure people.csv out.csv",
    "report out.csv -o pages/page.html",
    "profile out.csv",
    "profile out*.csv",
    "verify out.csv --original people.csv",
    "hierarchy build out.csv disease --kind mask",
];
/// Commands that only read a file in the directory.
const READING_ONE: [&str; 6] = [
    "attack away/out.csv --second out.csv",
    "attack away/out.csv --external people.csv",
    "measure people.csv away/out.csv",
    "compare people.csv --quasi age,zip --algorithms mondrian --k 2 -o pages",
    "hierarchy lint away/zip.csv --table people.csv --column zip",
    "hierarchy show mask --table people.csv --column zip",
];
/// Commands that write into the directory, or into that of a demo.
const WRITING: [&str; 8] = [
    "init people.csv -o job.toml --force",
    AGAIN,
    "anonymize people.csv --quasi age,zip -k 1000 -o out.csv",
    "batches away/people.csv --quasi age,zip --sensitive disease --suppression r-suppression:l=2,on=disease,seed=1 --dir .",
    "batches people.csv --quasi age,zip --sensitive disease --suppression r-suppression:l=2,on=disease,seed=1 --dir away/new",
    "recover",
    "demo --rows 100 -k 2 --dir demo",
    "demo --rows 100 -k 2 --dir demo --data-only",
];

/// A directory with a release, a directory for pages, another one with a release, one with a demo,
/// and a file that must not change.
fn setup() -> TestDir {
    let test = TestDir::with_people();
    test.write("away/people.csv", PEOPLE);
    test.succeeds(
        "anonymize away/people.csv --quasi age,zip --sensitive disease -k 2 -o away/out.csv",
    );
    test.succeeds("hierarchy build people.csv zip --kind mask -o away/zip.csv");
    test.succeeds(RELEASE);
    test.succeeds("demo --rows 100 -k 2 --dir demo");
    test.write("pages/about.txt", "pages");
    test.write("home/.bashrc", "export A=1\n");
    test
}

fn hex(digest: blake3::Hash) -> String {
    digest.to_hex().to_string()
}

/// A journal of the first format, whose digest needs no key.
fn first_format(lines: &str, marks: &str) -> String {
    let text = format!("incrowd journal 1\n{lines}");
    format!("{text}digest {}\n{marks}", hex(blake3::hash(text.as_bytes())))
}

/// A journal of the current format, authenticated with another key.
fn current_format(lines: &str, marks: &str) -> String {
    let lines = lines.replace(" replaces ", " 1:2:3:4 ");
    let text = format!("incrowd journal 4\nplace {JOURNAL} 1 2 3 4\npublication 1\nfirst\n{lines}");
    let code = |text: &str| hex(blake3::keyed_hash(&[7; 32], text.as_bytes()));
    let marks: String = marks
        .split_whitespace()
        .map(|word| format!("\n{word} {}\n", code(&format!("{text}{word}\n"))))
        .collect();
    format!("{text}code {}\n{marks}", code(&text))
}

/// Forged journals of every kind: each would change or remove a file if it were executed.
fn forged(test: &TestDir) -> Vec<(String, String)> {
    let victim = test.path().join("home/.bashrc").display().to_string();
    let packed = test.path().join("packed.txt");
    test.write("packed.txt", "packed\n");
    let packed_metadata = std::fs::metadata(&packed).unwrap();
    let (inode, bytes) =
        (std::os::unix::fs::MetadataExt::ino(&packed_metadata), packed_metadata.len());
    let mut all = Vec::new();
    for (name, form) in [
        ("1", first_format as fn(&str, &str) -> String),
        ("4", current_format as fn(&str, &str) -> String),
    ] {
        let cases = [
            ("a line for any file", format!("note {victim} echo%20owned\n"), ""),
            (
                "a packed file over any file",
                format!("file gone {victim} packed.txt replaces 644 1 2\n"),
                "\nundo\n",
            ),
            (
                "a packed file in a place",
                format!("file packed.txt {victim} x new 644 {inode} {bytes}\n"),
                "",
            ),
            ("any file removed", format!("file gone gone {victim} replaces 644 1 2\n"), "\ndone\n"),
            ("a pointer to any file", format!("see {victim}\n"), ""),
            ("another journal", format!("with {victim}\n"), ""),
        ];
        for (what, lines, marks) in cases {
            all.push((format!("{what}, format {name}"), form(&lines, marks)));
        }
    }
    all.push(("a truncated journal".to_owned(), "incrowd journal 4\nplace".to_owned()));
    all.push(("an empty journal".to_owned(), String::new()));
    all
}

fn warns(done: &Outcome, what: &str, args: &str) {
    let message = done.stderr.replace('\n', " ");
    assert!(message.contains("your key does not authenticate"), "{what}: {args}\n{done}");
    assert!(message.contains("not executed"), "{what}: {args}\n{done}");
}

/// Authentic journals of an interrupted publication that is over: as they were, edited and
/// truncated. A journal that is written again is another file, so it is a replay.
fn replayed(test: &TestDir) -> Vec<(String, String)> {
    let name = interrupted(test);
    let journal = test.text(&name);
    test.succeeds("recover");
    test.succeeds(RELEASE);
    let home = test.path().join("home/.bashrc").display().to_string();
    vec![
        ("a replayed journal".to_owned(), journal.clone()),
        ("an edited journal".to_owned(), journal.replace(" out.csv ", &format!(" {home} "))),
        ("a journal with a mark".to_owned(), format!("{journal}\nundo {}\n", "0".repeat(64))),
        ("half a journal".to_owned(), journal[..journal.len() / 2].to_owned()),
    ]
}

/// Runs every command beside a journal that is not authentic. Checks that it is reported, and that
/// it is neither executed nor removed.
fn every_command(test: &TestDir, what: &str, journal: &str, run: &dyn Fn(&str) -> Outcome) {
    for args in READING.iter().chain(&READING_ONE).chain(&WRITING) {
        let name = if args.starts_with("demo") { DEMO_JOURNAL } else { JOURNAL };
        test.write(name, journal);
        let before = test.files();
        // `--quiet` does not hide the warning.
        let done = run(&format!("{args} --quiet"));
        let after = test.files();
        assert!([0, 1, 2].contains(&done.code), "{what}: {args}\n{done}");
        // The command itself must work, so that it reads the directory.
        let refuses = ["-k 1000", "recover"].iter().any(|part| args.contains(part));
        assert!(done.code == 0 || refuses, "{what}: {args}\n{done}");
        for name in [name, "home/.bashrc", "packed.txt", "people.csv", "away/out.csv"] {
            assert!(after.get(name) == before.get(name), "{what}: {args} changed {name}\n{done}");
        }
        warns(&done, what, args);
        if !WRITING.contains(args) {
            let own = |name: &&String| !name.starts_with("pages/");
            assert_eq!(
                after.keys().filter(own).collect::<Vec<_>>(),
                before.keys().filter(own).collect::<Vec<_>>(),
                "{what}: {args}"
            );
            assert_eq!(after["out.csv"], before["out.csv"], "{what}: {args}");
        }
    }
    warns(&run("recover").exits(2), what, "recover");
}

#[test]
fn a_forged_journal_is_reported_and_neither_executed_nor_removed() {
    let test = setup();
    let mut journals = replayed(&test);
    journals.extend(forged(&test));
    for (what, journal) in journals {
        every_command(&test, &what, &journal, &|args| test.run(args));
    }
}

/// An archive can also contain a link, a named pipe or a directory with that name, or a file that
/// cannot be read or written.
#[test]
fn a_journal_that_is_not_a_file_is_reported_and_blocks_nothing() {
    let test = setup();
    let path = test.path().join(JOURNAL);
    let remove = || drop(std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir(&path)));
    let mode = |mode: u32| {
        std::fs::write(&path, "incrowd journal 1\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let kinds: [(&str, &dyn Fn()); 6] = [
        ("a link to nothing", &|| std::os::unix::fs::symlink("/nonexistent", &path).unwrap()),
        ("a link to a file", &|| std::os::unix::fs::symlink("home/.bashrc", &path).unwrap()),
        ("a directory", &|| std::fs::create_dir(&path).unwrap()),
        ("a named pipe", &|| {
            assert!(Command::new("mkfifo").arg(&path).status().unwrap().success())
        }),
        ("a file that cannot be written", &|| mode(0o444)),
        ("a file that cannot be read", &|| mode(0o000)),
    ];
    for (what, make) in kinds {
        for args in READING {
            make();
            let done = test.run(args).exits(0);
            warns(&done, what, args);
            assert!(path.symlink_metadata().is_ok(), "{what}: {args}");
            remove();
        }
        make();
        warns(&test.run("recover").exits(2), what, "recover");
        warns(&test.run(RELEASE).exits(0), what, RELEASE);
        assert!(path.symlink_metadata().is_ok(), "{what}");
        remove();
    }
    assert_eq!(test.text("home/.bashrc"), "export A=1\n");
}

#[test]
fn another_process_cannot_block_readers_with_a_forged_journal() {
    let test = setup();
    test.write(JOURNAL, "incrowd journal 1\n");
    let held = std::fs::File::open(test.path().join(JOURNAL)).unwrap();
    held.lock().unwrap();
    for args in ["verify out.csv", AGAIN] {
        warns(&test.run(args).exits(0), "locked", args);
    }
}

#[test]
fn the_name_of_a_journal_cannot_forge_a_line_of_output() {
    let test = setup();
    test.write(".a\nverify   k-anonymity(k=10)   holds.0123456789abcdef.incrowd-journal", "x");
    let done = test.succeeds("verify out.csv");
    assert!(done.stderr.lines().all(|line| !line.starts_with("verify ")), "{done}");
    assert!(done.stderr.contains("\\n"), "{done}");
}

/// Interrupts a publication as soon as there is an authentic journal and the old table is replaced.
fn interrupted(test: &TestDir) -> String {
    interrupted_where(test, |test, old| test.bytes("out.csv") != old)
}

/// Interrupts a publication and returns the journal's name.
fn interrupted_where(test: &TestDir, wanted: impl Fn(&TestDir, &[u8]) -> bool) -> String {
    let old = test.bytes("out.csv");
    for at in 1..200 {
        test.run_with(AGAIN, &[("INCROWD_FAULT", &format!("kill:{at}"))]).exits(137);
        let journal = test.names().into_iter().find(|name| name.ends_with(".incrowd-journal"));
        if let Some(journal) = journal {
            if wanted(test, &old) {
                return journal;
            }
            test.run("recover").exits(0);
            test.succeeds(RELEASE);
        }
    }
    panic!("the publication cannot be interrupted");
}

#[test]
fn reading_commands_report_an_interrupted_publication_and_change_nothing() {
    let test = setup();
    let journal = interrupted(&test);
    let before = test.files();
    let inputs = [
        "init out.csv -o new.toml",
        "anonymize out.csv --quasi age -k 2 -o new.csv",
        "attack away/out.csv --second out.csv",
        "hierarchy show mask --table out.csv --column zip",
        "compare out.csv --quasi age,zip --algorithms mondrian --k 2 -o pages",
    ];
    for args in READING.iter().chain(&inputs) {
        let message = match args.contains('*') {
            true => "a publication in `.` was interrupted",
            false => "the publication of `out.csv` was interrupted",
        };
        test.run(args).exits(2).reports(&[message, "incrowd recover"]);
        assert!(test.files() == before, "{args}: {:?}", test.names());
    }
    assert!(test.names().contains(&journal));
    test.succeeds("recover out.csv").prints(&["completed", "the new release is published"]);
    test.succeeds("verify out.csv").prints(&["k-anonymity(k=3)   holds", "digest   matches"]);
    test.succeeds("recover").prints(&["nothing to recover"]);
    assert!(test.names().iter().all(|name| !name.contains(".incrowd-")), "{:?}", test.names());
}

/// The journal is in the directory of the linked file, and it names that file.
#[test]
fn an_interrupted_publication_through_links_is_recognized() {
    let test = TestDir::with_people();
    std::fs::create_dir(test.path().join("rel")).unwrap();
    std::os::unix::fs::symlink("rel/real.csv", test.path().join("out.csv")).unwrap();
    std::os::unix::fs::symlink("rel/real.json", test.path().join("out.release.json")).unwrap();
    std::os::unix::fs::symlink("../out.csv", test.path().join("rel/again.csv")).unwrap();
    test.succeeds(RELEASE);
    let journal = interrupted(&test);
    assert!(journal.starts_with("rel/.real.csv."), "{journal}");
    let before = test.files();
    for (args, what) in [
        ("verify out.csv", "the publication of `out.csv` was interrupted"),
        ("verify rel/real.csv", "the publication of `rel/real.csv` was interrupted"),
        ("verify rel/again.csv", "the publication of `rel/again.csv` was interrupted"),
        ("verify rel/real.csv --manifest out.release.json", "was interrupted"),
        ("profile rel/r*.csv", "a publication in `rel` was interrupted"),
        ("profile o?t.csv", "was interrupted"),
        ("profile *l/real.csv", "a publication in `rel` was interrupted"),
    ] {
        test.run(args).exits(2).reports(&[what, "incrowd recover"]);
        assert!(test.files() == before, "{args}: {:?}", test.names());
    }
    std::fs::remove_file(test.path().join("rel/again.csv")).unwrap();
    test.run("profile rel").exits(2).reports(&["a publication in `rel` was interrupted"]);
    // A pattern of other files, and other files in the directory, are not concerned.
    test.write("rel/other.csv", PEOPLE);
    test.succeeds("profile rel/o*.csv");
    test.succeeds("profile rel/other.csv");
    test.succeeds("recover out.csv").prints(&["completed", "the new release is published"]);
    test.succeeds("verify out.csv").prints(&["k-anonymity(k=3)   holds", "digest   matches"]);
    test.succeeds("profile rel/real.csv");
}

fn is_journal(name: &str) -> bool {
    name.ends_with(".incrowd-journal")
}

/// Interrupts the first publication as soon as there is a complete journal.
fn interrupted_first(test: &TestDir) {
    for at in 1..200 {
        test.run_with(RELEASE, &[("INCROWD_FAULT", &format!("kill:{at}"))]).exits(137);
        let Some(name) = test.names().into_iter().find(|name| is_journal(name)) else { continue };
        if test.text(&name).contains("\ncode ") {
            return;
        }
        // A journal that was not written completely means nothing.
        std::fs::remove_file(test.path().join(name)).unwrap();
    }
    panic!("the publication cannot be interrupted");
}

#[test]
fn a_first_publication_in_the_parent_does_not_concern_a_directory() {
    let test = TestDir::with_people();
    test.write("data/one.csv", PEOPLE);
    test.write("data/two.csv", PEOPLE);
    interrupted_first(&test);
    assert!(!test.names().contains(&"out.csv".to_owned()), "{:?}", test.names());
    test.succeeds("profile data").prints(&["records"]);
    test.succeeds("profile data/");
    // A pattern in the parent may match the file.
    test.run("profile *.csv").exits(2).reports(&["a publication in `.` was interrupted"]);
}

/// The first publication creates the files, and only the links are there when it is interrupted.
#[test]
fn a_first_publication_through_links_is_recovered() {
    let test = TestDir::with_people();
    std::fs::create_dir(test.path().join("rel")).unwrap();
    std::os::unix::fs::symlink("rel/real.csv", test.path().join("out.csv")).unwrap();
    std::os::unix::fs::symlink("rel/real.json", test.path().join("out.release.json")).unwrap();
    let there = |test: &TestDir, name: &str| test.path().join(name).exists();
    interrupted_first(&test);
    assert!(!there(&test, "rel/real.csv"), "{:?}", test.names());
    for args in ["profile rel", "profile rel/*.csv"] {
        test.run(args).exits(2).reports(&["a publication in `rel` was interrupted"]);
    }
    test.succeeds("recover out.csv");
    assert!(!test.names().iter().any(|name| is_journal(name)), "{:?}", test.names());
    assert!(there(&test, "rel/real.csv") == there(&test, "rel/real.json"), "{:?}", test.names());
}

#[test]
fn an_edited_truncated_or_replayed_journal_is_not_executed() {
    let test = setup();
    // Without a staged file, which recovery would remove if no journal names it.
    let is_staged = |name: &String| name.ends_with(".incrowd-partial");
    let name = interrupted_where(&test, |test, old| {
        test.bytes("out.csv") != old && !test.names().iter().any(is_staged)
    });
    let journal = test.bytes(&name);
    let home = test.path().join("home/.bashrc");
    let ignored = |what: &str| {
        let before = test.files();
        let done = test.run("recover").exits(2);
        warns(&done, what, "recover");
        let after = test.files();
        assert!(after == before, "{what}\n{done}");
        warns(&test.run("verify out.csv"), what, "verify");
    };
    let write = |bytes: &[u8]| {
        // In place, so that the inode stays.
        let file = std::fs::OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(test.path().join(&name))
            .unwrap();
        std::io::Write::write_all(&mut &file, bytes).unwrap();
    };
    for end in [0, 1, journal.len() / 2, journal.len() - 1] {
        write(&journal[..end]);
        ignored("truncated");
    }
    let text = String::from_utf8(journal.clone()).unwrap();
    let replaced = words_of_first_file(&text)[3].to_owned();
    let edits = [
        text.replace(&replaced, "new"),
        text.replace(" out.csv ", &format!(" {} ", home.display())),
        text.replace("first\n", &format!("first\nnote {} x\n", home.display())),
        format!("{text}\ndone {}\n", "0".repeat(64)),
        format!("{text}\nundo {}\n", "0".repeat(64)),
        format!("{text}note {} x\n", home.display()),
    ];
    for edit in edits {
        assert_ne!(edit, text);
        write(edit.as_bytes());
        ignored("edited");
    }
    write(&journal);
    // A copy: under another name, in another directory, and as a new file of the same name.
    std::fs::copy(test.path().join(&name), test.path().join(JOURNAL)).unwrap();
    std::fs::rename(test.path().join(&name), test.path().join("kept")).unwrap();
    ignored("under another name");
    std::fs::remove_file(test.path().join(JOURNAL)).unwrap();
    std::fs::copy(test.path().join("kept"), test.path().join(&name)).unwrap();
    ignored("as another file");
    std::fs::copy(test.path().join("kept"), test.path().join("pages").join(&name)).unwrap();
    let done = test.run("recover pages").exits(2);
    warns(&done, "in another directory", "recover pages");
    assert!(test.path().join("pages").join(&name).exists());
    std::fs::remove_file(test.path().join("pages").join(&name)).unwrap();
    // The authentic journal still works, even after its directory was moved.
    std::fs::rename(test.path().join("kept"), test.path().join(&name)).unwrap();
    test.succeeds("recover").prints(&["completed"]);
    test.succeeds("verify out.csv").prints(&["k-anonymity(k=3)   holds", "digest   matches"]);
}

/// Returns the words of the first file of a journal: its staged name, its name, the second name of
/// the replaced file, the identity of the replaced file, and others.
fn words_of_first_file(journal: &str) -> Vec<&str> {
    let file = journal.lines().find_map(|line| line.strip_prefix("file ")).unwrap();
    file.split(' ').collect()
}

/// A file system gives the inode number of a removed file to a new file.
#[test]
fn a_copy_with_the_inode_of_the_removed_journal_is_not_executed() {
    let test = setup();
    let name = interrupted(&test);
    let path = test.path().join(&name);
    let inode = || std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(&path).unwrap());
    if std::fs::metadata(&path).unwrap().created().is_err() {
        skip!("the file system has no birth times");
    }
    let (journal, original) = (test.text(&name), inode());
    test.succeeds("recover").prints(&["completed"]);
    // Undoing the publication would put this file in the place of the release.
    test.write(words_of_first_file(&journal)[2], "planted\n");
    let copied = (0..200).any(|i| {
        if i % 40 == 0 {
            // The release may have the number now. A new release has other numbers.
            test.succeeds(RELEASE);
        }
        std::fs::write(&path, &journal).unwrap();
        let copied = inode() == original;
        if !copied {
            // The file keeps its number, so that the next one gets another number.
            std::fs::rename(&path, test.path().join(format!("pages/{i}"))).unwrap();
        }
        copied
    });
    if !copied {
        skipped("no copy gets the inode number of the journal");
        std::fs::write(&path, &journal).unwrap();
    }
    let before = test.files();
    warns(&test.run("recover").exits(2), "a copy", "recover");
    assert!(test.files() == before, "{:?}", test.names());
    let done = test.succeeds("verify out.csv").prints(&["digest   matches"]);
    warns(&done, "a copy", "verify");
}

#[test]
fn only_the_replaced_file_is_put_back() {
    let test = setup();
    interrupted(&test);
    let path = |name: &str| test.path().join(name);
    let hidden = |begins: &str, ends: &str| {
        let is_it = |name: &String| name.starts_with(begins) && name.ends_with(ends);
        test.names().into_iter().find(is_it).unwrap()
    };
    // Without the new manifest the publication must be undone.
    std::fs::remove_file(path(&hidden(".out.release.json.", ".incrowd-partial"))).unwrap();
    let old = hidden(".out.csv.", ".incrowd-old");
    std::fs::rename(path(&old), path("kept")).unwrap();
    test.write(&old, "planted\n");
    let before = test.files();
    test.run("recover").exits(2).reports(&["is not the file that was replaced"]);
    assert!(test.files() == before, "{:?}", test.names());
    std::fs::rename(path("kept"), path(&old)).unwrap();
    test.succeeds("recover").prints(&["undone"]);
    test.succeeds("verify out.csv").prints(&["k-anonymity(k=2)   holds", "digest   matches"]);
    assert!(test.names().iter().all(|name| !name.contains(".incrowd-")), "{:?}", test.names());
}

#[test]
fn a_forged_journal_does_not_keep_staged_files() {
    const STAGED: &str = ".out.csv.0123456789abcdef.incrowd-partial";
    let test = setup();
    test.write(JOURNAL, "incrowd journal 1\n");
    test.write(STAGED, "unverified\n");
    let done = test.run("recover").exits(2).prints(&["removed    1"]);
    warns(&done, "forged", "recover");
    assert!(!test.names().iter().any(|name| name == STAGED));
    // It may be a damaged journal of this user that needs the file.
    test.write(JOURNAL, format!("incrowd journal 1\nfile {STAGED} out.csv\n"));
    test.write(STAGED, "unverified\n");
    warns(&test.run("recover").exits(2), "forged", "recover");
    assert_eq!(test.text(STAGED), "unverified\n");
    // Without a key, every journal may be one of this user.
    test.write(JOURNAL, "incrowd journal 1\n");
    std::fs::remove_file(test.config().join("incrowd/journal.key")).unwrap();
    warns(&test.run("recover").exits(2), "forged", "recover");
    assert_eq!(test.text(STAGED), "unverified\n");
}

#[test]
fn a_damaged_journal_keeps_its_staged_files() {
    let test = setup();
    let name = interrupted(&test);
    let journal = test.text(&name);
    let staged: Vec<String> =
        test.names().into_iter().filter(|name| name.ends_with(".incrowd-partial")).collect();
    assert_eq!(staged.len(), 1, "{staged:?}");
    // In place, so that the inode stays.
    test.write(&name, journal.replace("first\n", "fist\n"));
    warns(&test.run("recover").exits(2), "damaged", "recover");
    assert!(test.names().contains(&staged[0]));
    test.write(&name, &journal);
    test.succeeds("recover").prints(&["completed"]);
    test.succeeds("verify out.csv").prints(&["k-anonymity(k=3)   holds", "digest   matches"]);
}

#[test]
fn a_configuration_directory_that_others_can_write_is_refused() {
    let test = TestDir::with_people();
    let directory = test.config().join("incrowd");
    std::fs::create_dir(&directory).unwrap();
    let mode = |mode: u32| {
        std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for others in [0o720, 0o770, 0o702, 0o777] {
        mode(others);
        test.refuses(RELEASE).exits(2).reports(&["other users can write to", "chmod go-w"]);
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
    }
    mode(0o755);
    test.succeeds(RELEASE);
    interrupted(&test);
    mode(0o775);
    for args in ["recover", AGAIN, "verify out.csv"] {
        test.refuses(args).exits(2).reports(&["other users can write to", "chmod go-w"]);
    }
    mode(0o755);
    test.succeeds("recover").prints(&["completed"]);
}

#[test]
fn a_key_that_is_not_a_file_is_refused_without_waiting() {
    let test = TestDir::with_people();
    let directory = test.config().join("incrowd");
    let key = directory.join("journal.key");
    std::fs::create_dir(&directory).unwrap();
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o700)).unwrap();
    assert!(Command::new("mkfifo").arg(&key).status().unwrap().success());
    test.refuses(RELEASE).exits(2).reports(&["is not a file"]);
    std::fs::remove_file(&key).unwrap();
    std::fs::create_dir(&key).unwrap();
    test.refuses(RELEASE).exits(2).reports(&["is not a file"]);
}

#[test]
fn without_the_key_a_journal_is_only_reported() {
    let test = setup();
    let name = interrupted(&test);
    let key = test.config().join("incrowd/journal.key");
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(
        std::fs::metadata(key.parent().unwrap()).unwrap().permissions().mode() & 0o777,
        0o700
    );
    let kept = std::fs::read(&key).unwrap();
    std::fs::remove_file(&key).unwrap();
    warns(&test.run("recover").exits(2), "no key", "recover");
    assert!(test.names().contains(&name));
    std::fs::write(&key, &kept).unwrap();
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    test.run("recover").exits(2).reports(&["can be read by others", "chmod 600"]);
    test.run(AGAIN).exits(2).reports(&["can be read by others", "chmod 600"]);
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::write(&key, "half a key").unwrap();
    test.run("recover").exits(2).reports(&["is damaged"]);
    // The key may be a symbolic link, for users who keep their configuration elsewhere.
    std::fs::remove_file(&key).unwrap();
    let real = test.config().join("real.key");
    std::fs::write(&real, &kept).unwrap();
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink(&real, &key).unwrap();
    test.succeeds("recover").prints(&["completed"]);
}

#[test]
fn the_key_is_written_completely() {
    let test = TestDir::with_people();
    let key = test.config().join("incrowd/journal.key");
    let mut struck = 0;
    for kind in ["fail", "break", "kill"] {
        for at in 1..200 {
            drop(std::fs::remove_dir_all(test.config().join("incrowd")));
            let done = test.run_with(RELEASE, &[("INCROWD_FAULT", &format!("{kind}:{at}"))]);
            if !done.stderr.contains("fault ") {
                done.exits(0);
                break;
            }
            struck += 1;
            assert!(std::fs::read(&key).map_or(65, |key| key.len()) == 65, "{done}");
            test.run("recover");
            test.succeeds(RELEASE);
            assert_eq!(std::fs::read_dir(key.parent().unwrap()).unwrap().count(), 1, "{done}");
        }
    }
    assert!(struck > 30, "{struck}");
}

/// Services may have no home directory, and they can publish.
#[test]
fn a_user_without_a_configuration_directory_can_publish() {
    let test = TestDir::with_people();
    let none = [("XDG_CONFIG_HOME", ""), ("HOME", ""), ("APPDATA", "")];
    test.run_with(RELEASE, &none).exits(0);
    test.run_with("verify out.csv", &none).exits(0).prints(&["digest   matches"]);
    assert_eq!(test.names(), ["out.csv", "out.release.json", "people.csv"]);
    // The key must not be next to the data either.
    test.run_with(AGAIN, &[("XDG_CONFIG_HOME", "config")]).exits(0);
    assert_eq!(test.names(), ["out.csv", "out.release.json", "people.csv"]);
}

#[test]
fn no_staged_file_can_be_read_by_others() {
    let test = setup();
    for at in 1..200 {
        let done = test.run_with(AGAIN, &[("INCROWD_FAULT", &format!("kill:{at}"))]);
        if done.code == 0 {
            assert!(at > 15, "{at}");
            return;
        }
        for name in test.names().iter().filter(|name| name.contains(".incrowd-")) {
            // A replaced file keeps its mode.
            if !name.ends_with(".incrowd-old") {
                let found = std::fs::metadata(test.path().join(name)).unwrap();
                let empty = found.len() == 0 && name.ends_with(".incrowd-partial");
                assert!(found.permissions().mode() & 0o077 == 0 || empty, "{at}: {name}\n{done}");
            }
        }
        test.succeeds("recover");
    }
    panic!("the publication does not end");
}

const OTHER: u32 = 65_534;

/// A directory that another user may enter and whose files that user owns.
fn open_to_others(test: &TestDir) {
    std::fs::set_permissions(test.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    for name in test.names() {
        chown(test.path().join(name), Some(OTHER), Some(OTHER)).unwrap();
    }
}

#[test]
fn journals_of_other_users_are_not_executed() {
    if !std::fs::metadata("/proc/self")
        .is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
    {
        skip!("only root can make files of another user");
    }
    // Another user runs the commands on root's journals.
    let test = setup();
    let name = interrupted(&test);
    let journal = test.bytes(&name);
    let other = tempfile::tempdir().unwrap();
    chown(other.path(), Some(OTHER), Some(OTHER)).unwrap();
    let run = |args: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_incrowd"));
        command.current_dir(test.path()).args(args.split_whitespace()).uid(OTHER).gid(OTHER);
        command.env("XDG_CONFIG_HOME", other.path());
        Outcome::new(args, command.output().unwrap())
    };
    std::fs::set_permissions(test.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let before = test.files();
    if run("--version").code != 0 {
        skip!("another user cannot run the binary here");
    }
    run("verify out.csv").exits(2).reports(&["only its owner can complete it", "incrowd recover"]);
    run("recover").exits(0).prints(&["left       1   journals of other users"]);
    assert!(test.files() == before, "{:?}", test.names());
    // The same journal, now owned by the other user, as after unpacking an archive.
    open_to_others(&test);
    warns(&run("recover").exits(2), "unpacked", "recover");
    warns(&run("verify out.csv"), "unpacked", "verify");
    assert_eq!(test.bytes(&name), journal);
    // Root does not execute journals of the other user either.
    test.run("recover").exits(0).prints(&["left       1   journals of other users"]);
    assert_eq!(test.bytes(&name), journal);
    // A release of root with a journal of the other user about it.
    chown(test.path().join("out.csv"), Some(0), Some(0)).unwrap();
    warns(&test.run("verify out.csv"), "another user's", "verify");
    std::fs::remove_file(test.path().join(&name)).unwrap();
    test.succeeds("recover");
    // Every command, on journals that the other user has unpacked.
    test.succeeds(&format!("{RELEASE} --replace"));
    let mut journals = replayed(&test);
    journals.extend(forged(&test).into_iter().step_by(3));
    for (what, forged) in journals {
        for name in [JOURNAL, DEMO_JOURNAL] {
            test.write(name, "");
        }
        open_to_others(&test);
        every_command(&test, &what, &forged, &run);
    }
}

/// The directory of an output may contain nothing that the command reads.
#[test]
fn a_journal_beside_an_output_alone_is_reported() {
    let test = setup();
    let journal = "made/.r.csv.0123456789abcdef.incrowd-journal";
    test.write(journal, "incrowd journal 1\n");
    let public = format!("{RELEASE} --report made/public.html");
    let private = format!("{RELEASE} --owner-report made/private.html");
    for args in [
        "attack out.csv --details made/details.csv",
        "report out.csv -o made/page.html",
        "report out.csv --original people.csv -o page.html --owner made/owner.html",
        "init people.csv -o made/job.toml",
        "hierarchy build people.csv zip --kind mask -o made/zip.csv",
        public.as_str(),
        private.as_str(),
    ] {
        let done = test.succeeds(&format!("{args} --quiet"));
        warns(&done, "beside an output", args);
        assert_eq!(done.stderr.matches("not authenticate").count(), 1, "{args}\n{done}");
    }
    assert_eq!(test.text(journal), "incrowd journal 1\n");
}
