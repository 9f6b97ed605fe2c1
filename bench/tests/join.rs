//! Runs the benchmark of k-join-anonymity on few people, without checking figures.

use std::process::Command;

#[test]
fn the_tables_and_plots_are_written() {
    let dir = std::env::temp_dir().join(format!("incrowd-bench-join-{}", std::process::id()));
    let run = Command::new(env!("CARGO_BIN_EXE_incrowd-bench"))
        .args([
            "join",
            "--only",
            "acceptance,sweeps",
            "--microdata",
            "550",
            "--seeds",
            "1",
            "--data",
        ])
        .args([
            dir.join("no data here"),
            "--dir".into(),
            dir.clone(),
            "--svg".into(),
            dir.join("svg"),
        ])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert!(
        text.contains("| mondrian, skewed, 550 / 55000 |")
            && text.contains("| top-down, skewed, 550 / 55000 |")
    );
    assert!(text.contains("skipped: no acs2018_gov_employees.csv.gz"));
    assert_eq!(std::fs::read_dir(dir.join("svg")).unwrap().count(), 12);
    std::fs::remove_dir_all(dir).ok();
}
