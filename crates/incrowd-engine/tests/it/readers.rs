//! A table of a database read by one connection and by several: the same records, whatever others do meanwhile.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use incrowd_core::{Folded, Silent};
use incrowd_engine::{FoldSpec, Options, Source};
use incrowd_testing::or_skip;
use incrowd_testing::postgres::Server;

fn open(server: &Server, table: &str, connections: &str) -> Source {
    let address = server.address();
    let path = format!("{address}&table={table}&fold=client&connections={connections}");
    Source::open(&[PathBuf::from(path)], &Options::default()).unwrap()
}

/// The cells of each record, with how many records have them.
fn records(source: &Source) -> BTreeMap<Vec<String>, u64> {
    let spec = FoldSpec { columns: vec!["id".to_owned(), "state".to_owned()], ..FoldSpec::default() };
    let folded: Folded = source.fold(&spec, &Silent).unwrap();
    let text = |(column, &code): (usize, &u32)| folded.columns[column].texts[code as usize].clone();
    let cells = |row: usize| folded.row(row).iter().enumerate().map(text).collect();
    (0..folded.rows()).map(|row| (cells(row), folded.weights[row])).collect()
}

/// Waits until so many connections of ours are open. Those that were closed are gone a moment later.
fn connected(server: &Server, connections: &str) {
    let open = || server.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'incrowd'");
    let late = (0..1_000).all(|_| {
        std::thread::sleep(Duration::from_millis(10));
        open() != connections
    });
    assert!(!late, "there are {} connections, not {connections}", open());
}

/// So many records over several hundred pages.
const RECORDS: u64 = 20_000;

fn filled(server: &Server, table: &str) {
    server.sql(&format!(
        "CREATE TABLE {table} AS SELECT i AS id, 'old' AS state, repeat('x', 100) AS filling \
         FROM generate_series(1, {RECORDS}) AS i"
    ));
}

/// One record each, in that state.
fn all_are(found: &BTreeMap<Vec<String>, u64>, state: &str) {
    assert_eq!(found.len() as u64, RECORDS);
    assert!(found.iter().all(|(cells, &n)| cells[1] == state && n == 1));
}

#[test]
fn several_connections_read_what_one_reads() {
    let server = or_skip!(Server::start("trust"));
    filled(&server, "people");
    let one = records(&open(&server, "people", "1"));
    all_are(&one, "old");
    for connections in ["2", "3", "16"] {
        let source = open(&server, "people", connections);
        assert_eq!(records(&source), one, "{connections}");
        connected(&server, connections);
        // Again, by the same connections.
        assert_eq!(records(&source), one, "{connections}");
        connected(&server, connections);
    }
    // A table that does not fill a page, and one without records.
    server.sql("CREATE TABLE small AS SELECT 1 AS id, 'x' AS state; CREATE TABLE none AS SELECT * FROM small WHERE false");
    assert_eq!(records(&open(&server, "small", "4")).len(), 1);
    assert_eq!(records(&open(&server, "none", "4")).len(), 0);
}

#[test]
fn what_is_written_meanwhile_is_not_seen() {
    let server = or_skip!(Server::start("trust"));
    filled(&server, "people");
    let source = open(&server, "people", "3");
    // Every record gets another place, and some are new, before the other connections are made.
    server.sql("UPDATE people SET state = 'new'; INSERT INTO people SELECT -i, 'more' FROM generate_series(1, 5000) AS i");
    all_are(&records(&source), "old");
    server.sql("DELETE FROM people WHERE id % 2 = 0 OR id < 0; UPDATE people SET state = 'newer'");
    all_are(&records(&source), "old");
    drop(source);
    let later = records(&open(&server, "people", "3"));
    assert_eq!(later.len() as u64, RECORDS / 2);
    assert!(later.keys().all(|cells| cells[1] == "newer"));
}

#[test]
fn what_cannot_be_divided_is_read_by_one_connection() {
    let server = or_skip!(Server::start("trust"));
    filled(&server, "people");
    server.sql(
        "CREATE VIEW seen AS SELECT * FROM people; \
         CREATE TABLE parted (id int, state text) PARTITION BY RANGE (id); \
         CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10000); \
         CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (10000) TO (20001); \
         INSERT INTO parted SELECT id, state FROM people; \
         CREATE TABLE parent (id int, state text); CREATE TABLE child () INHERITS (parent); \
         INSERT INTO parent SELECT id, state FROM people WHERE id <= 50; \
         INSERT INTO child SELECT id, state FROM people WHERE id > 50; \
         CREATE ROLE lonely LOGIN CONNECTION LIMIT 1; GRANT SELECT ON people TO lonely",
    );
    for table in ["seen", "parted", "parent"] {
        let source = open(&server, table, "4");
        all_are(&records(&source), "old");
        connected(&server, "1");
    }
    // Whoever may have one connection only has to do with it.
    let address = server.address().replace("tester@", "lonely@");
    assert!(address.contains("lonely@"), "{address}");
    let path = format!("{address}&table=people&fold=client&connections=4");
    let source = Source::open(&[PathBuf::from(path)], &Options::default()).unwrap();
    all_are(&records(&source), "old");
    connected(&server, "1");
}

/// Who wants to change the table waits for us. Another connection of ours would wait for him.
#[test]
fn nobody_waits_for_somebody_who_waits_for_us() {
    let server = or_skip!(Server::start("trust"));
    filled(&server, "people");
    let source = open(&server, "people", "3");
    std::thread::scope(|scope| {
        let changed = scope.spawn(|| server.sql("ALTER TABLE people ADD more int"));
        while server.sql("SELECT count(*) FROM pg_locks WHERE NOT granted") == "0" {
            std::thread::sleep(Duration::from_millis(10));
        }
        all_are(&records(&source), "old");
        drop(source);
        changed.join().unwrap();
    });
}
