//! Every change that publishing makes to the file system fails in turn, fails with all that follow, or is where the process is
//! killed. Whatever command comes next, it finds the complete old release or the complete new one.

use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use crate::room::{Done, Room};
use crate::skewed::{SKEWED, table};

/// A way to publish, with what others do to its release.
struct Publishing {
    name: &'static str,
    prepare: fn(&Room),
    /// Makes the release that is there before; none if it is empty.
    old: &'static str,
    new: &'static str,
    /// The releases: the file to verify, the other tables, the manifest.
    releases: &'static [(&'static str, &'static [&'static str], &'static str)],
    /// What may come next.
    next: &'static [&'static str],
}

fn people(room: &Room) {
    room.write("people.csv", table(&[("flu", 30), ("cold", 30), ("gout", 30)]));
}

fn skewed(room: &Room) {
    room.write("people.csv", table(SKEWED));
}

fn patients(room: &Room) {
    let (mut patients, mut voters) = (String::from("ssn,age,zip,disease\n"), String::from("ssn,age,zip\n"));
    for i in 0..120u32 {
        let (age, zip) = (20 + i * 37 % 60, 2100 + i * 17 % 40);
        voters += &format!("s{i},{age},{zip}\n");
        if i % 4 == 0 {
            patients += &format!("s{i},{age},{zip},{}\n", ["flu", "cold", "gout"][(i / 4 % 3) as usize]);
        }
    }
    room.write("people.csv", patients);
    room.write("voters.csv", voters);
}

fn days(room: &Room) {
    room.write("day-1.csv", table(SKEWED));
    room.write("day-2.csv", table(&[("flu", 50), ("cold", 30), ("gout", 21)]));
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
        prepare: |room| {
            people(room);
            room.write("elsewhere/about.txt", "manifests");
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

fn files(room: &Room) -> Files {
    let mode = |name: &str| std::fs::metadata(room.path().join(name)).unwrap().mode() & 0o777;
    room.files().into_iter().map(|(name, bytes)| (name.clone(), (mode(&name), bytes))).collect()
}

/// Makes the directory what it was.
fn restore(room: &Room, files: &Files) {
    for name in room.names().into_iter().rev() {
        let path = room.path().join(name);
        drop(if path.is_dir() { std::fs::remove_dir(path) } else { std::fs::remove_file(path) });
    }
    for (name, (mode, bytes)) in files {
        let path = room.path().join(name);
        if mode & 0o100 != 0 {
            std::fs::create_dir(&path).unwrap();
        } else {
            std::fs::write(&path, bytes).unwrap();
        }
        std::fs::set_permissions(path, Permissions::from_mode(*mode)).unwrap();
    }
}

fn struck(done: &Done) -> bool {
    done.stderr.lines().any(|line| line.starts_with("fault "))
}

/// Hidden files and pages that some next command made.
fn passing(name: &str) -> bool {
    name == "page.html" || name.starts_with("config")
}

/// Whether each release is the old one, byte for byte, or complete and new. A new one verifies with all its digests.
fn old_or_new(room: &Room, publishing: &Publishing, before: &Files, what: &str) -> Vec<bool> {
    let state = |(release, others, manifest): &(&str, &[&str], &str)| {
        let bytes = |name: &str| std::fs::read(room.path().join(name)).ok();
        let is_old = |name: &&str| bytes(name) == before.get(*name).map(|(_, bytes)| bytes.clone());
        let old: Vec<bool> = [*release, *manifest].iter().chain(*others).map(is_old).collect();
        if old.iter().all(|old| *old) {
            return false;
        }
        assert!(!old[1], "{what}: the old manifest beside new tables {old:?}");
        let done = room.does(&format!("verify {release} --manifest {manifest} --json"));
        let json = done.json();
        assert_eq!((&json["holds"], &json["digest_matches"]), (&true.into(), &true.into()), "{what}\n{done}");
        true
    };
    publishing.releases.iter().map(state).collect()
}

/// After a fault: any next command, then all is well.
fn check(room: &Room, publishing: &Publishing, before: &Files, next: &str, what: &str) -> Vec<bool> {
    // A file that somebody else's user could read before it was verified.
    for name in room.names().iter().filter(|name| name.ends_with(".incrowd-partial")) {
        let found = std::fs::metadata(room.path().join(name)).unwrap();
        let journal = room.names().iter().any(|name| name.ends_with(".incrowd-journal"));
        assert!(found.mode() & 0o077 == 0 || found.len() == 0 || journal, "{what}: others can read {name}");
    }
    let done = room.run(next);
    assert!([0, 1, 2].contains(&done.code), "{what}\n{done}");
    assert!(
        !done.stderr.contains("a bug in incrowd") && !done.stderr.contains("interrupted"),
        "{what}\n{done}"
    );
    for (release, _, manifest) in publishing.releases {
        // What was not there before may not be there now.
        if room.path().join(release).exists() {
            room.run(&format!("verify {release} --manifest {manifest}"));
        }
    }
    let states = old_or_new(room, publishing, before, what);
    let hidden: Vec<String> = room.names().into_iter().filter(|name| name.contains(".incrowd-")).collect();
    assert_eq!(hidden, [""; 0], "{what}: left behind after {next}");
    let names: Vec<String> = room.names().into_iter().filter(|name| !passing(name)).collect();
    for name in before.keys().filter(|name| !passing(name)) {
        assert!(names.contains(name), "{what}: {name} is gone");
    }
    states
}

/// How many faults struck.
fn inject(publishing: &Publishing) -> [usize; 3] {
    let room = Room::new();
    (publishing.prepare)(&room);
    if !publishing.old.is_empty() {
        room.does(publishing.old);
    }
    let before = files(&room);
    let mut counts = [0; 3];
    for (kind, count) in ["fail", "break", "kill"].into_iter().zip(&mut counts) {
        for at in 1.. {
            restore(&room, &before);
            let done = room.run_with(publishing.new, &[("INCROWD_FAULT", &format!("{kind}:{at}"))]);
            if !struck(&done) {
                assert_eq!(done.code, 0, "{done}");
                break;
            }
            *count += 1;
            let what = format!("{}, {kind} {at}: {}", publishing.name, done.stderr);
            let next = publishing.next[at % publishing.next.len()];
            let states = check(&room, publishing, &before, next, &what);
            match (kind, done.code) {
                (_, 0) => assert!(states.iter().all(|new| *new), "{what}: success without a release"),
                ("kill", code) => assert_eq!(code, 137, "{what}"),
                // One failure can always be made up for.
                ("fail", code) => {
                    assert_eq!(code, 2, "{what}");
                    assert!(!states.last().unwrap(), "{what}: an error, and the release is there");
                }
                (_, code) => assert_eq!(code, 2, "{what}"),
            }
        }
    }
    println!("{}: {counts:?} faults (fail, break, kill)", publishing.name);
    assert!(counts.iter().all(|n| *n > 15), "{}: {counts:?}", publishing.name);
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
fn a_table_with_withheld_records() {
    inject(&ALL[4]);
}

#[test]
fn batches() {
    inject(&ALL[5]);
}

/// The recovery itself is killed at each of its changes, and the one after it.
#[test]
fn recovery_is_killed_too() {
    let mut twice = 0;
    // Of the larger publication every fourth, because each of these takes two runs more.
    for (publishing, step) in [(&ALL[0], 1), (&ALL[2], 4)] {
        let room = Room::new();
        (publishing.prepare)(&room);
        room.does(publishing.old);
        let before = files(&room);
        for at in (1..).step_by(step) {
            restore(&room, &before);
            let done = room.run_with(publishing.new, &[("INCROWD_FAULT", &format!("kill:{at}"))]);
            if !struck(&done) {
                break;
            }
            if !room.names().iter().any(|name| name.ends_with(".incrowd-journal")) {
                continue;
            }
            for kind in ["kill", "break"] {
                for again in 1.. {
                    // Not a copy of what is there: files are known again by their numbers.
                    restore(&room, &before);
                    room.run_with(publishing.new, &[("INCROWD_FAULT", &format!("kill:{at}"))]).exits(137);
                    let fault = format!("{kind}:{again}");
                    let recovering = room.run_with("verify out.csv", &[("INCROWD_FAULT", &fault)]);
                    if !struck(&recovering) {
                        break;
                    }
                    twice += 1;
                    let what = format!("{} kill {at}, then {fault}\n{recovering}", publishing.name);
                    check(&room, publishing, &before, "attack out.csv", &what);
                }
            }
        }
    }
    println!("{twice} faults in recoveries");
    assert!(twice > 50, "{twice}");
}

/// A release that withholds records is noted if it is there, and only then.
#[test]
fn the_ledger_knows_every_release_and_no_other() {
    let typed = "anonymize people.csv --quasi age,zip --sensitive disease --suppression-key keys/my.key -k 2";
    let room = Room::new();
    skewed(&room);
    room.write("more.csv", table(&[("flu", 60), ("cold", 30), ("gout", 20)]));
    // The key is there, and a ledger about another table.
    room.does(&format!(
        "{} --suppression r-suppression:l=3 -o more.out.csv",
        typed.replace("people", "more")
    ));
    room.write("elsewhere/about.txt", "other releases");
    let before = files(&room);
    let (mut released, mut not_released) = (0, 0);
    for kind in ["fail", "break", "kill"] {
        for at in 1.. {
            restore(&room, &before);
            let first = format!("{typed} --suppression r-suppression:l=3 -o out.csv");
            let done = room.run_with(&first, &[("INCROWD_FAULT", &format!("{kind}:{at}"))]);
            if !struck(&done) {
                break;
            }
            // Whoever publishes elsewhere, with the same key and otherwise, must know.
            let other = format!("{typed} --suppression r-suppression:l=2 -o elsewhere/other.csv");
            let second = room.run(&other);
            let is_there = room.path().join("out.csv").exists();
            assert_eq!(is_there, room.path().join("out.release.json").exists(), "{done}\n{second}");
            if is_there {
                second.exits(1).says(&["was released before with other parameters"]);
                released += 1;
            } else {
                second.exits(0);
                not_released += 1;
            }
        }
    }
    println!("{released} released, {not_released} not");
    assert!(released > 3 && not_released > 30, "{released} {not_released}");
}

/// A key is whole or not there; a run that could not make it does not stop the next one.
#[test]
fn a_key_is_made_whole() {
    let typed = "anonymize people.csv --quasi age,zip --sensitive disease --suppression r-suppression:l=3 \
                 --suppression-key my.key -k 2 -o out.csv --sign signing.key";
    let room = Room::new();
    skewed(&room);
    let before = files(&room);
    let mut struck_at = 0;
    for kind in ["fail", "break", "kill"] {
        for at in 1.. {
            restore(&room, &before);
            let done = room.run_with(typed, &[("INCROWD_FAULT", &format!("{kind}:{at}"))]);
            if !struck(&done) {
                break;
            }
            struck_at += 1;
            for key in ["my.key", "signing.key"].map(|key| room.path().join(key)) {
                let whole = std::fs::read(&key).map_or(65, |key| key.len());
                assert_eq!(whole, 65, "{done}");
            }
            room.does(typed);
            room.does("verify out.csv --check signing.key");
        }
    }
    println!("{struck_at} faults with new keys");
    // What an older version left on a full disk.
    restore(&room, &before);
    room.write("my.key", "");
    room.does(typed);
}
