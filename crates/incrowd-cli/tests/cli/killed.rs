//! A killed run leaves the complete old or the complete new release.

use std::os::unix::fs::MetadataExt;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::test_dir::TestDir;

/// Enough rows for a run of two seconds without optimization.
const ROWS: u32 = 150_000;
const RELEASE: &str = "people.release.csv";
const MANIFEST: &str = "people.release.json";

/// Returns whether the file is a hidden file of incrowd with this ending.
fn is_hidden(name: &str, ending: &str) -> bool {
    name.starts_with(".people.release.") && name.ends_with(ending)
}

/// Returns a directory with a large table and an old release, and the duration of a run.
pub(crate) fn busy_setup(rows: u32) -> (TestDir, Duration) {
    let test = TestDir::new();
    test.succeeds(&format!("demo --data-only --rows {rows} --dir ."));
    let began = Instant::now();
    let done = test.succeeds("anonymize job.toml -k 25");
    assert_eq!(done.stderr, "", "no bar where there is no terminal\n{done}");
    (test, began.elapsed())
}

/// The moment of the kill.
#[derive(Clone, Copy, Debug)]
enum Moment {
    After(Duration),
    /// As soon as the journal is written, before the first file is published.
    Written,
    /// As soon as the first file is published.
    InPlace,
}

impl Moment {
    fn wait(self, test: &TestDir, run: &mut Child) {
        let file = |name: &str| std::fs::metadata(test.path().join(name)).ok();
        let journal = || test.names().iter().any(|name| is_hidden(name, ".incrowd-journal"));
        let inodes = || [RELEASE, MANIFEST].map(|name| file(name).map(|f| f.ino()));
        let before = inodes();
        let come = || match self {
            Moment::After(_) => true,
            Moment::Written => journal(),
            Moment::InPlace => inodes() != before,
        };
        if let Moment::After(delay) = self {
            sleep(delay);
        }
        while !come() && run.try_wait().unwrap().is_none() {
            sleep(Duration::from_micros(50));
        }
    }
}

#[test]
fn kill_nine_leaves_the_old_release_or_the_new_one() {
    let (test, whole) = busy_setup(ROWS);
    let names = test.names();
    let early = [5, 20, 60, 120, 250].map(|ms| Moment::After(Duration::from_millis(ms)));
    let late = [0.5, 0.8, 0.95].map(|share| Moment::After(whole.mul_f64(share)));
    // Most failures are possible while files are published.
    let last = [Moment::Written, Moment::InPlace, Moment::InPlace, Moment::InPlace];
    let mut unfinished = 0;
    for moment in early.into_iter().chain(late).chain(last) {
        let (old_release, old_manifest) = (test.bytes(RELEASE), test.bytes(MANIFEST));
        let mut run = test.start("anonymize job.toml");
        moment.wait(&test, &mut run);
        run.kill().unwrap();
        run.wait().unwrap();
        let left = test.names();
        let strange = |n: &&String| !is_hidden(n, "") && !names.contains(n);
        assert_eq!(left.iter().find(strange), None, "{moment:?}");
        for partial in left.iter().filter(|n| is_hidden(n, ".incrowd-partial")) {
            unfinished += 1;
            let found = std::fs::metadata(test.path().join(partial)).unwrap();
            assert!(
                found.mode() & 0o077 == 0 || found.len() == 0,
                "others can read {partial}: {moment:?}"
            );
        }
        test.succeeds("recover");
        test.succeeds(&format!("verify {RELEASE}")).prints(&["digest   matches"]);
        assert_eq!(test.names(), names, "{moment:?}");
        let (release, manifest) =
            (test.bytes(RELEASE) == old_release, test.bytes(MANIFEST) == old_manifest);
        assert_eq!(release, manifest, "half of each: {moment:?}");
    }
    assert!(
        unfinished > 2,
        "only {unfinished} runs were interrupted at work: give them more records"
    );
    test.succeeds("anonymize job.toml");
    assert_eq!(test.names(), names);
    test.succeeds(&format!("verify {RELEASE}"))
        .prints(&["k-anonymity(k=10)   holds", "digest   matches"]);
}
