//! Concurrent runs.

use crate::test_dir::{Outcome, TestDir};

#[test]
fn two_concurrent_runs_leave_one_complete_release() {
    let test = TestDir::new();
    test.succeeds("demo --data-only --rows 5000 --dir .");
    let mut names = test.names();
    names.extend(["people.release.csv", "people.release.json"].map(str::to_owned));
    names.sort();
    for _ in 0..5 {
        let runs = ["-k 5", "-k 20"].map(|k| format!("anonymize job.toml {k}"));
        let started = runs.clone().map(|args| test.start(&args));
        let mut done = 0;
        for (args, run) in runs.iter().zip(started) {
            let run = Outcome::new(args, run.wait_with_output().unwrap());
            if run.code == 0 {
                done += 1;
            } else {
                run.exits(2).reports(&["error: another run is writing `people.release.csv`"]);
            }
        }
        assert!(done >= 1, "neither run made the release");
        assert_eq!(test.names(), names);
        test.succeeds("verify people.release.csv").prints(&["digest   matches"]);
    }
}

#[test]
fn runs_for_different_releases_do_not_interfere() {
    let test = TestDir::with_people();
    let runs = ["a.csv", "b.csv", "c.parquet"].map(|name| {
        let args = format!("anonymize people.csv --quasi age,zip -k 2 -o {name}");
        (name, test.start(&args))
    });
    for (name, run) in runs {
        Outcome::new(name, run.wait_with_output().unwrap()).exits(0);
        test.succeeds(&format!("verify {name}"));
    }
}
