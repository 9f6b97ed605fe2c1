//! Two runs for one release.

use crate::room::{Done, Room};

#[test]
fn two_runs_at_once_end_with_one_whole_release() {
    let room = Room::new();
    room.does("demo --data-only --rows 5000 --dir .");
    let mut names = room.names();
    names.extend(["people.release.csv", "people.release.json"].map(str::to_owned));
    names.sort();
    for _ in 0..5 {
        let runs = ["-k 5", "-k 20"].map(|k| format!("anonymize job.toml {k}"));
        let started = runs.clone().map(|typed| room.start(&typed));
        let mut done = 0;
        for (typed, run) in runs.iter().zip(started) {
            let run = Done::new(typed, run.wait_with_output().unwrap());
            if run.code == 0 {
                done += 1;
            } else {
                run.exits(2).says(&["error: another run is writing `people.release.csv`"]);
            }
        }
        assert!(done >= 1, "neither run made the release");
        assert_eq!(room.names(), names);
        room.does("verify people.release.csv").prints(&["digest   matches"]);
    }
}

#[test]
fn runs_for_different_releases_do_not_meet() {
    let room = Room::with_people();
    let runs = ["a.csv", "b.csv", "c.parquet"].map(|name| {
        let typed = format!("anonymize people.csv --quasi age,zip -k 2 -o {name}");
        (name, room.start(&typed))
    });
    for (name, run) in runs {
        Done::new(name, run.wait_with_output().unwrap()).exits(0);
        room.does(&format!("verify {name}"));
    }
}
