//! The division of a dimension with ordered values: the most balanced cut of which the models admit
//! both sides.

use incrowd_core::group::merge_equal;

use super::cut::{self, Candidate};
use super::part::{Part, Split, Splitter};
use super::space::Unit;

/// The number of cuts that are tried separately before a single scan checks all others.
const MAX_SINGLE_TRIES: usize = 4;

impl Splitter<'_> {
    /// Finds a strict cut of a dimension with ordered values.
    pub(super) fn cut_values<U: Unit>(
        &self,
        dim: usize,
        part: &Part<U>,
        rows: &[U],
    ) -> Option<Split> {
        let (lo, hi) = part.span(dim);
        let counts = self.count_values(dim, lo, hi, rows);
        let best = if self.counts_only() {
            cut::balanced(counts.into_iter(), part.records, self.least)?
        } else if self.others.is_empty() && self.population.is_none() {
            let candidates = cut::all(counts.into_iter(), part.records, self.least);
            self.cut_by_persons(dim, candidates, rows)?
        } else {
            let candidates = cut::all(counts.into_iter(), part.records, self.least);
            self.admitted_cut(dim, &candidates, part, rows)?
        };
        let parts = (lo..=hi).map(|code| u32::from(code > best.at)).collect();
        Some(Split::ByValue { dim, parts, count: 2, pool: None })
    }

    /// Returns the records by value, ascending. Uses a histogram if the range is short, and sorting
    /// if it is long and the part is small.
    fn count_values<U: Unit>(&self, dim: usize, lo: u32, hi: u32, rows: &[U]) -> Vec<(u32, u64)> {
        let width = (hi - lo) as usize + 1;
        let entries = rows
            .chunks_exact(self.layout.stride)
            .map(|row| (row[dim].code(), u64::from(self.layout.count(row))));
        if width <= 4 * (rows.len() / self.layout.stride) + 64 {
            let mut counts: Vec<(u32, u64)> = (lo..=hi).map(|code| (code, 0)).collect();
            entries.for_each(|(code, records)| counts[(code - lo) as usize].1 += records);
            counts
        } else {
            let mut pairs: Vec<(u32, u64)> = entries.collect();
            pairs.sort_unstable();
            merge_equal(&mut pairs);
            pairs
        }
    }

    /// Returns the first candidate with enough distinct persons on both sides. The best one usually
    /// has them. If not, the shortest prefix and the shortest suffix with enough persons limit the
    /// cuts.
    fn cut_by_persons<U: Unit>(
        &self,
        dim: usize,
        candidates: Vec<Candidate>,
        rows: &[U],
    ) -> Option<Candidate> {
        let (persons, least) = self.persons?;
        let first = *candidates.first()?;
        let ids = |left: bool| {
            let rows = rows.chunks_exact(self.layout.stride);
            let here = rows.filter(move |row| (row[dim].code() <= first.at) == left);
            here.map(|row| self.layout.id(row) as usize)
        };
        if persons.reach(ids(true), least) && persons.reach(ids(false), least) {
            return Some(first);
        }
        let mut sorted: Vec<(u32, u32)> = rows
            .chunks_exact(self.layout.stride)
            .map(|row| (row[dim].code(), self.layout.id(row)))
            .collect();
        sorted.sort_unstable();
        let row = |&(_, id): &(u32, u32)| id as usize;
        let from = persons.reached_at(sorted.iter().map(row), least)?;
        let to = persons.reached_at(sorted.iter().rev().map(row), least)?;
        let (from, to) = (sorted[from].0, sorted[sorted.len() - 1 - to].0);
        candidates.into_iter().find(|candidate| candidate.at >= from && candidate.at < to)
    }

    /// Returns the first candidate of which the models admit both sides. The best few are tried
    /// separately, because one of them is usually admitted. Then a single scan checks all others.
    fn admitted_cut<U: Unit>(
        &self,
        dim: usize,
        candidates: &[Candidate],
        part: &Part<U>,
        rows: &[U],
    ) -> Option<Candidate> {
        let all: Vec<&[U]> = rows.chunks_exact(self.layout.stride).collect();
        let total = self.summary(&all);
        // The people that a part covers depend on all its rows, so an incremental scan is not
        // possible.
        let singly = if self.population.is_some() { candidates.len() } else { MAX_SINGLE_TRIES };
        for &candidate in candidates.iter().take(singly) {
            let (left, right): (Vec<&[U]>, Vec<&[U]>) =
                all.iter().partition(|row| row[dim].code() <= candidate.at);
            if self.halves_admitted(&left, &right, &total, part) {
                return Some(candidate);
            }
        }
        let rest = candidates.get(singly..)?;
        let mut sorted = all;
        sorted.sort_by_key(|row| row[dim]);
        let mut ascending = rest.to_vec();
        ascending.sort_by_key(|candidate| candidate.at);
        let (mut left, mut next) = (self.empty_summary(), 0);
        let mut best: Option<Candidate> = None;
        for candidate in ascending {
            let length = sorted[next..].partition_point(|row| row[dim].code() <= candidate.at);
            left.merge(&self.summary(&sorted[next..next + length]));
            next += length;
            let better = best.is_none_or(|b| candidate.rank(total.records) < b.rank(total.records));
            if better && self.both_admitted(&left, &total) {
                best = Some(candidate);
            }
        }
        best
    }

    /// Finds a relaxed cut: rows of equal value may be separated, in canonical order.
    pub(super) fn cut_rows<U: Unit>(
        &self,
        dim: usize,
        part: &Part<U>,
        rows: &[U],
    ) -> Option<Split> {
        let mut sorted: Vec<(u32, u32)> = rows
            .chunks_exact(self.layout.stride)
            .enumerate()
            .map(|(i, row)| (row[dim].code(), i as u32))
            .collect();
        sorted.sort_unstable();
        let row = |i: u32| &rows[i as usize * self.layout.stride..][..self.layout.stride];
        let counts = sorted
            .iter()
            .enumerate()
            .map(|(at, &(_, i))| (at as u32, u64::from(self.layout.count(row(i)))));
        let candidates = cut::all(counts, part.records, self.least);
        let total = self.summary(&rows.chunks_exact(self.layout.stride).collect::<Vec<_>>());
        let row_id = |at: usize| self.layout.id(row(sorted[at].1)) as usize;
        // Rows that differ only in the spelling of a number have no canonical order, so they stay
        // together.
        let alike = |a: usize, b: usize| {
            self.data.quasi_codes(a) == self.data.quasi_codes(b)
                && self.data.sensitive_codes(a) == self.data.sensitive_codes(b)
        };
        let best = candidates.into_iter().find(|candidate| {
            let at = candidate.at as usize;
            if alike(row_id(at), row_id(at + 1)) {
                return false;
            }
            let (left, right) = sorted.split_at(at + 1);
            let gather =
                |half: &[(u32, u32)]| half.iter().map(|&(_, i)| row(i)).collect::<Vec<_>>();
            self.counts_only() || self.halves_admitted(&gather(left), &gather(right), &total, part)
        })?;
        let mut left = vec![false; sorted.len()];
        sorted[..=best.at as usize].iter().for_each(|&(_, i)| left[i as usize] = true);
        Some(Split::ByRow { dim, left })
    }
}
