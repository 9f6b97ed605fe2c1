//! Cells of the tables of a release under different settings of the server, and the comments of
//! their columns.

use incrowd_testing::or_skip;
use incrowd_testing::postgres::Server;

use crate::postgres::{people, sorted, tables};
use crate::test_dir::TestDir;

/// The comments of a table's columns.
fn comments(server: &Server, table: &str) -> String {
    server.sql(&format!(
        "SELECT string_agg(attname || ' = ' || coalesce(col_description(attrelid, attnum), '-'), E'\\n' ORDER BY attnum) \
         FROM pg_attribute WHERE attrelid = '{table}'::regclass AND attnum > 0"
    ))
}

/// Server settings with unusual formats of values.
const ODD: &str = "ALTER DATABASE postgres SET DateStyle = 'German'; ALTER DATABASE postgres SET extra_float_digits = -10; \
     ALTER DATABASE postgres SET TimeZone = 'Asia/Kathmandu'; ALTER DATABASE postgres SET IntervalStyle = 'sql_standard'";

#[test]
fn values_do_not_depend_on_the_formats_of_the_server() {
    let server = or_skip!(Server::start("trust"));
    let test = TestDir::new();
    let columns = "dose, ratio, small, seen, at, moment, day, ok, level";
    server.sql(
        "CREATE TABLE people AS SELECT i % 10 AS age, (i % 4 || '.500')::numeric AS dose, \
         (ARRAY[1e300, 1.5e-7, 0.1, 123456789012345680, '-0', 'NaN', 'Infinity']::float8[])[1 + i % 7] AS ratio, \
         (ARRAY[1e20, 0.1, 16777216]::float4[])[1 + i % 3] AS small, \
         DATE '1999-12-31' + i % 3 AS seen, TIMESTAMP '2001-02-03 04:05:06.789' + i % 2 * INTERVAL '1 day' AS at, \
         TIMESTAMPTZ '2001-02-03 04:05:06+05:45' AS moment, TIME '23:59:59.5' AS day, i % 2 = 0 AS ok, \
         (10 ^ (i % 3))::numeric(12, 4) AS level FROM generate_series(1, 600) AS i",
    );
    server.sql(ODD);
    let address = server.address();
    let roles =
        "--quasi age --sensitive level -k 5 --passthrough dose,ratio,small,seen,at,moment,day,ok";
    test.succeeds(&format!(
        "anonymize {address} --table people {roles} -o {address} --output-table release"
    ));
    let all =
        |table: &str| server.sql(&format!("SELECT {columns} FROM {table} ORDER BY {columns}"));
    assert_eq!(all("release"), all("people"));
    test.succeeds(&format!("verify {address} --table release"));
    // As quasi-identifiers, and through a file.
    let quasi = "--quasi dose,ratio,small,seen,at,ok --sensitive level -k 5 --order sorted";
    test.succeeds(&format!("anonymize {address} --table people {quasi} -o from_table.csv"));
    test.succeeds(&format!(
        "anonymize {address} --table people {quasi} -o {address} --output-table quasi"
    ));
    test.succeeds(&format!("verify {address} --table quasi"));
    let csv = server
        .sql("SET DateStyle = 'ISO'; SET extra_float_digits = 1; COPY quasi TO STDOUT (FORMAT csv, HEADER)");
    assert_eq!(csv + "\n", test.text("from_table.csv"));
}

/// Texts with every character that separates or escapes cells in files or in the protocol of the
/// server.
const MARKS: &str = r#"ARRAY[E'a\tb', E'back\\slash', E'\\.', E'\\N', E'\\', E'\\t', 'say "so"', '"', E'two\nlines', E'c\rr', E'c\r\nlf', 'a, b', 'é', ' blank']"#;

#[test]
fn cells_of_any_text_arrive_unchanged() {
    let server = or_skip!(Server::start("trust"));
    let test = TestDir::new();
    server.sql(&format!(
        "CREATE TABLE people AS SELECT i % 10 AS age, ({MARKS})[1 + i % 14] AS word, ({MARKS})[1 + i / 14 % 14] AS illness, \
         CASE i % 5 WHEN 0 THEN NULL ELSE ({MARKS})[1 + i % 14] END AS note, i % 3 = 0 AS flag FROM generate_series(1, 2800) AS i"
    ));
    let address = server.address();
    let roles = "--quasi age,word --sensitive illness -k 5";
    // Passthrough records are written by another code path than planned records. Tables of text
    // columns only are sent in another format than others.
    for passed in ["word,note", "word,note,flag"] {
        test.succeeds(&format!(
            "anonymize {address} --table people --quasi age --sensitive illness --passthrough {passed} -k 5 -o {address} --output-table release"
        ));
        let all = |table: &str| {
            let sql = format!(
                "SELECT md5(string_agg(r, '/' ORDER BY r)) FROM \
                 (SELECT ({passed}, illness)::text COLLATE \"C\" AS r FROM {table}) AS t"
            );
            server.sql(&sql)
        };
        assert_eq!(all("release"), all("people"), "{passed}");
        test.succeeds(&format!("verify {address} --table release"));
    }
    // The file is written by another code path.
    let made = format!("anonymize {address} --table people {roles} --order sorted");
    test.succeeds(&format!("{made} -o people.csv"));
    test.succeeds(&format!("{made} -o {address} --output-table release"));
    test.succeeds(&format!("verify {address} --table release"));
    let csv = server.sql("COPY release TO STDOUT (FORMAT csv, HEADER)");
    assert_eq!(csv + "\n", test.text("people.csv"));
}

/// Some tables are read with COPY, others with a query. The results are equal.
#[test]
fn tables_of_all_kinds_are_read_completely() {
    let server = or_skip!(Server::start("trust"));
    let test = TestDir::new();
    let filled = "SELECT i % 20, 'town, ' || i % 3 FROM generate_series";
    server.sql(&format!(
        "CREATE TABLE plain (age int, gone text, town text); INSERT INTO plain (age, town) {filled}(1, 600) AS i; \
         ALTER TABLE plain DROP gone; CREATE VIEW seen AS SELECT * FROM plain; \
         CREATE MATERIALIZED VIEW kept AS SELECT * FROM plain; \
         CREATE TABLE made (age int GENERATED ALWAYS AS (year % 100) STORED, town text, year int); \
         INSERT INTO made (year, town) {filled}(1, 600) AS i; \
         CREATE TABLE parent (age int, town text); CREATE TABLE child () INHERITS (parent); \
         INSERT INTO parent {filled}(1, 50) AS i; INSERT INTO child {filled}(51, 600) AS i; \
         CREATE TABLE parted (age int, town text) PARTITION BY RANGE (age); \
         CREATE TABLE young PARTITION OF parted FOR VALUES FROM (0) TO (10); \
         CREATE TABLE older PARTITION OF parted FOR VALUES FROM (10) TO (20); INSERT INTO parted SELECT * FROM plain; \
         CREATE TABLE fixed (age int, town char(30)); INSERT INTO fixed SELECT * FROM plain"
    ));
    let address = server.address();
    let released = |table: &str, way: &str| {
        let roles = "--quasi age,town -k 3 --algorithm mondrian --order sorted";
        test.succeeds(&format!(
            "anonymize {address}&fold={way} --table {table} {roles} -o {table}.csv"
        ));
        test.text(&format!("{table}.csv"))
    };
    let plain = released("plain", "client");
    assert_eq!(plain.lines().count(), 601);
    for table in ["plain", "seen", "kept", "made", "parent", "parted", "fixed"] {
        for way in ["client", "server"] {
            assert!(released(table, way) == plain, "{table}, folded by the {way}");
        }
    }
    // A user with restricted permissions reads only the permitted records and columns.
    server.sql(
        "CREATE ROLE clerk LOGIN; GRANT SELECT (age, town) ON plain TO clerk; \
         ALTER TABLE plain ENABLE ROW LEVEL SECURITY; CREATE POLICY half ON plain USING (age < 10)",
    );
    let clerk = address.replace("tester@", "clerk@");
    let done = test.succeeds(&format!(
        "anonymize {clerk} --table plain --quasi age,town -k 3 -o half.csv --json"
    ));
    assert_eq!(done.json()["records"]["read"], 300, "{done}");
}

#[test]
fn a_table_of_one_column_keeps_its_empty_cells() {
    let server = or_skip!(Server::start("trust"));
    let test = TestDir::new();
    server.sql("CREATE TABLE people AS SELECT (ARRAY['a', NULL, E'\\\\N', E'\\\\.'])[1 + i % 4] AS word FROM generate_series(1, 400) AS i");
    let address = server.address();
    let roles = "--quasi word -k 5 --on-missing keep";
    test.succeeds(&format!(
        "anonymize {address} --table people {roles} -o {address} --output-table release"
    ));
    let words = "SELECT string_agg(n || ' ' || word, ', ' ORDER BY word COLLATE \"C\") FROM \
                 (SELECT coalesce(word, '-') AS word, count(*) AS n FROM release GROUP BY word) AS t";
    assert_eq!(server.sql(words), "100 , 100 \\., 100 \\N, 100 a");
    test.succeeds(&format!("verify {address} --table release"));
}

#[test]
fn numbers_of_files_become_numbers_in_the_server() {
    let server = or_skip!(Server::start("trust"));
    let test = TestDir::new();
    server.sql(ODD);
    // One number in several spellings, codes with leading zeros, and booleans and dates in common
    // spellings.
    let mut csv = "age,dose,code,flag,seen\n".to_owned();
    let cells = [
        "1.50,007,true,2020-01-05",
        "1.5,07,false,2020-01-06",
        "15e-1,7,true,2020-01-05",
        "2,0070,t,2020-02-01",
    ];
    for i in 0..200 {
        csv += &format!("{},{}\n", i % 20, cells[i % 4]);
    }
    test.write("people.csv", csv);
    let address = server.address();
    let roles = "--quasi age --sensitive dose,code -k 4 --passthrough flag,seen --order sorted";
    for input in ["people.csv", "people.parquet", "people.arrow"] {
        if input != "people.csv" {
            let whole = "--quasi flag --passthrough age,dose,code,seen -k 2";
            test.succeeds(&format!("anonymize people.csv {whole} -o {input} --replace"));
        }
        test.succeeds(&format!("anonymize {input} {roles} -o {address} --output-table release"));
        test.succeeds(&format!("verify {address} --table release"));
        assert_eq!(
            server.sql("SELECT count(*), count(DISTINCT dose::numeric) FROM release"),
            "200|2",
            "{input}"
        );
    }
}

#[test]
fn columns_have_comments() {
    let server = or_skip!(Server::start("trust"));
    let test = TestDir::new();
    people(&server, "people", 2_000);
    let address = server.address();
    let roles =
        "--quasi age,sex,town --hierarchy sex=mask --sensitive disease --passthrough insured -k 5";
    test.succeeds(&format!(
        "anonymize {address} --table people {roles} -o {address} --output-table release"
    ));
    let expected = "age = quasi-identifier, generalized: ranges\n\
                    sex = quasi-identifier, generalized: nodes of a hierarchy\n\
                    town = quasi-identifier, generalized: sets of values\n\
                    disease = sensitive, as it was\n\
                    insured = passed through, as it was";
    assert_eq!(comments(&server, "release"), expected);
    let ends = format!("--quasi age --numbers low-high -k 5 -o {address} --output-table ends");
    test.succeeds(&format!("anonymize {address} --table people {ends}"));
    let expected = "age_low = quasi-identifier, generalized: lower ends of ranges\n\
                    age_high = quasi-identifier, generalized: upper ends of ranges";
    assert_eq!(comments(&server, "ends"), expected);
}

#[test]
fn releases_of_two_tables_appear_together() {
    let server = or_skip!(Server::start("trust"));
    let test = TestDir::new();
    people(&server, "people", 1_000);
    server.sql("CREATE SCHEMA care; CREATE TABLE care.two_st AS SELECT 'old' AS state");
    let address = server.address();
    let anatomy = "--quasi age,sex --sensitive disease --algorithm anatomy --set l=3";
    let made = format!(
        "anonymize {address} --table people {anatomy} -o {address} --output-table care.two --replace"
    );
    test.succeeds(&made);
    let all = "SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'care'::regnamespace";
    assert_eq!(server.sql(all), "incrowd_manifests two two_st");
    assert_eq!(
        server.sql("SELECT count(*) FROM care.two"),
        server.sql("SELECT sum(count) FROM care.two_st")
    );
    // Ages are not generalized and stay numbers.
    assert_eq!(
        server.sql("SELECT DISTINCT pg_typeof(age), pg_typeof(count) FROM care.two, care.two_st"),
        "integer|bigint"
    );
    assert!(comments(&server, "care.two_st").contains("count = number of records"));
    test.succeeds(&format!("verify {address} --table care.two"));
    test.run(&format!("attack {address} --table care.two --original {address}&table=people"));
    test.succeeds(&format!("measure {address}&table=people {address} --table care.two"));
    // The cells equal those in files.
    test.succeeds(&format!("anonymize {address} --table people {anatomy} -o files.csv"));
    assert_eq!(test.records("files.csv").len(), 1_000);
    // A change of either table is detected.
    server.sql(
        "UPDATE care.two_st SET count = count + 1 WHERE ctid = (SELECT min(ctid) FROM care.two_st)",
    );
    test.refuses(&format!("verify {address} --table care.two"))
        .reports(&["the two tables do not match"]);
    // Neither table is replaced if one of them cannot be.
    server.sql("CREATE VIEW depends AS SELECT * FROM care.two_st");
    let before = (sorted(&server, "care.two"), sorted(&server, "care.two_st"));
    test.refuses(&made).reports(&["two_st"]);
    assert_eq!((sorted(&server, "care.two"), sorted(&server, "care.two_st")), before);
    assert_eq!(tables(&server), "people");
}

#[test]
fn people_of_two_tables_are_published_in_a_database() {
    let server = or_skip!(Server::start("trust"));
    let test = TestDir::new();
    server.sql(
        "CREATE TABLE patients AS SELECT i AS ssn, 20 + i % 30 AS age, CASE i % 2 WHEN 0 THEN 'f' ELSE 'm' END AS sex, \
         'disease ' || i % 5 AS disease FROM generate_series(1, 300) i; \
         CREATE TABLE voters AS SELECT i AS ssn, 20 + i % 30 AS age, CASE i % 2 WHEN 0 THEN 'f' ELSE 'm' END AS sex \
         FROM generate_series(100, 900) i",
    );
    let address = server.address();
    let job = format!(
        "[input]\npath = \"{address}\"\ntable = \"patients\"\n[output]\npath = \"{address}\"\ntable = \"joined\"\n\
         [columns]\nssn = {{ role = \"identifier\" }}\nage = {{ role = \"quasi\" }}\nsex = {{ role = \"quasi\" }}\n\
         disease = {{ role = \"sensitive\" }}\n[[models]]\nname = \"k-anonymity\"\nk = 5\n[algorithm]\nname = \"mondrian\"\n\
         [external]\npath = \"{address}&table=voters\"\nid = \"ssn\"\nmethod = \"direct\"\naudit = \"audit.csv\"\n"
    );
    test.write("job.toml", job);
    test.succeeds("anonymize job.toml");
    assert_eq!(tables(&server), "incrowd_manifests joined joined_si patients voters");
    // Results for the owner only are written to a file.
    assert!(test.records("audit.csv").len() > 1);
    assert!(comments(&server, "joined").contains("which links the two tables"));
    test.succeeds(&format!("verify {address} --table joined"));
}
