//! Every model compared with its definition, computed from single records instead of histograms.
//! Thresholds are decimals, and the twins compare fractions with them in integers, so ties are
//! tested too.

mod closeness;
mod diversity;
mod likeness;
mod numeric;
mod papers;
mod persons;
mod presence;
mod running;
mod survives;
mod vectors;

use incrowd_core::hierarchy::nested::Tree;
use incrowd_core::model::{BoundModel, PrivacyModel, Verdict};
use incrowd_core::{
    ColumnSpec, Dataset, Folded, GroupSummary, HierarchySpec, SensitiveSpec, Value,
};
use proptest::prelude::*;

/// A table of records: the group of each, then its sensitive values.
pub(crate) struct Table {
    pub(crate) data: Dataset,
    /// The group summaries.
    pub(crate) groups: Vec<GroupSummary>,
    /// The records of each group, one list of sensitive values per record.
    pub(crate) records: Vec<Vec<Vec<String>>>,
}

impl Table {
    /// Each row is a group, sensitive values and a number of records; groups are numbered from 0
    /// without gaps.
    pub(crate) fn new(rows: &[(usize, Vec<String>, u64)], specs: &[SensitiveSpec]) -> Table {
        let width = rows[0].1.len();
        let names = ["group", "a", "b"];
        let cells: Vec<Vec<String>> = rows
            .iter()
            .flat_map(|(group, values, n)| {
                let row: Vec<String> =
                    std::iter::once(format!("g{group}")).chain(values.iter().cloned()).collect();
                std::iter::repeat_n(row, *n as usize)
            })
            .collect();
        let folded = Folded::from_records(
            &names[..=width],
            cells.iter().map(|row| row.iter().map(|c| Some(c.as_str())).collect()),
            false,
        );
        let plain = vec![SensitiveSpec::default(); width];
        let specs = if specs.is_empty() { &plain } else { specs };
        let specs: Vec<&SensitiveSpec> = specs.iter().collect();
        let text = folded.clone();
        let data = Dataset::encode(folded, &[&ColumnSpec::default()], &specs, "?").unwrap();
        let count = rows.iter().map(|row| row.0 + 1).max().unwrap();
        let mut groups = vec![GroupSummary::empty(width); count];
        for of_fold in 0..text.rows() {
            let cell = &text.columns[0].texts[text.row(of_fold)[0] as usize];
            let row = data.row_of_fold(of_fold as u32).unwrap().index();
            groups[cell[1..].parse::<usize>().unwrap()]
                .add(text.weights[of_fold], data.sensitive_codes(row));
        }
        let mut records = vec![Vec::new(); count];
        for (group, values, n) in rows {
            records[*group].extend(std::iter::repeat_n(values.clone(), *n as usize));
        }
        Table { data, groups, records }
    }

    /// One column of a group's records.
    pub(crate) fn column(&self, group: usize, column: usize) -> Vec<&str> {
        self.records[group].iter().map(|values| values[column].as_str()).collect()
    }

    /// One column of all records.
    pub(crate) fn whole(&self, column: usize) -> Vec<&str> {
        (0..self.groups.len()).flat_map(|group| self.column(group, column)).collect()
    }

    pub(crate) fn bind(&self, name: &str, params: &[(&str, Value)]) -> Box<dyn BoundModel> {
        privacy_model(name, params).model.bind(&self.data).unwrap()
    }
}

pub(crate) fn privacy_model(name: &str, params: &[(&str, Value)]) -> PrivacyModel {
    PrivacyModel::new(name, params.iter().map(|(n, v)| ((*n).to_owned(), v.clone()))).unwrap()
}

pub(crate) fn word(text: &str) -> Value {
    Value::Word(text.to_owned())
}

pub(crate) fn count(n: u64) -> Value {
    Value::Integer(n as i64)
}

/// The counts of the distinct texts, in descending order.
pub(crate) fn counts(values: &[&str]) -> Vec<u64> {
    let mut distinct = values.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let mut counts: Vec<u64> = distinct.iter().map(|d| occurrences(values, d)).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts
}

pub(crate) fn occurrences(values: &[&str], wanted: &str) -> u64 {
    values.iter().filter(|v| **v == wanted).count() as u64
}

/// A decimal with six places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Millionths(pub(crate) i128);

const MILLION: i128 = 1_000_000;

impl Millionths {
    pub(crate) fn value(self) -> Value {
        Value::Real(format!("{}.{:06}", self.0 / MILLION, self.0 % MILLION).parse().unwrap())
    }

    pub(crate) fn float(self) -> f64 {
        self.0 as f64 / MILLION as f64
    }

    /// The decimals around a non-negative fraction: one step below, at or just below it, one and
    /// two steps above.
    pub(crate) fn around(part: i128, whole: i128) -> Vec<Millionths> {
        let floor = part * MILLION / whole;
        (floor - 1..=floor + 2).filter(|&digits| digits >= 0).map(Millionths).collect()
    }

    /// Compares a fraction with the decimal.
    pub(crate) fn cmp_fraction(self, part: i128, whole: i128) -> std::cmp::Ordering {
        (part * MILLION).cmp(&(self.0 * whole))
    }

    pub(crate) fn at_most(self, part: i128, whole: i128) -> bool {
        self.cmp_fraction(part, whole).is_le()
    }
}

#[track_caller]
pub(crate) fn close(have: f64, want: f64) {
    let same = have == want || (have - want).abs() <= 1e-12 * want.abs().max(1.0);
    assert!(same, "have {have}, expected {want}");
}

/// Checks that a verdict agrees with the definition, in its measured value and in its decision.
#[track_caller]
pub(crate) fn agree(verdict: &Verdict, want: f64, holds: bool) {
    close(verdict.have, want);
    assert_eq!(verdict.holds, holds, "{verdict:?}");
}

/// A sensitive column with a hierarchy, given as TOML.
pub(crate) fn with_tree(toml: &str) -> SensitiveSpec {
    let tree = Tree::parse("tree", toml).unwrap();
    SensitiveSpec { hierarchy: Some(HierarchySpec::Nested(tree)), ..SensitiveSpec::default() }
}

/// Random tables: up to four groups, values from `values` in one or two columns.
pub(crate) fn tables(
    values: &'static [&'static str],
    width: usize,
) -> impl Strategy<Value = Vec<Row>> {
    let value = || prop::sample::select(values).prop_map(str::to_owned);
    let row = (0usize..4, prop::collection::vec(value(), width), 1u64..4);
    prop::collection::vec(row, 1..10).prop_map(|rows| {
        let mut known: Vec<usize> = rows.iter().map(|row| row.0).collect();
        known.sort_unstable();
        known.dedup();
        let renumber = |group: usize| known.iter().position(|&g| g == group).unwrap();
        rows.into_iter().map(|(group, values, n)| (renumber(group), values, n)).collect()
    })
}

pub(crate) type Row = (usize, Vec<String>, u64);

/// The worse of two verdicts does not depend on their order, even if they are equally bad.
#[test]
fn the_reported_verdict_does_not_depend_on_the_order_of_groups() {
    let verdicts = [
        Verdict::at_least("smallest group", 5.0, 5.0, true),
        Verdict::at_most("greatest share of a value", 0.3, 0.3, true),
        Verdict::at_most("greatest relative gain of a value", 1.0, 1.0, true),
        Verdict::at_most("greatest relative gain of a value", 0.5, 0.5, true),
        Verdict::at_least("least probability of presence", 0.0, 0.0, true),
    ];
    for a in &verdicts {
        for b in &verdicts {
            assert!(a == b || a.is_worse_than(b) != b.is_worse_than(a), "{a:?} {b:?}");
            assert_eq!(a.and(*b), b.and(*a));
        }
    }
}
