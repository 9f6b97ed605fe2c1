//! Random tables and jobs, and reading of their releases with the csv crate.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use incrowd::job::{Job, parse};
use proptest::prelude::*;
use serde_json::Value as Json;

use crate::columns::COLUMNS;

/// A table and its job.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// The picks of each record: one per column, then the disease.
    pub(crate) people: Vec<Vec<u8>>,
    /// The quasi-identifiers; the other columns are not published.
    pub(crate) quasi: Vec<usize>,
    pub(crate) k: u64,
    pub(crate) keep: bool,
    pub(crate) relaxed: bool,
    pub(crate) block: bool,
    pub(crate) dimension: &'static str,
    pub(crate) sorted: bool,
}

/// In three of four tables no value is missing.
pub(crate) fn cases() -> impl Strategy<Value = Case> {
    let person = prop::collection::vec(any::<u8>(), COLUMNS.len() + 1);
    let people = (prop::collection::vec(person, 1..60), prop::bool::weighted(0.25));
    let quasi = prop::sample::subsequence((0..COLUMNS.len()).collect::<Vec<_>>(), 1..=5);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let dimension = prop::sample::select(vec!["widest", "round-robin"]);
    (people, quasi, 1u64..7, flags, dimension).prop_map(
        |((people, gaps), quasi, k, flags, dimension)| {
            let pick = |p: u8| if gaps || p >= 12 { p } else { p + 100 };
            let people =
                people.into_iter().map(|person| person.into_iter().map(pick).collect()).collect();
            let (keep, relaxed, block, sorted) = flags;
            Case { people, quasi, k, keep, relaxed, block, dimension, sorted }
        },
    )
}

/// The texts of missing values.
pub(crate) const MISSING: [&str; 3] = ["", "?", "NA"];
const DISEASES: [&str; 3] = ["flu", "cold", "a, \"rare\" one"];

impl Case {
    /// Returns a value's text in the table, and whether it is missing.
    pub(crate) fn value(&self, person: usize, column: usize) -> (&'static str, bool) {
        let pick = self.people[person][column] as usize;
        if pick < 12 {
            return (MISSING[pick % 3], true);
        }
        let values = COLUMNS.get(column).map_or(&DISEASES[..], |c| c.values);
        (values[pick % values.len()], false)
    }

    /// Returns the published text of a missing value: the first missing text in the columns that
    /// are read.
    pub(crate) fn marker(&self) -> Option<&'static str> {
        let cells = || {
            let columns = || self.quasi.iter().copied().chain([COLUMNS.len()]);
            (0..self.people.len())
                .flat_map(move |person| columns().map(move |c| self.value(person, c)))
        };
        MISSING.into_iter().find(|text| cells().any(|cell| cell == (*text, true)))
    }

    /// Returns the published people: all, or those without a missing value in a quasi-identifier or
    /// sensitive column.
    pub(crate) fn published(&self) -> Vec<usize> {
        let matters = || self.quasi.iter().copied().chain([COLUMNS.len()]);
        let lacks = |person: usize| matters().any(|column| self.value(person, column).1);
        (0..self.people.len()).filter(|&person| self.keep || !lacks(person)).collect()
    }

    /// Returns whether a hierarchy derived from the values has no values.
    pub(crate) fn lacks_values(&self) -> bool {
        let empty = |c: usize| (0..self.people.len()).all(|person| self.value(person, c).1);
        self.quasi.iter().any(|&c| COLUMNS[c].needs_values && empty(c))
    }

    /// Writes the table; returns its path.
    pub(crate) fn write(&self, dir: &Path, people: impl IntoIterator<Item = usize>) -> PathBuf {
        let path = dir.join("people-in.csv");
        let mut out = csv::Writer::from_path(&path).unwrap();
        let names = COLUMNS.iter().map(|c| c.name);
        out.write_record(["id", "name"].into_iter().chain(names).chain(["disease"])).unwrap();
        for person in people {
            let cells = (0..=COLUMNS.len()).map(|c| self.value(person, c).0.to_owned());
            out.write_record(
                [format!("id{person}"), "Jane Doe".to_owned()].into_iter().chain(cells),
            )
            .unwrap();
        }
        out.flush().unwrap();
        path
    }

    /// Returns the job file.
    pub(crate) fn job(&self, output: &str) -> String {
        let choose = |first: bool, a: &'static str, b: &'static str| if first { a } else { b };
        let quasi = |&c: &usize| {
            format!("{} = {{ role = 'quasi', {} }}\n", COLUMNS[c].name, COLUMNS[c].job)
        };
        format!(
            "[input]\npath = 'people-in.csv'\nmissing = ['', '?', 'NA']\non_missing = '{}'\n\
             delimiter = ','\n\
             [output]\npath = '{output}'\norder = '{}'\n\
             [columns]\nid = {{ role = 'passthrough', linkable = false }}\nname = 'identifier'\n\
             disease = 'sensitive'\n{}\
             [[models]]\nname = 'k-anonymity'\nk = {}\n\
             [algorithm]\nname = 'mondrian'\ncut = '{}'\nundersized = '{}'\ndimension = '{}'\n",
            choose(self.keep, "keep", "drop"),
            choose(self.sorted, "sorted", "shuffled"),
            self.quasi.iter().map(quasi).collect::<String>(),
            self.k,
            choose(self.relaxed, "relaxed", "strict"),
            choose(self.block, "block", "pool"),
            self.dimension,
        )
    }

    pub(crate) fn parsed(&self, dir: &Path, output: &str) -> Job {
        parse("job.toml", &self.job(output), dir).unwrap_or_else(|e| panic!("{e}")).job
    }
}

/// A release read with the csv crate.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

pub(crate) fn read(path: &Path) -> Table {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let header = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let rows = reader.records().map(|r| r.unwrap().iter().map(str::to_owned).collect()).collect();
    Table { header, rows }
}

impl Table {
    pub(crate) fn column(&self, name: &str) -> usize {
        self.header.iter().position(|h| h == name).unwrap()
    }

    /// Returns the sizes of the groups of records with equal cells in these columns.
    pub(crate) fn groups(&self, quasi: &[&str]) -> Vec<u64> {
        let at: Vec<usize> = quasi.iter().map(|name| self.column(name)).collect();
        let mut sizes: BTreeMap<Vec<&str>, u64> = BTreeMap::new();
        for row in &self.rows {
            *sizes.entry(at.iter().map(|&c| row[c].as_str()).collect()).or_default() += 1;
        }
        sizes.into_values().collect()
    }
}

/// Returns whether two sets of metrics agree up to rounding.
pub(crate) fn alike(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| alike(value, other)))
        }
        (a, b) => {
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs().max(1.0);
            a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| close(a, b))
        }
    }
}

/// Returns the names in a directory, sorted.
pub(crate) fn listing(dir: &Path) -> Vec<String> {
    let name =
        |e: std::io::Result<std::fs::DirEntry>| e.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<String> = std::fs::read_dir(dir).unwrap().map(name).collect();
    names.sort();
    names
}

/// Returns a small job about ages and cities for deterministic tests: groups of exactly two and
/// three records for k = 2.
pub(crate) fn small(dir: &Path, output: &str) -> Job {
    let table = "id,age,city,disease\n1,20,Rome,flu\n2,21,Rome,cold\n3,50,Oslo,flu\n\
                 4,51,Oslo,none\n5,52,Oslo,flu\n";
    std::fs::write(dir.join("people-in.csv"), table).unwrap();
    let job = format!(
        "[input]\npath = 'people-in.csv'\n[output]\npath = '{output}'\norder = 'sorted'\n\
         [columns]\nid = {{ role = 'passthrough', linkable = false }}\nage = 'quasi'\n\
         city = 'quasi'\ndisease = 'sensitive'\n\
         [[models]]\nname = 'k-anonymity'\nk = 2\n"
    );
    parse("job.toml", &job, dir).unwrap_or_else(|e| panic!("{e}")).job
}
