//! Random small tables with releases. Each record is linked with its original, which the slow
//! reference implementations use. The measures cannot see the links.

use std::collections::BTreeSet;

use incrowd_core::{ColumnSpec, Dataset, Folded, HierarchySpec, Kind};
use proptest::prelude::*;

use super::comparison::Comparison;

pub(crate) const NAMES: [&str; 4] = ["age", "town", "job", "disease"];
pub(crate) const QUASI: usize = 3;
const TREE: &str = "nurse;care;*\nmidwife;care;*\nsmith;craft;*\nbaker;craft;*\nclerk;*\n";

/// A person with the published cells. `None` means that the record is suppressed.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    pub(crate) values: [String; 4],
    pub(crate) cells: Option<[String; 4]>,
}

/// Returns the values of the hierarchy below a label.
fn below(label: &str) -> BTreeSet<String> {
    let under = |line: &&str| line.split(';').any(|word| word == label);
    TREE.lines().filter(under).map(|line| line.split(';').next().unwrap().to_owned()).collect()
}

/// Returns the possible values of a column: those of the original or those of its hierarchy.
pub(crate) fn domain(people: &[Person], column: usize) -> BTreeSet<String> {
    match column {
        2 => below("*"),
        _ => people.iter().map(|p| p.values[column].clone()).collect(),
    }
}

/// Returns the possible values of a cell, parsed from its text.
pub(crate) fn admits(people: &[Person], column: usize, cell: &str) -> BTreeSet<String> {
    let domain = domain(people, column);
    if cell == "*" {
        return domain;
    }
    match column {
        0 => {
            let (lo, hi) = ends(cell);
            domain.into_iter().filter(|v| (lo..=hi).contains(&v.parse::<f64>().unwrap())).collect()
        }
        1 => cell.trim_matches(['{', '}']).split(", ").map(str::to_owned).collect(),
        2 => below(cell),
        _ => BTreeSet::from([cell.to_owned()]),
    }
}

/// Returns the ends of a range of ages.
pub(crate) fn ends(cell: &str) -> (f64, f64) {
    let (lo, hi) = cell.trim_matches(['[', ']']).split_once(", ").unwrap_or((cell, cell));
    (lo.parse().unwrap(), hi.parse().unwrap())
}

/// Generates people with a release. Cells cover their values. Some records are suppressed, never
/// all.
pub(crate) fn people() -> impl Strategy<Value = Vec<Person>> {
    let value = (18u32..26, 0usize..3, 0usize..4, 0usize..3);
    let how = (0u32..4, 0u32..4, 0u8..4, 0u8..3, prop::bool::weighted(0.1));
    prop::collection::vec((value, how), 1..24).prop_map(|all| {
        let towns = ["Ayr", "Bath", "Cork"];
        let jobs = ["nurse", "midwife", "smith", "clerk"];
        let diseases = ["cold", "flu", "gout"];
        let occurring: BTreeSet<&str> = all.iter().map(|((_, town, ..), _)| towns[*town]).collect();
        let mut people: Vec<Person> = all
            .iter()
            .map(|&((age, town, job, disease), (below, above, town_how, job_how, suppressed))| {
                let values = [
                    age.to_string(),
                    towns[town].into(),
                    jobs[job].into(),
                    diseases[disease].into(),
                ];
                let age = match (below, above) {
                    (3, 3) => "*".to_owned(),
                    (0, 0) => values[0].clone(),
                    _ => format!("[{}, {}]", age - below, age + above),
                };
                let others: Vec<&str> =
                    occurring.iter().copied().filter(|t| *t != towns[town]).collect();
                let town = match (town_how, others.first()) {
                    (1, Some(other)) => {
                        let mut set = [towns[town], other];
                        set.sort_unstable();
                        format!("{{{}, {}}}", set[0], set[1])
                    }
                    (2, _) => "*".to_owned(),
                    _ => values[1].clone(),
                };
                let line = TREE.lines().find(|line| line.starts_with(&values[2])).unwrap();
                let path: Vec<&str> = line.split(';').collect();
                let job = path[usize::from(job_how).min(path.len() - 1)].to_owned();
                let cells = (!suppressed).then(|| [age, town, job, values[3].clone()]);
                Person { values, cells }
            })
            .collect();
        if people.iter().all(|p| p.cells.is_none()) {
            people[0].cells =
                Some(["*", "*", "*", &people[0].values[3].clone()].map(str::to_owned));
        }
        people
    })
}

/// Creates the input of the measures. The records of the release are in reverse order.
pub(crate) fn compare(people: &[Person]) -> Comparison {
    compare_with(people).0
}

/// Like [`compare`], also returns the encoded original.
pub(crate) fn compare_with(people: &[Person]) -> (Comparison, Dataset) {
    let fold = |records: Vec<&[String; 4]>| {
        let cells = |r: &&[String; 4]| r.iter().map(|c| Some(c.clone())).collect::<Vec<_>>();
        let owned: Vec<Vec<Option<String>>> = records.iter().map(cells).collect();
        Folded::from_records(
            &NAMES,
            owned.iter().map(|r| r.iter().map(Option::as_deref).collect()),
            false,
        )
    };
    let tree = HierarchySpec::Arx { name: "job".into(), text: TREE.into() };
    let specs = [
        ColumnSpec::default(),
        ColumnSpec { kind: Some(Kind::Text), ..ColumnSpec::default() },
        ColumnSpec { hierarchy: Some(tree), ..ColumnSpec::default() },
    ];
    let specs: Vec<&ColumnSpec> = specs.iter().collect();
    let original = fold(people.iter().map(|p| &p.values).collect());
    let original = Dataset::encode(original, &specs, &[], "?")
        .unwrap_or_else(|e| panic!("{}", e.misfit.error));
    let release = fold(people.iter().rev().filter_map(|p| p.cells.as_ref()).collect());
    (Comparison::new(&original, &release, "?", None).unwrap(), original)
}

/// Returns the people with nothing generalized and nothing suppressed.
pub(crate) fn untouched(people: &[Person]) -> Vec<Person> {
    people
        .iter()
        .map(|p| Person { values: p.values.clone(), cells: Some(p.values.clone()) })
        .collect()
}

/// Returns the people with `*` in every quasi-identifier.
pub(crate) fn starred(people: &[Person]) -> Vec<Person> {
    let star = || "*".to_owned();
    let cells = |p: &Person| Some([star(), star(), star(), p.values[3].clone()]);
    people.iter().map(|p| Person { values: p.values.clone(), cells: cells(p) }).collect()
}
