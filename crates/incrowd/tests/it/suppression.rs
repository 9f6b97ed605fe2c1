//! Suppression: never more than the limit, and the release satisfies every model, including the
//! starred records.

use std::path::Path;

use incrowd::job::{Job, Suppressed, parse};
use incrowd::{Anonymizer, Report, Value};

use crate::release::{Table, read};

/// A column with a tree, a constant column, and a sensitive one.
fn job(dir: &Path, rows: &[(&str, &str, u64)], limit: f64, way: Suppressed) -> Job {
    let mut table = "place,planet,disease\n".to_owned();
    for (place, disease, records) in rows {
        table += &format!("{place},Earth,{disease}\n").repeat(*records as usize);
    }
    std::fs::write(dir.join("in.csv"), table).unwrap();
    let text = "[input]\npath = 'in.csv'\n[output]\npath = 'out.csv'\n\
                [columns]\nplanet = 'quasi'\ndisease = 'sensitive'\n\
                place = { role = 'quasi', hierarchy = { tree = { \
                N = ['a', 'b', 'c', 'd'], S = ['e', 'f'] } } }\n\
                [algorithm]\nname = 'mondrian'\n";
    let mut job = parse("job.toml", text, dir).unwrap_or_else(|e| panic!("{e}")).job;
    (job.algorithm.suppression_limit, job.algorithm.suppressed) = (limit, way);
    job
}

fn release(job: &Job, dir: &Path) -> (Report, Table) {
    let report = Anonymizer::new(job).run().unwrap_or_else(|e| panic!("{e}"));
    (report, read(&dir.join("out.csv")))
}

fn starred(table: &Table) -> usize {
    let (place, planet) = (table.column("place"), table.column("planet"));
    table.rows.iter().filter(|row| row[place] == "*" && row[planet] == "*").count()
}

/// Children that are too small on both sides of the tree, among large ones.
const FEW: &[(&str, &str, u64)] = &[
    ("a", "flu", 30),
    ("b", "cold", 30),
    ("c", "flu", 1),
    ("d", "cold", 2),
    ("e", "flu", 2),
    ("f", "cold", 35),
];

fn k(job: &mut Job, k: i64) {
    job.add_model("k-anonymity", [("k", Value::Integer(k))]);
}

#[test]
fn suppressed_records_are_absent_or_starred() {
    let dir = tempfile::tempdir().unwrap();
    for way in [Suppressed::Absent, Suppressed::Star] {
        let mut job = job(dir.path(), FEW, 0.1, way);
        k(&mut job, 4);
        let (report, table) = release(&job, dir.path());
        assert_eq!((report.records.suppressed, report.records.published), (5, 95));
        let star = way == Suppressed::Star;
        assert_eq!((table.rows.len(), starred(&table)), if star { (100, 5) } else { (95, 0) });
        assert_eq!(report.manifest.to_json()["records"]["suppressed"], 5);
        assert_eq!(table.groups(&["place", "planet"]).len(), if star { 4 } else { 3 });
    }
}

/// A person in no other group is known to be among the starred records, so these must satisfy the
/// model too, or nothing is starred.
#[test]
fn too_few_records_are_not_starred() {
    let dir = tempfile::tempdir().unwrap();
    let mut job = job(dir.path(), FEW, 0.1, Suppressed::Star);
    k(&mut job, 6);
    let (report, table) = release(&job, dir.path());
    assert_eq!((report.records.suppressed, starred(&table)), (0, 0));
    // If the limit allows, the smallest group joins them.
    job.algorithm.suppression_limit = 0.4;
    let (report, table) = release(&job, dir.path());
    assert_eq!((report.records.suppressed, starred(&table)), (35, 35));
}

#[test]
fn the_limit_is_an_exact_decimal() {
    let dir = tempfile::tempdir().unwrap();
    for (limit, suppressed) in [(0.03, 3), (0.029, 0), (0.0, 0), (1.0, 3)] {
        let mut job =
            job(dir.path(), &[("a", "flu", 97), ("b", "flu", 3)], limit, Suppressed::Absent);
        k(&mut job, 4);
        assert_eq!(release(&job, dir.path()).0.records.suppressed, suppressed, "{limit}");
    }
    // 0.29 of 100 is 29, though 0.29 * 100.0 is less.
    let mut job = job(dir.path(), &[("a", "flu", 71), ("b", "flu", 29)], 0.29, Suppressed::Absent);
    k(&mut job, 30);
    assert_eq!(release(&job, dir.path()).0.records.suppressed, 29);
}

/// Suppression changes the overall distribution. Groups are compared with that of the release.
#[test]
fn models_about_shares_hold_for_the_published_records() {
    let dir = tempfile::tempdir().unwrap();
    let rows: &[(&str, &str, u64)] = &[
        ("a", "flu", 20),
        ("a", "cold", 20),
        ("b", "flu", 20),
        ("b", "cold", 20),
        ("c", "gout", 6),
        ("e", "flu", 22),
        ("e", "cold", 18),
        ("f", "flu", 18),
        ("f", "cold", 22),
    ];
    for way in [Suppressed::Absent, Suppressed::Star] {
        let mut job = job(dir.path(), rows, 0.1, way);
        job.add_model("t-closeness", [("t", Value::Real(0.08))]);
        let (report, table) = release(&job, dir.path());
        let judged = &report.verification.judgements[0];
        assert!(judged.holds && report.records.suppressed <= 16);
        if way == Suppressed::Absent {
            assert!(table.rows.iter().all(|row| row[table.column("disease")] != "gout"));
            assert_eq!((report.records.suppressed, report.verification.groups), (6, 4));
            // 22 of 40 against half of them. With the gout it would be 0.068.
            assert!((judged.have - 0.05).abs() < 1e-12, "{}", judged.have);
        }
    }
}

/// The only record of a value is suppressed: the model about that value does not apply to the
/// release, which is published.
#[test]
fn a_named_value_may_disappear_with_its_last_record() {
    let dir = tempfile::tempdir().unwrap();
    let rows = [("a", "flu", 30), ("b", "cold", 30), ("c", "HIV", 1)];
    let mut job = job(dir.path(), &rows, 0.05, Suppressed::Absent);
    k(&mut job, 3);
    let values = Value::Words(vec!["HIV".to_owned()]);
    job.add_model(
        "alpha-k-anonymity",
        [("alpha", Value::Real(0.1)), ("k", Value::Integer(1)), ("values", values)],
    );
    let (report, table) = release(&job, dir.path());
    assert_eq!((report.records.suppressed, table.rows.len()), (1, 60));
    // The manifest's model about it does not fail either.
    assert!(incrowd::Judging::new(dir.path().join("out.csv")).verify().unwrap().holds());
}

/// The ranks of an ordered column are those of the remaining values.
#[test]
fn an_ordered_column_may_lose_a_value() {
    let dir = tempfile::tempdir().unwrap();
    let rows: &[(&str, &str, u64)] = &[
        ("a", "1", 9),
        ("a", "2", 11),
        ("b", "1", 11),
        ("b", "2", 9),
        ("c", "50", 1),
        ("e", "1", 10),
        ("e", "2", 10),
    ];
    let mut lost = 0;
    for t in [0.02, 0.04, 0.05, 0.1] {
        let mut job = job(dir.path(), rows, 0.05, Suppressed::Absent);
        job.add_model(
            "t-closeness",
            [("t", Value::Real(t)), ("distance", Value::Word("ordered".to_owned()))],
        );
        let (report, _) = release(&job, dir.path());
        assert!(report.verification.holds(), "{t}");
        lost += report.records.suppressed;
    }
    assert!(lost > 0, "no value was ever lost");
}
