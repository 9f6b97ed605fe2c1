//! Summaries of rows that might become a part.

use incrowd_core::{Code, GroupSummary, Histogram, Span};

use super::part::{Part, Splitter};
use super::space::Unit;

impl Splitter<'_> {
    pub(super) fn empty_summary(&self) -> GroupSummary {
        GroupSummary::empty(if self.others.is_empty() { 0 } else { self.data.sensitive().len() })
    }

    pub(super) fn summary<U: Unit>(&self, rows: &[&[U]]) -> GroupSummary {
        let mut summary = self.empty_summary();
        summary.records = rows.iter().map(|row| u64::from(self.layout.count(row))).sum();
        if self.data.has_sampling_weights() {
            let own = rows.iter().map(|row| self.data.represented(self.layout.id(row) as usize));
            summary.represented = own.fold(0, u64::saturating_add);
        }
        for &column in &self.watched {
            let codes = rows.iter().map(|row| {
                (self.layout.sensitive(row)[column].code(), u64::from(self.layout.count(row)))
            });
            summary.sensitive[column] =
                Histogram::count(self.data.sensitive()[column].values.len(), codes);
        }
        if let Some(persons) = self.data.persons().filter(|_| !self.others.is_empty()) {
            summary.persons =
                Some(persons.histogram(rows.iter().map(|row| self.layout.id(row) as usize)));
        }
        summary
    }

    /// Returns the rows of the population that the cells of a group of these rows cover. Only the
    /// rows in `people` are considered.
    pub(super) fn covered_people<'r, U: Unit + 'r>(
        &self,
        rows: impl Iterator<Item = &'r [U]> + Clone,
        people: &[u32],
    ) -> Vec<u32> {
        let Some(population) = self.population else { return Vec::new() };
        let mut bounds = self.empty_part();
        rows.clone().for_each(|row| self.include(&mut bounds, row));
        let span = |dim: usize| {
            let (lo, hi) = bounds.span(dim);
            Span { lo: Code(lo), hi: Code(hi) }
        };
        let spans: Vec<Span> = (0..self.layout.width).map(span).collect();
        let rows = rows.map(|row| self.layout.id(row));
        population.covered_by(self.data, &spans, rows, people.iter().copied())
    }

    /// Adds the number of people that the cells of these rows cover to a summary, if a model needs
    /// it.
    pub(super) fn with_population<U: Unit>(
        &self,
        mut summary: GroupSummary,
        rows: &[&[U]],
        part: &Part<U>,
    ) -> GroupSummary {
        if let Some(population) = self.population
            && !rows.is_empty()
        {
            summary.population =
                population.people(&self.covered_people(rows.iter().copied(), &part.people));
        }
        summary
    }

    /// Returns whether the children together cover all people that the part covers.
    pub(super) fn covers_all<'r, U: Unit + 'r>(
        &self,
        parts: impl Iterator<Item = Vec<&'r [U]>>,
        part: &Part<U>,
    ) -> bool {
        let mut covered: Vec<u32> = parts
            .flat_map(|rows| self.covered_people(rows.iter().copied(), &part.people))
            .collect();
        covered.sort_unstable();
        covered.dedup();
        covered.len() == part.people.len()
    }

    pub(super) fn halves_admitted<U: Unit>(
        &self,
        left: &[&[U]],
        right: &[&[U]],
        total: &GroupSummary,
        part: &Part<U>,
    ) -> bool {
        if self.others.is_empty()
            && !(self.has_enough_persons(left) && self.has_enough_persons(right))
        {
            return false;
        }
        let summary = self.summary(left);
        if self.population.is_none() {
            return self.both_admitted(&summary, total);
        }
        let mut other = total.clone();
        other.remove(&summary);
        self.admitted(&self.with_population(summary, left, part))
            && self.admitted(&self.with_population(other, right, part))
            && (!self.must_cover_population
                || self.covers_all([left.to_vec(), right.to_vec()].into_iter(), part))
    }

    /// Returns whether the models depend only on the number of records.
    pub(super) fn counts_only(&self) -> bool {
        self.others.is_empty() && self.persons.is_none()
    }

    /// Returns whether the rows belong to enough distinct persons.
    pub(super) fn has_enough_persons<U: Unit>(&self, rows: &[&[U]]) -> bool {
        let ids = rows.iter().map(|row| self.layout.id(row) as usize);
        self.persons.is_none_or(|(persons, least)| persons.reach(ids, least))
    }

    /// Returns whether these rows, which have this summary, may be a part.
    pub(super) fn is_admissible<U: Unit>(&self, summary: &GroupSummary, rows: &[&[U]]) -> bool {
        self.admitted(summary) && (!self.others.is_empty() || self.has_enough_persons(rows))
    }

    /// Returns whether a part with this summary has enough records and satisfies the models in
    /// `others`. Summaries contain persons only if there are such models. Otherwise the caller must
    /// check the number of persons.
    pub(super) fn admitted(&self, summary: &GroupSummary) -> bool {
        let enough = |(persons, least): (&incrowd_core::Persons, u64)| {
            summary.persons.as_ref().is_some_and(|own| persons.in_group(own) >= least)
        };
        summary.records >= self.least
            && (self.others.is_empty() || self.persons.is_none_or(enough))
            && self.others.iter().all(|model| model.admits(summary).holds)
    }

    pub(super) fn both_admitted(&self, left: &GroupSummary, total: &GroupSummary) -> bool {
        let mut right = total.clone();
        right.remove(left);
        self.admitted(left) && self.admitted(&right)
    }
}
