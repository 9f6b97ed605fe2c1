//! Existing files at the path of an output, permissions of written files, and full disks.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::process::Command;

use crate::test_dir::{Outcome, TestDir};

const FLAGS: &str = "--quasi age,zip --sensitive disease -k 2";

fn mode(test: &TestDir, name: &str) -> u32 {
    std::fs::metadata(test.path().join(name)).unwrap().mode() & 0o777
}

/// Runs the binary from a shell after another command.
fn shell(test: &TestDir, first: &str, args: &str) -> Outcome {
    let binary = env!("CARGO_BIN_EXE_incrowd");
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{first}; exec {binary} {args}")).current_dir(test.path());
    command.env("XDG_CONFIG_HOME", test.config());
    Outcome::new(args, command.output().unwrap())
}

#[test]
fn only_files_are_replaced() {
    let test = TestDir::with_old_release();
    test.succeeds(&format!("anonymize people.csv {FLAGS} -o old.csv"));
    // In another directory, because their content cannot be read.
    let elsewhere = tempfile::tempdir().unwrap();
    let pipe = elsewhere.path().join("pipe.csv");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let socket = elsewhere.path().join("socket.csv");
    let _listener = UnixListener::bind(&socket).unwrap();
    let link = elsewhere.path().join("link.csv");
    symlink(&pipe, &link).unwrap();
    for (path, expected) in
        [(&pipe, "is a named pipe"), (&socket, "is a socket"), (&link, "is a named pipe")]
    {
        let path = path.display();
        for args in [
            format!("anonymize people.csv {FLAGS} -o {path}"),
            format!("anonymize people.csv {FLAGS} -o out.csv --manifest {path}"),
            format!("anonymize people.csv {FLAGS} -o out.csv --report {path}"),
            format!("anonymize people.csv {FLAGS} -o out.csv --owner-report {path}"),
            format!(
                "anonymize people.csv {FLAGS} -o out.csv --external people.csv --id name --audit {path}"
            ),
            format!("attack old.csv --details {path}"),
            format!("report old.csv -o {path}"),
            format!("report old.csv --original people.csv -o page.html --owner {path}"),
            format!("hierarchy build people.csv zip --kind mask -o {path}"),
            format!("init people.csv --force -o {path}"),
        ] {
            test.refuses(&args).exits(2).reports(&[expected, "cannot be replaced"]);
        }
    }
    let kind = |path| std::fs::symlink_metadata(path).unwrap().file_type();
    use std::os::unix::fs::FileTypeExt;
    assert!(kind(&pipe).is_fifo() && kind(&socket).is_socket() && kind(&link).is_symlink());
    // The log of a comparison and the files of the demo are outputs too.
    std::fs::create_dir(elsewhere.path().join("comparison")).unwrap();
    symlink(&pipe, elsewhere.path().join("comparison/results.jsonl")).unwrap();
    let dir = elsewhere.path().display();
    let args =
        format!("compare people.csv --quasi age,zip -o {dir}/comparison --algorithms mondrian");
    test.refuses(&args).exits(2).reports(&["is a named pipe"]);
}

#[test]
fn a_link_is_followed_to_its_file() {
    let test = TestDir::with_people();
    test.write("releases/real.csv", "the old release\n");
    symlink("releases/real.csv", test.path().join("out.csv")).unwrap();
    symlink("releases/not-yet.json", test.path().join("out.release.json")).unwrap();
    test.succeeds(&format!("anonymize people.csv {FLAGS} -o out.csv --replace"));
    for name in ["out.csv", "out.release.json"] {
        assert!(std::fs::symlink_metadata(test.path().join(name)).unwrap().is_symlink(), "{name}");
    }
    assert!(test.text("releases/real.csv").starts_with("age,zip,disease"));
    assert_eq!(test.json("releases/not-yet.json")["release"], "out.csv");
    test.succeeds("verify out.csv").prints(&["digest   matches"]);
    symlink("circle.csv", test.path().join("circle.csv")).unwrap();
    let done = test.run(&format!("anonymize people.csv {FLAGS} -o circle.csv"));
    done.exits(2).reports(&["is a link that leads nowhere"]);
}

#[test]
fn public_files_follow_the_umask_and_private_files_are_unreadable_for_others() {
    let test = TestDir::with_people();
    test.write("voters.csv", test.text("people.csv"));
    let args = format!(
        "anonymize people.csv {FLAGS} --external voters.csv --id name -o out.csv --audit audit.csv \
         --report page.html --owner-report owner.html --sign my.key"
    );
    for (umask, expected) in [("022", 0o644), ("027", 0o640), ("077", 0o600)] {
        shell(&test, &format!("umask {umask}; rm -f out.* page.html"), &args).exits(0);
        for name in ["out.csv", "out.si.csv", "out.release.json", "page.html"] {
            assert_eq!(mode(&test, name), expected, "{name} {umask}");
        }
        for name in ["audit.csv", "owner.html", "my.key"] {
            assert_eq!(mode(&test, name), 0o600, "{name} {umask}");
        }
    }
    // A replaced file keeps its mode, unless the new content is private.
    for name in ["out.csv", "audit.csv"] {
        std::fs::set_permissions(test.path().join(name), std::fs::Permissions::from_mode(0o604))
            .unwrap();
    }
    shell(&test, "umask 022", &args).exits(0);
    assert_eq!([mode(&test, "out.csv"), mode(&test, "audit.csv")], [0o604, 0o600]);
    shell(&test, "umask 022", "attack out.csv --details details.json");
    assert_eq!(mode(&test, "details.json"), 0o600);
}

#[test]
fn a_file_beyond_the_size_limit_is_an_error() {
    let test = TestDir::new();
    test.succeeds("demo --data-only --rows 3000 --dir .");
    let names = test.names();
    let done = shell(&test, "ulimit -f 20", "anonymize job.toml");
    done.exits(2)
        .reports(&["error: cannot write `people.release.csv`", "larger than a file may be"]);
    assert_eq!(test.names(), names, "nothing is left");
}

#[test]
fn existing_staged_names_are_not_written_into() {
    let test = TestDir::with_people();
    test.write("victim.txt", "somebody's");
    symlink("victim.txt", test.path().join(".out.csv.incrowd-partial")).unwrap();
    symlink("victim.txt", test.path().join(".out.csv.0123456789abcdef.incrowd-partial")).unwrap();
    test.succeeds(&format!("anonymize people.csv {FLAGS} -o out.csv"));
    assert_eq!(test.text("victim.txt"), "somebody's");
    assert!(test.text("out.csv").starts_with("age,zip,disease"));
}
