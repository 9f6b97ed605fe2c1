//! Sensitive values in ordered categories, and their published forms.

use std::path::{Path, PathBuf};

use incrowd::job::{Job, parse};
use incrowd::{Anonymizer, Fault, Judging};

/// Sixty people with eight diseases in four categories, and a passthrough column.
fn people(dir: &Path) -> PathBuf {
    let diseases =
        ["HIV", "Cancer", "Phthisis", "Hepatitis", "Asthma", "Heart Disease", "Flu", "Indigestion"];
    let mut table = String::from("zip,age,disease,weight\n");
    for i in 0..60_usize {
        let (zip, age) = (4350 + i * 7 % 12, 20 + i * 11 % 9);
        table += &format!("{zip},{age},{},w{i}\n", diseases[(i * i + i / 5) % 8]);
    }
    let path = dir.join("people.csv");
    std::fs::write(&path, table).unwrap();
    path
}

fn job(dir: &Path, column: &str, rest: &str) -> Job {
    let text = format!(
        "[input]\npath = 'people.csv'\n[output]\npath = 'out.csv'\n[columns]\n\
         zip = {{ role = 'quasi', hierarchy = {{ mask = {{}} }} }}\nage = 'quasi'\n\
         disease = {{ role = 'sensitive', categories = {{ \
         Top = ['HIV', 'Cancer'], High = ['Phthisis', 'Hepatitis'], \
         Mid = ['Asthma', 'Heart Disease'], Low = ['Flu', 'Indigestion'] }}{column} }}\n{rest}"
    );
    parse("job.toml", &text, dir).map_err(|e| e.error).unwrap().job
}

fn records(dir: &Path) -> (Vec<String>, Vec<Vec<String>>) {
    let mut reader = csv::Reader::from_path(dir.join("out.csv")).unwrap();
    let header = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let rows = reader.records().map(|r| r.unwrap().iter().map(str::to_owned).collect()).collect();
    (header, rows)
}

/// Verifies the release with its manifest only.
fn from_manifest(dir: &Path) -> incrowd::Checked {
    Judging::new(dir.join("out.csv")).verify().unwrap()
}

const P_PLUS: &str = "[[models]]\nname = 'p-plus-alpha-sensitive'\np = 2\nalpha = 1.5\nk = 4\n";
const P_ALPHA: &str = "[[models]]\nname = 'p-alpha-sensitive'\np = 2\nalpha = 1.5\nk = 4\n";

#[test]
fn a_model_about_categories_publishes_categories() {
    let dir = tempfile::tempdir().unwrap();
    people(dir.path());
    Anonymizer::new(job(dir.path(), "", P_PLUS)).run().unwrap();
    let (header, rows) = records(dir.path());
    assert_eq!(header, ["zip", "age", "disease"]);
    assert!(rows.iter().all(|row| ["Top", "High", "Mid", "Low"].contains(&row[2].as_str())));
    assert!(from_manifest(dir.path()).holds());
}

#[test]
fn values_or_both_on_request() {
    let dir = tempfile::tempdir().unwrap();
    people(dir.path());
    for model in [P_PLUS, P_ALPHA] {
        Anonymizer::new(job(dir.path(), ", publish_sa = 'both'", model)).run().unwrap();
        let (header, rows) = records(dir.path());
        assert_eq!(header, ["zip", "age", "disease", "disease_category"]);
        let agree =
            |row: &Vec<String>| (row[2] == "HIV" || row[2] == "Cancer") == (row[3] == "Top");
        assert!(rows.len() == 60 && rows.iter().all(agree));
        assert!(from_manifest(dir.path()).holds());
    }
    Anonymizer::new(job(dir.path(), ", publish_sa = 'value'", P_PLUS)).run().unwrap();
    let (header, rows) = records(dir.path());
    assert_eq!(header, ["zip", "age", "disease"]);
    assert!(rows.iter().any(|row| row[2] == "HIV") && !rows.iter().any(|row| row[2] == "Top"));
    assert!(from_manifest(dir.path()).holds());
}

#[test]
fn models_about_values_are_verified_on_categories_if_only_these_are_published() {
    let dir = tempfile::tempdir().unwrap();
    people(dir.path());
    let report =
        Anonymizer::new(job(dir.path(), ", publish_sa = 'category'", P_ALPHA)).run().unwrap();
    assert!(report.verification.holds());
    // Every group has two categories; two values were required.
    assert!(from_manifest(dir.path()).holds());
}

#[test]
fn an_error_about_a_value_without_a_category_names_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let path = people(dir.path());
    let table = std::fs::read_to_string(&path).unwrap().replacen("Flu", "Obesity", 1);
    std::fs::write(&path, table).unwrap();
    let error = Anonymizer::new(job(dir.path(), "", P_ALPHA)).run().unwrap_err();
    assert_eq!(error.fault(), Fault::Input);
    assert!(
        error.message().contains("in no category") && error.message().contains("record"),
        "{error}"
    );
    assert!(!error.message().contains("Obesity") && !dir.path().join("out.csv").exists());
}

#[test]
fn an_unsatisfiable_model_is_reported_with_the_failing_number() {
    let dir = tempfile::tempdir().unwrap();
    people(dir.path());
    for (model, number) in [
        (P_ALPHA.replace("k = 4", "k = 61"), "60"),
        (P_ALPHA.replace("p = 2", "p = 9"), "8"),
        (P_PLUS.replace("p = 2", "p = 5"), "4"),
        (P_ALPHA.replace("alpha = 1.5", "alpha = 61"), "61"),
    ] {
        let error = Anonymizer::new(job(dir.path(), "", &model)).run().unwrap_err();
        assert_eq!(error.fault(), Fault::Unsatisfiable);
        assert!(error.message().contains(number), "{error}");
    }
}

#[test]
fn local_recoding_divides_rows_also_with_passthrough_columns() {
    let dir = tempfile::tempdir().unwrap();
    let path = people(dir.path());
    // Few values, so that records are equal and some of them must be separated.
    let mut table = String::from("zip,age,disease,weight\n");
    for i in 0..200_usize {
        let disease = if i % 3 == 0 { "Flu" } else { ["HIV", "Cancer", "Asthma"][i % 7 % 3] };
        table += &format!("{},{},{disease},w{i}\n", 4350 + i % 3 * i % 4, 30 + i % 2);
    }
    std::fs::write(&path, table).unwrap();
    for order in ["shuffled", "sorted"] {
        let rest = format!(
            "weight = {{ role = 'passthrough', linkable = false }}\n{P_ALPHA}[algorithm]\n\
             name = 'local-recoding'\n"
        );
        let mut job = job(dir.path(), "", &rest);
        job.output.as_mut().unwrap().order = if order == "sorted" {
            incrowd::job::Order::Sorted
        } else {
            incrowd::job::Order::Shuffled
        };
        let report = Anonymizer::new(&job).run().unwrap();
        assert!(report.verification.holds());
        let (_, rows) = records(dir.path());
        let mut weights: Vec<&str> = rows.iter().map(|row| row[3].as_str()).collect();
        weights.sort_unstable();
        weights.dedup();
        assert_eq!(weights.len(), 200, "every record is published once");
        // The disease of a person does not change.
        let original = std::fs::read_to_string(&path).unwrap();
        for row in &rows {
            let own =
                original.lines().find(|line| line.ends_with(&format!(",{}", row[3]))).unwrap();
            assert!(own.contains(&format!(",{},", row[2])), "{own}");
        }
        assert!(from_manifest(dir.path()).holds());
    }
}
