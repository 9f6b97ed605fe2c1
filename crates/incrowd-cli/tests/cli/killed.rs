//! A run that is killed leaves the old release or the new one, never something in between.

use std::os::unix::fs::MetadataExt;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::room::Room;

/// Enough for a run of two seconds without optimization.
const ROWS: u32 = 150_000;
const RELEASE: &str = "people.release.csv";
const MANIFEST: &str = "people.release.json";

/// Whether a hidden file of ours has this ending.
fn is_hidden(name: &str, ending: &str) -> bool {
    name.starts_with(".people.release.") && name.ends_with(ending)
}

/// A table large enough to be interrupted, in the room itself, with an old release; and how long a run takes.
pub(crate) fn busy_room(rows: u32) -> (Room, Duration) {
    let room = Room::new();
    room.does(&format!("demo --data-only --rows {rows} --dir ."));
    let began = Instant::now();
    let done = room.does("anonymize job.toml -k 25");
    assert_eq!(done.stderr, "", "no bar where there is no terminal\n{done}");
    (room, began.elapsed())
}

/// When to kill.
#[derive(Clone, Copy, Debug)]
enum Moment {
    After(Duration),
    /// As soon as the journal is written, when everything is about to be put in place.
    Written,
    /// As soon as anything is put in place.
    InPlace,
}

impl Moment {
    fn wait(self, room: &Room, run: &mut Child) {
        let file = |name: &str| std::fs::metadata(room.path().join(name)).ok();
        let journal = || room.names().iter().any(|name| is_hidden(name, ".incrowd-journal"));
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
    let (room, whole) = busy_room(ROWS);
    let names = room.names();
    let early = [5, 20, 60, 120, 250].map(|ms| Moment::After(Duration::from_millis(ms)));
    let late = [0.5, 0.8, 0.95].map(|share| Moment::After(whole.mul_f64(share)));
    // Most can go wrong when things are put in place.
    let last = [Moment::Written, Moment::InPlace, Moment::InPlace, Moment::InPlace];
    let mut unfinished = 0;
    for moment in early.into_iter().chain(late).chain(last) {
        let (old_release, old_manifest) = (room.bytes(RELEASE), room.bytes(MANIFEST));
        let mut run = room.start("anonymize job.toml");
        moment.wait(&room, &mut run);
        run.kill().unwrap();
        run.wait().unwrap();
        let left = room.names();
        let strange = |n: &&String| !is_hidden(n, "") && !names.contains(n);
        assert_eq!(left.iter().find(strange), None, "{moment:?}");
        for partial in left.iter().filter(|n| is_hidden(n, ".incrowd-partial")) {
            unfinished += 1;
            let found = std::fs::metadata(room.path().join(partial)).unwrap();
            let published = left.iter().any(|n| is_hidden(n, ".incrowd-journal"));
            assert!(found.mode() & 0o077 == 0 || published, "others can read {partial}: {moment:?}");
        }
        // Whatever comes next puts everything right.
        room.does(&format!("verify {RELEASE}")).prints(&["digest   matches"]);
        assert_eq!(room.names(), names, "{moment:?}");
        let (release, manifest) = (room.bytes(RELEASE) == old_release, room.bytes(MANIFEST) == old_manifest);
        assert_eq!(release, manifest, "half of each: {moment:?}");
    }
    assert!(unfinished > 2, "only {unfinished} runs were interrupted at work: give them more records");
    room.does("anonymize job.toml");
    assert_eq!(room.names(), names);
    room.does(&format!("verify {RELEASE}")).prints(&["k-anonymity(k=10)   holds", "digest   matches"]);
}
