//! A lower bound on the number of records that every algorithm must suppress.
//!
//! Theorem 6.2 of `wang2009` claims that every local outlier fits into some plain group. That is
//! not true: a group's box must have no dead corner, and the outlier's value must be good at one of
//! its corners. If no box around the outlier meets this necessary condition, every algorithm must
//! suppress the record.

use super::cache::Ends;
use super::near::Bits;
use super::{Counts, Outliers, Standing};
use crate::dataset::Dataset;
use crate::domain::Domain;
use crate::index::Code;
use crate::partition::Span;
use crate::region::Extent;

/// Maximum number of boxes examined; outliers not decided by then count as records that fit.
const BUDGET: u64 = 400_000;
/// Maximum number of points visited by new evaluations.
const WORK: u64 = 40_000_000;

/// The records that every algorithm must suppress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forced {
    /// The number of outliers.
    pub outliers: Counts,
    /// The number of local outliers that may fit into a plain group.
    pub may_fit: u64,
    /// Whether every local outlier was decided.
    pub all_decided: bool,
}

impl Forced {
    /// The least number of records that are in no plain group.
    pub fn removals(&self) -> u64 {
        self.outliers.global + self.outliers.local - self.may_fit
    }

    /// The bound for a table with several sensitive columns, each with its outliers. A record that
    /// is an outlier in one column is an outlier, and a record that must be suppressed for one
    /// column must be suppressed. If corners are not checked, only global outliers are known to be
    /// suppressed. `None` if the list is empty.
    pub fn of(all: &[(&Outliers, bool)], data: &Dataset) -> Option<Forced> {
        let (mut out, mut all_decided) = (vec![false; data.rows()], true);
        for (outliers, corners) in all {
            if *corners {
                all_decided &= outliers.rule_out(data, &mut out);
            }
        }
        let mut forced = Forced { outliers: Counts::default(), may_fit: 0, all_decided };
        for (row, out) in out.iter().enumerate() {
            let stands =
                |standing| all.iter().any(|(outliers, _)| outliers.standing(row) == standing);
            let count = data.weight(row);
            if stands(Standing::Global) {
                forced.outliers.global += count;
            } else if stands(Standing::Local) {
                forced.outliers.local += count;
                forced.may_fit += if *out { 0 } else { count };
            }
        }
        (!all.is_empty()).then_some(forced)
    }
}

impl Outliers {
    /// The bound for one sensitive column.
    pub fn forced(&self, data: &Dataset) -> Forced {
        let nothing = Forced { outliers: Counts::default(), may_fit: 0, all_decided: true };
        Forced::of(&[(self, true)], data).unwrap_or(nothing)
    }

    /// Searches for a box around every local outlier and marks those without one. Returns false if
    /// the search was stopped early.
    fn rule_out(&self, data: &Dataset, out: &mut [bool]) -> bool {
        let mut rows: Vec<u32> = (0..data.rows() as u32)
            .filter(|&row| self.standing(row as usize) == Standing::Local)
            .collect();
        rows.sort_unstable_by_key(|&row| (self.point[row as usize], row));
        let (mut budget, mut all_decided) = (BUDGET, true);
        let limit = self.evaluations() + (WORK / self.points().max(1) as u64).max(200);
        for alike in rows.chunk_by(|a, b| self.point[*a as usize] == self.point[*b as usize]) {
            let ranks = alike.iter().map(|&row| self.row_rank[row as usize]);
            let wanted = Bits::of(self.values.len(), ranks);
            let sides: Vec<Vec<(f64, f64)>> = self
                .axes
                .iter()
                .map(|(q, axis)| {
                    let code = Code(data.quasi_codes(alike[0] as usize)[*q]);
                    let sides = around(&data.quasi()[*q].domain, code);
                    sides.into_iter().map(|(lo, hi)| (axis.scaled(lo), axis.scaled(hi))).collect()
                })
                .collect();
            let fits = self.fits(&sides, &wanted, &mut budget, limit);
            if budget == 0 {
                all_decided = false;
                break;
            }
            for &row in alike.iter().filter(|&&row| !fits.get(self.row_rank[row as usize])) {
                out[row as usize] = true;
            }
        }
        all_decided
    }

    /// Returns those of the wanted values that some box with these sides could hide. Stops if the
    /// number of evaluations exceeds `limit`.
    fn fits(&self, sides: &[Vec<(f64, f64)>], wanted: &Bits, budget: &mut u64, limit: u64) -> Bits {
        let mut found = Bits::none(self.values.len());
        let mut at = vec![0usize; sides.len()];
        loop {
            if *budget == 0 || wanted.inside(wanted, &found) {
                return found;
            }
            *budget = if self.evaluations() > limit { 0 } else { *budget - 1 };
            let ends: Ends = sides.iter().zip(&at).map(|(side, &i)| side[i]).collect();
            if !self.dead(&ends) {
                self.good_at_some_corner(&ends, wanted, &mut found);
            }
            // The next combination of sides. Sides are sorted by width, so small boxes come first.
            let Some(axis) = (0..sides.len()).find(|&axis| at[axis] + 1 < sides[axis].len()) else {
                return found;
            };
            at[..axis].fill(0);
            at[axis] += 1;
        }
    }
}

/// The ends of all cells that cover a leaf, sorted by width.
fn around(domain: &Domain, code: Code) -> Vec<(f64, f64)> {
    match domain {
        Domain::Taxonomy(tree) => {
            let nodes = std::iter::successors(Some(tree.leaf(code)), |&node| tree.parent(node));
            let mut ends: Vec<(f64, f64)> = nodes
                .map(|node| tree.span(node))
                .map(|(lo, hi)| (domain.place(lo), domain.place(hi)))
                .collect();
            ends.dedup();
            ends
        }
        _ => {
            let leaves = domain.leaves();
            let pairs =
                (0..=code.0).flat_map(|lo| (code.0..leaves).map(move |hi| (Code(lo), Code(hi))));
            let mut ends: Vec<(f64, f64)> =
                pairs.map(|(lo, hi)| Extent::of_group(domain, Span { lo, hi }, &[]).ends).collect();
            ends.sort_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)).then(a.0.total_cmp(&b.0)));
            ends.dedup();
            ends
        }
    }
}
