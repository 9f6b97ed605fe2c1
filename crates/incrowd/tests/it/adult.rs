//! The Adult table with the hierarchies of ARX.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use incrowd::job::{Job, parse};
use incrowd::{Anonymizer, Judging};
use incrowd_testing::{data, or_skip};

use crate::columns::range;
use crate::release::{alike, listing, read};

const MISSING: &str = "?";
pub(crate) const HIERARCHIES: [&str; 7] =
    ["workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"];
const SEVEN: [&str; 7] =
    ["age", "workclass", "education", "marital-status", "race", "sex", "native-country"];
const PUBLISHED: u64 = 45_222;
const DROPPED: u64 = 3_620;

/// The table with a number for every person, so that a release can be joined with it.
struct Adult {
    dir: tempfile::TempDir,
    data: PathBuf,
    header: Vec<String>,
    people: Vec<Vec<String>>,
    /// For each column with a hierarchy, the values that each label covers.
    below: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
}

fn load(data: PathBuf) -> Adult {
    let dir = tempfile::tempdir().unwrap();
    let file = std::fs::File::open(data.join("adult.csv.gz")).unwrap();
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(flate2::read::MultiGzDecoder::new(file));
    let header: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let people: Vec<Vec<String>> =
        reader.records().map(|r| r.unwrap().iter().map(str::to_owned).collect()).collect();
    let mut out = csv::Writer::from_path(dir.path().join("adult.csv")).unwrap();
    out.write_record(["person"].into_iter().chain(header.iter().map(String::as_str))).unwrap();
    for (i, person) in people.iter().enumerate() {
        out.write_record([i.to_string()].iter().chain(person)).unwrap();
    }
    out.flush().unwrap();
    let mut below: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for column in HIERARCHIES {
        let text = std::fs::read_to_string(hierarchy(&data, column)).unwrap();
        let labels = below.entry(column.to_owned()).or_default();
        for line in text.lines() {
            let path: Vec<&str> = line.split(';').map(str::trim).collect();
            for label in &path {
                labels.entry((*label).to_owned()).or_default().insert(path[0].to_owned());
            }
        }
    }
    Adult { dir, data, header, people, below }
}

pub(crate) fn hierarchy(data: &Path, column: &str) -> PathBuf {
    data.join(format!("hierarchies/adult_hierarchy_{column}.csv"))
}

impl Adult {
    fn job(&self, quasi: &[&str], k: u64) -> Job {
        let mut columns = String::from(
            "person = { role = 'passthrough', linkable = false }\nincome = 'sensitive'\n",
        );
        for column in quasi {
            let how = match HIERARCHIES.contains(column) {
                true => format!("hierarchy = '{}'", hierarchy(&self.data, column).display()),
                false => "kind = 'numeric'".to_owned(),
            };
            columns += &format!("{column} = {{ role = 'quasi', {how} }}\n");
        }
        if !quasi.contains(&"occupation") {
            columns += "occupation = 'sensitive'\n";
        }
        let job = format!(
            "[input]\npath = 'adult.csv'\n[output]\npath = 'out.csv'\n[columns]\n{columns}\
             [[models]]\nname = 'k-anonymity'\nk = {k}\n"
        );
        parse("job.toml", &job, self.dir.path()).unwrap_or_else(|e| panic!("{e}")).job
    }

    fn covers(&self, column: &str, cell: &str, value: &str) -> bool {
        match self.below.get(column) {
            Some(labels) => labels.get(cell).is_some_and(|leaves| leaves.contains(value)),
            None => range(cell, value),
        }
    }

    fn check(&self, quasi: &[&str], k: u64) {
        let (job, dir) = (self.job(quasi, k), self.dir.path());
        let report = Anonymizer::new(&job).run().unwrap();
        let records = report.records;
        assert_eq!(
            (records.published, records.dropped_missing, records.suppressed),
            (PUBLISHED, DROPPED, 0)
        );
        assert_eq!(records.read, self.people.len() as u64);
        let table = read(&dir.join("out.csv"));
        let sizes = table.groups(quasi);
        assert!(sizes.iter().all(|&n| n >= k), "k = {k}");
        assert_eq!(sizes.len() as u64, report.verification.groups);
        let columns: Vec<(usize, usize, &str)> = quasi
            .iter()
            .chain(&["occupation", "income"])
            .map(|name| {
                (table.column(name), self.header.iter().position(|h| h == name).unwrap(), *name)
            })
            .collect();
        let mut seen = BTreeSet::new();
        for row in &table.rows {
            let person = &self.people[row[0].parse::<usize>().unwrap()];
            assert!(seen.insert(&row[0]), "a record is published twice");
            for &(published, original, name) in &columns {
                let (cell, value) = (&row[published], &person[original]);
                assert_ne!(value, MISSING);
                let fits = if quasi.contains(&name) {
                    self.covers(name, cell, value)
                } else {
                    cell == value
                };
                assert!(fits, "a cell of `{name}` does not cover its value");
            }
        }
        assert_eq!(seen.len() as u64, PUBLISHED);
        let measured = Judging::of(&job).measure(None).unwrap();
        assert!(
            alike(&measured.to_json()["metrics"], &report.manifest.to_json()["metrics"]),
            "other metrics"
        );
        assert!(Judging::of(&job).verify().unwrap().holds());
        assert_eq!(listing(dir), ["adult.csv", "out.csv", "out.release.json"]);
    }
}

#[test]
fn every_release_of_adult_satisfies_its_model() {
    let data = or_skip!(data("adult.csv.gz"));
    let adult = load(data);
    for k in [2, 5, 10, 50, 100, 500] {
        adult.check(&SEVEN, k);
    }
    let eight: Vec<&str> = SEVEN.into_iter().chain(["occupation"]).collect();
    adult.check(&eight, 10);
    let nine: Vec<&str> = eight.into_iter().chain(["hours-per-week"]).collect();
    for k in [2, 100] {
        adult.check(&nine, k);
    }
}

/// Users should not need to know that `ascent` exists.
#[test]
fn the_default_loses_no_more_than_ascent_with_models() {
    let data = or_skip!(data("adult.csv.gz"));
    let adult = load(data);
    for model in [
        "name = 'l-diversity'\nl = 3\nkind = 'frequency'",
        "name = 't-closeness'\nt = 0.5",
        "name = 'alpha-k-anonymity'\nk = 10\nalpha = 0.3",
    ] {
        let loss = |algorithm: &str| {
            let mut job = adult.job(&SEVEN, 10);
            let text = format!(
                "[input]\npath = 'adult.csv'\n[columns]\noccupation = 'sensitive'\n\
                 [[models]]\n{model}\non = 'occupation'\n"
            );
            let parsed =
                parse("job.toml", &text, adult.dir.path()).unwrap_or_else(|e| panic!("{e}"));
            job.models.extend(parsed.job.models);
            job.algorithm.name = algorithm.to_owned();
            let report = Anonymizer::new(&job).run().unwrap();
            report.manifest.to_json()["metrics"]["information_loss"].as_f64().unwrap()
        };
        let (auto, ascent) = (loss("auto"), loss("ascent"));
        assert!(auto <= ascent, "{model}: {auto} against {ascent}");
    }
}

/// The candidates of some people, counted by reading every cell of every released record.
#[test]
fn the_equijoin_with_adult_finds_the_candidates_of_everybody() {
    let data = or_skip!(data("adult.csv.gz"));
    let adult = load(data);
    let (job, dir) = (adult.job(&SEVEN, 10), adult.dir.path());
    Anonymizer::new(&job).run().unwrap();
    let release = read(&dir.join("out.csv"));
    let at: Vec<usize> =
        SEVEN.iter().map(|n| adult.header.iter().position(|h| h == n).unwrap()).collect();
    let complete = adult.people.iter().filter(|person| !person.iter().any(|cell| cell == MISSING));
    let people: Vec<Vec<&str>> = complete
        .step_by(3001)
        .map(|person| at.iter().map(|&i| person[i].as_str()).collect())
        .collect();
    let mut out = csv::Writer::from_path(dir.join("voters.csv")).unwrap();
    out.write_record(SEVEN).unwrap();
    people.iter().for_each(|person| out.write_record(person).unwrap());
    out.flush().unwrap();
    let fits = |row: &Vec<String>, person: &[&str]| {
        let cell = |name: &str| row[release.column(name)].as_str();
        SEVEN.iter().zip(person).all(|(name, value)| adult.covers(name, cell(name), value))
    };
    let occupation = release.column("occupation");
    let (mut chance, mut guess) = (0.0, 0.0);
    for person in &people {
        let candidates: Vec<&Vec<String>> =
            release.rows.iter().filter(|row| fits(row, person)).collect();
        assert!(candidates.len() >= 10, "a person has fewer than k candidates");
        let mut values: BTreeMap<&str, usize> = BTreeMap::new();
        candidates.iter().for_each(|row| *values.entry(&row[occupation]).or_default() += 1);
        chance += 1.0 / candidates.len() as f64;
        guess += *values.values().max().unwrap() as f64 / candidates.len() as f64;
    }
    let request = incrowd::AttackRequest {
        external: Some(dir.join("voters.csv").into()),
        ..Default::default()
    };
    let report = Judging::of(&job).attack(&request).unwrap();
    let average = |column: Option<&str>| {
        let found = report.attacked.iter().map(|a| &a.finding);
        let mut found = found.filter(|f| f.attack == "equijoin" && f.column.as_deref() == column);
        found.next().unwrap().average * people.len() as f64
    };
    assert!((average(None) - chance).abs() < 1e-9, "{} {chance}", average(None));
    assert!((average(Some("occupation")) - guess).abs() < 1e-9);
}
