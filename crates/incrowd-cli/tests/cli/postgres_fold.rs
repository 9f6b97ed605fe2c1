//! Folding in the server and in the process gives the same release.

use incrowd_testing::or_skip;
use incrowd_testing::postgres::Server;
use serde_json::Value;

use crate::postgres::{ROLES, people};
use crate::test_dir::TestDir;

/// Cells that the server treats as equal although their texts differ, and cells that count as
/// missing.
fn hard(server: &Server) {
    server.sql(
        "CREATE COLLATION any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false); \
         CREATE TYPE mood AS ENUM ('glad', 'sad')",
    );
    server.sql(
        "CREATE TABLE hard AS SELECT 'person ' || i / 2 AS who, \
         (CASE i % 4 WHEN 0 THEN '1.0' WHEN 1 THEN '1.00' WHEN 2 THEN '2.5' END)::numeric AS dose, \
         (CASE i % 3 WHEN 0 THEN '-0' WHEN 1 THEN '0' ELSE '1e300' END)::float8 AS level, \
         (CASE i % 5 WHEN 0 THEN 'Rome' WHEN 1 THEN 'rome' WHEN 2 THEN '?' WHEN 3 THEN '' END) COLLATE any_case AS town, \
         (CASE i % 2 WHEN 0 THEN 'f' ELSE 'm' END)::char(3) AS sex, i % 7 = 0 AS insured, \
         DATE '2020-01-01' + i % 3 AS seen, TIMESTAMPTZ '2020-01-01 12:00:00+02' + i % 2 * INTERVAL '1 hour' AS at, \
         (CASE i % 2 WHEN 0 THEN 'glad' ELSE 'sad' END)::mood AS feels, \
         E'a, \"b\"\\n' || i % 3 AS disease, 1 + i % 2 AS weight FROM generate_series(1, 6000) AS i",
    );
}

/// Runs a job with both ways of folding; bytes and numbers must be equal. Returns how often the
/// server grouped, and its queries.
fn both(test: &TestDir, server: &Server, roles: &str) -> (bool, u64) {
    let run = |way: &str| -> Value {
        let address = format!("{}&fold={way}", server.address());
        test.succeeds(&format!("anonymize {address} {roles} --order sorted -o {way}.csv --json"))
            .json()
    };
    let (there, here) = (run("server"), run("client"));
    assert!(test.text("server.csv") == test.text("client.csv"), "{roles}");
    for key in ["records", "groups", "metrics", "models", "persons"] {
        assert_eq!(there[key], here[key], "{roles}: {key}");
    }
    assert_eq!(here["private"]["database"]["grouped"], false, "{roles}");
    assert_eq!(here["private"]["database"]["sent"], here["records"]["read"], "{roles}");
    let sent = &there["private"]["database"];
    (sent["grouped"].as_bool().unwrap(), sent["sent"].as_u64().unwrap())
}

#[test]
fn the_release_does_not_depend_on_where_the_table_is_folded() {
    let server = or_skip!(Server::start("trust"));
    let test = TestDir::new();
    hard(&server);
    people(&server, "people", 3_000);
    let all =
        "--table hard --quasi dose,level,town,sex,insured,seen,at,feels --sensitive disease -k 3";
    let (grouped, sent) = both(&test, &server, all);
    // Sixty distinct rows of each disease and mood: texts are distinguished exactly.
    assert!(grouped && sent < 6_000, "{sent}");
    for roles in [
        "--table hard --quasi dose,town --sensitive disease -k 3 --on-missing keep",
        "--table hard --quasi dose,town --sensitive disease -k 3 --missing ?",
        "--table hard --quasi level,sex -k 3 --missing 0 --on-missing keep",
        // Identifiers are checked for repetition in the server.
        "--table hard --quasi sex,feels --identifier who -k 3",
        "--table people --quasi age,sex,town --sensitive disease -k 5 --algorithm mondrian",
        "--table people --quasi age,sex --sensitive town -k 5 --model l-diversity:l=3",
    ] {
        assert!(both(&test, &server, roles).0, "{roles}");
    }
    // Persons, sampling weights and passthrough columns need every record.
    let passing =
        "--table hard --quasi dose,sex --sensitive disease --passthrough seen,at,feels -k 3";
    assert!(!both(&test, &server, passing).0);
    assert!(!both(&test, &server, "--table hard --quasi sex,feels --person who -k 3").0);
    assert!(!both(&test, &server, "--table hard --quasi sex,feels --weight weight -k 3").0);
    let query = "&query=select%20town,%20sex%20from%20hard%20where%20sex%20=%20'f'";
    for (way, out) in [("server", "s.csv"), ("client", "c.csv")] {
        let address = format!("{}&fold={way}{query}", server.address());
        test.succeeds(&format!(
            "anonymize {address} --quasi town,sex --order sorted -k 3 -o {out}"
        ));
    }
    assert_eq!(test.text("s.csv"), test.text("c.csv"));
}

#[test]
fn the_server_folds_if_it_sends_at_most_a_tenth() {
    let server = or_skip!(Server::start("trust"));
    let test = TestDir::new();
    people(&server, "few", 40_000);
    people(&server, "little", 1_000);
    server.sql(
        "CREATE TABLE many AS SELECT (random() * 1000)::int AS age, (random() * 1000)::int AS zip, 'x' AS disease \
         FROM generate_series(1, 40000)",
    );
    server.sql("CREATE VIEW seen AS SELECT * FROM few; CREATE TABLE none (age int, sex text)");
    let address = server.address();
    let grouped = |table: &str, roles: &str| {
        let done = test.succeeds(&format!(
            "anonymize {address} --table {table} {roles} -k 2 --algorithm mondrian -o out.csv --json"
        ));
        done.json()["private"]["database"]["grouped"].as_bool().unwrap()
    };
    assert!(grouped("few", "--quasi age,sex"));
    // With outdated statistics and without any.
    server.sql("ANALYZE few; ANALYZE many");
    assert!(grouped("few", "--quasi age,sex"));
    assert!(grouped("seen", "--quasi age,sex"));
    assert!(!grouped("many", "--quasi age,zip --sensitive disease"));
    assert!(!grouped("few", "--quasi name,age"));
    assert!(!grouped("little", "--quasi age,sex"));
    // The owner's report states it.
    let out = format!("-o {address} --output-table release");
    let done =
        test.succeeds(&format!("anonymize {address} --table few --quasi age,sex -k 5 {out}"));
    done.prints(&[
        "for the data owner only",
        "folded   in the database, which sent 50 distinct rows for 40,000 records",
    ]);
    let done = test.succeeds(&format!("anonymize {address} --table little {ROLES} {out}"));
    done.prints(&["folded   here: the database sent 1,000 records"]);
    test.refuses(&format!("anonymize {address} --table none --quasi age,sex -k 2 -o out2.csv"));
}
