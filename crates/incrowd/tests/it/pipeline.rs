//! Properties of every release, on random tables and jobs.

use std::path::Path;

use incrowd::job::Job;
use incrowd::{Anonymizer, Fault, Judging, Report};
use proptest::prelude::*;
use serde_json::Value as Json;

use crate::columns::COLUMNS;
use crate::release::{Case, Table, alike, cases, listing, read};

const OLD: &str = "an old release\n";

/// Checks k by counting, and that every cell covers the person's value.
fn check_table(case: &Case, table: &Table) -> Result<(), TestCaseError> {
    let quasi: Vec<&str> = case.quasi.iter().map(|&c| COLUMNS[c].name).collect();
    let expected: Vec<&str> = ["id"].iter().chain(&quasi).chain(&["disease"]).copied().collect();
    prop_assert_eq!(&table.header, &expected);
    prop_assert!(table.groups(&quasi).iter().all(|&n| n >= case.k), "a group is too small");
    let mut people: Vec<usize> = Vec::new();
    let marker = case.marker();
    for row in &table.rows {
        let person: usize = row[0].strip_prefix("id").unwrap().parse().unwrap();
        people.push(person);
        for &c in &case.quasi {
            let cell = &row[table.column(COLUMNS[c].name)];
            let (value, missing) = case.value(person, c);
            let covered = match missing {
                // An empty text within a set would be invisible.
                true if cell.starts_with('{') => crate::columns::in_set(cell, "?"),
                true => cell == "*" || Some(cell.as_str()) == marker,
                false => (COLUMNS[c].covers)(cell, value),
            };
            prop_assert!(covered, "a cell of `{}` does not cover its value", COLUMNS[c].name);
        }
        let (disease, missing) = case.value(person, COLUMNS.len());
        let disease = if missing { marker.unwrap_or_default() } else { disease };
        prop_assert!(
            row[table.column("disease")] == disease,
            "another disease than the person has"
        );
    }
    people.sort_unstable();
    prop_assert_eq!(people, case.published());
    Ok(())
}

fn check_numbers(
    case: &Case,
    report: &Report,
    table: &Table,
    dir: &Path,
) -> Result<(), TestCaseError> {
    let written = &report.manifest.to_json();
    let text = report.manifest.to_bytes().unwrap();
    prop_assert!(std::fs::read(dir.join("out.release.json")).unwrap() == text, "another manifest");
    let (read, published) = (case.people.len() as u64, case.published().len() as u64);
    let counted = serde_json::json!({
        "read": read, "dropped_missing": read - published, "suppressed": 0, "published": published,
    });
    prop_assert_eq!(&written["records"], &counted);
    let quasi: Vec<&str> = case.quasi.iter().map(|&c| COLUMNS[c].name).collect();
    let sizes = table.groups(&quasi);
    prop_assert_eq!(written["groups"].as_u64(), Some(sizes.len() as u64));
    let squares: u64 = sizes.iter().map(|n| n * n).sum();
    prop_assert_eq!(written["metrics"]["discernibility"].as_f64(), Some(squares as f64));
    prop_assert_eq!(&written["models"][0]["holds"], &Json::Bool(true));
    let least = *sizes.iter().min().unwrap();
    prop_assert_eq!(written["models"][0]["margin"].as_f64(), Some(least as f64 - case.k as f64));
    let bytes = std::fs::read(dir.join("out.csv")).unwrap();
    let digest = format!("blake3:{}", blake3::hash(&bytes).to_hex());
    prop_assert_eq!(written["digest"].as_str(), Some(digest.as_str()));
    Ok(())
}

fn check_again(job: &Job, report: &Report, dir: &Path) -> Result<(), TestCaseError> {
    let release = dir.join("out.csv");
    let measured = Judging::of(job).measure(None).unwrap();
    prop_assert!(
        alike(&measured.to_json()["metrics"], &report.manifest.to_json()["metrics"]),
        "other metrics"
    );
    // With the job, and with the manifest only.
    for asked in [Judging::of(job), Judging::new(&release)] {
        let checked = asked.verify().unwrap();
        prop_assert!(checked.holds());
        prop_assert_eq!(checked.digest_matches, Some(true));
        prop_assert_eq!(checked.verification.groups, report.verification.groups);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(incrowd_testing::cases(300))
    })]

    #[test]
    fn a_release_satisfies_its_model_and_keeps_its_records_and_values(case in cases()) {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        case.write(dir, 0..case.people.len());
        std::fs::write(dir.join("out.csv"), OLD).unwrap();
        let mut job = case.parsed(dir, "out.csv");
        job.output.as_mut().unwrap().replace = true;
        let published = case.published().len() as u64;
        match Anonymizer::new(&job).run() {
            Ok(report) => {
                prop_assert!(published >= case.k);
                let table = read(&dir.join("out.csv"));
                check_table(&case, &table)?;
                check_numbers(&case, &report, &table, dir)?;
                check_again(&job, &report, dir)?;
                prop_assert_eq!(listing(dir), ["out.csv", "out.release.json", "people-in.csv"]);
            }
            Err(error) => {
                let expected = match published {
                    _ if case.lacks_values() => Fault::Input,
                    0 => Fault::Input,
                    n if n < case.k => Fault::Unsatisfiable,
                    _ => return Err(TestCaseError::fail(format!("{:?}: {error}", error.fault()))),
                };
                prop_assert_eq!(error.fault(), expected, "{}", error);
                prop_assert_eq!(std::fs::read_to_string(dir.join("out.csv")).unwrap(), OLD);
                prop_assert_eq!(listing(dir), ["out.csv", "people-in.csv"]);
            }
        }
    }
}
