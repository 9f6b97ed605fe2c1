//! The suppression step before every algorithm, on generated and real tables, and the detection of
//! errors.

use std::collections::BTreeMap;
use std::path::Path;

use incrowd::front_end::recode::suppression::SUPPRESSIONS;
use incrowd::front_end::recode::ungrouped::Suppressed;
use incrowd::job::{Job, RoleName, SuppressionJob};
use incrowd::{Anonymizer, Value};
use incrowd_synth::{Synth, Table};
use incrowd_testing::{data, or_skip};

use crate::release::read;

fn step(name: &str, l: i64, on: &str) -> SuppressionJob {
    let mut params =
        vec![("l".to_owned(), Value::Integer(l)), ("on".to_owned(), Value::Word(on.to_owned()))];
    if name == "unsafe-d" {
        params.push(("force".to_owned(), Value::Flag(true)));
    }
    SuppressionJob { name: name.to_owned(), params, seed: Some(3), ..SuppressionJob::default() }
}

fn job(dir: &Path, table: &str, quasi: &[&str], sensitive: &str) -> Job {
    let mut job = Job::default();
    job.input.paths = vec![dir.join(table).into()];
    quasi.iter().for_each(|column| job.set_role(column, RoleName::Quasi));
    job.set_role(sensitive, RoleName::Sensitive);
    job.write_to(dir.join("out.csv"));
    job
}

fn counts(path: &Path, column: &str) -> BTreeMap<String, u64> {
    let table = read(path);
    let at = table.column(column);
    let mut counts = BTreeMap::new();
    table.rows.iter().for_each(|row| *counts.entry(row[at].clone()).or_insert(0) += 1);
    counts
}

/// Every algorithm × every suppression method × star or not, on a table with a dominant value.
#[test]
fn every_algorithm_works_after_every_suppression_method() {
    let dir = tempfile::tempdir().unwrap();
    let mut csv = Vec::new();
    Synth::new(Table::Census, 600, 11).write_csv(&mut csv).unwrap();
    std::fs::write(dir.path().join("people.csv"), &csv).unwrap();
    let before = counts(&dir.path().join("people.csv"), "disease");
    let l = (2..).find(|l| before.values().max().unwrap() * l > 600).unwrap() as i64;
    let mut withheld = 0;
    for algorithm in crate::matrix::generalizing() {
        for card in SUPPRESSIONS {
            for way in [Suppressed::Absent, Suppressed::Star] {
                let mut job = job(dir.path(), "people.csv", &["age", "sex", "country"], "disease");
                job.algorithm.name = algorithm.name.to_owned();
                job.suppression = Some(step(card.name, l, "disease"));
                job.add_model("k-anonymity", [("k", Value::Integer(4))]);
                if way == Suppressed::Star {
                    (job.algorithm.suppression_limit, job.algorithm.suppressed) = (0.02, way);
                }
                let report = Anonymizer::new(&job)
                    .run()
                    .unwrap_or_else(|e| panic!("{} {}: {e}", algorithm.name, card.name));
                let step = report.suppression.as_ref().unwrap();
                assert!(
                    step.checks.holds() && step.suppressed > 0,
                    "{} {}: {step:?}",
                    algorithm.name,
                    card.name
                );
                let records = report.records;
                assert_eq!(
                    records.read,
                    records.published + records.suppressed + records.dropped_missing
                );
                let after = counts(&dir.path().join("out.csv"), "disease");
                let published: u64 = after.values().sum();
                assert!(after.values().all(|n| n * l as u64 <= published));
                assert!(after.iter().all(|(value, n)| *n <= before[value]));
                withheld += step.suppressed;
            }
        }
    }
    assert!(withheld > 0);
}

/// Two spellings of one number are one value, and categories are values if only these are
/// published.
#[test]
fn spellings_and_categories_are_counted_as_one_value() {
    let dir = tempfile::tempdir().unwrap();
    let mut text = "age,pay\n".to_owned();
    for (pay, records) in [("1", 20), ("1.0", 20), ("2", 12), ("3", 12), ("4", 12)] {
        text += &format!("30,{pay}\n").repeat(records);
    }
    std::fs::write(dir.path().join("pay.csv"), text).unwrap();
    let mut job = job(dir.path(), "pay.csv", &["age"], "pay");
    job.suppression = Some(step("safe-d", 3, "pay"));
    let report = Anonymizer::new(&job).run().unwrap();
    let step = report.suppression.unwrap();
    assert_eq!((step.values, step.violating, step.suppressed), (4, 1, 28));
    let after = counts(&dir.path().join("out.csv"), "pay");
    assert_eq!(after.get("1").unwrap_or(&0) + after.get("1.0").unwrap_or(&0), 12);
}

/// Suppressed records do not influence the cells: neither the bounds of a range nor the values of a
/// set.
#[test]
fn suppressed_records_leave_no_trace() {
    let dir = tempfile::tempdir().unwrap();
    // Everybody with the flu has a unique age.
    let mut text = "age,disease\n".to_owned();
    (0..60).for_each(|i| text += &format!("{},flu\n", 100 + i));
    for disease in ["cold", "gout", "hiv"] {
        text += &format!("20,{disease}\n21,{disease}\n").repeat(5);
    }
    std::fs::write(dir.path().join("people.csv"), text).unwrap();
    let mut job = job(dir.path(), "people.csv", &["age"], "disease");
    job.suppression = Some(step("safe-d", 4, "disease"));
    Anonymizer::new(&job).run().unwrap();
    let table = read(&dir.path().join("out.csv"));
    assert_eq!(table.rows.len(), 40);
    let age = table.column("age");
    let cells: std::collections::BTreeSet<&String> =
        table.rows.iter().map(|row| &row[age]).collect();
    // Ten of sixty ages remain; the range ends at one of them, and repeated runs end there too.
    let first: Vec<String> = cells.iter().map(|cell| (*cell).clone()).collect();
    Anonymizer::new(&job).run().unwrap();
    let table = read(&dir.path().join("out.csv"));
    let again: std::collections::BTreeSet<&String> =
        table.rows.iter().map(|row| &row[age]).collect();
    assert_eq!(first, again.into_iter().cloned().collect::<Vec<_>>());
    assert!(first.iter().all(|cell| !cell.contains("159") || !cell.contains("100")), "{first:?}");
}

/// A sample of a real table: occupation with l = 6.
#[test]
fn a_small_sample_of_adult_is_skewed_and_published() {
    let data = or_skip!(data("adult.csv.gz"));
    let dir = tempfile::tempdir().unwrap();
    let mut job = job(dir.path(), "x", &["age", "sex", "race"], "occupation");
    job.input.paths = vec![data.join("adult.csv.gz").into()];
    job.suppression = Some(step("r-suppression", 6, "occupation"));
    let whole = Anonymizer::new(&job).run().unwrap().suppression.unwrap();
    assert_eq!((whole.used, whole.suppressed), (None, 0), "the whole table is eligible");
    // l = 8 is infeasible for the most frequent occupation.
    job.suppression = Some(step("r-suppression", 8, "occupation"));
    let step = Anonymizer::new(&job).run().unwrap().suppression.unwrap();
    assert!(step.used.is_some() && step.suppressed > 0 && step.checks.holds());
    assert!(step.adversary.iter().any(|guess| guess.prior == "flat" && !guess.exact));
    assert!(incrowd::Judging::new(dir.path().join("out.csv")).verify().unwrap().holds());
}
