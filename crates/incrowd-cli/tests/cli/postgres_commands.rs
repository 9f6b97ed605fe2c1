//! Every command that reads a table can read it from a database, with the same result as from a
//! file.

use incrowd_testing::or_skip;
use incrowd_testing::postgres::Server;
use serde_json::Value;

use crate::postgres::{ROLES, export, people};
use crate::test_dir::TestDir;

/// Removes one part of an answer.
fn without(mut answer: Value, key: &str) -> Value {
    answer.as_object_mut().map(|object| object.remove(key));
    answer
}

#[test]
fn every_command_gives_the_same_result_for_a_table_and_its_file() {
    let server = or_skip!(Server::start("trust"));
    let test = TestDir::new();
    people(&server, "people", 2_000);
    export(&server, &test, "people", "people.csv");
    let address = server.address();
    let table = format!("{address}&table=people");
    test.succeeds(&format!("anonymize people.csv {ROLES} -o release.csv"));
    test.succeeds(&format!(
        "anonymize {address} --table people {ROLES} -o {address} --output-table release"
    ));
    let json = |args: &str| test.run(&format!("{args} --json")).json();
    let same = |of_file: &str, of_table: &str, keys: &[&str]| {
        let (file, table) = (json(of_file), json(of_table));
        for key in keys {
            assert!(!file[key].is_null(), "{of_file} has no {key}");
            assert_eq!(file[key], table[key], "{of_table}: {key}");
        }
    };
    same("profile people.csv", &format!("profile {address} --table people"), &["records"]);
    same("verify release.csv", &format!("verify {address} --table release"), &["models", "holds"]);
    same(
        "measure people.csv release.csv",
        &format!("measure {table} {address} --table release"),
        &["metrics"],
    );
    // Files and tables together.
    same("measure people.csv release.csv", &format!("measure {table} release.csv"), &["metrics"]);
    same(
        "attack release.csv --original people.csv",
        &format!("attack {address} --table release --original {table}"),
        &["attacks"],
    );
    let swept = "--quasi age,sex --sensitive disease -k 5,10 --algorithms mondrian,full-domain";
    let compared = |input: &str| {
        let answer = json(&format!("compare {input} {swept}"));
        let results = answer["private"]["results"].as_array().cloned().unwrap_or_default();
        assert_eq!(results.len(), 4, "{answer}");
        results.into_iter().map(|result| without(result, "seconds")).collect::<Vec<_>>()
    };
    assert_eq!(compared("people.csv"), compared(&format!("{address} --table people")));
    // A job file written for a table makes a release of it.
    test.succeeds(&format!("init {address} --table people -o job.toml"));
    let job = test.text("job.toml");
    assert!(job.contains("path = \"postgresql://") && job.contains("&table=people\""), "{job}");
    test.succeeds(&format!(
        "anonymize job.toml --quasi age,sex -k 5 -o {address} --output-table of_job"
    ));
    assert_eq!(server.sql("SELECT count(*) > 0 FROM of_job"), "t");
    // The report of a release.
    test.succeeds(&format!("report {address} --table release -o page.html"));
    assert!(test.text("page.html").contains("k-anonymity"));
}
