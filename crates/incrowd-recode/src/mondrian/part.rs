//! Dividing a part, and its parts, until nothing can be divided.

use incrowd_core::domain::SplitRule;
use incrowd_core::model::BoundModel;
use incrowd_core::{Code, Dataset, Domain, GroupSummary, Persons, Population, Progress};
use rayon::prelude::*;

use super::joined::Sensitive;
use super::runs::Choice;
use super::space::{Alike, Layout, Space, Unit};
use super::{Cut, Mondrian};
use crate::join::JoinRules;
use crate::{asks_more, fewest_persons, fewest_records};

/// Parts below this many rows are divided by one thread.
pub(super) const PARALLEL_ROWS: usize = if cfg!(test) { 20 } else { 4096 };

/// Parts that cannot be divided any more, in the order of the tree.
#[derive(Debug, Default)]
pub(super) struct Leaves {
    /// The tight span of each leaf on each line.
    pub(super) spans: Vec<(u32, u32)>,
    /// The rows of all leaves, one leaf after another.
    pub(super) rows: Vec<u32>,
    /// Where each leaf ends in `rows`.
    pub(super) ends: Vec<usize>,
    /// How many records each of them has.
    pub(super) records: Vec<u64>,
    /// The certainty penalties of their cells, columns weighted.
    pub(super) cost: f64,
    /// Whether each leaf is the first of a sensitive group; only where rows of an external table take part.
    pub(super) starts: Vec<bool>,
    /// Those of columns in regular intervals alone.
    pub(super) regular_cost: f64,
}

/// A set of rows on its way to becoming groups.
#[derive(Clone, Debug)]
pub(super) struct Part<U> {
    /// The least and the greatest code on each line.
    pub(super) lo: Vec<U>,
    pub(super) hi: Vec<U>,
    /// Lines this part may not be divided along again, because it was pooled on them.
    closed: Vec<bool>,
    /// On each line the node at which no division of this part or of any of its parts can leave enough records on two sides.
    hopeless: Vec<Option<(u32, u32)>>,
    pub(super) records: u64,
    /// Where round robin goes on.
    turn: usize,
    /// How many records may be suppressed in this part and its parts.
    pub(super) suppressible: u64,
    /// The rows of the population that the part's cells cover; empty if no model asks.
    pub(super) people: Vec<u32>,
    /// Records that are microdata: all, unless rows of an external table take part.
    pub(super) microdata: u64,
    /// Which sensitive groups the part's leaves are of.
    pub(super) sensitive: Sensitive,
}

impl<U: Unit> Part<U> {
    pub(super) fn span(&self, line: usize) -> (u32, u32) {
        (self.lo[line].code(), self.hi[line].code())
    }

    /// Widens the part by the rows of another.
    pub(super) fn add(&mut self, other: Part<U>) {
        self.lo.iter_mut().zip(other.lo).for_each(|(lo, other)| *lo = (*lo).min(other));
        self.hi.iter_mut().zip(other.hi).for_each(|(hi, other)| *hi = (*hi).max(other));
        self.records += other.records;
        self.microdata += other.microdata;
    }

    /// The rows of both.
    pub(super) fn with(mut self, other: Part<U>) -> Part<U> {
        self.add(other);
        self
    }
}

/// Lines whose bounds are looked for together.
const LINES: usize = 8;

/// Widens bounds by codes, all at once: in copies, which a compiler knows to be apart.
#[inline]
fn widen<U: Unit>(codes: &[U; LINES], lo: &mut [U; LINES], hi: &mut [U; LINES]) {
    let (mut least, mut greatest) = (*lo, *hi);
    for at in 0..LINES {
        least[at] = least[at].min(codes[at]);
        greatest[at] = greatest[at].max(codes[at]);
    }
    (*lo, *hi) = (least, greatest);
}

/// The part number of values that are suppressed.
pub(super) const SUPPRESSED: u32 = u32::MAX;

/// How a part is divided: the part number of each value on a line, or of each row.
pub(super) enum Split {
    /// By value: entry `code - lo` names the part.
    ByValue { line: usize, parts: Vec<u32>, count: usize, pool: Option<usize> },
    /// By position of the row in the part, for relaxed cuts.
    ByRow { line: usize, left: Vec<bool> },
}

/// Why a part is not divided along a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// This part is not.
    Here,
    /// Nor is any part of it that stands at the same node.
    Hopeless,
}

impl Split {
    pub(super) fn line(&self) -> usize {
        match self {
            Split::ByValue { line, .. } | Split::ByRow { line, .. } => *line,
        }
    }
}

/// What stays the same for all parts.
pub(super) struct Splitter<'a> {
    pub(super) data: &'a Dataset,
    pub(super) mondrian: &'a Mondrian,
    choice: &'a Choice,
    pub(super) layout: Layout,
    /// Every part has at least this many records, whatever else the models ask.
    pub(super) least: u64,
    /// Every part has at least this many different persons, if persons are counted.
    pub(super) persons: Option<(&'a Persons, u64)>,
    /// Models that look at more than the number of records or persons.
    pub(super) others: Vec<&'a dyn BoundModel>,
    /// The sensitive columns they look at.
    pub(super) watched: Vec<usize>,
    /// The population, if a model asks for it.
    pub(super) population: Option<&'a Population>,
    /// Whether everybody whom a part's cells cover must be covered by one of its parts.
    pub(super) keeps_people: bool,
    /// Whose rows are external, if some are.
    pub(super) rules: Option<&'a JoinRules<'a>>,
    /// Rows that are one with others.
    pub(super) alike: Alike,
    progress: &'a dyn Progress,
}

impl<'a> Splitter<'a> {
    pub(super) fn new(
        data: &'a Dataset,
        models: &'a [Box<dyn BoundModel>],
        mondrian: &'a Mondrian,
        choice: &'a Choice,
        layout: Layout,
        progress: &'a dyn Progress,
    ) -> Self {
        let least = fewest_records(models);
        let others: Vec<&dyn BoundModel> = models.iter().filter(|m| asks_more(&***m)).map(|m| &**m).collect();
        let mut watched: Vec<usize> = others.iter().filter_map(|model| model.looks_at()).collect();
        watched.sort_unstable();
        watched.dedup();
        let population = data.population();
        let left_out = GroupSummary { population: 1, ..GroupSummary::empty(data.sensitive().len()) };
        let keeps_people = population.is_some()
            && others.iter().any(|m| m.looks_at().is_none() && !m.admits(&left_out).holds);
        let rules = None;
        Splitter {
            data,
            mondrian,
            choice,
            layout,
            least,
            persons: fewest_persons(data, models),
            others,
            watched,
            population,
            keeps_people,
            rules,
            alike: Alike::default(),
            progress,
        }
    }

    /// Divides rows some of which are external: every part has at least as many records as the rules ask for.
    pub(super) fn among(
        data: &'a Dataset,
        rules: &'a JoinRules<'a>,
        mondrian: &'a Mondrian,
        choice: &'a Choice,
        layout: Layout,
        progress: &'a dyn Progress,
    ) -> Self {
        let all = Splitter::new(data, &[], mondrian, choice, layout, progress);
        Splitter { least: rules.least().max(1), population: None, rules: Some(rules), ..all }
    }

    /// Divides the whole table.
    pub(super) fn run<U: Unit>(&self, space: &mut Space<U>, suppressible: u64) -> Vec<Leaves> {
        let mut part = self.bounds(&space.rows);
        part.suppressible = suppressible;
        if self.rules.is_some() && part.microdata == 0 {
            return Vec::new();
        }
        if let Some(population) = self.population {
            let everybody: Vec<u32> = (0..population.rows() as u32).collect();
            part.people = self.people(space.rows.chunks_exact(self.layout.stride), &everybody);
        }
        self.divide(part, &mut space.rows, &mut space.spare)
    }

    pub(super) fn no_part<U: Unit>(&self) -> Part<U> {
        let width = self.layout.width;
        let (lo, hi) = (vec![U::MAX; width], vec![U::default(); width]);
        Part {
            lo,
            hi,
            closed: vec![false; width],
            hopeless: vec![None; width],
            records: 0,
            turn: 0,
            suppressible: 0,
            people: Vec::new(),
            microdata: 0,
            sensitive: Sensitive::default(),
        }
    }

    /// Tells a part of rows that lie one after another: what they reach from and to, and how many records they have.
    pub(super) fn include<U: Unit>(&self, part: &mut Part<U>, rows: &[U]) {
        let Layout { width, stride } = self.layout;
        let each = || rows.chunks_exact(stride);
        // So many lines at a time; what comes after the codes in a row does not count.
        for first in (0..width).step_by(LINES).map(|first| first.min(stride.saturating_sub(LINES))) {
            let (mut lo, mut hi) = ([U::MAX; LINES], [U::default(); LINES]);
            match stride >= LINES {
                true => each().for_each(|row| match row[first..].first_chunk() {
                    Some(codes) => widen(codes, &mut lo, &mut hi),
                    None => unreachable!("a row has its length"),
                }),
                // There are fewer lines than that.
                false => each().for_each(|row| {
                    let ends = lo.iter_mut().zip(&mut hi).zip(row);
                    ends.for_each(|((lo, hi), &code)| (*lo, *hi) = ((*lo).min(code), (*hi).max(code)));
                }),
            }
            for (line, (lo, hi)) in (first..width).zip(lo.into_iter().zip(hi)) {
                part.lo[line] = part.lo[line].min(lo);
                part.hi[line] = part.hi[line].max(hi);
            }
        }
        part.records += each().map(|row| u64::from(self.layout.weight(row))).sum::<u64>();
        if let Some(rules) = self.rules {
            let own = each().filter(|row| rules.is_microdata(self.layout.id(row)));
            part.microdata += own.map(|row| u64::from(self.layout.weight(row))).sum::<u64>();
        }
    }

    /// So many rows are done with.
    pub(super) fn told(&self, rows: u64) {
        self.progress.advance(rows);
    }

    /// Whether a part is worth going on with: one that holds external rows only is not published.
    fn bears(&self, part: &Part<impl Unit>) -> bool {
        self.rules.is_none() || part.microdata > 0
    }

    /// Divides a part whose rows are in `rows`; `spare` is as long and may be overwritten.
    fn divide<U: Unit>(&self, mut part: Part<U>, rows: &mut [U], spare: &mut [U]) -> Vec<Leaves> {
        if rows.len() / self.layout.stride < PARALLEL_ROWS {
            let mut leaves = Leaves::default();
            self.divide_here(part, rows, spare, &mut leaves);
            self.progress.advance(leaves.rows.len() as u64);
            return vec![leaves];
        }
        let Some(split) = self.find_split(&mut part, rows) else {
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
            if self.bears(&part) {
                jobs.push((part, own, own_spare));
            }
            (spare, rows) = (rest, rest_spare);
        }
        let divided: Vec<Vec<Leaves>> =
            jobs.into_par_iter().map(|(part, rows, spare)| self.divide(part, rows, spare)).collect();
        divided.into_iter().flatten().collect()
    }

    /// The same on one thread, all leaves into one list.
    fn divide_here<U: Unit>(&self, mut part: Part<U>, rows: &mut [U], spare: &mut [U], leaves: &mut Leaves) {
        let Some(split) = self.find_split(&mut part, rows) else {
            return self.keep(&part, rows, leaves);
        };
        let parts = self.move_rows(&part, &split, rows, spare);
        let mut start = 0;
        for (part, length) in parts {
            let end = start + length;
            if self.bears(&part) {
                self.divide_here(part, &mut spare[start..end], &mut rows[start..end], leaves);
            }
            start = end;
        }
    }

    fn keep<U: Unit>(&self, part: &Part<U>, rows: &[U], leaves: &mut Leaves) {
        leaves.spans.extend((0..self.layout.width).map(|line| part.span(line)));
        let rows = rows.chunks_exact(self.layout.stride);
        leaves.rows.extend(rows.flat_map(|row| self.alike.rows(self.layout.id(row))));
        leaves.ends.push(leaves.rows.len());
        leaves.records.push(part.records);
        let (mut cost, mut regular) = (0.0, 0.0);
        for line in 0..self.layout.width {
            let own = self.cost(line, part);
            cost += own;
            if matches!(&self.data.quasi()[line].domain, Domain::Taxonomy(tree) if tree.grid().is_some()) {
                regular += own;
            }
        }
        leaves.cost += cost * part.records as f64;
        if self.rules.is_some() {
            leaves.starts.push(part.sensitive.starts);
        }
        leaves.regular_cost += regular * part.records as f64;
    }

    /// What publishing a part costs a record on one line, weighted.
    fn cost<U: Unit>(&self, line: usize, part: &Part<U>) -> f64 {
        let ((lo, hi), quasi) = (part.span(line), &self.data.quasi()[line]);
        quasi.weight * quasi.domain.ncp(Code(lo), Code(hi))
    }

    /// The first admissible division in the order of preference.
    fn find_split<U: Unit>(&self, part: &mut Part<U>, rows: &[U]) -> Option<Split> {
        if part.records < 2 * self.least {
            return None;
        }
        let open = |line: &usize| !part.closed[*line] && part.lo[*line] < part.hi[*line];
        let lines: Vec<usize> = match self.choice {
            Choice::Order(order) => order.iter().copied().filter(open).collect(),
            Choice::RoundRobin => {
                let turns = (0..self.layout.width).map(|i| (part.turn + i) % self.layout.width);
                turns.filter(open).collect()
            }
            Choice::Widest(weights) => {
                let score = |line: usize| weights[line] * self.cost(line, part);
                let mut lines: Vec<(usize, f64)> =
                    (0..self.layout.width).filter(open).map(|l| (l, score(l))).collect();
                // The sort is stable: of equally costly lines the first of the table is divided.
                lines.sort_by(|a, b| b.1.total_cmp(&a.1));
                lines.into_iter().map(|(line, _)| line).collect()
            }
        };
        for line in lines {
            // Runs that go by an order try the same lines again in every part, so what was hopeless is remembered.
            let node = part.hopeless[line].and_then(|_| self.node(line, part));
            if node.is_some() && part.hopeless[line] == node {
                continue;
            }
            match self.split_along(line, part, rows) {
                Ok(split) => return Some(split),
                Err(Refusal::Hopeless) => part.hopeless[line] = self.node(line, part),
                Err(Refusal::Here) => {}
            }
        }
        None
    }

    /// The leaves of the node a part stands at, if that is how its line is divided; the whole line where it is cut.
    fn node<U: Unit>(&self, line: usize, part: &Part<U>) -> Option<(u32, u32)> {
        let (lo, hi) = part.span(line);
        match &self.data.quasi()[line].domain {
            Domain::Taxonomy(tree) => {
                let (first, last) = tree.span(tree.common(Code(lo), Code(hi)));
                Some((first.0, last.0))
            }
            domain if domain.split_rule(Code(lo), Code(hi)) == SplitRule::Anywhere => Some((0, u32::MAX)),
            _ => None,
        }
    }

    fn split_along<U: Unit>(&self, line: usize, part: &Part<U>, rows: &[U]) -> Result<Split, Refusal> {
        let (lo, hi) = part.span(line);
        match self.data.quasi()[line].domain.split_rule(Code(lo), Code(hi)) {
            SplitRule::Whole => Err(Refusal::Here),
            SplitRule::Anywhere if self.mondrian.cut == Cut::Relaxed => {
                self.cut_rows(line, part, rows).ok_or(Refusal::Here)
            }
            // No cut leaves enough records or persons on both sides: neither does one of fewer records.
            SplitRule::Anywhere if self.others.is_empty() => {
                self.cut_values(line, part, rows).ok_or(Refusal::Hopeless)
            }
            SplitRule::Anywhere => self.cut_values(line, part, rows).ok_or(Refusal::Here),
            SplitRule::Into(children) => self.part_children(line, &children, part, rows),
        }
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
        let (count, pool) = match split {
            Split::ByValue { count, pool, .. } => (*count, *pool),
            Split::ByRow { .. } => (2, None),
        };
        let mut parts: Vec<(Part<U>, usize)> = (0..count)
            .map(|n| {
                let mut fresh = self.no_part();
                fresh.closed.clone_from(&part.closed);
                fresh.closed[line] |= pool == Some(n);
                fresh.hopeless.clone_from(&part.hopeless);
                fresh.turn = (line + 1) % self.layout.width;
                (fresh, 0)
            })
            .collect();
        self.spread(split, part.lo[line].code(), rows, spare, &mut parts);
        self.share_suppression(part, &mut parts);
        self.share_sensitive(part, &mut parts, spare);
        if self.population.is_some() {
            let mut start = 0;
            for (fresh, length) in &mut parts {
                let rows = spare[start..start + *length].chunks_exact(self.layout.stride);
                fresh.people = self.people(rows, &part.people);
                start += *length;
            }
        }
        parts
    }

    /// What may still be suppressed goes to the parts in proportion to their records, rounded down: the parts are divided
    /// independently, so that together they never suppress more than the whole may.
    fn share_suppression<U: Unit>(&self, part: &Part<U>, parts: &mut [(Part<U>, usize)]) {
        let kept: u64 = parts.iter().map(|(fresh, _)| fresh.records).sum();
        let left = part.suppressible.saturating_sub(part.records - kept);
        for (fresh, _) in parts {
            let share = u128::from(left) * u128::from(fresh.records) / u128::from(kept.max(1));
            fresh.suppressible = share as u64;
        }
    }
}
