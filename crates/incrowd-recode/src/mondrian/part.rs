//! The recursive division of a part.

use incrowd_core::domain::SplitRule;
use incrowd_core::model::BoundModel;
use incrowd_core::{Code, Dataset, Domain, GroupSummary, Persons, Population, Progress};
use rayon::prelude::*;

use super::joined::SensitiveGroups;
use super::runs::Choice;
use super::space::{Alike, Layout, Unit, WorkingRows};
use super::{Cut, Mondrian};
use crate::join::JoinRules;
use crate::{exceeds_counting, fewest_persons, fewest_records};

/// Parts with fewer rows are divided by one thread.
const PARALLEL_ROWS: usize = if cfg!(test) { 20 } else { 4096 };

/// Parts that cannot be divided any more, in the order of the tree.
#[derive(Debug, Default)]
pub(super) struct Leaves {
    /// The tight span of each leaf in each dimension.
    pub(super) spans: Vec<(u32, u32)>,
    /// The rows of all leaves, one leaf after another.
    pub(super) rows: Vec<u32>,
    /// The end of each leaf in `rows`.
    pub(super) ends: Vec<usize>,
    /// The number of records of each leaf.
    pub(super) records: Vec<u64>,
    /// The sum of the certainty penalties of their cells, multiplied by the importance of the
    /// columns.
    pub(super) cost: f64,
    /// Whether each leaf is the first of a sensitive group. Empty unless some rows are external.
    pub(super) starts: Vec<bool>,
    /// The part of `cost` that belongs to columns in regular intervals.
    pub(super) regular_cost: f64,
}

/// A set of rows that is divided further or becomes a group.
#[derive(Clone, Debug)]
pub(super) struct Part<U> {
    /// The least and the greatest code in each dimension.
    pub(super) lo: Vec<U>,
    pub(super) hi: Vec<U>,
    /// Dimensions along which this part must not be divided again, because it was pooled in them.
    closed: Vec<bool>,
    /// By dimension: the taxonomy node at which no division of this part or of its descendants
    /// leaves enough records on two sides.
    hopeless: Vec<Option<(u32, u32)>>,
    pub(super) records: u64,
    /// The next dimension for round robin.
    turn: usize,
    /// The number of records that may be suppressed in this part and its descendants.
    pub(super) suppressible: u64,
    /// The rows of the population that the part's cells cover. Empty if no model needs them.
    pub(super) people: Vec<u32>,
    /// The number of records of the microdata. All records, unless some rows are external.
    pub(super) microdata: u64,
    /// The sensitive groups of the part's leaves.
    pub(super) sensitive: SensitiveGroups,
}

impl<U: Unit> Part<U> {
    pub(super) fn span(&self, dim: usize) -> (u32, u32) {
        (self.lo[dim].code(), self.hi[dim].code())
    }

    /// Extends the part by the rows of another.
    pub(super) fn add(&mut self, other: Part<U>) {
        self.lo.iter_mut().zip(other.lo).for_each(|(lo, other)| *lo = (*lo).min(other));
        self.hi.iter_mut().zip(other.hi).for_each(|(hi, other)| *hi = (*hi).max(other));
        self.records += other.records;
        self.microdata += other.microdata;
    }

    /// Returns the union of both.
    pub(super) fn with(mut self, other: Part<U>) -> Part<U> {
        self.add(other);
        self
    }
}

/// The number of dimensions whose bounds are computed together with SIMD instructions.
const DIMS: usize = 8;

/// Extends bounds by codes. Works on local copies, because the compiler vectorizes the loop only if
/// it knows that the arrays do not alias.
#[inline]
fn widen<U: Unit>(codes: &[U; DIMS], lo: &mut [U; DIMS], hi: &mut [U; DIMS]) {
    let (mut least, mut greatest) = (*lo, *hi);
    for at in 0..DIMS {
        least[at] = least[at].min(codes[at]);
        greatest[at] = greatest[at].max(codes[at]);
    }
    (*lo, *hi) = (least, greatest);
}

/// The child number of suppressed values.
pub(super) const SUPPRESSED: u32 = u32::MAX;

/// A division: the child number of each value of a dimension, or of each row.
pub(super) enum Split {
    /// By value: entry `code - lo` is the child number.
    ByValue { dim: usize, parts: Vec<u32>, count: usize, pool: Option<usize> },
    /// By the row's position in the part, for relaxed cuts.
    ByRow { dim: usize, left: Vec<bool> },
}

/// The reason why a part is not divided along a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// This part cannot be divided.
    Here,
    /// Nor can any of its descendants at the same taxonomy node.
    Hopeless,
}

impl Split {
    pub(super) fn dim(&self) -> usize {
        match self {
            Split::ByValue { dim, .. } | Split::ByRow { dim, .. } => *dim,
        }
    }
}

/// The data that all divisions of a run share.
pub(super) struct Splitter<'a> {
    pub(super) data: &'a Dataset,
    pub(super) mondrian: &'a Mondrian,
    choice: &'a Choice,
    pub(super) layout: Layout,
    /// The least number of records of a part.
    pub(super) least: u64,
    /// The least number of distinct persons of a part, if persons are counted.
    pub(super) persons: Option<(&'a Persons, u64)>,
    /// Models that depend on more than the number of records or persons.
    pub(super) others: Vec<&'a dyn BoundModel>,
    /// The sensitive columns they depend on.
    pub(super) watched: Vec<usize>,
    /// The population, if a model needs it.
    pub(super) population: Option<&'a Population>,
    /// Whether all people that a part's cells cover must be covered by one of its children.
    pub(super) must_cover_population: bool,
    /// The rules for external rows, if there are any.
    pub(super) rules: Option<&'a JoinRules<'a>>,
    /// Rows of the table that are merged.
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
        let others: Vec<&dyn BoundModel> =
            models.iter().filter(|m| exceeds_counting(&***m)).map(|m| &**m).collect();
        let mut watched: Vec<usize> =
            others.iter().filter_map(|model| model.sensitive_column()).collect();
        watched.sort_unstable();
        watched.dedup();
        let population = data.population();
        let left_out =
            GroupSummary { population: 1, ..GroupSummary::empty(data.sensitive().len()) };
        let must_cover_population = population.is_some()
            && others.iter().any(|m| m.sensitive_column().is_none() && !m.admits(&left_out).holds);
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
            must_cover_population,
            rules,
            alike: Alike::default(),
            progress,
        }
    }

    /// Creates a splitter for rows some of which are external. Every part must have at least as
    /// many records as the rules require.
    pub(super) fn with_external(
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
    pub(super) fn run<U: Unit>(
        &self,
        space: &mut WorkingRows<U>,
        suppressible: u64,
    ) -> Vec<Leaves> {
        let mut part = self.bounds(&space.rows);
        part.suppressible = suppressible;
        if self.rules.is_some() && part.microdata == 0 {
            return Vec::new();
        }
        if let Some(population) = self.population {
            let everybody: Vec<u32> = (0..population.rows() as u32).collect();
            part.people =
                self.covered_people(space.rows.chunks_exact(self.layout.stride), &everybody);
        }
        self.divide(part, &mut space.rows, &mut space.spare)
    }

    pub(super) fn empty_part<U: Unit>(&self) -> Part<U> {
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
            sensitive: SensitiveGroups::default(),
        }
    }

    /// Extends a part by contiguous rows.
    pub(super) fn include<U: Unit>(&self, part: &mut Part<U>, rows: &[U]) {
        let Layout { width, stride } = self.layout;
        let each = || rows.chunks_exact(stride);
        // A chunk may extend beyond the codes of a row. The surplus is ignored below.
        for first in (0..width).step_by(DIMS).map(|first| first.min(stride.saturating_sub(DIMS))) {
            let (mut lo, mut hi) = ([U::MAX; DIMS], [U::default(); DIMS]);
            match stride >= DIMS {
                true => each().for_each(|row| match row[first..].first_chunk() {
                    Some(codes) => widen(codes, &mut lo, &mut hi),
                    None => unreachable!("a row has `stride` units"),
                }),
                // The whole row is shorter than a chunk.
                false => each().for_each(|row| {
                    let ends = lo.iter_mut().zip(&mut hi).zip(row);
                    ends.for_each(|((lo, hi), &code)| {
                        (*lo, *hi) = ((*lo).min(code), (*hi).max(code))
                    });
                }),
            }
            for (dim, (lo, hi)) in (first..width).zip(lo.into_iter().zip(hi)) {
                part.lo[dim] = part.lo[dim].min(lo);
                part.hi[dim] = part.hi[dim].max(hi);
            }
        }
        part.records += each().map(|row| u64::from(self.layout.count(row))).sum::<u64>();
        if let Some(rules) = self.rules {
            let own = each().filter(|row| rules.is_microdata(self.layout.id(row)));
            part.microdata += own.map(|row| u64::from(self.layout.count(row))).sum::<u64>();
        }
    }

    /// Reports finished rows.
    pub(super) fn advance(&self, rows: u64) {
        self.progress.advance(rows);
    }

    /// Returns whether a part is divided further. A part with external rows only is not published.
    fn is_published(&self, part: &Part<impl Unit>) -> bool {
        self.rules.is_none() || part.microdata > 0
    }

    /// Divides a part, in parallel if it is large. `spare` must have the length of `rows` and is
    /// overwritten.
    fn divide<U: Unit>(&self, mut part: Part<U>, rows: &mut [U], spare: &mut [U]) -> Vec<Leaves> {
        if rows.len() / self.layout.stride < PARALLEL_ROWS {
            let mut leaves = Leaves::default();
            self.divide_here(part, rows, spare, &mut leaves);
            self.progress.advance(leaves.rows.len() as u64);
            return vec![leaves];
        }
        let Some(split) = self.find_split(&mut part, rows) else {
            let mut leaves = Leaves::default();
            self.add_leaf(&part, rows, &mut leaves);
            self.progress.advance(leaves.rows.len() as u64);
            return vec![leaves];
        };
        let parts = self.move_rows(&part, &split, rows, spare);
        let mut jobs = Vec::with_capacity(parts.len());
        let (mut spare, mut rows) = (spare, rows);
        for (part, length) in parts {
            let (own, rest) = spare.split_at_mut(length);
            let (own_spare, rest_spare) = rows.split_at_mut(length);
            if self.is_published(&part) {
                jobs.push((part, own, own_spare));
            }
            (spare, rows) = (rest, rest_spare);
        }
        let divided: Vec<Vec<Leaves>> = jobs
            .into_par_iter()
            .map(|(part, rows, spare)| self.divide(part, rows, spare))
            .collect();
        divided.into_iter().flatten().collect()
    }

    /// Divides a part on one thread and appends its leaves to one list.
    fn divide_here<U: Unit>(
        &self,
        mut part: Part<U>,
        rows: &mut [U],
        spare: &mut [U],
        leaves: &mut Leaves,
    ) {
        let Some(split) = self.find_split(&mut part, rows) else {
            return self.add_leaf(&part, rows, leaves);
        };
        let parts = self.move_rows(&part, &split, rows, spare);
        let mut start = 0;
        for (part, length) in parts {
            let end = start + length;
            if self.is_published(&part) {
                self.divide_here(part, &mut spare[start..end], &mut rows[start..end], leaves);
            }
            start = end;
        }
    }

    fn add_leaf<U: Unit>(&self, part: &Part<U>, rows: &[U], leaves: &mut Leaves) {
        leaves.spans.extend((0..self.layout.width).map(|dim| part.span(dim)));
        let rows = rows.chunks_exact(self.layout.stride);
        leaves.rows.extend(rows.flat_map(|row| self.alike.rows(self.layout.id(row))));
        leaves.ends.push(leaves.rows.len());
        leaves.records.push(part.records);
        let (mut cost, mut regular) = (0.0, 0.0);
        for dim in 0..self.layout.width {
            let own = self.cost(dim, part);
            cost += own;
            let domain = &self.data.quasi()[dim].domain;
            if matches!(domain, Domain::Taxonomy(tree) if tree.grid().is_some()) {
                regular += own;
            }
        }
        leaves.cost += cost * part.records as f64;
        if self.rules.is_some() {
            leaves.starts.push(part.sensitive.starts);
        }
        leaves.regular_cost += regular * part.records as f64;
    }

    /// Returns the penalty per record of the part's cell in one dimension, multiplied by its
    /// importance.
    fn cost<U: Unit>(&self, dim: usize, part: &Part<U>) -> f64 {
        let ((lo, hi), quasi) = (part.span(dim), &self.data.quasi()[dim]);
        quasi.weight * quasi.domain.ncp(Code(lo), Code(hi))
    }

    /// Returns the first admissible division in the order of preference.
    fn find_split<U: Unit>(&self, part: &mut Part<U>, rows: &[U]) -> Option<Split> {
        if part.records < 2 * self.least {
            return None;
        }
        let open = |dim: &usize| !part.closed[*dim] && part.lo[*dim] < part.hi[*dim];
        let dims: Vec<usize> = match self.choice {
            Choice::Order(order) => order.iter().copied().filter(open).collect(),
            Choice::RoundRobin => {
                let turns = (0..self.layout.width).map(|i| (part.turn + i) % self.layout.width);
                turns.filter(open).collect()
            }
            Choice::Widest(factors) => {
                let score = |dim: usize| factors[dim] * self.cost(dim, part);
                let mut dims: Vec<(usize, f64)> =
                    (0..self.layout.width).filter(open).map(|l| (l, score(l))).collect();
                // The sort is stable: of equal scores, the first dimension of the table comes
                // first.
                dims.sort_by(|a, b| b.1.total_cmp(&a.1));
                dims.into_iter().map(|(dim, _)| dim).collect()
            }
        };
        for dim in dims {
            // A fixed order tries the same dimensions again in every part, so failed attempts are
            // skipped.
            let node = part.hopeless[dim].and_then(|_| self.node(dim, part));
            if node.is_some() && part.hopeless[dim] == node {
                continue;
            }
            match self.split_along(dim, part, rows) {
                Ok(split) => return Some(split),
                Err(Refusal::Hopeless) => part.hopeless[dim] = self.node(dim, part),
                Err(Refusal::Here) => {}
            }
        }
        None
    }

    /// Returns the leaves of the lowest taxonomy node that covers the part, or the whole range for
    /// dimensions that are cut anywhere.
    fn node<U: Unit>(&self, dim: usize, part: &Part<U>) -> Option<(u32, u32)> {
        let (lo, hi) = part.span(dim);
        match &self.data.quasi()[dim].domain {
            Domain::Taxonomy(tree) => {
                let (first, last) = tree.span(tree.common(Code(lo), Code(hi)));
                Some((first.0, last.0))
            }
            domain if domain.split_rule(Code(lo), Code(hi)) == SplitRule::Anywhere => {
                Some((0, u32::MAX))
            }
            _ => None,
        }
    }

    fn split_along<U: Unit>(
        &self,
        dim: usize,
        part: &Part<U>,
        rows: &[U],
    ) -> Result<Split, Refusal> {
        let (lo, hi) = part.span(dim);
        match self.data.quasi()[dim].domain.split_rule(Code(lo), Code(hi)) {
            SplitRule::Whole => Err(Refusal::Here),
            SplitRule::Anywhere if self.mondrian.cut == Cut::Relaxed => {
                self.cut_rows(dim, part, rows).ok_or(Refusal::Here)
            }
            // If no cut leaves enough records or persons on both sides, none does so in a subset of
            // the rows.
            SplitRule::Anywhere if self.others.is_empty() => {
                self.cut_values(dim, part, rows).ok_or(Refusal::Hopeless)
            }
            SplitRule::Anywhere => self.cut_values(dim, part, rows).ok_or(Refusal::Here),
            SplitRule::Into(children) => self.split_into_children(dim, &children, part, rows),
        }
    }

    /// Copies the rows to `spare`, child after child. Returns the children and their lengths.
    fn move_rows<U: Unit>(
        &self,
        part: &Part<U>,
        split: &Split,
        rows: &[U],
        spare: &mut [U],
    ) -> Vec<(Part<U>, usize)> {
        let dim = split.dim();
        let (count, pool) = match split {
            Split::ByValue { count, pool, .. } => (*count, *pool),
            Split::ByRow { .. } => (2, None),
        };
        let mut parts: Vec<(Part<U>, usize)> = (0..count)
            .map(|n| {
                let mut fresh = self.empty_part();
                fresh.closed.clone_from(&part.closed);
                fresh.closed[dim] |= pool == Some(n);
                fresh.hopeless.clone_from(&part.hopeless);
                fresh.turn = (dim + 1) % self.layout.width;
                (fresh, 0)
            })
            .collect();
        self.distribute(split, part.lo[dim].code(), rows, spare, &mut parts);
        self.share_suppression(part, &mut parts);
        self.mark_sensitive_groups(part, &mut parts, spare);
        if self.population.is_some() {
            let mut start = 0;
            for (fresh, length) in &mut parts {
                let rows = spare[start..start + *length].chunks_exact(self.layout.stride);
                fresh.people = self.covered_people(rows, &part.people);
                start += *length;
            }
        }
        parts
    }

    /// Divides the remaining number of suppressible records among the children in proportion to
    /// their records, rounded down. The children are divided independently, and together they never
    /// suppress more than the part may.
    fn share_suppression<U: Unit>(&self, part: &Part<U>, parts: &mut [(Part<U>, usize)]) {
        let kept: u64 = parts.iter().map(|(fresh, _)| fresh.records).sum();
        let left = part.suppressible.saturating_sub(part.records - kept);
        for (fresh, _) in parts {
            let share = u128::from(left) * u128::from(fresh.records) / u128::from(kept.max(1));
            fresh.suppressible = share as u64;
        }
    }
}
