//! Fault injection: each change that publishing makes to the file system fails once, fails together
//! with all later ones, or kills the process. A command that only reads changes nothing afterwards.
//! A command that publishes, and `recover`, restore the complete old or the complete new release.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use incrowd_testing::step;

use crate::skewed::{SKEWED, table};
use crate::test_dir::{Outcome, TestDir};

/// A publication, with the commands that use its release.
struct Publishing {
    name: &'static str,
    prepare: fn(&TestDir),
    /// The command that makes the previous release; empty if there is none.
    old: &'static str,
    new: &'static str,
    /// The releases: the file to verify, the other tables, the manifest.
    releases: &'static [(&'static str, &'static [&'static str], &'static str)],
    /// The commands that may run next.
    next: &'static [&'static str],
}

fn people(test: &TestDir) {
    test.write("people.csv", table(&[("flu", 30), ("cold", 30), ("gout", 30)]));
}

fn skewed(test: &TestDir) {
    test.write("people.csv", table(SKEWED));
}

fn patients(test: &TestDir) {
    let (mut patients, mut voters) =
        (String::from("ssn,age,zip,disease\n"), String::from("ssn,age,zip\n"));
    for i in 0..120u32 {
        let (age, zip) = (20 + i * 37 % 60, 2100 + i * 17 % 40);
        voters += &format!("s{i},{age},{zip}\n");
        if i % 4 == 0 {
            patients +=
                &format!("s{i},{age},{zip},{}\n", ["flu", "cold", "gout"][(i / 4 % 3) as usize]);
        }
    }
    test.write("people.csv", patients);
    test.write("voters.csv", voters);
}

fn days(test: &TestDir) {
    test.write("day-1.csv", table(SKEWED));
    test.write("day-2.csv", table(&[("flu", 50), ("cold", 30), ("gout", 21)]));
}

const ALL: &[Publishing] = &[
    Publishing {
        name: "one table",
        prepare: people,
        old: "anonymize people.csv --quasi age,zip --sensitive disease -k 2 -o out.csv",
        new: "anonymize people.csv --quasi age,zip --sensitive disease -k 7 -o out.csv",
        releases: &[("out.csv", &[], "out.release.json")],
        next: &[
            "verify out.csv",
            "attack out.csv",
            "measure people.csv out.csv",
            "report out.csv -o page.html",
            "anonymize people.csv --quasi age,zip -k 1000 -o out.csv",
            "anonymize people.csv --quasi age,zip -k 2 -o out.csv --manifest no/such.json",
            "anonymize people.csv --quasi nobody -k 2 -o out.csv",
        ],
    },
    Publishing {
        name: "one table, manifest elsewhere",
        prepare: |test| {
            people(test);
            test.write("elsewhere/about.txt", "manifests");
        },
        old: "anonymize people.csv --quasi age,zip --sensitive disease -k 2 -o out.csv --manifest elsewhere/m.json",
        new: "anonymize people.csv --quasi age,zip --sensitive disease -k 7 -o out.csv --manifest elsewhere/m.json",
        releases: &[("out.csv", &[], "elsewhere/m.json")],
        next: &[
            "verify out.csv --manifest elsewhere/m.json",
            "anonymize people.csv --quasi age,zip -k 1000 -o elsewhere/other.csv",
        ],
    },
    Publishing {
        name: "k-join",
        prepare: patients,
        old: "anonymize people.csv --quasi age,zip --sensitive disease -k 2 --external voters.csv --id ssn --audit audit.csv -o out.csv",
        new: "anonymize people.csv --quasi age,zip --sensitive disease -k 6 --external voters.csv --id ssn --audit audit.csv -o out.csv",
        releases: &[("out.csv", &["out.si.csv", "audit.csv"], "out.release.json")],
        next: &[
            "verify out.csv",
            "attack out.csv",
            "report out.csv -o page.html",
            "anonymize people.csv --quasi age,zip --sensitive disease -k 1000 --external voters.csv --id ssn -o out.csv",
        ],
    },
    Publishing {
        name: "anatomy",
        prepare: people,
        old: "anonymize people.csv --quasi age,zip --sensitive disease --algorithm anatomy --set l=2 -o out.csv",
        new: "anonymize people.csv --quasi age,zip --sensitive disease --algorithm anatomy --set l=3 -o out.csv",
        releases: &[("out.csv", &["out.st.csv"], "out.release.json")],
        next: &[
            "verify out.csv",
            "attack out.csv",
            "anonymize people.csv --quasi age,zip --sensitive disease --algorithm anatomy --set l=9 -o out.csv",
        ],
    },
    Publishing {
        name: "r-suppression",
        prepare: skewed,
        old: "anonymize people.csv --quasi age,zip --sensitive disease --suppression r-suppression:l=3 --suppression-key my.key -k 2 -o out.csv",
        new: "anonymize people.csv --quasi age,zip --sensitive disease --suppression r-suppression:l=3 --suppression-key my.key -k 5 -o out.csv",
        releases: &[("out.csv", &[], "out.release.json")],
        next: &[
            "verify out.csv",
            "anonymize people.csv --quasi age,zip --sensitive disease --suppression r-suppression:l=2 --suppression-key my.key -k 2 -o out.csv",
            "attack out.csv",
        ],
    },
    Publishing {
        name: "batches",
        prepare: days,
        old: "batches day-1.csv day-2.csv --quasi age,zip --sensitive disease --suppression r-suppression:l=3 --suppression-key my.key -k 2 --dir days",
        new: "batches day-1.csv day-2.csv --quasi age,zip --sensitive disease --suppression r-suppression:l=3 --suppression-key my.key -k 5 --dir days",
        releases: &[
            ("days/day-1.release.csv", &[], "days/day-1.release.json"),
            ("days/day-2.release.csv", &[], "days/day-2.release.json"),
        ],
        next: &[
            "verify days/day-2.release.csv",
            "batches day-1.csv --quasi age,zip --sensitive disease --suppression r-suppression:l=2 --suppression-key my.key -k 2 --dir days",
        ],
    },
];

type Files = BTreeMap<String, (u32, Vec<u8>)>;

fn files(test: &TestDir) -> Files {
    let mode = |name: &str| std::fs::metadata(test.path().join(name)).unwrap().mode() & 0o777;
    test.files().into_iter().map(|(name, bytes)| (name.clone(), (mode(&name), bytes))).collect()
}

/// Restores the directory to the given files.
fn restore(test: &TestDir, files: &Files) {
    for name in test.names().into_iter().rev() {
        let path = test.path().join(name);
        drop(if path.is_dir() { std::fs::remove_dir(path) } else { std::fs::remove_file(path) });
    }
    for (name, (mode, bytes)) in files {
        let path = test.path().join(name);
        if mode & 0o100 != 0 {
            std::fs::create_dir(&path).unwrap();
        } else {
            std::fs::write(&path, bytes).unwrap();
        }
        std::fs::set_permissions(path, Permissions::from_mode(*mode)).unwrap();
    }
}

fn struck(done: &Outcome) -> bool {
    done.stderr.lines().any(|line| line.starts_with("fault "))
}

/// Returns whether the file is a page that a later command wrote.
fn passing(name: &str) -> bool {
    name == "page.html"
}

/// Returns for each release whether it is new. A new release must verify with all its digests, an
/// old one must be equal byte for byte.
fn old_or_new(test: &TestDir, publishing: &Publishing, before: &Files, what: &str) -> Vec<bool> {
    let state = |(release, others, manifest): &(&str, &[&str], &str)| {
        let bytes = |name: &str| std::fs::read(test.path().join(name)).ok();
        let is_old = |name: &&str| bytes(name) == before.get(*name).map(|(_, bytes)| bytes.clone());
        let old: Vec<bool> = [*release, *manifest].iter().chain(*others).map(is_old).collect();
        if old.iter().all(|old| *old) {
            return false;
        }
        assert!(!old[1], "{what}: the old manifest beside new tables {old:?}");
        let done = test.succeeds(&format!("verify {release} --manifest {manifest} --json"));
        let json = done.json();
        assert_eq!(
            (&json["holds"], &json["digest_matches"]),
            (&true.into(), &true.into()),
            "{what}\n{done}"
        );
        true
    };
    publishing.releases.iter().map(state).collect()
}

/// Returns the directories of a publication's files.
fn directories(test: &TestDir, publishing: &Publishing) -> String {
    let files = publishing.releases.iter().flat_map(|(release, _, manifest)| [*release, *manifest]);
    let mut all: Vec<&str> =
        files.map(|file| file.rsplit_once('/').map_or(".", |(place, _)| place)).collect();
    all.dedup();
    all.retain(|place| test.path().join(place).is_dir());
    all.join(" ")
}

/// Runs a next command after a fault, then recovery, and checks the result.
fn check(
    test: &TestDir,
    publishing: &Publishing,
    before: &Files,
    next: &str,
    what: &str,
) -> Vec<bool> {
    // No other user can read a file that was not verified yet.
    for name in test.names().iter().filter(|name| name.ends_with(".incrowd-partial")) {
        let found = std::fs::metadata(test.path().join(name)).unwrap();
        assert!(found.mode() & 0o077 == 0 || found.len() == 0, "{what}: others can read {name}");
    }
    let left = test.files();
    let done = test.run(next);
    assert!([0, 1, 2].contains(&done.code), "{what}\n{done}");
    assert!(!done.stderr.contains("a bug in incrowd"), "{what}\n{done}");
    let reads = !next.starts_with("anonymize") && !next.starts_with("batches");
    if done.stderr.contains("interrupted") {
        assert!(
            reads && done.code == 2 && done.stderr.contains("incrowd recover"),
            "{what}\n{done}"
        );
    }
    if reads {
        let mut now = test.files();
        now.remove("page.html");
        assert!(now == left, "{what}: {next} changed the directory");
    }
    test.succeeds(&format!("recover {}", directories(test, publishing)));
    for (release, _, manifest) in publishing.releases {
        // The release may be absent if there was none before.
        if test.path().join(release).exists() {
            test.succeeds(&format!("verify {release} --manifest {manifest}"));
        }
    }
    let states = old_or_new(test, publishing, before, what);
    let hidden: Vec<String> =
        test.names().into_iter().filter(|name| name.contains(".incrowd-")).collect();
    assert_eq!(hidden, [""; 0], "{what}: left behind after {next}");
    let names: Vec<String> = test.names().into_iter().filter(|name| !passing(name)).collect();
    for name in before.keys().filter(|name| !passing(name)) {
        assert!(names.contains(name), "{what}: {name} is gone");
    }
    states
}

/// Runs a publication with every fault and returns their number.
fn inject(publishing: &Publishing) -> [usize; 3] {
    let test = TestDir::new();
    (publishing.prepare)(&test);
    if !publishing.old.is_empty() {
        test.succeeds(publishing.old);
    }
    let before = files(&test);
    let mut counts = [0; 3];
    for (first, (kind, count)) in ["fail", "break", "kill"].iter().zip(&mut counts).enumerate() {
        // The kinds begin at different changes, so that together they cover more of them.
        for at in (1 + first..).step_by(step(6)) {
            restore(&test, &before);
            let done = test.run_with(publishing.new, &[("INCROWD_FAULT", &format!("{kind}:{at}"))]);
            if !struck(&done) {
                assert_eq!(done.code, 0, "{done}");
                break;
            }
            *count += 1;
            let what = format!("{}, {kind} {at}: {}", publishing.name, done.stderr);
            let next = publishing.next[at % publishing.next.len()];
            let states = check(&test, publishing, &before, next, &what);
            match (*kind, done.code) {
                (_, 0) => {
                    assert!(states.iter().all(|new| *new), "{what}: success without a release")
                }
                ("kill", code) => assert_eq!(code, 137, "{what}"),
                // A single failure can always be repaired.
                ("fail", code) => {
                    assert_eq!(code, 2, "{what}");
                    assert!(!states.last().unwrap(), "{what}: an error, and the release is there");
                }
                (_, code) => assert_eq!(code, 2, "{what}"),
            }
        }
    }
    println!("{}: {counts:?} faults (fail, break, kill)", publishing.name);
    assert!(counts.iter().all(|n| *n * step(6) > 15), "{}: {counts:?}", publishing.name);
    counts
}

#[test]
fn one_table() {
    inject(&ALL[0]);
}

#[test]
fn a_manifest_in_another_directory() {
    inject(&ALL[1]);
}

#[test]
fn joined_tables() {
    inject(&ALL[2]);
}

#[test]
fn linked_tables() {
    inject(&ALL[3]);
}

#[test]
fn a_table_with_suppressed_records() {
    inject(&ALL[4]);
}

#[test]
fn batches() {
    inject(&ALL[5]);
}

/// The recovery is killed at each of its changes, and so is the next recovery.
#[test]
fn recovery_is_killed_too() {
    let mut twice = 0;
    // Of the larger publication only every fourth fault, because each takes two more runs.
    for (publishing, every) in [(&ALL[0], step(3)), (&ALL[2], 4 * step(3))] {
        let test = TestDir::new();
        (publishing.prepare)(&test);
        test.succeeds(publishing.old);
        let before = files(&test);
        for at in (1..).step_by(every) {
            restore(&test, &before);
            let done = test.run_with(publishing.new, &[("INCROWD_FAULT", &format!("kill:{at}"))]);
            if !struck(&done) {
                break;
            }
            if !test.names().iter().any(|name| name.ends_with(".incrowd-journal")) {
                continue;
            }
            for kind in ["kill", "break"] {
                for again in (1..).step_by(step(2)) {
                    // Not a copy of the directory, because files are identified by their inodes.
                    restore(&test, &before);
                    test.run_with(publishing.new, &[("INCROWD_FAULT", &format!("kill:{at}"))])
                        .exits(137);
                    let fault = format!("{kind}:{again}");
                    let recovering = test.run_with("recover", &[("INCROWD_FAULT", &fault)]);
                    if !struck(&recovering) {
                        break;
                    }
                    twice += 1;
                    let what = format!("{} kill {at}, then {fault}\n{recovering}", publishing.name);
                    check(&test, publishing, &before, "attack out.csv", &what);
                }
            }
        }
    }
    println!("{twice} faults in recoveries");
    assert!(twice * step(3) * step(2) > 50, "{twice}");
}

/// A release with suppressed records is in the ledger if and only if it was published.
#[test]
fn the_ledger_contains_exactly_the_published_releases() {
    let args = "anonymize people.csv --quasi age,zip --sensitive disease --suppression-key keys/my.key -k 2";
    let test = TestDir::new();
    skewed(&test);
    test.write("more.csv", table(&[("flu", 60), ("cold", 30), ("gout", 20)]));
    // There is a key and a ledger entry about another table.
    test.succeeds(&format!(
        "{} --suppression r-suppression:l=3 -o more.out.csv",
        args.replace("people", "more")
    ));
    test.write("elsewhere/about.txt", "other releases");
    let before = files(&test);
    let (mut released, mut not_released) = (0, 0);
    for kind in ["fail", "break", "kill"] {
        for at in (1..).step_by(step(4)) {
            restore(&test, &before);
            let first = format!("{args} --suppression r-suppression:l=3 -o out.csv");
            let done = test.run_with(&first, &[("INCROWD_FAULT", &format!("{kind}:{at}"))]);
            if !struck(&done) {
                break;
            }
            // Another publication with the same key must know the release.
            let other = format!("{args} --suppression r-suppression:l=2 -o elsewhere/other.csv");
            let second = test.run(&other);
            let is_there = test.path().join("out.csv").exists();
            assert_eq!(is_there, test.path().join("out.release.json").exists(), "{done}\n{second}");
            if is_there {
                second.exits(1).reports(&["was released before with other parameters"]);
                released += 1;
            } else {
                second.exits(0);
                not_released += 1;
            }
        }
    }
    println!("{released} released, {not_released} not");
    assert!(released > 0 && not_released * step(4) > 30, "{released} {not_released}");
}

/// A key is complete or absent, and a run that could not write it does not block the next one.
#[test]
fn a_key_is_written_completely() {
    let args = "anonymize people.csv --quasi age,zip --sensitive disease --suppression r-suppression:l=3 \
                 --suppression-key my.key -k 2 -o out.csv --sign signing.key";
    let test = TestDir::new();
    skewed(&test);
    let before = files(&test);
    let mut struck_at = 0;
    for kind in ["fail", "break", "kill"] {
        for at in (1..).step_by(step(4)) {
            restore(&test, &before);
            let done = test.run_with(args, &[("INCROWD_FAULT", &format!("{kind}:{at}"))]);
            if !struck(&done) {
                break;
            }
            struck_at += 1;
            for key in ["my.key", "signing.key"].map(|key| test.path().join(key)) {
                let whole = std::fs::read(&key).map_or(65, |key| key.len());
                assert_eq!(whole, 65, "{done}");
            }
            test.succeeds(args);
            test.succeeds("verify out.csv --check signing.key");
        }
    }
    println!("{struck_at} faults with new keys");
    assert!(struck_at * step(4) > 30, "{struck_at}");
    // An empty key file, as an older version left it on a full disk.
    restore(&test, &before);
    test.write("my.key", "");
    test.succeeds(args);
}
