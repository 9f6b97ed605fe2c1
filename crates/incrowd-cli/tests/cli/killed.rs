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
const PARTIAL_RELEASE: &str = ".people.release.csv.incrowd-partial";
const PARTIAL_MANIFEST: &str = ".people.release.json.incrowd-partial";

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
    /// As soon as the manifest is written, before anything is put in place.
    Written,
    /// As soon as anything is put in place.
    InPlace,
}

impl Moment {
    fn wait(self, room: &Room, run: &mut Child) {
        let file = |name: &str| std::fs::metadata(room.path().join(name)).ok();
        let inodes = || [RELEASE, MANIFEST].map(|name| file(name).map(|f| f.ino()));
        let before = inodes();
        let come = || match self {
            Moment::After(_) => true,
            Moment::Written => file(PARTIAL_MANIFEST).is_some_and(|f| f.len() > 0),
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
        let strange =
            |n: &&String| ![PARTIAL_RELEASE, PARTIAL_MANIFEST].contains(&n.as_str()) && !names.contains(n);
        assert_eq!(left.iter().find(strange), None, "{moment:?}");
        unfinished += u32::from(left.iter().any(|n| n == PARTIAL_RELEASE));
        match (room.bytes(RELEASE) == old_release, room.bytes(MANIFEST) == old_manifest) {
            (true, true) => {}
            (false, false) => {
                assert_eq!(left, names, "nothing is left to do: {moment:?}");
                room.does(&format!("verify {RELEASE}")).prints(&["digest   matches"]);
            }
            // Killed between the two renames, the first of which takes its time to clear away the old release.
            (false, true) => {
                let mut all_but_in_place = names.clone();
                all_but_in_place.push(PARTIAL_MANIFEST.to_owned());
                all_but_in_place.sort();
                assert_eq!(left, all_but_in_place, "{moment:?}");
                let done = room.does(&format!("verify {RELEASE} --manifest {PARTIAL_MANIFEST}"));
                done.prints(&["k-anonymity(k=10)   holds", "digest   matches"]);
                // The release is complete: `verify` finds the manifest that vouches for it.
                room.does(&format!("verify {RELEASE}")).prints(&["digest   matches"]);
            }
            (true, false) => panic!("a manifest without its release: {moment:?}"),
        }
    }
    assert!(unfinished > 2, "only {unfinished} runs were interrupted at work: give them more records");
    room.does("anonymize job.toml");
    assert_eq!(room.names(), names, "the next run clears away what was left");
    room.does(&format!("verify {RELEASE}")).prints(&["k-anonymity(k=10)   holds", "digest   matches"]);
}
