//! How many records no algorithm can keep.
//!
//! Theorem 6.2 of `wang2009` says that every local outlier fits into some plain group. It does not: a group's box must have
//! no dead corner, and the outlier's value must be good at one of its corners. Where no box around the outlier meets this
//! necessary condition, every algorithm has to leave the record out.

use super::cache::Ends;
use super::near::Bits;
use super::{Counts, Outliers, Standing};
use crate::dataset::Dataset;
use crate::domain::Domain;
use crate::index::Code;
use crate::partition::Span;
use crate::region::Extent;

/// So many boxes are looked at; outliers not decided by then count as if they could be kept.
const BUDGET: u64 = 400_000;
/// So much work is done on what is not known of them yet: points for each look.
const WORK: u64 = 40_000_000;

/// What must be left out whatever is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forced {
    /// How many outliers there are.
    pub outliers: Counts,
    /// How many local outliers may fit into a plain group.
    pub may_fit: u64,
    /// Whether every local outlier was decided.
    pub all_decided: bool,
}

impl Forced {
    /// How many records at least are in no plain group.
    pub fn removals(&self) -> u64 {
        self.outliers.global + self.outliers.local - self.may_fit
    }
}

impl Forced {
    /// The bound for a table of which several such structures speak, one for each sensitive column: somebody who stands out by
    /// one of them stands out, and who must leave for one of them must leave. Where corners are not asked, only global outliers
    /// are known to be lost. `None` if there is no structure.
    pub fn of(all: &[(&Outliers, bool)], data: &Dataset) -> Option<Forced> {
        let (mut out, mut all_decided) = (vec![false; data.rows()], true);
        for (outliers, corners) in all {
            if *corners {
                all_decided &= outliers.rule_out(data, &mut out);
            }
        }
        let mut forced = Forced { outliers: Counts::default(), may_fit: 0, all_decided };
        for (row, out) in out.iter().enumerate() {
            let stands = |standing| all.iter().any(|(outliers, _)| outliers.standing(row) == standing);
            let weight = data.weight(row);
            if stands(Standing::Global) {
                forced.outliers.global += weight;
            } else if stands(Standing::Local) {
                forced.outliers.local += weight;
                forced.may_fit += if *out { 0 } else { weight };
            }
        }
        (!all.is_empty()).then_some(forced)
    }
}

impl Outliers {
    /// The bound for the table this was made from, by this structure alone.
    pub fn forced(&self, data: &Dataset) -> Forced {
        let nothing = Forced { outliers: Counts::default(), may_fit: 0, all_decided: true };
        Forced::of(&[(self, true)], data).unwrap_or(nothing)
    }

    /// Looks for a box around every local outlier, and marks those for whom there is none. False if the search was given up.
    fn rule_out(&self, data: &Dataset, out: &mut [bool]) -> bool {
        let mut rows: Vec<u32> =
            (0..data.rows() as u32).filter(|&row| self.standing(row as usize) == Standing::Local).collect();
        rows.sort_unstable_by_key(|&row| (self.point[row as usize], row));
        let (mut budget, mut all_decided) = (BUDGET, true);
        let looks = self.looked() + (WORK / self.points().max(1) as u64).max(200);
        for alike in rows.chunk_by(|a, b| self.point[*a as usize] == self.point[*b as usize]) {
            let ranks = alike.iter().map(|&row| self.row_rank[row as usize]);
            let asked = Bits::of(self.values.len(), ranks);
            let sides: Vec<Vec<(f64, f64)>> = self
                .axes
                .iter()
                .map(|(q, axis)| {
                    let code = Code(data.quasi_codes(alike[0] as usize)[*q]);
                    let sides = around(&data.quasi()[*q].domain, code);
                    sides.into_iter().map(|(lo, hi)| (axis.scaled(lo), axis.scaled(hi))).collect()
                })
                .collect();
            let fits = self.fits(&sides, &asked, &mut budget, looks);
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

    /// Which of the asked values some box of these sides could hide; `looks` is how many there may have been in the end.
    fn fits(&self, sides: &[Vec<(f64, f64)>], asked: &Bits, budget: &mut u64, looks: u64) -> Bits {
        let mut found = Bits::none(self.values.len());
        let mut at = vec![0usize; sides.len()];
        loop {
            if *budget == 0 || asked.inside(asked, &found) {
                return found;
            }
            *budget = if self.looked() > looks { 0 } else { *budget - 1 };
            let ends: Ends = sides.iter().zip(&at).map(|(side, &i)| side[i]).collect();
            if !self.dead(&ends) {
                self.good_at_some_corner(&ends, asked, &mut found);
            }
            // The next combination; small boxes, which are first on each side, come first.
            let Some(axis) = (0..sides.len()).find(|&axis| at[axis] + 1 < sides[axis].len()) else {
                return found;
            };
            at[..axis].fill(0);
            at[axis] += 1;
        }
    }
}

/// The ends of all cells that cover a leaf, narrow ones first.
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
            let pairs = (0..=code.0).flat_map(|lo| (code.0..leaves).map(move |hi| (Code(lo), Code(hi))));
            let mut ends: Vec<(f64, f64)> =
                pairs.map(|(lo, hi)| Extent::of_group(domain, Span { lo, hi }, &[]).ends).collect();
            ends.sort_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)).then(a.0.total_cmp(&b.0)));
            ends.dedup();
            ends
        }
    }
}
