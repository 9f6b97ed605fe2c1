//! `-` for standard input and output.

use assert_cmd::Command;

fn incrowd() -> Command {
    Command::new(env!("CARGO_BIN_EXE_incrowd"))
}

fn people() -> String {
    let rows: String = (0..40).map(|i| format!("{},{}\n", 20 + i, ["flu", "cold"][i % 2])).collect();
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
    let left: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["m.json"]);
    let check = ["verify", "-", "--manifest", "m.json"];
    incrowd().current_dir(&dir).args(check).write_stdin(text.clone()).assert().success();
    // Somebody is gone.
    let damaged: String = text.lines().take(39).map(|line| format!("{line}\n")).collect();
    incrowd().current_dir(&dir).args(check).write_stdin(damaged).assert().code(1);
}

#[test]
fn a_typed_release_goes_out_and_a_typed_table_comes_in() {
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
    let profile = incrowd().args(["profile", "-", "--json"]).write_stdin(parquet).assert().success();
    let json: serde_json::Value = serde_json::from_slice(&profile.get_output().stdout).unwrap();
    assert_eq!(json["records"], 40);
}

#[test]
fn nothing_goes_out_if_the_promise_cannot_be_kept_or_the_table_is_none() {
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
    let run =
        incrowd().current_dir(&dir).args(["anonymize", "job.toml"]).write_stdin(people()).assert().success();
    assert_eq!(run.get_output().stdout.iter().filter(|byte| **byte == b'\n').count(), 41);
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1);
}

#[test]
fn a_dry_run_tells_the_cost_and_writes_nothing() {
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
