//! Runs a fixed number of damaged inputs within 2 GiB of address space. For longer runs:
//! `cargo run --release -p incrowd-fuzz -- --minutes 60`.

use std::process::Command;

#[test]
fn damaged_inputs_are_read_or_refused_with_one_error() {
    let dir = tempfile::tempdir().unwrap();
    let executions = incrowd_testing::cases(1200).to_string();
    let run = Command::new("sh")
        .args(["-c", "ulimit -v 2097152; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_incrowd-fuzz")])
        .args(["--executions", &executions, "--findings"])
        .arg(dir.path().join("findings"))
        .output()
        .unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{}: {said}", run.status);
    assert!(said.contains("0 findings"), "{said}");
}
