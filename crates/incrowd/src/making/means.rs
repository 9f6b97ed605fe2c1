//! Published group means (`[output] numbers = "mean"`): the ranges of the groups, and checks of the
//! means.
//!
//! A mean does not show a range, so the release alone does not show its information loss. Before
//! publication, every cell of the written table is compared with its group: a mean must be that of
//! the original numbers, which is computed again here. The losses are those of the ranges. Later,
//! `verify` has the release and perhaps the original, but not the groups of the records. It checks
//! that every mean is possible.

use std::collections::{BTreeMap, BTreeSet};

use incrowd_audit::joined::Failure;
use incrowd_core::dataset::Quasi;
use incrowd_core::number::parse_number;
use incrowd_core::plan::mean_text;
use incrowd_core::text::thousands;
use incrowd_core::{
    Code, Domain, Error, Folded, FoldedColumn, GroupId, HierarchySpec, MISSING, Plan, Progress,
    Result, spelling,
};
use serde::{Deserialize, Serialize};

use crate::job::OnMissing;
use crate::judging::case::Case;

/// The name of these checks in the result of `verify`.
pub(crate) const RULE: &str = "means of groups";

/// The relative error of a published mean: it is written with nine digits.
const ROUNDING: f64 = 1e-8;

/// The relative error of a floating-point sum, as a share of its greatest term.
const SUMMING: f64 = 1e-11;

/// The groups of a table with published means.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct MeanGroups {
    /// The positions of the columns with means among the quasi-identifiers.
    columns: Vec<usize>,
    groups: Vec<MeanGroup>,
}

/// A published group.
#[derive(Clone, Serialize, Deserialize)]
struct MeanGroup {
    /// By quasi-identifier, the label that would be published without means.
    labels: Vec<String>,
    /// By column with means, the published text; empty if the group has no mean.
    means: Vec<String>,
    records: u64,
}

incrowd_core::opaque_debug!(MeanGroups { groups: |groups| groups.groups.len() });

fn wrong() -> Error {
    Error::bug("a published mean is not the mean of its group: nothing was published")
}

/// The sum of a group's numbers, the greatest absolute value, and whether each of its records has a
/// number.
#[derive(Clone, Copy)]
struct Sum {
    sum: f64,
    greatest: f64,
    complete: bool,
}

/// Returns the number of each leaf of a domain: the original text, parsed as a number.
fn numbers(domain: &Domain, missing: &str) -> Vec<Option<f64>> {
    let text = |leaf: Code| match domain {
        Domain::Taxonomy(tree) => tree.label(tree.leaf(leaf)).to_owned(),
        domain => domain.label(leaf, leaf),
    };
    let number = |text: String| parse_number(&text).filter(|_| text != missing).map(|n| n.as_f64());
    (0..domain.leaves()).map(|leaf| number(text(Code(leaf)))).collect()
}

impl MeanGroups {
    /// Computes the groups of a plan that publishes the means of `columns`. Fails if a mean of the
    /// plan is not that of the group's records. `missing` is the label of a missing value.
    pub(crate) fn of_plan(
        plan: &Plan<'_>,
        columns: Vec<usize>,
        missing: &str,
    ) -> Result<MeanGroups> {
        let (data, partition) = (plan.dataset(), plan.partition());
        let labels = |group: usize| -> Vec<&str> {
            (0..data.quasi().len()).map(|q| plan.text(GroupId(group as u32), q)).collect()
        };
        // Groups with equal labels are one group to a reader of ranges, and have one mean.
        let mut places: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
        let mut place_of = Vec::with_capacity(partition.groups());
        let mut first = Vec::new();
        for group in 0..partition.groups() {
            place_of.push(*places.entry(labels(group)).or_insert_with(|| {
                first.push(group);
                first.len() - 1
            }));
        }
        let mut records = vec![0; first.len()];
        for row in 0..data.rows() {
            if let Some(group) = partition.group(row) {
                records[place_of[group.index()]] += data.weight(row);
            }
        }
        let mut groups: Vec<MeanGroup> = first
            .iter()
            .zip(&records)
            .map(|(&group, &records)| MeanGroup {
                labels: labels(group).into_iter().map(str::to_owned).collect(),
                means: Vec::new(),
                records,
            })
            .collect();
        let starred = partition.starred().map(|group| place_of[group.index()]);
        for &q in &columns {
            let numbers = numbers(&data.quasi()[q].domain, missing);
            let mut sums = vec![Sum { sum: 0.0, greatest: 0.0, complete: true }; first.len()];
            for row in (0..data.rows()).filter(|&row| data.weight(row) > 0) {
                let Some(group) = partition.group(row) else { continue };
                let own = &mut sums[place_of[group.index()]];
                match numbers[data.quasi_codes(row)[q] as usize] {
                    Some(x) => {
                        own.sum += x * data.weight(row) as f64;
                        own.greatest = own.greatest.max(x.abs());
                    }
                    None => own.complete = false,
                }
            }
            let published = plan.means(q);
            for (place, group) in groups.iter_mut().enumerate() {
                let own = sums[place];
                let has_mean = own.complete && group.records > 0 && starred != Some(place);
                let expected = has_mean.then(|| own.sum / group.records as f64);
                let text = published[first[place]].map(mean_text).unwrap_or_default();
                let is_right = match (expected, parse_number(&text)) {
                    (None, None) => text.is_empty(),
                    (Some(mean), Some(written)) => {
                        (written.as_f64() - mean).abs()
                            <= ROUNDING * mean.abs() + SUMMING * own.greatest
                    }
                    _ => false,
                };
                if !is_right {
                    return Err(wrong());
                }
                group.means.push(text);
            }
        }
        groups.retain(|group| group.records > 0);
        Ok(MeanGroups { columns, groups })
    }

    /// Adds the groups of another part of the table.
    pub(crate) fn add(&mut self, part: MeanGroups) {
        self.groups.extend(part.groups);
    }

    /// Compares a table that was read back with its groups: the cells of every record, and the
    /// number of records with them. Returns the sizes of the groups that a reader sees.
    pub(crate) fn check(&self, people: &Folded, domains: &[Quasi]) -> Result<Vec<u64>> {
        let cell = |group: &MeanGroup, q: usize| match self.columns.iter().position(|own| *own == q)
        {
            Some(mean) => group.means[mean].clone(),
            None => group.labels[q].clone(),
        };
        let mut expected: BTreeMap<Vec<String>, u64> = BTreeMap::new();
        for group in &self.groups {
            let cells = (0..domains.len()).map(|q| cell(group, q)).collect();
            *expected.entry(cells).or_default() += group.records;
        }
        let read = (0..domains.len()).map(|q| self.as_written(people, q, &domains[q].domain));
        let read: Vec<Vec<Option<String>>> = read.collect();
        let mut found: BTreeMap<Vec<String>, u64> = BTreeMap::new();
        for row in 0..people.rows() {
            let cells = people.row(row)[..domains.len()].iter().zip(&read);
            let cells: Option<Vec<String>> =
                cells.map(|(&code, texts)| texts[code as usize].clone()).collect();
            *found.entry(cells.ok_or_else(wrong)?).or_default() += people.weights[row];
        }
        if expected != found {
            return Err(wrong());
        }
        let mut sizes: Vec<u64> = found.into_values().collect();
        sizes.sort_unstable();
        Ok(sizes)
    }

    /// Returns, by code of a column that was read back, the cell from which it was written; `None`
    /// if no group has such a cell.
    fn as_written(&self, people: &Folded, q: usize, domain: &Domain) -> Vec<Option<String>> {
        let texts = people.columns[q].texts.iter();
        if self.columns.contains(&q) {
            // Typed formats print 20.0 for 20.
            let mean = |text: &String| match text.is_empty() {
                true => Some(String::new()),
                false => parse_number(text).map(|n| mean_text(n.as_f64())),
            };
            return texts.map(mean).collect();
        }
        let labels: BTreeSet<&str> =
            self.groups.iter().map(|group| group.labels[q].as_str()).collect();
        // Formats may spell a label differently. Both spellings parse to the same cell.
        let alike = |text: &str| {
            let cell = domain.read(text)?;
            labels.iter().find(|label| domain.read(label).as_ref() == Some(&cell)).copied()
        };
        let label = |text: &String| labels.get(text.as_str()).copied().or_else(|| alike(text));
        texts.map(|text| label(text).map(str::to_owned)).collect()
    }

    /// Returns the same groups with their ranges, which define the information loss of the means.
    pub(crate) fn ranges(&self, domains: &[Quasi]) -> Folded {
        let mut columns: Vec<FoldedColumn> = Vec::with_capacity(domains.len());
        let mut codes = vec![0; self.groups.len() * domains.len()];
        for (q, quasi) in domains.iter().enumerate() {
            let labels = self.groups.iter().map(|group| group.labels[q].as_str());
            let mut known: BTreeMap<&str, u32> = BTreeMap::new();
            let mut texts = vec![String::new()];
            for (group, label) in labels.enumerate() {
                codes[group * domains.len() + q] = *known.entry(label).or_insert_with(|| {
                    texts.push(label.to_owned());
                    texts.len() as u32 - 1
                });
            }
            columns.push(FoldedColumn { name: quasi.name.clone(), texts });
        }
        let weights: Vec<u64> = self.groups.iter().map(|group| group.records).collect();
        let read = weights.iter().sum();
        let missing = vec![0; domains.len()];
        Folded { missing, columns, codes, weights, read, ..Folded::default() }
    }

    /// Returns warnings about records with an empty cell in place of a mean.
    pub(crate) fn warnings(&self, domains: &[Quasi]) -> Vec<String> {
        let all: u64 = self.groups.iter().map(|group| group.records).sum();
        let lacking = |(at, &q): (usize, &usize)| {
            let empty = self.groups.iter().filter(|group| group.means[at].is_empty());
            let empty: u64 = empty.map(|group| group.records).sum();
            (empty > 0).then(|| {
                format!(
                    "column `{}`: {} of {} records have an empty cell in place of a mean, \
                     because a value is missing in their group or they are suppressed; \
                     the mean of the release is that of the other records",
                    domains[q].name,
                    thousands(empty),
                    thousands(all)
                )
            })
        };
        self.columns.iter().enumerate().filter_map(lacking).collect()
    }
}

/// The numbers of an original column in ascending order, with prefix sums.
struct Sorted {
    /// For each distinct number, the number of records up to it and their sum.
    upto: Vec<(f64, u64, f64)>,
}

impl Sorted {
    fn new(mut values: Vec<(f64, u64)>) -> Sorted {
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut records, mut sum) = (0, 0.0);
        let upto = values.into_iter().map(|(x, n)| {
            (records, sum) = (records + n, sum + x * n as f64);
            (x, records, sum)
        });
        Sorted { upto: upto.collect() }
    }

    fn records(&self) -> u64 {
        self.upto.last().map_or(0, |last| last.1)
    }

    fn total(&self) -> f64 {
        self.upto.last().map_or(0.0, |last| last.2)
    }

    /// The sum of the `n` least numbers.
    fn least(&self, n: u64) -> f64 {
        let at = self.upto.partition_point(|(_, records, _)| *records <= n);
        let (records, sum) =
            at.checked_sub(1).map_or((0, 0.0), |before| (self.upto[before].1, self.upto[before].2));
        let rest = self.upto.get(at).map_or(0.0, |(x, ..)| x * (n - records) as f64);
        sum + rest
    }

    /// Returns whether some `n` records have this sum, within the tolerance.
    fn admits(&self, n: u64, sum: f64, tolerance: f64) -> bool {
        let Some(others) = self.records().checked_sub(n) else { return false };
        let (least, greatest) = (self.least(n), self.total() - self.least(others));
        (least - tolerance..=greatest + tolerance).contains(&sum)
    }

    /// Returns the greatest absolute value.
    fn greatest(&self) -> f64 {
        let ends = self.upto.first().into_iter().chain(self.upto.last());
        ends.map(|end| end.0.abs()).fold(0.0, f64::max)
    }
}

/// Checks the means of a published table, if it has any: every group must have a mean that is a
/// number within the range of the manifest. With the original, some of its records must have this
/// mean, and all means together must have its sum.
pub(crate) fn verify(
    case: &Case,
    people: &Folded,
    progress: &dyn Progress,
) -> Result<Option<Vec<Failure>>> {
    let Some(manifest) = &case.manifest else { return Ok(None) };
    let means = manifest.job.written.iter().flat_map(|written| &written.means);
    let position = |name: &String| case.reading.quasi.iter().position(|(own, _)| own == name);
    let columns: Vec<usize> = means.filter_map(position).collect();
    if columns.is_empty() {
        return Ok(None);
    }
    let original = case.judging.original.as_ref();
    let original =
        original.map(|original| case.reading.fold_original(original, progress)).transpose()?;
    let may_be_empty =
        case.reading.on_missing == OnMissing::Keep || manifest.job.suppressed == "star";
    let width = case.reading.quasi.len();
    let mut groups: BTreeMap<&[u32], u64> = BTreeMap::new();
    for row in 0..people.rows() {
        *groups.entry(&people.row(row)[..width]).or_default() += people.weights[row];
    }
    let mut failures = Vec::new();
    for q in columns {
        let (name, spec) = &case.reading.quasi[q];
        let mut fails = |groups: usize, what: &str| {
            if groups > 0 {
                failures.push(Failure::new(
                    RULE,
                    format!("column `{name}`: {groups} groups have {what}"),
                ));
            }
        };
        let (mut empty, mut odd) = (0, 0);
        let mut means: Vec<(f64, u64)> = Vec::with_capacity(groups.len());
        for (cells, &records) in &groups {
            let text = people.columns[q].texts[cells[q] as usize].as_str();
            match parse_number(text).map(|n| n.as_f64()).filter(|x| x.is_finite()) {
                Some(mean) => means.push((mean, records)),
                None if cells[q] == MISSING || text.is_empty() => empty += 1,
                None => odd += 1,
            }
        }
        fails(odd, "a cell that is no number");
        fails(if may_be_empty { 0 } else { empty }, "no mean");
        let grid = match &spec.hierarchy {
            Some(HierarchySpec::Mdr(mdr)) => mdr.grid(),
            _ => None,
        };
        let range = grid
            .map(|grid| (grid.low.unwrap_or(grid.lo), grid.high.unwrap_or(grid.hi)))
            .or(spec.domain);
        let beyond = |(mean, _): &&(f64, u64)| {
            let slack = ROUNDING * mean.abs();
            range.is_some_and(|(lo, hi)| *mean < lo - slack || *mean > hi + slack)
        };
        fails(means.iter().filter(beyond).count(), "a mean outside the range of the column");
        let Some(original) = &original else { continue };
        let values = values(original, q, spec)?;
        let slack =
            |sum: f64, n: u64| ROUNDING * sum.abs() + SUMMING * values.greatest() * n as f64;
        let strange = |(mean, n): &&(f64, u64)| {
            let sum = mean * *n as f64;
            !values.admits(*n, sum, slack(sum, *n))
        };
        fails(means.iter().filter(strange).count(), "a mean that no records of the original have");
        let records: u64 = means.iter().map(|mean| mean.1).sum();
        let sum: f64 = means.iter().map(|(mean, n)| mean * *n as f64).sum();
        let rounding: f64 = means.iter().map(|(mean, n)| slack(mean * *n as f64, *n)).sum();
        if !values.admits(records, sum, rounding) {
            let says = format!(
                "column `{name}`: the means of all groups do not have the sum of the original"
            );
            failures.push(Failure::new(RULE, says));
        }
    }
    Ok(Some(failures))
}

/// The numbers of a quasi-identifier of the original.
fn values(original: &Folded, q: usize, spec: &incrowd_core::ColumnSpec) -> Result<Sorted> {
    let mut column = original.columns[q].clone();
    spelling::unify(&mut column, spec).map_err(|misfit| misfit.error)?;
    let mut counts = vec![0; column.texts.len()];
    for row in 0..original.rows() {
        counts[original.row(row)[q] as usize] += original.weights[row];
    }
    let number = |(text, n): (&String, u64)| Some((parse_number(text)?.as_f64(), n));
    Ok(Sorted::new(
        column.texts.iter().zip(counts).filter(|(_, n)| *n > 0).filter_map(number).collect(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_n_numbers_lie_between_the_least_and_the_greatest_sum() {
        let values = Sorted::new(vec![(5.0, 2), (1.0, 1), (9.0, 1)]);
        assert_eq!(
            (0..=4).map(|n| values.least(n)).collect::<Vec<_>>(),
            [0.0, 1.0, 6.0, 11.0, 20.0]
        );
        assert!(
            values.admits(2, 6.0, 0.0)
                && values.admits(2, 14.0, 0.0)
                && !values.admits(2, 14.5, 0.1)
        );
        assert!(
            values.admits(4, 20.0, 0.0)
                && !values.admits(4, 21.0, 0.1)
                && !values.admits(5, 20.0, 1.0)
        );
    }
}
