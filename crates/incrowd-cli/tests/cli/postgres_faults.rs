//! Killed processes and full disks leave the old or the new table in a database, and nothing else.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use incrowd_testing::or_skip;
use incrowd_testing::postgres::{Server, SmallDisk};

use crate::postgres::{ROLES, people, tables};
use crate::test_dir::TestDir;

/// Returns a large table, a release, and the duration of a run.
fn busy(server: &Server, test: &TestDir) -> (String, Duration) {
    people(server, "people", 20_000);
    let address = server.address();
    let made = format!(
        "anonymize {address} --table people {ROLES} -o {address} --output-table release --replace"
    );
    let began = Instant::now();
    test.succeeds(&made);
    (made, began.elapsed())
}

/// The records must be visible to every user who can see the table.
const OLD: &str = "BEGIN; DROP TABLE IF EXISTS release; CREATE TABLE release (old int); \
     COPY release FROM PROGRAM 'seq 7' (FREEZE); DELETE FROM incrowd_manifests; COMMIT";

/// Reads the release continuously until it is stopped, with a new snapshot and with one that is
/// older than the table. Returns all observed states; failures of the server are skipped.
fn reading(server: &Server, done: &AtomicBool) -> Vec<String> {
    let mut seen = Vec::new();
    while !done.load(Ordering::Relaxed) {
        let isolation = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 'x'";
        let old =
            format!("{isolation}; SELECT pg_sleep(0.05); SELECT count(*) FROM release; COMMIT");
        let last =
            server.try_sql(&old).ok().and_then(|said| said.lines().last().map(str::to_owned));
        let fresh = server.try_sql("SELECT count(*) FROM release").ok();
        seen.extend([last, fresh].into_iter().flatten());
    }
    seen
}

#[test]
fn continuous_readers_see_the_old_table_or_the_new_one() {
    let server = or_skip!(Server::start("trust"));
    let test = TestDir::new();
    let (made, _) = busy(&server, &test);
    let whole = server.sql("SELECT count(*) FROM release");
    server.sql(OLD);
    let done = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        let reader = scope.spawn(|| reading(&server, &done));
        for _ in 0..2 {
            test.succeeds(&made);
        }
        done.store(true, Ordering::Relaxed);
        reader.join().unwrap()
    });
    assert!(!seen.is_empty());
    assert!(seen.iter().all(|count| *count == whole || count == "7"), "{seen:?}");
}

/// Returns pseudorandom numbers from 0 to 1, always the same ones.
fn moments(seed: u64) -> impl Iterator<Item = f64> {
    let mut state = seed;
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    })
}

/// Waits until the server answers.
fn patiently(server: &Server, sql: &str) -> String {
    for _ in 0..600 {
        if let Ok(said) = server.try_sql(sql) {
            return said;
        }
        sleep(Duration::from_millis(50));
    }
    server.sql(sql)
}

#[test]
fn a_kill_at_any_moment_leaves_the_old_table_or_the_new_one() {
    let server = or_skip!(Server::start("trust"));
    let test = TestDir::new();
    let (made, long) = busy(&server, &test);
    let whole = server.sql("SELECT count(*) FROM release");
    let number =
        |name: &str, usual| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual);
    let (times, seed) = (number("INCROWD_KILLS", 50), number("INCROWD_SEED", 22));
    let done = AtomicBool::new(false);
    let outcomes = Mutex::new([0u32; 2]);
    let ours = "SELECT pid FROM pg_stat_activity WHERE application_name = 'incrowd'";
    let seen = std::thread::scope(|scope| {
        let reader = scope.spawn(|| reading(&server, &done));
        let killing = scope.spawn(|| {
            for (i, moment) in moments(seed).take(times as usize).enumerate() {
                patiently(&server, OLD);
                let mut run = test.start(&made);
                sleep(long.mul_f64(moment * 1.1));
                let pids = server.try_sql(ours).unwrap_or_default();
                match i % 3 {
                    0 => drop(run.kill()),
                    1 => drop(server.try_sql(&format!(
                        "SELECT pg_terminate_backend(pid) FROM ({ours}) AS ours"
                    ))),
                    // The server closes all connections and restarts.
                    _ => {
                        for pid in pids.lines() {
                            let mut kill = std::process::Command::new("kill");
                            drop(
                                kill.args(["-9", pid]).stderr(std::process::Stdio::null()).status(),
                            );
                        }
                    }
                }
                let code = run.wait().unwrap().code();
                // The server detects the closed connection.
                while !patiently(&server, ours).is_empty() {
                    sleep(Duration::from_millis(20));
                }
                let count = patiently(&server, "SELECT count(*) FROM release");
                let noted = patiently(&server, "SELECT count(*) FROM incrowd_manifests");
                let (new, old) = (count == whole && noted == "1", count == "7" && noted == "0");
                assert!(new || old, "{i}: {count} {noted} {code:?}");
                assert!(code != Some(0) || new, "{i}: {count}");
                assert_eq!(tables(&server), "incrowd_manifests people release", "{i}");
                outcomes.lock().unwrap()[usize::from(new)] += 1;
            }
        });
        let killed = killing.join();
        done.store(true, Ordering::Relaxed);
        let seen = reader.join().unwrap();
        killed.unwrap();
        seen
    });
    assert!(seen.iter().all(|count| *count == whole || count == "7"), "{seen:?}");
    let [old, new] = outcomes.into_inner().unwrap();
    // Both outcomes occur; otherwise no kill hit the critical section.
    assert!(old > 0 && seen.len() > times as usize, "{old} {new} {}", seen.len());
}

#[test]
fn a_full_tablespace_leaves_the_old_table() {
    let server = or_skip!(Server::start("trust"));
    let disk = or_skip!(SmallDisk::mount(&server, 1));
    let test = TestDir::new();
    people(&server, "people", 20_000);
    server.sql(&format!("CREATE TABLESPACE small LOCATION '{}'", disk.path().display()));
    server.sql("CREATE TABLE release AS SELECT 'old' AS state");
    server.sql("ALTER ROLE tester SET default_tablespace = small");
    let address = server.address();
    let roles = format!("{ROLES} --passthrough name --unlinkable name");
    let made = format!(
        "anonymize {address} --table people {roles} -o {address} --output-table release --replace"
    );
    let done =
        test.refuses(&made).exits(2).reports(&["does not take the release", "SQLSTATE 53100"]);
    assert!(!done.to_string().contains("town,"), "a cell is shown\n{done}");
    assert_eq!(server.sql("SELECT * FROM release"), "old");
    assert_eq!(tables(&server), "people release");
    let used = || -> u64 {
        let rows = "SELECT coalesce(sum(pg_relation_size(oid)), 0) FROM pg_class WHERE reltablespace = \
                    (SELECT oid FROM pg_tablespace WHERE spcname = 'small')";
        server.sql(rows).parse().unwrap()
    };
    assert_eq!(used(), 0, "room is still taken");
    // It works once there is space.
    disk.resize(64).unwrap();
    test.succeeds(&made);
    assert_eq!(tables(&server), "incrowd_manifests people release");
    assert!(used() > 1 << 20);
}
