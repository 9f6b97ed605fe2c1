//! Estimates of counts from the release.

use incrowd_core::Progress;
use incrowd_core::number::ratio;
use rayon::prelude::*;

use super::super::comparison::{Comparison, Line};
use super::super::cover::Cover;
use super::workload::{Query, Side};

/// Returns the estimate of each query.
pub(super) fn estimates(
    comparison: &Comparison,
    queries: &[Query],
    progress: &dyn Progress,
) -> Vec<f64> {
    let groups = ColumnGroups::new(comparison);
    let estimate = |query: &Query| {
        let estimate = groups.estimate(comparison, query);
        progress.advance(1);
        estimate
    };
    queries.par_iter().map(estimate).collect()
}

/// The groups stored by column, so that a query reads memory sequentially.
struct ColumnGroups {
    /// The cells of each quasi-identifier by group.
    cells: Vec<Vec<u32>>,
    /// The records of each group.
    records: Vec<f64>,
    /// The other columns.
    others: Vec<Entries>,
}

/// A column that is published unchanged, by group.
struct Entries {
    /// End of the entries of each group.
    ends: Vec<u32>,
    /// A cell and its number of records in the group.
    entries: Vec<(u32, u32)>,
}

impl ColumnGroups {
    fn new(comparison: &Comparison) -> ColumnGroups {
        let (quasi, groups) = (comparison.quasi, &comparison.groups);
        let cells =
            (0..quasi).map(|q| groups.iter().map(|group| group.cells[q]).collect()).collect();
        let other = |at: usize| {
            let (mut ends, mut entries) = (Vec::with_capacity(groups.len()), Vec::new());
            let mut own: Vec<(u32, u32)> = Vec::new();
            for group in groups {
                own.clear();
                // Counts beyond 32 bits are split into several entries.
                let pieces = group.rest.iter().flat_map(|(rest, records)| {
                    let cell = rest[at];
                    let whole = records / u64::from(u32::MAX);
                    let rest = (records % u64::from(u32::MAX)) as u32;
                    (0..whole).map(move |_| (cell, u32::MAX)).chain([(cell, rest)])
                });
                own.extend(pieces);
                own.sort_unstable_by_key(|(cell, _)| *cell);
                own.dedup_by(|later, first| {
                    let sum = first.1.checked_add(later.1).filter(|_| first.0 == later.0);
                    first.1 = sum.unwrap_or(first.1);
                    sum.is_some()
                });
                entries.extend_from_slice(&own);
                ends.push(entries.len() as u32);
            }
            Entries { ends, entries }
        };
        let others = (0..comparison.lines.len() - quasi).map(other).collect();
        let records = groups.iter().map(|group| group.estimate).collect();
        ColumnGroups { cells, records, others }
    }

    fn estimate(&self, comparison: &Comparison, query: &Query) -> f64 {
        let mut inside = vec![1.0; self.records.len()];
        for &(at, side) in &query.sides {
            // A column has far fewer distinct cells than the release has groups, so the shares are
            // computed once per cell.
            let line = &comparison.lines[at];
            let shares: Vec<f64> =
                line.covers.iter().map(|cover| share(line, cover, side)).collect();
            inside
                .iter_mut()
                .zip(&self.cells[at])
                .for_each(|(inside, &cell)| *inside *= shares[cell as usize]);
        }
        let Some((at, selected)) = &query.values else {
            return inside
                .iter()
                .zip(&self.records)
                .map(|(inside, records)| inside * records)
                .sum();
        };
        let of = |cover: &Cover| {
            let leaves = cover.spans().iter().flat_map(|&(lo, hi)| lo..=hi);
            let selected = leaves.filter(|&leaf| selected[leaf as usize]).count();
            selected as f64 / f64::from(cover.leaves())
        };
        let shares: Vec<f64> = comparison.lines[*at].covers.iter().map(of).collect();
        let Entries { ends, entries } = &self.others[at - comparison.quasi];
        let (mut sum, mut from) = (0.0, 0);
        for (inside, &to) in inside.into_iter().zip(ends) {
            if inside > 0.0 {
                let own = &entries[from as usize..to as usize];
                let chosen: f64 =
                    own.iter().map(|&(cell, n)| f64::from(n) * shares[cell as usize]).sum();
                sum += inside * chosen;
            }
            from = to;
        }
        sum / comparison.copies as f64
    }
}

/// Returns the share of a cell that is in a range.
fn share(line: &Line, cover: &Cover, side: Side) -> f64 {
    match side {
        Side::Leaves(first, last) => {
            f64::from(cover.overlap((first, last))) / f64::from(cover.leaves())
        }
        Side::Between(lo, hi) => {
            // A missing value is in no range. A cell that covers it contributes less.
            let missing = line.missing.is_some_and(|leaf| cover.overlap((leaf, leaf)) > 0);
            let present =
                f64::from(cover.leaves() - u32::from(missing)) / f64::from(cover.leaves());
            cover.extent.map_or(0.0, |extent| present * side_share(extent, (lo, hi)))
        }
    }
}

/// Returns the share of a closed interval that is in another. A single point has share 0 or 1.
fn side_share((lo, hi): (f64, f64), (from, to): (f64, f64)) -> f64 {
    if hi <= lo {
        return f64::from(u8::from((from..=to).contains(&lo)));
    }
    ratio((lo.max(from), hi.min(to)), (lo, hi), 0.0).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value as Json;

    /// Estimates computed by an independent prototype of `sacharidis2010`: groups of boxes, and for
    /// each set of groups with shared sensitive values the number of these values.
    #[test]
    fn estimates_equal_those_of_the_prototype() {
        let cases: Json =
            serde_json::from_str(incrowd_testing::fixture("query_estimates.json")).unwrap();
        let cases = cases["cases"].as_array().unwrap();
        let side = |json: &Json| (json[0].as_f64().unwrap(), json[1].as_f64().unwrap());
        let mut above_zero = 0;
        for case in cases {
            let array = |key: &str| case[key].as_array().unwrap();
            let rows: Vec<f64> = array("rows").iter().map(|n| n.as_f64().unwrap()).collect();
            let mut estimate = 0.0;
            for (i, boxes) in array("boxes").iter().enumerate() {
                let set = &array("sg")[i];
                let same = array("sg").iter().zip(&rows).filter(|(other, _)| *other == set);
                let all: f64 = same.map(|(_, rows)| rows).sum();
                let known = case["si_counts"][set.as_str().unwrap()].as_f64().unwrap();
                let sides = boxes.as_array().unwrap().iter().zip(array("query"));
                let inside: f64 =
                    sides.map(|(cell, query)| side_share(side(cell), side(query))).product();
                estimate += known / all * rows[i] * inside;
            }
            let expected = case["estimate"].as_f64().unwrap();
            above_zero += u32::from(expected > 0.0);
            assert!((estimate - expected).abs() < 1e-8, "{estimate} is not {expected}");
        }
        assert!(
            cases.len() == 30 && above_zero > 5,
            "{} cases, {above_zero} above zero",
            cases.len()
        );
    }
}
