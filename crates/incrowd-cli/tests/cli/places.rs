//! What lies in the place of an output, who may read what was written, and what happens if there is no room for it.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::process::Command;

use crate::room::{Done, Room};

const FLAGS: &str = "--quasi age,zip --sensitive disease -k 2";

fn mode(room: &Room, name: &str) -> u32 {
    std::fs::metadata(room.path().join(name)).unwrap().mode() & 0o777
}

/// Runs the binary from a shell that does something first.
fn shell(room: &Room, first: &str, typed: &str) -> Done {
    let binary = env!("CARGO_BIN_EXE_incrowd");
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{first}; exec {binary} {typed}")).current_dir(room.path());
    command.env("XDG_CONFIG_HOME", room.path().join("config"));
    Done::new(typed, command.output().unwrap())
}

#[test]
fn only_files_are_replaced() {
    let room = Room::with_old_release();
    room.does(&format!("anonymize people.csv {FLAGS} -o old.csv"));
    // Elsewhere, because nobody can read what is in them.
    let elsewhere = tempfile::tempdir().unwrap();
    let pipe = elsewhere.path().join("pipe.csv");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let socket = elsewhere.path().join("socket.csv");
    let _listener = UnixListener::bind(&socket).unwrap();
    let link = elsewhere.path().join("link.csv");
    symlink(&pipe, &link).unwrap();
    for (path, says) in [(&pipe, "is a named pipe"), (&socket, "is a socket"), (&link, "is a named pipe")] {
        let path = path.display();
        for typed in [
            format!("anonymize people.csv {FLAGS} -o {path}"),
            format!("anonymize people.csv {FLAGS} -o out.csv --manifest {path}"),
            format!("anonymize people.csv {FLAGS} -o out.csv --report {path}"),
            format!("anonymize people.csv {FLAGS} -o out.csv --owner-report {path}"),
            format!("anonymize people.csv {FLAGS} -o out.csv --external people.csv --id name --audit {path}"),
            format!("attack old.csv --details {path}"),
            format!("report old.csv -o {path}"),
            format!("report old.csv --original people.csv -o page.html --owner {path}"),
            format!("hierarchy build people.csv zip --kind mask -o {path}"),
            format!("init people.csv --force -o {path}"),
        ] {
            room.refuses(&typed).exits(2).says(&[says, "cannot be replaced"]);
        }
    }
    let kind = |path| std::fs::symlink_metadata(path).unwrap().file_type();
    use std::os::unix::fs::FileTypeExt;
    assert!(kind(&pipe).is_fifo() && kind(&socket).is_socket() && kind(&link).is_symlink());
    // The log of a comparison and the files of the demo are outputs too.
    std::fs::create_dir(elsewhere.path().join("comparison")).unwrap();
    symlink(&pipe, elsewhere.path().join("comparison/results.jsonl")).unwrap();
    let dir = elsewhere.path().display();
    let typed = format!("compare people.csv --quasi age,zip -o {dir}/comparison --algorithms mondrian");
    room.refuses(&typed).exits(2).says(&["is a named pipe"]);
}

#[test]
fn a_link_stands_for_its_file() {
    let room = Room::with_people();
    room.write("releases/real.csv", "the old release\n");
    symlink("releases/real.csv", room.path().join("out.csv")).unwrap();
    symlink("releases/not-yet.json", room.path().join("out.release.json")).unwrap();
    room.does(&format!("anonymize people.csv {FLAGS} -o out.csv"));
    for name in ["out.csv", "out.release.json"] {
        assert!(std::fs::symlink_metadata(room.path().join(name)).unwrap().is_symlink(), "{name}");
    }
    assert!(room.text("releases/real.csv").starts_with("age,zip,disease"));
    assert_eq!(room.json("releases/not-yet.json")["release"], "out.csv");
    room.does("verify out.csv").prints(&["digest   matches"]);
    symlink("circle.csv", room.path().join("circle.csv")).unwrap();
    let done = room.run(&format!("anonymize people.csv {FLAGS} -o circle.csv"));
    done.exits(2).says(&["is a link that leads nowhere"]);
}

#[test]
fn what_others_may_read_is_what_the_umask_says_and_what_is_private_nobody() {
    let room = Room::with_people();
    room.write("voters.csv", room.text("people.csv"));
    let typed = format!(
        "anonymize people.csv {FLAGS} --external voters.csv --id name -o out.csv --audit audit.csv \
         --report page.html --owner-report owner.html --sign my.key"
    );
    for (umask, expected) in [("022", 0o644), ("027", 0o640), ("077", 0o600)] {
        shell(&room, &format!("umask {umask}; rm -f out.* page.html"), &typed).exits(0);
        for name in ["out.csv", "out.si.csv", "out.release.json", "page.html"] {
            assert_eq!(mode(&room, name), expected, "{name} {umask}");
        }
        for name in ["audit.csv", "owner.html", "my.key"] {
            assert_eq!(mode(&room, name), 0o600, "{name} {umask}");
        }
    }
    // A file that is replaced keeps what its owner allowed, unless it is private now.
    for name in ["out.csv", "audit.csv"] {
        std::fs::set_permissions(room.path().join(name), std::fs::Permissions::from_mode(0o604)).unwrap();
    }
    shell(&room, "umask 022", &typed).exits(0);
    assert_eq!([mode(&room, "out.csv"), mode(&room, "audit.csv")], [0o604, 0o600]);
    shell(&room, "umask 022", "attack out.csv --details details.json");
    assert_eq!(mode(&room, "details.json"), 0o600);
}

#[test]
fn a_file_that_may_not_grow_is_an_error_with_a_word() {
    let room = Room::new();
    room.does("demo --data-only --rows 3000 --dir .");
    let names = room.names();
    let done = shell(&room, "ulimit -f 20", "anonymize job.toml");
    done.exits(2).says(&["error: cannot write `people.release.csv`", "larger than a file may be"]);
    assert_eq!(room.names(), names, "nothing is left");
}

#[test]
fn nothing_that_lies_there_is_written_into() {
    let room = Room::with_people();
    room.write("victim.txt", "somebody's");
    symlink("victim.txt", room.path().join(".out.csv.incrowd-partial")).unwrap();
    symlink("victim.txt", room.path().join(".out.csv.0123456789abcdef.incrowd-partial")).unwrap();
    room.does(&format!("anonymize people.csv {FLAGS} -o out.csv"));
    assert_eq!(room.text("victim.txt"), "somebody's");
    assert!(room.text("out.csv").starts_with("age,zip,disease"));
}
