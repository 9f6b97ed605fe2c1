//! An interrupted run leaves the directory unchanged.

use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::killed::busy_setup;

#[test]
fn an_interrupted_run_leaves_the_directory_unchanged() {
    let (test, _) = busy_setup(30_000);
    let before = test.files();
    let names = test.names();
    for signal in ["-INT", "-TERM", "-INT", "-TERM", "-INT", "-TERM"] {
        let mut run = test.start("anonymize job.toml");
        let began = Instant::now();
        while test.names() == names {
            assert!(began.elapsed() < Duration::from_secs(20), "nothing was begun");
            assert!(
                run.try_wait().unwrap().is_none(),
                "the run ended unseen: give it more records"
            );
            sleep(Duration::from_micros(20));
        }
        let asked = Command::new("kill").args([signal, &run.id().to_string()]).status().unwrap();
        assert!(asked.success());
        assert_eq!(run.wait().unwrap().code(), Some(130), "{signal}");
        assert!(test.files() == before, "{signal}: {:?}", test.names());
    }
}

#[test]
fn an_interruption_during_the_report_has_a_message_that_the_release_is_published() {
    use std::os::unix::fs::MetadataExt;
    let (test, _) = busy_setup(30_000);
    let inode =
        || std::fs::metadata(test.path().join("people.release.csv")).map(|found| found.ino()).ok();
    let journal = || test.names().iter().any(|name| name.ends_with(".incrowd-journal"));
    let old = inode();
    let run = test.start("anonymize job.toml --report page.html --owner-report owner.html");
    let began = Instant::now();
    while inode() == old || journal() {
        assert!(began.elapsed() < Duration::from_secs(60), "nothing was published");
        sleep(Duration::from_micros(200));
    }
    sleep(Duration::from_millis(100));
    assert!(
        Command::new("kill").args(["-TERM", &run.id().to_string()]).status().unwrap().success()
    );
    let ended = run.wait_with_output().unwrap();
    let stderr = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("interrupted: the release `people.release.csv`"), "{stderr}");
    assert!(stderr.contains("the report was not made"), "{stderr}");
    assert!(!test.path().join("page.html").exists());
    test.succeeds("verify people.release.csv").prints(&["digest   matches"]);
}

/// A signal that comes while the files are put in place, or before the run has reported the
/// publication, ends the run with a message if the release was published.
#[test]
fn a_signal_during_the_publication_is_never_silent_about_it() {
    use std::os::unix::fs::MetadataExt;
    let (test, _) = busy_setup(3_000);
    let path = test.path().join("people.release.csv");
    let inode = || std::fs::metadata(&path).map(|found| found.ino()).ok();
    for round in 0..8 {
        let old = inode();
        let run = test.start("anonymize job.toml -q");
        let began = Instant::now();
        while inode() == old {
            assert!(began.elapsed() < Duration::from_secs(60), "nothing was published");
            std::hint::spin_loop();
        }
        let asked = Command::new("kill").args(["-TERM", &run.id().to_string()]).status().unwrap();
        let ended = run.wait_with_output().unwrap();
        let stderr = String::from_utf8(ended.stderr).unwrap();
        match ended.status.code() {
            Some(130) => {
                let message = "interrupted: the release `people.release.csv` and its manifest";
                assert!(stderr.contains(message), "{round}: {stderr}");
            }
            code => assert!(code == Some(0) || !asked.success(), "{round}: {code:?} {stderr}"),
        }
    }
}

/// The staged release for standard output is in a directory that only its owner can read. It is
/// removed after a signal.
#[test]
fn an_interrupted_run_leaves_no_temporary_directory() {
    use std::os::unix::fs::PermissionsExt;
    let (test, _) = busy_setup(30_000);
    let temporary = test.path().join("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let names = || -> Vec<std::path::PathBuf> {
        std::fs::read_dir(&temporary).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let mut run = test.command();
    run.args(["anonymize", "job.toml", "-o", "-", "-q"]).env("TMPDIR", &temporary);
    run.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let run = run.spawn().unwrap();
    let began = Instant::now();
    // The pipe is not read, so the run waits with the release in the directory.
    let sent = |path: &std::path::Path| path.join("release.release.json").exists();
    while !names().first().is_some_and(|path| sent(path)) {
        assert!(began.elapsed() < Duration::from_secs(60), "nothing was staged: {:?}", names());
        sleep(Duration::from_millis(5));
    }
    let mode = std::fs::metadata(&names()[0]).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "{mode:o}");
    assert!(
        Command::new("kill").args(["-TERM", &run.id().to_string()]).status().unwrap().success()
    );
    let ended = run.wait_with_output().unwrap();
    let stderr = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{stderr}");
    assert!(!stderr.contains("were published"), "{stderr}");
    assert_eq!(names(), Vec::<std::path::PathBuf>::new());
}
