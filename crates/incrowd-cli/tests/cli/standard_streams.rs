//! `-` for standard input and output.

use assert_cmd::Command;

fn incrowd() -> Command {
    Command::new(env!("CARGO_BIN_EXE_incrowd"))
}

fn people() -> String {
    let rows: String =
        (0..40).map(|i| format!("{},{}\n", 20 + i, ["flu", "cold"][i % 2])).collect();
    format!("age,disease\n{rows}")
}

const ASK: [&str; 8] = ["anonymize", "-", "--quasi", "age", "--sensitive", "disease", "-k", "4"];

#[test]
fn a_table_comes_in_and_a_release_goes_out() {
    let dir = tempfile::tempdir().unwrap();
    let run = incrowd()
        .current_dir(&dir)
        .args(ASK)
        .args(["-o", "-", "--manifest", "m.json"])
        .write_stdin(people())
        .assert();
    let out = run.success().get_output().clone();
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(text.starts_with("age,disease\n") && text.lines().count() == 41, "{text}");
    assert!(String::from_utf8_lossy(&out.stderr).contains("verified: 40 records published"));
    // Nothing else was written.
    let left: Vec<_> =
        std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["m.json"]);
    let check = ["verify", "-", "--manifest", "m.json"];
    incrowd().current_dir(&dir).args(check).write_stdin(text.clone()).assert().success();
    // One record is missing.
    let damaged: String = text.lines().take(39).map(|line| format!("{line}\n")).collect();
    incrowd().current_dir(&dir).args(check).write_stdin(damaged).assert().code(1);
}

#[test]
fn a_binary_table_is_read_and_a_binary_release_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let ask = |input: &[u8], format: &str| {
        let run = incrowd()
            .current_dir(&dir)
            .args(ASK)
            .args(["-o", "-", "--output-format", format])
            .write_stdin(input)
            .assert();
        run.success().get_output().stdout.clone()
    };
    let parquet = ask(people().as_bytes(), "parquet");
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    let profile =
        incrowd().args(["profile", "-", "--json"]).write_stdin(parquet).assert().success();
    let json: serde_json::Value = serde_json::from_slice(&profile.get_output().stdout).unwrap();
    assert_eq!(json["records"], 40);
}

#[test]
fn nothing_is_written_on_errors() {
    let ask = |k: &str, input: &str, code: i32| {
        let mut args = ASK.to_vec();
        args[7] = k;
        let run = incrowd().args(args).args(["-o", "-"]).write_stdin(input).assert().code(code);
        assert!(run.get_output().stdout.is_empty());
        String::from_utf8_lossy(&run.get_output().stderr).into_owned()
    };
    ask("41", &people(), 1);
    let error = ask("4", "", 2);
    assert!(error.contains("standard input") && !error.contains("/proc"), "{error}");
    let ragged = ask("4", "age,disease\n1,2,3\n", 2);
    assert!(ragged.contains("record 1 has 3 fields"), "{ragged}");
}

#[test]
fn a_job_file_may_name_the_streams() {
    let dir = tempfile::tempdir().unwrap();
    let job = "[input]\npath = \"-\"\n[output]\npath = \"-\"\n[columns]\nage = \"quasi\"\ndisease = \"sensitive\"\n\
               [[models]]\nname = \"k-anonymity\"\nk = 4\n";
    std::fs::write(dir.path().join("job.toml"), job).unwrap();
    let run = incrowd()
        .current_dir(&dir)
        .args(["anonymize", "job.toml"])
        .write_stdin(people())
        .assert()
        .success();
    assert_eq!(run.get_output().stdout.iter().filter(|byte| **byte == b'\n').count(), 41);
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1);
}

#[test]
fn a_dry_run_prints_the_loss_and_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("t.csv"), people()).unwrap();
    let ask = [
        "anonymize",
        "t.csv",
        "--quasi",
        "age",
        "--sensitive",
        "disease",
        "-k",
        "4",
        "-o",
        "o.csv",
        "--dry-run",
    ];
    let run = incrowd().current_dir(&dir).args(ask).assert().success();
    let text = String::from_utf8(run.get_output().stdout.clone()).unwrap();
    assert!(text.contains("cost     NCP") && text.contains("nothing was written"), "{text}");
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1);
}

#[cfg(unix)]
mod redirected {
    use crate::test_dir::{Outcome, TestDir};

    const FLAGS: &str = "--quasi age,zip --sensitive disease -k 2";

    /// Runs a shell command in which `$incrowd` is the binary.
    fn shell(test: &TestDir, line: &str) -> Outcome {
        let mut command = std::process::Command::new("sh");
        command
            .arg("-c")
            .arg(line)
            .current_dir(test.path())
            .env("incrowd", env!("CARGO_BIN_EXE_incrowd"));
        command.env("XDG_CONFIG_HOME", test.path().join("config"));
        Outcome::new(line, command.output().unwrap())
    }

    /// Runs a shell command that must be refused and change no file.
    fn refuses(test: &TestDir, line: &str) -> Outcome {
        let before = test.files();
        let done = shell(test, line).exits(2);
        assert!(test.files() == before, "files came, went or changed\n{done}");
        done
    }

    fn setup() -> TestDir {
        let test = TestDir::with_people();
        test.succeeds(&format!("anonymize people.csv {FLAGS} -o old.csv"));
        test.succeeds("hierarchy build people.csv zip --kind mask -o zip.csv");
        std::fs::hard_link(test.path().join("people.csv"), test.path().join("linked.csv")).unwrap();
        std::os::unix::fs::symlink("people.csv", test.path().join("soft.csv")).unwrap();
        test
    }

    #[test]
    fn the_file_of_standard_input_is_not_overwritten() {
        let test = setup();
        for table in ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"] {
            for output in ["people.csv", "linked.csv", "soft.csv", "./people.csv"] {
                for ask in [
                    format!("anonymize {table} {FLAGS} -o {output}"),
                    format!("anonymize {table} {FLAGS} -o out.csv --manifest {output}"),
                    format!("anonymize {table} {FLAGS} -o out.csv --report {output}"),
                    format!("anonymize {table} {FLAGS} -o out.csv --owner-report {output}"),
                    format!("init {table} --force -o {output}"),
                    format!("hierarchy build {table} zip --kind mask -o {output}"),
                    format!("attack {table} --manifest old.release.json --details {output}"),
                    format!("report {table} --manifest old.release.json -o {output}"),
                ] {
                    let done = refuses(&test, &format!("$incrowd {ask} < people.csv"));
                    assert!(done.stderr.contains("overwr"), "{done}");
                }
            }
        }
        // Another file may be written.
        shell(&test, &format!("$incrowd anonymize - {FLAGS} -o out.csv < people.csv")).exits(0);
    }

    #[test]
    fn results_and_messages_are_not_written_into_input_files() {
        let test = setup();
        for (ask, read) in [
            (format!("anonymize people.csv {FLAGS} -o -"), "people.csv"),
            (format!("anonymize linked.csv {FLAGS} -o -"), "people.csv"),
            (format!("anonymize people.csv {FLAGS} -o out.csv"), "people.csv"),
            (format!("anonymize people.csv {FLAGS} --hierarchy zip=zip.csv -o -"), "zip.csv"),
            ("profile people.csv".to_owned(), "people.csv"),
            ("init people.csv -o new.toml".to_owned(), "people.csv"),
            ("verify old.csv".to_owned(), "old.csv"),
            ("verify old.csv".to_owned(), "old.release.json"),
            ("measure people.csv old.csv".to_owned(), "people.csv"),
            ("attack old.csv --original people.csv".to_owned(), "soft.csv"),
            ("hierarchy show zip.csv".to_owned(), "zip.csv"),
        ] {
            refuses(&test, &format!("$incrowd {ask} >> {read}"))
                .reports(&["standard output goes into", "which is read"]);
        }
        refuses(&test, &format!("$incrowd anonymize - {FLAGS} -o - < people.csv >> people.csv"))
            .reports(&["standard output goes into"]);
        // The message is not written into the file either.
        let before = test.text("people.csv");
        let done = shell(&test, "$incrowd profile people.csv 2>> people.csv").exits(2);
        done.prints(&["standard error goes into"]);
        shell(&test, "$incrowd profile people.csv >> people.csv 2>&1").exits(2);
        for line in ["profile missing.csv people.csv", "anonymize -j missing.toml people.csv"] {
            let done = shell(&test, &format!("$incrowd {line} 2>> people.csv")).exits(2);
            assert!(done.stdout.contains("missing"), "{done}");
        }
        test.write(".people.csv.0123456789abcdef.incrowd-journal", "forged");
        shell(&test, "$incrowd profile people.csv 2>> people.csv").exits(2);
        test.write(
            "named.toml",
            "[input]\npath = \"people.csv\"\n[columns]\nage = { role = \"quasi\" }\n",
        );
        shell(&test, "$incrowd anonymize named.toml -o out.csv 2>> people.csv").exits(2);
        std::fs::remove_file(test.path().join(".people.csv.0123456789abcdef.incrowd-journal"))
            .unwrap();
        assert_eq!(test.text("people.csv"), before);
        // A key is read too.
        shell(&test, &format!("$incrowd anonymize people.csv {FLAGS} -o signed.csv --sign my.key"))
            .exits(0);
        refuses(&test, "$incrowd verify signed.csv --check my.key >> my.key")
            .reports(&["which is read"]);
    }

    #[test]
    fn a_file_truncated_by_the_shell_is_named() {
        for line in [
            format!("$incrowd anonymize people.csv {FLAGS} -o - > people.csv"),
            format!("$incrowd anonymize - {FLAGS} -o - < people.csv > people.csv"),
            "$incrowd profile people.csv > people.csv".to_owned(),
        ] {
            let test = setup();
            shell(&test, &line)
                .exits(2)
                .reports(&["the shell has emptied it already", "another file"]);
        }
    }

    #[test]
    fn a_replaced_file_is_not_also_standard_output() {
        let test = setup();
        test.write("log.txt", "so far\n");
        for ask in [
            format!("anonymize people.csv {FLAGS} -o - --manifest log.txt"),
            format!("anonymize people.csv {FLAGS} -o out.csv --report log.txt"),
            format!("anonymize people.csv {FLAGS} -o /dev/stdout"),
        ] {
            refuses(&test, &format!("$incrowd {ask} >> log.txt"));
        }
        shell(&test, &format!("$incrowd anonymize people.csv {FLAGS} -o out.csv >> log.txt"))
            .exits(0);
        assert!(test.text("log.txt").starts_with("so far\n"));
    }

    #[test]
    fn a_hard_link_is_recognized() {
        let test = setup();
        test.refuses(&format!("anonymize people.csv {FLAGS} -o linked.csv"))
            .exits(2)
            .reports(&["would overwrite a file"]);
        test.refuses("profile people.csv linked.csv").exits(2).reports(&["is named twice"]);
    }
}

/// `-` is standard input only where a file is read.
#[test]
fn a_dash_after_a_flag_without_a_path_is_text() {
    let dir = tempfile::tempdir().unwrap();
    let run = |args: &str, input: &str| {
        let args = args.split(' ');
        incrowd().current_dir(&dir).args(args).write_stdin(input).assert().success();
    };
    let table = "zip,d\nA,flu\nA,-\nA,flu\nA,-\n";
    let asked = "--quasi zip --sensitive d -k 2 --on-missing keep --missing -";
    // `--replace` has no value, so the path of the table can follow.
    run(&format!("anonymize --replace - {asked} -o out.csv"), table);
    let manifest = std::fs::read(dir.path().join("out.release.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(manifest["job"]["missing"], serde_json::json!(["-"]));
    run("attack out.csv --population - --only journalist", "zip\nA\nA\nA\nA\n");
    std::fs::write(dir.path().join("zip.csv"), "A;*\n").unwrap();
    run("hierarchy lint zip.csv --table - --column zip", "zip\nA\nA\n");
}

#[test]
fn only_a_release_is_written_to_standard_output() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("t.csv"), people()).unwrap();
    for flag in ["--report", "--owner-report"] {
        let args = ["anonymize", "t.csv", "--quasi", "age", "-k", "4", "-o", "out.csv", flag, "-"];
        let run = incrowd().current_dir(&dir).args(args).write_stdin("").assert().code(2);
        let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(said.contains(&format!("`{flag}` cannot be `-`")), "{said}");
    }
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1);
}
