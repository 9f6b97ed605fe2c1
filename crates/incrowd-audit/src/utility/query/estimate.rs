//! Estimates: what a reader of the release answers.

use incrowd_core::Progress;
use rayon::prelude::*;

use super::super::comparison::{Comparison, Line};
use super::super::cover::Cover;
use super::workload::{Query, Side};

/// The estimate of each query.
pub(super) fn estimates(comparison: &Comparison, queries: &[Query], progress: &dyn Progress) -> Vec<f64> {
    let estimate = |query: &Query| {
        let estimate = estimate(comparison, query);
        progress.advance(1);
        estimate
    };
    queries.par_iter().map(estimate).collect()
}

fn estimate(comparison: &Comparison, query: &Query) -> f64 {
    // A column has far fewer cells than the release has groups, so their shares are computed once.
    let shares: Vec<(usize, Vec<f64>)> = query
        .sides
        .iter()
        .map(|&(at, side)| {
            let line = &comparison.lines[at];
            (at, line.covers.iter().map(|cover| share(line, cover, side)).collect())
        })
        .collect();
    let meant: Option<(usize, Vec<f64>)> = query.values.as_ref().map(|(at, meant)| {
        let of = |cover: &Cover| {
            let leaves = cover.spans().iter().flat_map(|&(lo, hi)| lo..=hi);
            leaves.filter(|&leaf| meant[leaf as usize]).count() as f64 / f64::from(cover.leaves())
        };
        (at - comparison.quasi, comparison.lines[*at].covers.iter().map(of).collect())
    });
    let mut sum = 0.0;
    for group in &comparison.groups {
        let mut inside = 1.0;
        for (at, shares) in &shares {
            inside *= shares[group.cells[*at] as usize];
            if inside == 0.0 {
                break;
            }
        }
        if inside > 0.0 {
            sum += inside
                * match &meant {
                    None => group.records as f64,
                    Some((at, meant)) => {
                        group.rest.iter().map(|(rest, n)| *n as f64 * meant[rest[*at] as usize]).sum()
                    }
                };
        }
    }
    sum
}

/// The share of a cell that lies in a side.
fn share(line: &Line, cover: &Cover, side: Side) -> f64 {
    match side {
        Side::Leaves(first, last) => f64::from(cover.overlap((first, last))) / f64::from(cover.leaves()),
        Side::Between(lo, hi) => {
            // A cell that says nothing may also stand for a missing value, which lies in no range.
            let missing = line.missing.is_some_and(|leaf| cover.overlap((leaf, leaf)) > 0);
            let present = f64::from(cover.leaves() - u32::from(missing)) / f64::from(cover.leaves());
            cover.extent.map_or(0.0, |extent| present * side_share(extent, (lo, hi)))
        }
    }
}

/// The share of a closed interval that lies in another; a single point lies in it or not.
fn side_share((lo, hi): (f64, f64), (from, to): (f64, f64)) -> f64 {
    if hi <= lo {
        return f64::from(u8::from((from..=to).contains(&lo)));
    }
    ((hi.min(to) - lo.max(from)) / (hi - lo)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value as Json;

    /// Estimates computed by an independent prototype of `sacharidis2010`: groups of boxes, and for each set of groups
    /// that shares its sensitive values the number of these.
    #[test]
    fn agrees_with_the_vectors_of_the_estimate() {
        let cases: Json =
            serde_json::from_str(include_str!("../../../tests/it/query_estimates.json")).unwrap();
        let cases = cases["cases"].as_array().unwrap();
        let side = |json: &Json| (json[0].as_f64().unwrap(), json[1].as_f64().unwrap());
        let mut above_zero = 0;
        for case in cases {
            let array = |key: &str| case[key].as_array().unwrap();
            let rows: Vec<f64> = array("rows").iter().map(|n| n.as_f64().unwrap()).collect();
            let mut estimate = 0.0;
            for (i, boxes) in array("boxes").iter().enumerate() {
                let set = &array("sg")[i];
                let alike = array("sg").iter().zip(&rows).filter(|(other, _)| *other == set);
                let all: f64 = alike.map(|(_, rows)| rows).sum();
                let known = case["si_counts"][set.as_str().unwrap()].as_f64().unwrap();
                let sides = boxes.as_array().unwrap().iter().zip(array("query"));
                let inside: f64 = sides.map(|(cell, query)| side_share(side(cell), side(query))).product();
                estimate += known / all * rows[i] * inside;
            }
            let expected = case["estimate"].as_f64().unwrap();
            above_zero += u32::from(expected > 0.0);
            assert!((estimate - expected).abs() < 1e-8, "{estimate} is not {expected}");
        }
        assert!(cases.len() == 30 && above_zero > 5, "{} cases, {above_zero} above zero", cases.len());
    }
}
