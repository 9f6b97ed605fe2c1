//! Outputs replace unchanged outputs of incrowd; everything else only with `--replace`.

use incrowd_testing::or_skip;
use incrowd_testing::postgres::Server;

use crate::test_dir::TestDir;

const MADE: &str =
    "anonymize people.csv --quasi age,zip --sensitive disease -k 2 --algorithm mondrian";

/// Runs a command that must be refused without changing a file.
fn refuses(test: &TestDir, args: &str, expected: &[&str]) {
    let before = test.files();
    test.refuses(args).exits(2).reports(expected);
    assert!(test.files() == before, "a refused command touched a file: {args}");
}

#[test]
fn a_release_replaces_a_release_and_no_other_file() {
    let test = TestDir::with_people();
    test.write("foreign.csv", "a,b\n1,2\n");
    refuses(
        &test,
        &format!("{MADE} -o foreign.csv"),
        &["would replace the file `foreign.csv` (8 bytes), which is not a release", "--replace"],
    );
    // A release replaces a release, any number of times.
    test.succeeds(&format!("{MADE} -o out.csv"));
    test.succeeds(&format!("{} -o out.csv", MADE.replace("-k 2", "-k 3")));
    test.succeeds("verify out.csv").prints(&["k-anonymity(k=3)   holds"]);
    // A changed release counts as a foreign file.
    test.write("out.csv", test.text("out.csv") + "[0, 9],81***,flu\n");
    refuses(
        &test,
        &format!("{MADE} -o out.csv"),
        &["`out.csv`", "changed after it was released", "--replace"],
    );
    // So does a release without its manifest.
    test.succeeds(&format!("{MADE} -o alone.csv"));
    std::fs::remove_file(test.path().join("alone.release.json")).unwrap();
    refuses(
        &test,
        &format!("{MADE} -o alone.csv"),
        &["`alone.csv`", "no manifest is stored with it"],
    );
    for name in ["foreign.csv", "out.csv", "alone.csv"] {
        test.succeeds(&format!("{MADE} -o {name} --replace")).reports(&["replaced the file", name]);
        test.succeeds(&format!("verify {name}"))
            .prints(&["k-anonymity(k=2)   holds", "digest   matches"]);
    }
    // The file is a release of incrowd now and can be replaced.
    let again = test.succeeds(&format!("{MADE} -o foreign.csv --replace"));
    assert!(!again.stderr.contains("replaced"), "{again}");
}

#[test]
fn the_job_file_can_allow_it() {
    let test = TestDir::with_people();
    test.write("foreign.csv", "a,b\n1,2\n");
    let job = |replace: bool| {
        format!(
            "[input]\npath = 'people.csv'\n[output]\npath = 'foreign.csv'\nreplace = {replace}\n[columns]\nage = 'quasi'\n\
             zip = 'quasi'\n[[models]]\nname = 'k-anonymity'\nk = 2\n"
        )
    };
    test.write("job.toml", job(false));
    refuses(&test, "anonymize job.toml", &["the file `foreign.csv`", "not a release"]);
    test.write("job.toml", job(true));
    test.succeeds("anonymize job.toml").reports(&["replaced the file `foreign.csv`"]);
}

#[test]
fn the_manifest_and_second_tables_are_protected_too() {
    let test = TestDir::with_people();
    test.write("out.release.json", "{\"mine\": 1}\n");
    refuses(
        &test,
        &format!("{MADE} -o out.csv"),
        &["`out.release.json`", "not a manifest of incrowd"],
    );
    test.write("notes.json", "{}");
    refuses(
        &test,
        &format!("{MADE} -o new.csv --manifest notes.json"),
        &["`notes.json`", "--replace"],
    );
    test.succeeds(&format!("{MADE} -o new.csv --manifest notes.json --replace"));
    test.succeeds(&format!("{MADE} -o new.csv --manifest notes.json"));
    // The manifest of another existing release.
    test.succeeds(&format!("{MADE} -o both.csv"));
    refuses(&test, &format!("{MADE} -o both.tsv"), &["`both.release.json`", "another release"]);
    std::fs::remove_file(test.path().join("both.csv")).unwrap();
    test.succeeds(&format!("{MADE} -o both.tsv"));
    let anatomy = "anonymize people.csv --quasi age,zip --sensitive disease --model l-diversity:l=2 --algorithm anatomy --set l=2 -o a.csv";
    let free = test.names();
    test.succeeds(anatomy);
    let second = test
        .names()
        .into_iter()
        .find(|name| !free.contains(name) && name.ends_with(".csv") && name != "a.csv")
        .unwrap();
    test.succeeds(anatomy);
    test.write(&second, "mine\n");
    refuses(&test, anatomy, &[&*format!("`{second}`"), "changed after it was released"]);
    test.succeeds(&format!("{anatomy} --replace"));
    test.succeeds("verify a.csv");
}

#[test]
fn a_page_of_a_report_replaces_a_page_and_no_other_file() {
    let test = TestDir::with_people();
    test.write("page.html", "<html>mine</html>");
    refuses(
        &test,
        &format!("{MADE} -o out.csv --report page.html"),
        &["`page.html` exists and was not made by incrowd", "--replace"],
    );
    let replaced = ["`page.html`, which was not made by incrowd, is replaced"];
    test.succeeds(&format!("{MADE} -o out.csv --report page.html --replace")).reports(&replaced);
    test.succeeds(&format!("{MADE} -o out.csv --report page.html"));
    test.succeeds("report out.csv -o page.html");
    test.write("owner.html", "mine");
    refuses(
        &test,
        "report out.csv --original people.csv -o page.html --owner owner.html",
        &["`owner.html`", "--replace"],
    );
    test.succeeds("report out.csv --original people.csv -o page.html --owner owner.html --replace")
        .reports(&["`owner.html`, which was not made by incrowd, is replaced"]);
    test.write("details.csv", "mine");
    test.succeeds("attack out.csv --details details.csv --replace")
        .reports(&["`details.csv`, which was not made by incrowd, is replaced"]);
    test.succeeds("report out.csv --original people.csv -o page.html --owner owner.html");
}

#[test]
fn a_database_table_that_is_not_a_release_is_not_dropped() {
    let server = or_skip!(Server::start("trust"));
    let test = TestDir::with_people();
    let address = server.address();
    server.sql("CREATE SCHEMA pub; CREATE TABLE pub.customers AS SELECT i AS id, 'x' AS name FROM generate_series(1, 1000) i");
    let into = |table: &str| format!("{MADE} -o {address} --output-table {table}");
    let refused = |args: &str, expected: &[&str]| test.refuses(args).exits(2).reports(expected);
    refused(
        &into("pub.customers"),
        &["would replace the table `pub.customers`, which is not a release", "--replace"],
    );
    assert_eq!(server.sql("SELECT count(*) FROM pub.customers"), "1000");
    test.succeeds(&format!("{} --replace", into("pub.customers")))
        .reports(&["replaced the table `pub.customers`"]);
    // It is a release now and can be replaced any number of times.
    test.succeeds(&into("pub.customers"));
    test.succeeds(&format!("verify {address} --table pub.customers")).prints(&["holds"]);
    // Changed rows.
    server.sql(
        "UPDATE pub.customers SET disease = 'x' WHERE ctid = (SELECT min(ctid) FROM pub.customers)",
    );
    refused(&into("pub.customers"), &["changed after it was released"]);
    // Another table with the same name, while the manifest still exists.
    server.sql("DROP TABLE pub.customers; CREATE TABLE pub.customers (mine int); INSERT INTO pub.customers VALUES (7)");
    refused(
        &into("pub.customers"),
        &["the table `pub.customers`, which was changed after it was released"],
    );
    assert_eq!(server.sql("SELECT mine FROM pub.customers"), "7");
    assert_eq!(
        server.sql("SELECT count(*) FROM pg_class WHERE relname LIKE 'incrowd_partial%'"),
        "0"
    );
    // The table of manifests is never an output.
    refused(
        &format!("{} --replace", into("pub.incrowd_manifests")),
        &["for the manifests of releases"],
    );
    // The second table of a release.
    let anatomy = format!(
        "anonymize people.csv --quasi age,zip --sensitive disease --model l-diversity:l=2 --algorithm anatomy --set l=2 \
         -o {address} --output-table pub.a"
    );
    test.succeeds(&anatomy);
    test.succeeds(&anatomy);
    let second = server.sql(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'pub' AND tablename LIKE 'a%' AND tablename <> 'a'",
    );
    server.sql(&format!(
        "DELETE FROM pub.\"{second}\" WHERE ctid = (SELECT min(ctid) FROM pub.\"{second}\")"
    ));
    refused(&anatomy, &["changed after it was released"]);
}

#[test]
fn messages_of_database_functions_are_not_repeated() {
    let server = or_skip!(Server::start("trust"));
    let test = TestDir::new();
    let address = server.address();
    server.sql(
        "CREATE TABLE people AS SELECT 20 + i AS age, 'S3CR3T ' || i AS name FROM generate_series(1, 50) i",
    );
    for code in ["42501", "42P01", "53100", "57014", "28000", "P0001", "22000", "XX000", "0A000"] {
        server.sql(&format!(
            "CREATE OR REPLACE FUNCTION loud(age int, name text) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION \
             USING ERRCODE = '{code}', MESSAGE = 'no ' || name, DETAIL = name, HINT = name, COLUMN = name, TABLE = name; END $$; \
             CREATE OR REPLACE VIEW guarded AS SELECT loud(age, name) AS age, age AS years FROM people"
        ));
        for args in [
            format!("profile {address} --table guarded"),
            format!("anonymize {address} --table guarded --quasi age -k 2 -o out.csv"),
        ] {
            let done = test.refuses(&args).exits(2).reports(&[&*format!("SQLSTATE {code}")]);
            assert!(!done.stderr.contains("S3CR3T") && !done.stdout.contains("S3CR3T"), "{done}");
        }
    }
    // Names from the arguments are shown.
    test.refuses(&format!("profile {address} --table care.nobody"))
        .reports(&["care.nobody", "does not exist"]);
    test.refuses(&format!("profile {address}&query=select%20agee%20from%20people"))
        .reports(&["a column does not exist at `agee`"]);
}

#[test]
fn details_and_hierarchies_replace_nothing_without_the_flag() {
    let test = TestDir::with_people();
    test.succeeds("anonymize people.csv --quasi age,zip --sensitive disease -k 2 -o out.csv");
    test.write("mine.txt", "mine\n");
    for args in [
        "attack out.csv --original people.csv --details mine.txt",
        "hierarchy build people.csv age --kind intervals:5 -o mine.txt",
    ] {
        test.refuses(args).exits(2).reports(&["exists and was not made by incrowd", "--replace"]);
        test.write("mine.txt", "mine\n");
        test.succeeds(&format!("{args} --replace"));
        assert_ne!(test.text("mine.txt"), "mine\n", "{args}");
        test.write("mine.txt", "mine\n");
    }
}
