//! Devices, pipes and very large files in place of a job, a manifest, a hierarchy or a key: nothing
//! hangs, and reading is bounded.

use std::process::Command;

use crate::test_dir::{Outcome, TestDir};

const FLAGS: &str = "--quasi age,zip --sensitive disease -k 2";

/// Runs a line of Bash in which `$incrowd` is the binary.
fn bash(test: &TestDir, line: &str) -> Outcome {
    let mut command = Command::new("bash");
    command
        .arg("-c")
        .arg(line)
        .current_dir(test.path())
        .env("incrowd", env!("CARGO_BIN_EXE_incrowd"));
    command.env("XDG_CONFIG_HOME", test.path().join("config"));
    let output =
        assert_cmd::Command::from_std(command).timeout(std::time::Duration::from_secs(60)).output();
    Outcome::new(line, output.unwrap())
}

/// Returns every command that reads a small file, with this path.
fn commands(path: &str) -> Vec<String> {
    vec![
        format!("anonymize --job {path} people.csv -o out.csv"),
        format!("anonymize people.csv {FLAGS} --hierarchy zip={path} -o out.csv"),
        format!("anonymize people.csv {FLAGS} --sign {path} -o out.csv"),
        format!("verify old.csv --manifest {path}"),
        format!("verify old.csv --job {path}"),
        format!("measure people.csv old.csv --manifest {path}"),
        format!("attack old.csv --manifest {path}"),
        format!("hierarchy lint {path}"),
        format!("hierarchy show {path}"),
        format!("hierarchy build people.csv zip --kind {path}"),
    ]
}

#[test]
fn special_files_are_refused_as_small_files() {
    let test = TestDir::with_people();
    test.succeeds(&format!("anonymize people.csv {FLAGS} -o old.csv"));
    // In another directory, because their content cannot be read.
    let elsewhere = tempfile::tempdir().unwrap();
    let pipe = elsewhere.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let pipe = pipe.display().to_string();
    let directory = elsewhere.path().display().to_string();
    for path in [pipe.as_str(), "/dev/zero", "/dev/urandom", "/dev/null", directory.as_str()] {
        for args in commands(path) {
            test.refuses(&args).exits(2);
        }
    }
    test.refuses(&format!("anonymize --job {pipe} people.csv -o out.csv"))
        .reports(&["a pipe that nothing writes to"]);
    test.refuses("anonymize --job /dev/zero people.csv -o out.csv").reports(&["it is not a file"]);
    test.refuses(&format!("anonymize people.csv {FLAGS} --hierarchy zip=/dev/zero -o out.csv"))
        .reports(&["it is not a file"]);
    // A manifest that is found by its name.
    let beside = elsewhere.path().join("t.csv");
    std::fs::write(&beside, test.bytes("old.csv")).unwrap();
    let manifest = elsewhere.path().join("t.release.json");
    assert!(Command::new("mkfifo").arg(manifest).status().unwrap().success());
    test.refuses(&format!("verify {} --quasi age,zip -k 2", beside.display()))
        .exits(2)
        .reports(&["nothing writes to"]);
    // A table beside the manifest of another one.
    let table = elsewhere.path().join("u.csv");
    std::fs::write(elsewhere.path().join("u.release.json"), test.bytes("old.release.json"))
        .unwrap();
    std::os::unix::fs::symlink("/dev/zero", &table).unwrap();
    test.refuses(&format!("verify {}", table.display())).exits(2).reports(&["is not a file"]);
    std::fs::remove_file(&table).unwrap();
    assert!(Command::new("mkfifo").arg(&table).status().unwrap().success());
    test.refuses(&format!("verify {}", table.display())).exits(2).reports(&["is not a file"]);
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let test = TestDir::with_people();
    test.succeeds(&format!("anonymize people.csv {FLAGS} -o old.csv"));
    // A sparse file.
    let elsewhere = tempfile::tempdir().unwrap();
    let large = elsewhere.path().join("large.toml");
    std::fs::File::create(&large).unwrap().set_len(3 << 30).unwrap();
    for args in commands(&large.display().to_string()) {
        test.refuses(&args).exits(2);
    }
    let lines = elsewhere.path().join("large.csv");
    std::fs::rename(&large, &lines).unwrap();
    let (large, lines) = (large.display(), lines.display());
    test.refuses(&format!("verify old.csv --manifest {lines}")).reports(&["larger than 64 MiB"]);
    test.refuses(&format!("anonymize people.csv {FLAGS} --hierarchy zip={lines} -o out.csv"))
        .reports(&["larger than 32 MiB"]);
    std::fs::File::create(elsewhere.path().join("large.toml")).unwrap().set_len(5 << 20).unwrap();
    test.refuses(&format!("anonymize {large}")).reports(&["larger than 4 MiB"]);
    test.refuses(&format!("hierarchy show {large}")).reports(&["larger than 4 MiB"]);
    test.write("levels.csv", format!("02139{}\n", ";x".repeat(2000)));
    test.refuses("hierarchy show levels.csv").exits(2).reports(&["line 1: more than 1000 levels"]);
}

#[test]
fn small_files_can_be_read_from_pipes() {
    let test = TestDir::with_people();
    test.write(
        "job.toml",
        "[input]\npath = \"people.csv\"\n[output]\npath = \"out.csv\"\n[columns]\nage = \"quasi\"\n\
         zip = \"quasi\"\ndisease = \"sensitive\"\n[[models]]\nname = \"k-anonymity\"\nk = 2\n",
    );
    bash(&test, "$incrowd anonymize --job <(sleep 0.1; cat job.toml)").exits(0);
    assert!(test.text("out.csv").starts_with("age,zip,disease"));
    test.succeeds("hierarchy build people.csv zip --kind mask -o zip.csv");
    let hierarchy = "<(sed s/x/x/ zip.csv)";
    bash(
        &test,
        &format!("$incrowd anonymize people.csv {FLAGS} --hierarchy zip={hierarchy} -o h.csv"),
    )
    .exits(0);
    bash(
        &test,
        "$incrowd verify h.csv --hierarchy zip=<(cat zip.csv) --manifest <(cat h.release.json)",
    )
    .exits(0);
    // An endless pipe.
    let endless = bash(&test, "$incrowd anonymize --job <(yes) people.csv -o never.csv");
    endless.exits(2).reports(&["larger than 4 MiB"]);
}
