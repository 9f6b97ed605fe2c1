//! Tables of a PostgreSQL server that the tests start.

use incrowd_testing::or_skip;
use incrowd_testing::postgres::Server;

use crate::test_dir::TestDir;

pub(crate) const ROLES: &str =
    "--quasi age,sex,town --sensitive disease -k 5 --algorithm mondrian --order sorted";

/// People; some have no town, some an empty one.
pub(crate) fn people(server: &Server, table: &str, rows: u32) {
    server.sql(&format!(
        "CREATE TABLE {table} AS SELECT 'name ' || i AS name, (20 + i * 7 % 50)::int AS age, \
         CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END::char(1) AS sex, \
         CASE WHEN i % 97 = 0 THEN NULL WHEN i % 89 = 0 THEN '' ELSE 'town, \"' || i % 13 || '\"' END AS town, \
         (i * 31 % 11)::text || E' of\\n11' AS disease, i % 3 = 0 AS insured, DATE '2020-01-01' + i % 5 AS seen, \
         (i % 7) / 4.0 AS dose, TIMESTAMPTZ '2020-01-01 12:00:00+02' + i % 4 * INTERVAL '1 hour' AS at \
         FROM generate_series(1, {rows}) AS i"
    ));
}

/// Returns the records of a table as text, sorted by their cells.
pub(crate) fn sorted(server: &Server, table: &str) -> Vec<String> {
    let mut lines: Vec<String> = server
        .sql(&format!("SELECT row_to_json(t) FROM {table} AS t"))
        .lines()
        .map(str::to_owned)
        .collect();
    lines.sort();
    lines
}

/// Exports a table into a file of the test directory.
pub(crate) fn export(server: &Server, test: &TestDir, table: &str, name: &str) {
    let csv = server.sql(&format!("COPY (SELECT * FROM {table}) TO STDOUT (FORMAT csv, HEADER)"));
    test.write(name, csv + "\n");
}

#[test]
fn a_release_of_a_table_equals_the_release_of_its_file() {
    let server = or_skip!(Server::start("trust"));
    let test = TestDir::new();
    people(&server, "people", 2_000);
    export(&server, &test, "people", "people.csv");
    let address = server.address();
    test.succeeds(&format!("anonymize people.csv {ROLES} -o from_file.csv"));
    test.succeeds(&format!("anonymize {address} --table people {ROLES} -o from_table.csv"));
    assert_eq!(test.text("from_file.csv"), test.text("from_table.csv"));
    test.succeeds(&format!(
        "anonymize {address} --table people {ROLES} -o {address} --output-table release"
    ));
    let csv = server.sql("COPY (SELECT * FROM release) TO STDOUT (FORMAT csv, HEADER)") + "\n";
    assert_eq!(csv, test.text("from_file.csv"));
    // Files and databases can be combined.
    test.succeeds(&format!("anonymize people.csv {ROLES} -o {address} --output-table mixed"));
    assert_eq!(sorted(&server, "mixed"), sorted(&server, "release"));
    let query = "select%20*%20from%20people%20where%20age%20<%2040";
    let done = test.succeeds(&format!("profile {address}&query={query} --json"));
    assert_eq!(done.json()["records"], 800, "{done}");
}

#[test]
fn passthrough_columns_keep_their_types() {
    let server = or_skip!(Server::start("trust"));
    let test = TestDir::new();
    people(&server, "people", 1_000);
    server.sql(
        "CREATE TYPE mood AS ENUM ('glad', 'sad'); ALTER TABLE people ADD feels mood DEFAULT 'sad'",
    );
    server.sql("ALTER TABLE people ALTER sex TYPE char(3)");
    let (address, as_they_are) = (server.address(), "--passthrough insured,seen,dose,at,feels");
    let roles = "--quasi age,sex --sensitive disease -k 5";
    test.succeeds(&format!(
        "anonymize {address} --table people {roles} {as_they_are} -o {address} --output-table r"
    ));
    let types = server.sql(
        "SELECT string_agg(attname || ' ' || atttypid::regtype, ', ' ORDER BY attnum) FROM pg_attribute \
         WHERE attrelid = 'r'::regclass AND attnum > 0",
    );
    let expected = "age text, sex text, disease text, insured boolean, seen date, dose numeric, \
                    at timestamp with time zone, feels text";
    assert_eq!(types, expected);
    let all = |table: &str| {
        let columns = "insured, seen, dose, at, feels::text, disease";
        server.sql(&format!("SELECT {columns} FROM {table} ORDER BY {columns}"))
    };
    assert_eq!(all("r"), all("people"));
    // Without the padding blanks of `char(3)`.
    assert_eq!(server.sql("SELECT max(length(sex)) FROM r"), "1");
}

#[test]
fn a_null_is_missing_and_an_empty_text_follows_the_job() {
    let server = or_skip!(Server::start("trust"));
    let test = TestDir::new();
    server.sql(
        "CREATE TABLE t AS SELECT 30 AS age, CASE WHEN i <= 10 THEN NULL WHEN i <= 30 THEN '' ELSE 'a' END AS town \
         FROM generate_series(1, 100) i; CREATE TABLE lone AS SELECT town FROM t",
    );
    let published = |args: &str| {
        let done =
            test.succeeds(&format!("anonymize {} {args} -k 5 -o out.csv --json", server.address()));
        (
            done.json()["records"]["published"].as_u64(),
            done.json()["records"]["dropped_missing"].as_u64(),
        )
    };
    assert_eq!(published("--table t --quasi age,town"), (Some(70), Some(30)));
    assert_eq!(published("--table t --quasi age,town --missing ?"), (Some(90), Some(10)));
    assert_eq!(published("--table lone --quasi town --missing ?"), (Some(90), Some(10)));
    // A kept missing value is published as null.
    let address = server.address();
    let kept =
        "--table t --quasi age --sensitive town --on-missing keep -k 5 --model l-diversity:l=2";
    test.succeeds(&format!("anonymize {address} {kept} -o {address} --output-table kept"));
    assert_eq!(server.sql("SELECT count(*), count(town) FROM kept"), "100|70");
    test.succeeds(&format!("verify {address} --table kept"));
}

#[test]
fn unreadable_tables_are_named() {
    let server = or_skip!(Server::start("trust"));
    let test = TestDir::new();
    people(&server, "people", 50);
    server.sql(
        "CREATE TABLE odd AS SELECT 1 AS a, ARRAY['secret-cell'] AS words, '{}'::jsonb AS more",
    );
    server.sql("CREATE VIEW seen AS SELECT * FROM people; CREATE VIEW other AS SELECT 1 AS x");
    let address = server.address();
    let refused = |args: &str, words: &[&str]| {
        let done = test.refuses(args).reports(words);
        assert!(!done.to_string().contains("secret-cell"), "{done}");
    };
    refused(&format!("profile {address} --table odd"), &["column `words`", "_text", "query"]);
    refused(&format!("profile {address} --table nobody"), &["nobody", "does not exist"]);
    refused(&format!("profile {address}"), &["no table"]);
    refused(&format!("profile {address} --table people&query=x"), &["table"]);
    refused("profile people.csv --table people", &["only a database has tables"]);
    // The server's message about a value is not repeated.
    refused(&format!("profile {address}&query=select%20words[1]::int%20from%20odd"), &["22P02"]);
    refused(&format!("profile {address}&fold=there --table people"), &["fold=server"]);
    let over = format!("anonymize {address} --table seen {ROLES} -o {address} --output-table");
    // A view of the table counts as the table.
    refused(&format!("{over} people"), &["table that is read"]);
    refused(&format!("{over} seen"), &["table that is read"]);
    refused(&format!("{over} other"), &["not a plain table"]);
    refused(&format!("{over} nowhere.people"), &["no schema `nowhere`"]);
    assert_eq!(server.sql("SELECT count(*) FROM people"), "50");
    assert_eq!(tables(&server), "odd people");
}

/// Returns the names of the tables.
pub(crate) fn tables(server: &Server) -> String {
    server.sql("SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace")
}

#[test]
fn an_unreachable_model_leaves_the_old_table() {
    let server = or_skip!(Server::start("trust"));
    let test = TestDir::new();
    people(&server, "people", 200);
    server.sql("CREATE TABLE release AS SELECT 'old' AS state");
    let address = server.address();
    let never = "--quasi age,sex --sensitive disease --model l-diversity:l=50";
    let run = format!(
        "anonymize {address} --table people {never} -o {address} --output-table release --replace"
    );
    test.run(&run).exits(1);
    assert_eq!(
        (server.sql("SELECT * FROM release").as_str(), tables(&server)),
        ("old", "people release".into())
    );
}

#[test]
fn table_and_manifest_are_found_in_the_database() {
    let server = or_skip!(Server::start("trust"));
    let test = TestDir::new();
    people(&server, "people", 1_000);
    server.sql("CREATE SCHEMA care; CREATE ROLE reader; CREATE TABLE care.release (x int); GRANT SELECT ON care.release TO reader");
    let address = server.address();
    let made = format!(
        "anonymize {address} --table people {ROLES} -o {address} --output-table care.release"
    );
    test.succeeds(&format!("{made} --manifest kept.json --replace"));
    assert_eq!(
        test.text("kept.json"),
        server.sql("SELECT manifest FROM care.incrowd_manifests") + "\n"
    );
    assert_eq!(server.sql("SELECT has_table_privilege('reader', 'care.release', 'SELECT')"), "t");
    test.succeeds(&format!("verify {address} --table care.release")).prints(&["k-anonymity"]);
    let original = format!("--original {address}&table=people");
    test.succeeds(&format!("measure {address}&table=people {address} --table care.release"));
    test.run(&format!("attack {address} --table care.release {original}"));
    test.succeeds(&format!("init {address} --table people -o job.toml"));
    // A changed record is detected.
    server.sql(
        "UPDATE care.release SET age = '99' WHERE ctid = (SELECT min(ctid) FROM care.release)",
    );
    test.run(&format!("verify {address} --table care.release")).exits(1);
}

#[test]
fn the_password_is_sent_to_the_server_only() {
    let server = or_skip!(Server::start("scram-sha-256"));
    let test = TestDir::new();
    people(&server, "people", 300);
    let address = server.address();
    let made =
        format!("anonymize {address} --table people {ROLES} -o {address} --output-table release");
    let made =
        format!("{made} --manifest kept.json --report page.html --owner-report owner.html --json");
    let silent = |said: &str| assert!(!said.contains("hunter2"), "{said}");
    let known = test.run_with(&made, &[("PGPASSWORD", "hunter2")]).exits(0);
    silent(&(known.stdout + &known.stderr));
    for file in ["kept.json", "page.html", "owner.html"] {
        silent(&test.text(file));
    }
    silent(&server.sql("SELECT manifest FROM incrowd_manifests"));
    let unknown =
        test.run_with(&made, &[("PGPASSWORD", "hunter23")]).exits(2).reports(&["PGPASSWORD"]);
    silent(&(unknown.stdout + &unknown.stderr));
    test.run_with(&made, &[("PGPASSFILE", "nowhere")]).exits(2).reports(&["PGPASSWORD"]);
    // From files; a file that others can read is not used.
    test.write("passwords", "*:*:postgres:tester:hunter2\n");
    let file = test.path().join("passwords");
    let mode = |mode| {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let file_named = [("PGPASSFILE", file.to_str().unwrap())];
    mode(0o644);
    test.run_with(&made, &file_named).exits(2);
    mode(0o600);
    test.run_with(&made, &file_named).exits(0);
    let host = server.directory().display();
    test.write(
        "services",
        format!("[mine]\nhost={host}\nuser=tester\ndbname=postgres\npassword=hunter2\n"),
    );
    let services = test.path().join("services");
    let service = [("PGSERVICEFILE", services.to_str().unwrap())];
    test.run_with("profile postgresql://?service=mine --table people", &service).exits(0);
    // A password in an address or a job file is refused and not shown.
    let with = address.replace("tester@", "tester:hunter2@");
    silent(&test.refuses(&format!("profile {with} --table people")).reports(&["password"]).stderr);
    silent(&test.refuses(&format!("verify {with} --table people")).reports(&["password"]).stderr);
    silent(
        &test
            .refuses(&format!("verify {address} --table people --original {with}"))
            .reports(&["password"])
            .stderr,
    );
    test.write("job.toml", format!("[input]\npath = \"{with}\"\ntable = \"people\"\n"));
    silent(&test.refuses("anonymize job.toml -o out.csv").reports(&["password"]).stderr);
}
