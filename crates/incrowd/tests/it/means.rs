//! Published group means, computed independently from the original records of each group, which a
//! passthrough column identifies.

use std::collections::BTreeMap;
use std::path::Path;

use incrowd::job::{Input, Job, parse};
use incrowd::{Anonymizer, Checked, Fault, Judging, Report};
use incrowd_testing::{data, or_skip};

type Record = BTreeMap<String, String>;

fn table(path: &Path) -> Vec<Record> {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let record = |cells: csv::StringRecord| {
        header.iter().cloned().zip(cells.iter().map(str::to_owned)).collect()
    };
    reader.records().map(|cells| record(cells.unwrap())).collect()
}

fn draws(seed: u32) -> impl FnMut(u32) -> u32 {
    let mut state = seed.wrapping_mul(2_654_435_761).max(1);
    move |below| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state % below
    }
}

/// Writes people with an age and an income; one in `lacking` has no age.
fn people(dir: &Path, seed: u32, records: u32, lacking: Option<u32>) {
    let mut draw = draws(seed);
    let mut text = String::from("tag,age,income,town,ill\n");
    for n in 0..records {
        let age = 20 + draw(41);
        let age = if lacking.is_some_and(|one| draw(one) == 0) {
            "?".to_owned()
        } else {
            age.to_string()
        };
        let income = f64::from(draw(200) * draw(200)) / 8.0 - 50.0;
        let (town, ill) =
            (["Graz", "Linz", "Wien"][draw(3) as usize], ["flu", "cold"][draw(2) as usize]);
        text += &format!("r{n},{age},{income},{town},{ill}\n");
    }
    std::fs::write(dir.join("people.csv"), text).unwrap();
}

struct Asked<'a> {
    input: &'a str,
    output: &'a str,
    age: &'a str,
    models: &'a str,
    algorithm: &'a str,
}

const PLAIN: Asked<'_> = Asked {
    input: "",
    output: "path = 'out.csv'\nnumbers = 'mean'\n",
    age: "'quasi'",
    models: "[[models]]\nname = 'k-anonymity'\nk = 4\n",
    algorithm: "name = 'mondrian'\n",
};

fn job(dir: &Path, asked: &Asked<'_>) -> Job {
    let Asked { input, output, age, models, algorithm } = asked;
    let text = format!(
        "[input]\npath = 'people.csv'\n{input}[output]\n{output}[columns]\nage = {age}\n\
         income = 'quasi'\ntown = 'quasi'\n\
         ill = 'sensitive'\ntag = {{ role = 'passthrough', linkable = false }}\n\
         {models}[algorithm]\n{algorithm}"
    );
    parse("job.toml", &text, dir).unwrap_or_else(|e| panic!("{e}\n{text}")).job
}

fn made(dir: &Path, asked: &Asked<'_>) -> Report {
    let mut job = job(dir, asked);
    // Some tests damage a release and make it again.
    job.output.iter_mut().for_each(|output| output.replace = true);
    Anonymizer::new(&job).run().unwrap_or_else(|e| panic!("{}: {e}", asked.algorithm))
}

/// Returns the groups of the release: the cells of the quasi-identifiers, and the original records.
fn groups(dir: &Path) -> Vec<(Record, Vec<Record>)> {
    let original: BTreeMap<String, Record> = table(&dir.join("people.csv"))
        .into_iter()
        .map(|record| (record["tag"].clone(), record))
        .collect();
    let mut groups: BTreeMap<Vec<String>, (Record, Vec<Record>)> = BTreeMap::new();
    for record in table(&dir.join("out.csv")) {
        let cells = ["age", "income", "town"].map(|name| record[name].clone()).to_vec();
        let own = original[&record["tag"]].clone();
        groups.entry(cells).or_insert_with(|| (record, Vec::new())).1.push(own);
    }
    groups.into_values().collect()
}

/// Checks that every mean is that of the original numbers of its group, and that a group with a
/// missing number has none. Returns the number of groups without a mean of the age.
fn means_are_right(dir: &Path, starred: bool, what: &str) -> usize {
    let mut empty = 0;
    for (cells, records) in groups(dir) {
        let is_starred = starred
            && cells["town"] == "*"
            && cells["age"].is_empty()
            && cells["income"].is_empty();
        for name in ["age", "income"] {
            let numbers: Option<Vec<f64>> =
                records.iter().map(|record| record[name].parse().ok()).collect();
            match numbers.filter(|_| !is_starred) {
                None => {
                    assert_eq!(cells[name], "", "{what}: a number for people who have none");
                    empty += usize::from(name == "age");
                }
                Some(numbers) => {
                    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
                    let published: f64 =
                        cells[name].parse().unwrap_or_else(|_| panic!("{what}: no mean of {name}"));
                    assert!(
                        (published - mean).abs() <= 1e-8 * mean.abs() + 1e-9,
                        "{what}: {name} {published}, not {mean}"
                    );
                }
            }
        }
    }
    empty
}

const ALGORITHMS: [&str; 6] = [
    "name = 'mondrian'\n",
    "name = 'mondrian'\ncut = 'relaxed'\n",
    "name = 'auto'\n",
    "name = 'mdav'\n",
    "name = 'ascent'\n",
    "name = 'optimized-mondrian'\nnumbers = 'mdr'\n",
];

#[test]
fn means_are_those_of_the_original_records_and_have_the_loss_of_the_ranges() {
    let ages = [
        "'quasi'",
        "{ role = 'quasi', hierarchy = 'mdr' }",
        "{ role = 'quasi', hierarchy = { intervals = { width = 5, levels = 2 } } }",
    ];
    for (seed, age) in ages.into_iter().enumerate() {
        let dir = tempfile::tempdir().unwrap();
        people(dir.path(), seed as u32 + 1, 120, None);
        for algorithm in ALGORITHMS {
            let what = format!("{age} {algorithm}");
            let ranges = Asked { age, algorithm, output: "path = 'ranges.csv'\n", ..PLAIN };
            let asked = Asked { age, algorithm, ..PLAIN };
            let cost = made(dir.path(), &ranges).manifest.metrics;
            let report = made(dir.path(), &asked);
            assert_eq!(means_are_right(dir.path(), false, &what), 0);
            let metrics = report.manifest.metrics;
            for name in ["ncp", "weighted_ncp", "entropy_loss", "information_loss", "distortion"] {
                let (a, b) = (metrics.get(name).unwrap(), cost.get(name).unwrap());
                assert!(
                    (a - b).abs() < 1e-9 && a > 0.0,
                    "{what}: {name} {a} with means, {b} with ranges"
                );
            }
            let judging = Judging::of(&job(dir.path(), &asked));
            let with_original = Judging { original: None, ..judging.clone() };
            for judging in [judging, with_original, Judging::new(dir.path().join("out.csv"))] {
                let checked = judging.verify().unwrap();
                assert!(checked.holds() && checked.rules == Some("means of groups"), "{what}");
            }
        }
    }
}

#[test]
fn groups_with_a_missing_value_have_no_mean() {
    let ages = ["'quasi'", "{ role = 'quasi', hierarchy = 'mdr' }"];
    // A marker that looks like a number is not one.
    for (seed, marker) in [(5, "?"), (6, "999"), (7, "")] {
        for age in ages {
            let dir = tempfile::tempdir().unwrap();
            people(dir.path(), seed, 160, Some(12));
            let path = dir.path().join("people.csv");
            let text =
                std::fs::read_to_string(&path).unwrap().replace(",?,", &format!(",{marker},"));
            std::fs::write(&path, text).unwrap();
            let mut empty = 0;
            for algorithm in ALGORITHMS {
                let input = format!("on_missing = 'keep'\nmissing = ['{marker}', '?']\n");
                let asked = Asked { age, algorithm, input: &input, ..PLAIN };
                let report = made(dir.path(), &asked);
                if marker != "999" {
                    empty += means_are_right(dir.path(), false, algorithm);
                }
                let warned = report.warnings.iter().any(|text| text.contains("in place of a mean"));
                let release = table(&dir.path().join("out.csv"));
                assert_eq!(
                    warned,
                    release.iter().any(|record| record["age"].is_empty()),
                    "{algorithm}"
                );
                assert!(
                    release.iter().all(|record| record["age"].parse().unwrap_or(0.0) <= 60.0),
                    "{algorithm}"
                );
                // No group has fewer than k records, with empty cells as a value of their own.
                assert!(
                    groups(dir.path()).iter().all(|(_, records)| records.len() >= 4),
                    "{algorithm}"
                );
                let ranges = Asked { output: "path = 'ranges.csv'\n", ..asked };
                let (cost, published) = (
                    made(dir.path(), &ranges).manifest.metrics.ncp(),
                    report.manifest.metrics.ncp(),
                );
                assert!(
                    (cost - published).abs() < 1e-9,
                    "{algorithm}: {published} with means, {cost} with ranges"
                );
                assert!(Judging::of(&job(dir.path(), &asked)).verify().unwrap().holds());
            }
            assert!(empty > 0 || marker == "999", "somebody who lacks an age stands among others");
        }
    }
}

#[test]
fn starred_records_have_no_mean() {
    let dir = tempfile::tempdir().unwrap();
    let mut starred = 0;
    for seed in 1..8 {
        people(dir.path(), seed, 90, None);
        let models = "[[models]]\nname = 'k-anonymity'\nk = 6\n";
        let algorithm = "name = 'full-domain'\nsuppression_limit = 0.4\nsuppressed = 'star'\n";
        let age = "{ role = 'quasi', hierarchy = { intervals = { width = 5, levels = 2 } } }";
        let report = made(dir.path(), &Asked { age, models, algorithm, ..PLAIN });
        starred += report.records.suppressed;
        means_are_right(dir.path(), true, "star");
        assert!(groups(dir.path()).iter().all(|(_, records)| records.len() >= 6));
        assert!(Judging::new(dir.path().join("out.csv")).verify().unwrap().holds());
    }
    assert!(starred > 0);
}

#[test]
fn models_about_covered_people_are_refused_before_anything_is_read() {
    let dir = tempfile::tempdir().unwrap();
    people(dir.path(), 3, 40, None);
    for model in [
        "name = 'k-map'\nk = 3\n",
        "name = 'delta-presence'\ndelta_min = 0.0\ndelta_max = 0.9\n",
        "name = 'plain-k-anonymity'\nk = 3\n",
    ] {
        let mut refused = 0;
        // The population cannot be read.
        let models = format!("[[models]]\n{model}[population]\npath = 'absent.csv'\n");
        for algorithm in ["name = 'mondrian'\n", "name = 'expc-plus'\nsuppression_limit = 0.5\n"] {
            let asked = Asked { models: &models, algorithm, ..PLAIN };
            let error = Anonymizer::new(job(dir.path(), &asked)).run().unwrap_err();
            if error.key() == Some("algorithm") {
                continue;
            }
            assert_eq!(
                (error.fault(), error.key()),
                (Fault::Job, Some("output.numbers")),
                "{model}: {error}"
            );
            assert!(error.message().contains("a mean covers nobody"), "{error}");
            assert!(error.advice().unwrap().contains("low-high"), "{error}");
            refused += 1;
        }
        assert!(refused > 0, "no algorithm accepts {model}");
        assert!(!dir.path().join("out.csv").exists());
    }
}

/// Changes one cell of the release.
fn changed(dir: &Path, column: &str, row: usize, cell: &str) {
    let path = dir.join("out.csv");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines: Vec<Vec<String>> =
        text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
    let at = lines[0].iter().position(|name| name == column).unwrap();
    // All records of the group change, so that no group is too small.
    let old = lines[row].clone();
    for line in lines.iter_mut().skip(1).filter(|line| line[1..4] == old[1..4]) {
        cell.clone_into(&mut line[at]);
    }
    let text: String = lines.iter().map(|line| line.join(",") + "\n").collect();
    std::fs::write(&path, text).unwrap();
}

fn says(checked: &Checked, what: &str) -> bool {
    checked
        .failures
        .iter()
        .any(|failure| failure.rule == "means of groups" && failure.message.contains(what))
}

#[test]
fn a_wrong_mean_is_detected() {
    let dir = tempfile::tempdir().unwrap();
    people(dir.path(), 9, 100, None);
    let asked = Asked { age: "{ role = 'quasi', hierarchy = 'mdr' }", ..PLAIN };
    let release = dir.path().join("out.csv");
    let alone = Judging::new(&release);
    let original = Input { paths: vec![dir.path().join("people.csv").into()], ..Input::default() };
    let with_original = Judging { original: Some(original), ..alone.clone() };
    for (cell, judging, what) in [
        ("old", &alone, "a cell that is no number"),
        ("", &alone, "no mean"),
        ("1000", &alone, "a mean outside the range"),
        ("60.5", &with_original, "a mean that no records of the original have"),
        ("41.5", &with_original, "do not have the sum of the original"),
    ] {
        made(dir.path(), &asked);
        changed(dir.path(), "age", 1, cell);
        let checked = judging.verify().unwrap();
        assert!(!checked.holds() && says(&checked, what), "{cell}: {:?}", checked.failures);
        assert_eq!(checked.to_json()["failures"][0]["rule"], "means of groups");
    }
}

#[test]
fn means_of_a_real_table_are_those_of_its_records() {
    let dir = or_skip!(data("casc_census_1080.csv.gz"));
    let out = tempfile::tempdir().unwrap();
    let release = out.path().join("out.csv");
    let text = format!(
        "[input]\npath = {:?}\n[output]\npath = {release:?}\nnumbers = 'mean'\n\
         [columns]\nTAXINC = 'quasi'\n\
         POTHVAL = {{ role = 'quasi', hierarchy = 'mdr' }}\n\
         AFNLWGT = {{ role = 'passthrough', linkable = false }}\n\
         [[models]]\nname = 'k-anonymity'\nk = 5\n[algorithm]\nname = 'mdav'\n",
        dir.join("casc_census_1080.csv.gz")
    );
    let job = parse("job.toml", &text, out.path()).unwrap().job;
    Anonymizer::new(&job).run().unwrap();
    let checked = Judging::of(&job).verify().unwrap();
    assert!(checked.holds() && checked.rules == Some("means of groups"));
    let input =
        Input { paths: vec![dir.join("casc_census_1080.csv.gz").into()], ..Input::default() };
    let release = table(&release);
    // Weights are unique, so they identify the records.
    for name in ["TAXINC", "POTHVAL"] {
        let counts = input.column_counts(name).unwrap();
        let total: f64 =
            counts.iter().map(|(value, n)| value.parse::<f64>().unwrap() * *n as f64).sum();
        let published: f64 =
            release.iter().map(|record| record[name].parse::<f64>().unwrap()).sum();
        assert!((published / total - 1.0).abs() < 1e-8, "{name}: {published}, not {total}");
    }
}
