//! A run that is asked to stop leaves the directory as it was.

use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::killed::busy_room;

#[test]
fn whoever_interrupts_a_run_finds_the_directory_as_before() {
    let (room, _) = busy_room(30_000);
    let before = room.files();
    let names = room.names();
    for signal in ["-INT", "-TERM", "-INT", "-TERM", "-INT", "-TERM"] {
        let mut run = room.start("anonymize job.toml");
        let began = Instant::now();
        while room.names() == names {
            assert!(began.elapsed() < Duration::from_secs(20), "nothing was begun");
            assert!(run.try_wait().unwrap().is_none(), "the run ended unseen: give it more records");
            sleep(Duration::from_micros(20));
        }
        let asked = Command::new("kill").args([signal, &run.id().to_string()]).status().unwrap();
        assert!(asked.success());
        assert_eq!(run.wait().unwrap().code(), Some(130), "{signal}");
        assert!(room.files() == before, "{signal}: {:?}", room.names());
    }
}
