//! Dividing a part, and its parts, until nothing can be divided.

use incrowd_core::domain::Division;
use incrowd_core::model::BoundModel;
use incrowd_core::{Code, Dataset, GroupSummary, Progress};
use rayon::prelude::*;

use super::cut::{self, Candidate};
use super::space::{Layout, Space, Unit};
use super::{Cut, Dimension, Mondrian, Undersized};

/// Parts below this many rows are divided by one thread.
const PARALLEL_ROWS: usize = 4096;
/// How many cuts are tried one by one before a single scan judges them all.
const TRIED_SINGLY: usize = 4;

/// Parts that cannot be divided any more, in the order of the tree.
#[derive(Debug, Default)]
pub(super) struct Leaves {
    /// The tight span of each leaf on each line.
    pub(super) spans: Vec<(u32, u32)>,
    /// The rows of all leaves, one leaf after another.
    pub(super) rows: Vec<u32>,
    /// Where each leaf ends in `rows`.
    pub(super) ends: Vec<usize>,
}

/// A set of rows on its way to becoming groups.
#[derive(Clone, Debug)]
struct Part<U> {
    /// The least and the greatest code on each line.
    lo: Vec<U>,
    hi: Vec<U>,
    /// Lines this part may not be divided along again, because it was pooled on them.
    closed: Vec<bool>,
    records: u64,
    /// Where round robin goes on.
    turn: usize,
}

impl<U: Unit> Part<U> {
    fn span(&self, line: usize) -> (u32, u32) {
        (self.lo[line].code(), self.hi[line].code())
    }
}

/// How a part is divided: the part number of each value on a line, or of each row.
enum Split {
    /// By value: entry `code - lo` names the part.
    ByValue { line: usize, parts: Vec<u32>, count: usize, pool: Option<usize> },
    /// By position of the row in the part, for relaxed cuts.
    ByRow { line: usize, left: Vec<bool> },
}

impl Split {
    fn line(&self) -> usize {
        match self {
            Split::ByValue { line, .. } | Split::ByRow { line, .. } => *line,
        }
    }
}

/// What stays the same for all parts.
pub(super) struct Splitter<'a> {
    data: &'a Dataset,
    mondrian: &'a Mondrian,
    order: Option<Vec<usize>>,
    layout: Layout,
    /// Every part has at least this many records, whatever else the models ask.
    least: u64,
    /// Models that look at more than the number of records.
    others: Vec<&'a dyn BoundModel>,
    progress: &'a dyn Progress,
}

impl<'a> Splitter<'a> {
    pub(super) fn new(
        data: &'a Dataset,
        models: &'a [Box<dyn BoundModel>],
        mondrian: &'a Mondrian,
        order: Option<Vec<usize>>,
        layout: Layout,
        progress: &'a dyn Progress,
    ) -> Self {
        let least = models.iter().filter_map(|model| model.least_records()).max().unwrap_or(1).max(1);
        let others = models.iter().filter(|m| m.least_records().is_none()).map(|m| &**m).collect();
        Splitter { data, mondrian, order, layout, least, others, progress }
    }

    /// Divides the whole table.
    pub(super) fn run<U: Unit>(&self, space: &mut Space<U>) -> Vec<Leaves> {
        let mut part = self.no_part();
        for row in space.rows.chunks_exact(self.layout.stride) {
            self.include(&mut part, row);
        }
        self.divide(part, &mut space.rows, &mut space.spare)
    }

    fn no_part<U: Unit>(&self) -> Part<U> {
        let width = self.layout.width;
        let (lo, hi) = (vec![U::MAX; width], vec![U::default(); width]);
        Part { lo, hi, closed: vec![false; width], records: 0, turn: 0 }
    }

    #[inline]
    fn include<U: Unit>(&self, part: &mut Part<U>, row: &[U]) {
        let codes = &row[..self.layout.width];
        part.lo.iter_mut().zip(codes).for_each(|(lo, &code)| *lo = (*lo).min(code));
        part.hi.iter_mut().zip(codes).for_each(|(hi, &code)| *hi = (*hi).max(code));
        part.records += u64::from(self.layout.weight(row));
    }

    /// Divides a part whose rows are in `rows`; `spare` is as long and may be overwritten.
    fn divide<U: Unit>(&self, part: Part<U>, rows: &mut [U], spare: &mut [U]) -> Vec<Leaves> {
        if rows.len() / self.layout.stride < PARALLEL_ROWS {
            let mut leaves = Leaves::default();
            self.divide_here(part, rows, spare, &mut leaves);
            self.progress.advance(leaves.rows.len() as u64);
            return vec![leaves];
        }
        let Some(split) = self.find_split(&part, rows) else {
            let mut leaves = Leaves::default();
            self.keep(&part, rows, &mut leaves);
            self.progress.advance(leaves.rows.len() as u64);
            return vec![leaves];
        };
        let parts = self.move_rows(&part, &split, rows, spare);
        let mut jobs = Vec::with_capacity(parts.len());
        let (mut spare, mut rows) = (spare, rows);
        for (part, length) in parts {
            let (own, rest) = spare.split_at_mut(length);
            let (own_spare, rest_spare) = rows.split_at_mut(length);
            jobs.push((part, own, own_spare));
            (spare, rows) = (rest, rest_spare);
        }
        let divided: Vec<Vec<Leaves>> =
            jobs.into_par_iter().map(|(part, rows, spare)| self.divide(part, rows, spare)).collect();
        divided.into_iter().flatten().collect()
    }

    /// The same on one thread, all leaves into one list.
    fn divide_here<U: Unit>(&self, part: Part<U>, rows: &mut [U], spare: &mut [U], leaves: &mut Leaves) {
        let Some(split) = self.find_split(&part, rows) else {
            return self.keep(&part, rows, leaves);
        };
        let parts = self.move_rows(&part, &split, rows, spare);
        let mut start = 0;
        for (part, length) in parts {
            let end = start + length;
            self.divide_here(part, &mut spare[start..end], &mut rows[start..end], leaves);
            start = end;
        }
    }

    fn keep<U: Unit>(&self, part: &Part<U>, rows: &[U], leaves: &mut Leaves) {
        leaves.spans.extend((0..self.layout.width).map(|line| part.span(line)));
        leaves.rows.extend(rows.chunks_exact(self.layout.stride).map(|row| self.layout.id(row)));
        leaves.ends.push(leaves.rows.len());
    }

    /// The first admissible division in the order of preference.
    fn find_split<U: Unit>(&self, part: &Part<U>, rows: &[U]) -> Option<Split> {
        if part.records < 2 * self.least {
            return None;
        }
        let open = |line: &usize| !part.closed[*line] && part.lo[*line] < part.hi[*line];
        match (&self.mondrian.dimension, &self.order) {
            (Dimension::Priority(_), Some(order)) => {
                order.iter().copied().filter(open).find_map(|line| self.split_along(line, part, rows))
            }
            (Dimension::RoundRobin, _) => {
                let turns = (0..self.layout.width).map(|i| (part.turn + i) % self.layout.width);
                turns.filter(open).find_map(|line| self.split_along(line, part, rows))
            }
            _ => {
                let cost = |line: usize| {
                    let (lo, hi) = part.span(line);
                    self.data.quasi()[line].domain.ncp(Code(lo), Code(hi))
                };
                let mut lines: Vec<(usize, f64)> =
                    (0..self.layout.width).filter(open).map(|l| (l, cost(l))).collect();
                // The sort is stable: of equally costly lines the first of the table is divided.
                lines.sort_by(|a, b| b.1.total_cmp(&a.1));
                lines.into_iter().find_map(|(line, _)| self.split_along(line, part, rows))
            }
        }
    }

    fn split_along<U: Unit>(&self, line: usize, part: &Part<U>, rows: &[U]) -> Option<Split> {
        let (lo, hi) = part.span(line);
        match self.data.quasi()[line].domain.division(Code(lo), Code(hi)) {
            Division::Whole => None,
            Division::Anywhere if self.mondrian.cut == Cut::Relaxed => self.cut_rows(line, part, rows),
            Division::Anywhere => self.cut_values(line, part, rows),
            Division::Into(children) => self.part_children(line, &children, part, rows),
        }
    }

    /// Strict cut of a line of ordered values.
    fn cut_values<U: Unit>(&self, line: usize, part: &Part<U>, rows: &[U]) -> Option<Split> {
        let (lo, hi) = part.span(line);
        let counts = self.count_values(line, lo, hi, rows);
        let best = if self.others.is_empty() {
            cut::balanced(counts.into_iter(), part.records, self.least)?
        } else {
            let candidates = cut::all(counts.into_iter(), part.records, self.least);
            self.admitted_cut(line, &candidates, rows)?
        };
        let parts = (lo..=hi).map(|code| u32::from(code > best.at)).collect();
        Some(Split::ByValue { line, parts, count: 2, pool: None })
    }

    /// Records by value, ascending. A histogram where the line is short, sorting where it is long and the part small.
    fn count_values<U: Unit>(&self, line: usize, lo: u32, hi: u32, rows: &[U]) -> Vec<(u32, u64)> {
        let width = (hi - lo) as usize + 1;
        let entries = rows
            .chunks_exact(self.layout.stride)
            .map(|row| (row[line].code(), u64::from(self.layout.weight(row))));
        if width <= 4 * (rows.len() / self.layout.stride) + 64 {
            let mut counts: Vec<(u32, u64)> = (lo..=hi).map(|code| (code, 0)).collect();
            entries.for_each(|(code, records)| counts[(code - lo) as usize].1 += records);
            counts
        } else {
            let mut pairs: Vec<(u32, u64)> = entries.collect();
            pairs.sort_unstable();
            pairs
                .chunk_by(|a, b| a.0 == b.0)
                .map(|same| (same[0].0, same.iter().map(|p| p.1).sum()))
                .collect()
        }
    }

    /// The first candidate that all models admit. The best few are tried one by one, since one of them usually is the
    /// answer; then a single scan along the line judges all.
    fn admitted_cut<U: Unit>(&self, line: usize, candidates: &[Candidate], rows: &[U]) -> Option<Candidate> {
        let total = self.summary(rows.chunks_exact(self.layout.stride));
        for &candidate in candidates.iter().take(TRIED_SINGLY) {
            let left = self.summary(
                rows.chunks_exact(self.layout.stride).filter(|row| row[line].code() <= candidate.at),
            );
            if self.both_admitted(&left, &total) {
                return Some(candidate);
            }
        }
        let rest = candidates.get(TRIED_SINGLY..)?;
        let mut sorted: Vec<&[U]> = rows.chunks_exact(self.layout.stride).collect();
        sorted.sort_by_key(|row| row[line]);
        let mut ascending = rest.to_vec();
        ascending.sort_by_key(|candidate| candidate.at);
        let (mut left, mut next) = (self.no_records(), 0);
        let mut best: Option<Candidate> = None;
        for candidate in ascending {
            while next < sorted.len() && sorted[next][line].code() <= candidate.at {
                self.add(&mut left, sorted[next]);
                next += 1;
            }
            let better = best.is_none_or(|b| candidate.rank(total.records) < b.rank(total.records));
            if better && self.both_admitted(&left, &total) {
                best = Some(candidate);
            }
        }
        best
    }

    /// Relaxed cut: rows of equal value may part, in canonical order.
    fn cut_rows<U: Unit>(&self, line: usize, part: &Part<U>, rows: &[U]) -> Option<Split> {
        let mut sorted: Vec<(u32, u32)> = rows
            .chunks_exact(self.layout.stride)
            .enumerate()
            .map(|(i, row)| (row[line].code(), i as u32))
            .collect();
        sorted.sort_unstable();
        let row = |i: u32| &rows[i as usize * self.layout.stride..][..self.layout.stride];
        let counts =
            sorted.iter().enumerate().map(|(at, &(_, i))| (at as u32, u64::from(self.layout.weight(row(i)))));
        let candidates = cut::all(counts, part.records, self.least);
        let total = self.summary(rows.chunks_exact(self.layout.stride));
        let row_id = |at: usize| self.layout.id(row(sorted[at].1)) as usize;
        // Rows that differ only in the spelling of a number have no canonical order and stay together.
        let alike = |a: usize, b: usize| {
            self.data.quasi_codes(a) == self.data.quasi_codes(b)
                && self.data.sensitive_codes(a) == self.data.sensitive_codes(b)
        };
        let best = candidates.into_iter().find(|candidate| {
            let at = candidate.at as usize;
            if alike(row_id(at), row_id(at + 1)) {
                return false;
            }
            let left = sorted[..=candidate.at as usize].iter().map(|&(_, i)| row(i));
            self.others.is_empty() || self.both_admitted(&self.summary(left), &total)
        })?;
        let mut left = vec![false; sorted.len()];
        sorted[..=best.at as usize].iter().for_each(|&(_, i)| left[i as usize] = true);
        Some(Split::ByRow { line, left })
    }

    /// Division into the children of a taxonomy node.
    fn part_children<U: Unit>(
        &self,
        line: usize,
        children: &[(Code, Code)],
        part: &Part<U>,
        rows: &[U],
    ) -> Option<Split> {
        let (lo, hi) = part.span(line);
        let mut child_of = vec![0u32; (hi - lo) as usize + 1];
        for (child, (first, last)) in children.iter().enumerate() {
            let (first, last) = (first.0.max(lo), last.0.min(hi));
            if first <= last {
                child_of[(first - lo) as usize..=(last - lo) as usize].fill(child as u32);
            }
        }
        let empty = self.no_records();
        let mut summaries = vec![empty; children.len()];
        for row in rows.chunks_exact(self.layout.stride) {
            self.add(&mut summaries[child_of[(row[line].code() - lo) as usize] as usize], row);
        }
        let populated = |child: &usize| summaries[*child].records > 0;
        let (mut strong, mut weak): (Vec<usize>, Vec<usize>) =
            (0..children.len()).filter(populated).partition(|&child| self.admitted(&summaries[child]));
        if !weak.is_empty() {
            if self.mondrian.undersized == Undersized::Block {
                return None;
            }
            let domain = &self.data.quasi()[line].domain;
            let key = |child: &usize| {
                let (first, last) = children[*child];
                (summaries[*child].records, domain.tie_key(first, last))
            };
            strong.sort_by_cached_key(key);
            let mut joining = strong.into_iter();
            let mut pool = self.no_records();
            weak.iter().for_each(|&child| pool.merge(&summaries[child]));
            while !self.admitted(&pool) {
                let smallest = joining.next()?;
                pool.merge(&summaries[smallest]);
                weak.push(smallest);
            }
            strong = joining.collect();
            strong.sort_unstable();
        }
        if strong.is_empty() || (strong.len() == 1 && weak.is_empty()) {
            return None;
        }
        let pool = (!weak.is_empty()).then_some(strong.len());
        let mut number = vec![0u32; children.len()];
        strong.iter().enumerate().for_each(|(n, &child)| number[child] = n as u32);
        weak.iter().for_each(|&child| number[child] = strong.len() as u32);
        let parts = child_of.into_iter().map(|child| number[child as usize]).collect();
        Some(Split::ByValue { line, parts, count: strong.len() + usize::from(pool.is_some()), pool })
    }

    /// Moves the rows into `spare`, part after part, each in the old order; returns the parts and their lengths.
    fn move_rows<U: Unit>(
        &self,
        part: &Part<U>,
        split: &Split,
        rows: &[U],
        spare: &mut [U],
    ) -> Vec<(Part<U>, usize)> {
        let line = split.line();
        let lo = part.lo[line].code();
        let part_of = |i: usize, row: &[U]| match split {
            Split::ByValue { parts, .. } => parts[(row[line].code() - lo) as usize] as usize,
            Split::ByRow { left, .. } => usize::from(!left[i]),
        };
        let (count, pool) = match split {
            Split::ByValue { count, pool, .. } => (*count, *pool),
            Split::ByRow { .. } => (2, None),
        };
        let mut parts: Vec<(Part<U>, usize)> = (0..count)
            .map(|n| {
                let mut fresh = self.no_part();
                fresh.closed.clone_from(&part.closed);
                fresh.closed[line] |= pool == Some(n);
                fresh.turn = (line + 1) % self.layout.width;
                (fresh, 0)
            })
            .collect();
        for (i, row) in rows.chunks_exact(self.layout.stride).enumerate() {
            parts[part_of(i, row)].1 += self.layout.stride;
        }
        let mut next = Vec::with_capacity(count);
        let mut start = 0;
        for (_, length) in &parts {
            next.push(start);
            start += length;
        }
        for (i, row) in rows.chunks_exact(self.layout.stride).enumerate() {
            let n = part_of(i, row);
            spare[next[n]..next[n] + self.layout.stride].copy_from_slice(row);
            next[n] += self.layout.stride;
            self.include(&mut parts[n].0, row);
        }
        parts
    }

    fn no_records(&self) -> GroupSummary {
        GroupSummary::empty(if self.others.is_empty() { 0 } else { self.data.sensitive().len() })
    }

    fn summary<'r, U: Unit + 'r>(&self, rows: impl Iterator<Item = &'r [U]>) -> GroupSummary {
        let mut summary = self.no_records();
        rows.for_each(|row| self.add(&mut summary, row));
        summary
    }

    fn add<U: Unit>(&self, summary: &mut GroupSummary, row: &[U]) {
        summary.records += u64::from(self.layout.weight(row));
        for (histogram, code) in summary.sensitive.iter_mut().zip(self.layout.sensitive(row)) {
            histogram.add(code.code(), u64::from(self.layout.weight(row)));
        }
    }

    fn admitted(&self, summary: &GroupSummary) -> bool {
        summary.records >= self.least && self.others.iter().all(|model| model.admits(summary).holds)
    }

    fn both_admitted(&self, left: &GroupSummary, total: &GroupSummary) -> bool {
        let mut right = total.clone();
        right.remove(left);
        self.admitted(left) && self.admitted(&right)
    }
}
