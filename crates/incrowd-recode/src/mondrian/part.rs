//! Dividing a part, and its parts, until nothing can be divided.

use incrowd_core::domain::Division;
use incrowd_core::model::BoundModel;
use incrowd_core::{Code, Dataset, GroupSummary, Progress};
use rayon::prelude::*;

use super::cut::{self, Candidate};
use super::space::Space;
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
struct Part {
    /// The tight span on each line.
    spans: Vec<(u32, u32)>,
    /// Lines this part may not be divided along again, because it was pooled on them.
    closed: Vec<bool>,
    records: u64,
    /// Where round robin goes on.
    turn: usize,
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
    width: usize,
    stride: usize,
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
        stride: usize,
        progress: &'a dyn Progress,
    ) -> Self {
        let least = models.iter().filter_map(|model| model.least_records()).max().unwrap_or(1).max(1);
        let others = models.iter().filter(|m| m.least_records().is_none()).map(|m| &**m).collect();
        Splitter { data, mondrian, order, width: data.quasi().len(), stride, least, others, progress }
    }

    /// Divides the whole table.
    pub(super) fn run(&self, space: &mut Space) -> Vec<Leaves> {
        let mut part = self.no_part();
        for row in space.rows.chunks_exact(self.stride) {
            self.include(&mut part, row);
        }
        self.divide(part, &mut space.rows, &mut space.spare)
    }

    fn no_part(&self) -> Part {
        let (spans, closed) = (vec![(u32::MAX, 0); self.width], vec![false; self.width]);
        Part { spans, closed, records: 0, turn: 0 }
    }

    #[inline]
    fn include(&self, part: &mut Part, row: &[u32]) {
        for (span, &code) in part.spans.iter_mut().zip(row) {
            span.0 = span.0.min(code);
            span.1 = span.1.max(code);
        }
        part.records += u64::from(row[self.width]);
    }

    /// Divides a part whose rows are in `rows`; `spare` is as long and may be overwritten.
    fn divide(&self, part: Part, rows: &mut [u32], spare: &mut [u32]) -> Vec<Leaves> {
        if rows.len() / self.stride < PARALLEL_ROWS {
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
    fn divide_here(&self, part: Part, rows: &mut [u32], spare: &mut [u32], leaves: &mut Leaves) {
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

    fn keep(&self, part: &Part, rows: &[u32], leaves: &mut Leaves) {
        leaves.spans.extend_from_slice(&part.spans);
        leaves.rows.extend(rows.chunks_exact(self.stride).map(|row| row[self.width + 1]));
        leaves.ends.push(leaves.rows.len());
    }

    /// The first admissible division in the order of preference.
    fn find_split(&self, part: &Part, rows: &[u32]) -> Option<Split> {
        if part.records < 2 * self.least {
            return None;
        }
        let open = |line: &usize| !part.closed[*line] && part.spans[*line].0 < part.spans[*line].1;
        match (&self.mondrian.dimension, &self.order) {
            (Dimension::Priority(_), Some(order)) => {
                order.iter().copied().filter(open).find_map(|line| self.split_along(line, part, rows))
            }
            (Dimension::RoundRobin, _) => {
                let turns = (0..self.width).map(|i| (part.turn + i) % self.width);
                turns.filter(open).find_map(|line| self.split_along(line, part, rows))
            }
            _ => {
                let cost = |line: usize| {
                    let (lo, hi) = part.spans[line];
                    self.data.quasi()[line].domain.ncp(Code(lo), Code(hi))
                };
                let mut lines: Vec<(usize, f64)> =
                    (0..self.width).filter(open).map(|l| (l, cost(l))).collect();
                // The sort is stable: of equally costly lines the first of the table is divided.
                lines.sort_by(|a, b| b.1.total_cmp(&a.1));
                lines.into_iter().find_map(|(line, _)| self.split_along(line, part, rows))
            }
        }
    }

    fn split_along(&self, line: usize, part: &Part, rows: &[u32]) -> Option<Split> {
        let (lo, hi) = part.spans[line];
        match self.data.quasi()[line].domain.division(Code(lo), Code(hi)) {
            Division::Whole => None,
            Division::Anywhere if self.mondrian.cut == Cut::Relaxed => self.cut_rows(line, part, rows),
            Division::Anywhere => self.cut_values(line, part, rows),
            Division::Into(children) => self.part_children(line, &children, part, rows),
        }
    }

    /// Strict cut of a line of ordered values.
    fn cut_values(&self, line: usize, part: &Part, rows: &[u32]) -> Option<Split> {
        let (lo, hi) = part.spans[line];
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
    fn count_values(&self, line: usize, lo: u32, hi: u32, rows: &[u32]) -> Vec<(u32, u64)> {
        let width = (hi - lo) as usize + 1;
        let entries = rows.chunks_exact(self.stride).map(|row| (row[line], u64::from(row[self.width])));
        if width <= 4 * (rows.len() / self.stride) + 64 {
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
    fn admitted_cut(&self, line: usize, candidates: &[Candidate], rows: &[u32]) -> Option<Candidate> {
        let total = self.summary(rows.chunks_exact(self.stride));
        for &candidate in candidates.iter().take(TRIED_SINGLY) {
            let left = self.summary(rows.chunks_exact(self.stride).filter(|row| row[line] <= candidate.at));
            if self.both_admitted(&left, &total) {
                return Some(candidate);
            }
        }
        let rest = candidates.get(TRIED_SINGLY..)?;
        let mut sorted: Vec<&[u32]> = rows.chunks_exact(self.stride).collect();
        sorted.sort_by_key(|row| row[line]);
        let mut ascending = rest.to_vec();
        ascending.sort_by_key(|candidate| candidate.at);
        let (mut left, mut next) = (self.summary(std::iter::empty()), 0);
        let mut best: Option<Candidate> = None;
        for candidate in ascending {
            while next < sorted.len() && sorted[next][line] <= candidate.at {
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
    fn cut_rows(&self, line: usize, part: &Part, rows: &[u32]) -> Option<Split> {
        let mut sorted: Vec<(u32, u32)> =
            rows.chunks_exact(self.stride).enumerate().map(|(i, row)| (row[line], i as u32)).collect();
        sorted.sort_unstable();
        let row = |i: u32| &rows[i as usize * self.stride..][..self.stride];
        let counts =
            sorted.iter().enumerate().map(|(at, &(_, i))| (at as u32, u64::from(row(i)[self.width])));
        let candidates = cut::all(counts, part.records, self.least);
        let total = self.summary(rows.chunks_exact(self.stride));
        let row_id = |at: usize| row(sorted[at].1)[self.width + 1] as usize;
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
    fn part_children(
        &self,
        line: usize,
        children: &[(Code, Code)],
        part: &Part,
        rows: &[u32],
    ) -> Option<Split> {
        let (lo, hi) = part.spans[line];
        let mut child_of = vec![0u32; (hi - lo) as usize + 1];
        for (child, (first, last)) in children.iter().enumerate() {
            let (first, last) = (first.0.max(lo), last.0.min(hi));
            if first <= last {
                child_of[(first - lo) as usize..=(last - lo) as usize].fill(child as u32);
            }
        }
        let empty = self.summary(std::iter::empty());
        let mut summaries = vec![empty; children.len()];
        for row in rows.chunks_exact(self.stride) {
            self.add(&mut summaries[child_of[(row[line] - lo) as usize] as usize], row);
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
            let mut pool = self.summary(std::iter::empty());
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
    fn move_rows(&self, part: &Part, split: &Split, rows: &[u32], spare: &mut [u32]) -> Vec<(Part, usize)> {
        let line = split.line();
        let lo = part.spans[line].0;
        let part_of = |i: usize, row: &[u32]| match split {
            Split::ByValue { parts, .. } => parts[(row[line] - lo) as usize] as usize,
            Split::ByRow { left, .. } => usize::from(!left[i]),
        };
        let (count, pool) = match split {
            Split::ByValue { count, pool, .. } => (*count, *pool),
            Split::ByRow { .. } => (2, None),
        };
        let mut parts: Vec<(Part, usize)> = (0..count)
            .map(|n| {
                let mut fresh = self.no_part();
                fresh.closed.clone_from(&part.closed);
                fresh.closed[line] |= pool == Some(n);
                fresh.turn = (line + 1) % self.width;
                (fresh, 0)
            })
            .collect();
        for (i, row) in rows.chunks_exact(self.stride).enumerate() {
            parts[part_of(i, row)].1 += self.stride;
        }
        let mut next = Vec::with_capacity(count);
        let mut start = 0;
        for (_, length) in &parts {
            next.push(start);
            start += length;
        }
        for (i, row) in rows.chunks_exact(self.stride).enumerate() {
            let n = part_of(i, row);
            spare[next[n]..next[n] + self.stride].copy_from_slice(row);
            next[n] += self.stride;
            self.include(&mut parts[n].0, row);
        }
        parts
    }

    fn summary<'r>(&self, rows: impl Iterator<Item = &'r [u32]>) -> GroupSummary {
        let sensitive = if self.others.is_empty() { 0 } else { self.data.sensitive().len() };
        let mut summary = GroupSummary::empty(sensitive);
        rows.for_each(|row| self.add(&mut summary, row));
        summary
    }

    fn add(&self, summary: &mut GroupSummary, row: &[u32]) {
        summary.add(u64::from(row[self.width]), &row[self.width + 2..]);
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
