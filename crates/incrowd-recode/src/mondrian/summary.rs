//! Summaries of rows that might become a part, as models ask for them.

use incrowd_core::population::PublishedCell;
use incrowd_core::{Code, GroupSummary, Histogram, Span};

use super::part::{Part, Splitter};
use super::space::Unit;

impl Splitter<'_> {
    pub(super) fn no_records(&self) -> GroupSummary {
        GroupSummary::empty(if self.others.is_empty() { 0 } else { self.data.sensitive().len() })
    }

    pub(super) fn summary<U: Unit>(&self, rows: &[&[U]]) -> GroupSummary {
        let mut summary = self.no_records();
        summary.records = rows.iter().map(|row| u64::from(self.layout.weight(row))).sum();
        for &column in &self.watched {
            let codes = rows
                .iter()
                .map(|row| (self.layout.sensitive(row)[column].code(), u64::from(self.layout.weight(row))));
            summary.sensitive[column] = Histogram::count(self.data.sensitive()[column].values.len(), codes);
        }
        if let Some(persons) = self.data.persons().filter(|_| !self.others.is_empty()) {
            summary.persons = Some(persons.histogram(rows.iter().map(|row| self.layout.id(row) as usize)));
        }
        summary
    }

    /// Those of the population's rows that the cells of a group of these rows cover.
    pub(super) fn people<'r, U: Unit + 'r>(
        &self,
        rows: impl Iterator<Item = &'r [U]> + Clone,
        people: &[u32],
    ) -> Vec<u32> {
        let Some(population) = self.population else { return Vec::new() };
        let mut bounds = self.no_part();
        rows.clone().for_each(|row| self.include(&mut bounds, row));
        let values = |line: usize| {
            let mut codes: Vec<Code> = Vec::new();
            if self.data.quasi()[line].domain.publishes_sets() {
                codes.extend(rows.clone().map(|row| Code(row[line].code())));
                codes.sort_unstable();
                codes.dedup();
            }
            codes
        };
        let values: Vec<Vec<Code>> = (0..self.layout.width).map(values).collect();
        let cells: Vec<PublishedCell<'_>> = (0..self.layout.width)
            .map(|line| {
                let (lo, hi) = bounds.span(line);
                let span = Span { lo: Code(lo), hi: Code(hi) };
                PublishedCell::new(&self.data.quasi()[line].domain, span, &values[line])
            })
            .collect();
        population.covered(&cells, people.iter().copied())
    }

    /// The summary with the people its rows' cells cover, if a model asks.
    pub(super) fn peopled<U: Unit>(
        &self,
        mut summary: GroupSummary,
        rows: &[&[U]],
        part: &Part<U>,
    ) -> GroupSummary {
        if let Some(population) = self.population
            && !rows.is_empty()
        {
            summary.population = population.people(&self.people(rows.iter().copied(), &part.people));
        }
        summary
    }

    /// Whether the parts cover everybody their whole covers.
    pub(super) fn covers_all<'r, U: Unit + 'r>(
        &self,
        parts: impl Iterator<Item = Vec<&'r [U]>>,
        part: &Part<U>,
    ) -> bool {
        let mut covered: Vec<u32> =
            parts.flat_map(|rows| self.people(rows.iter().copied(), &part.people)).collect();
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
        if self.others.is_empty() && !(self.reach(left) && self.reach(right)) {
            return false;
        }
        let summary = self.summary(left);
        if self.population.is_none() {
            return self.both_admitted(&summary, total);
        }
        let mut other = total.clone();
        other.remove(&summary);
        self.admitted(&self.peopled(summary, left, part))
            && self.admitted(&self.peopled(other, right, part))
            && (!self.keeps_people || self.covers_all([left.to_vec(), right.to_vec()].into_iter(), part))
    }

    /// Whether the number of records decides about every part.
    pub(super) fn counts_only(&self) -> bool {
        self.others.is_empty() && self.persons.is_none()
    }

    /// Whether rows have records of as many different persons as every part needs.
    pub(super) fn reach<U: Unit>(&self, rows: &[&[U]]) -> bool {
        let ids = rows.iter().map(|row| self.layout.id(row) as usize);
        self.persons.is_none_or(|(persons, least)| persons.reach(ids, least))
    }

    /// Whether these rows, which have this summary, may be a part.
    pub(super) fn stands<U: Unit>(&self, summary: &GroupSummary, rows: &[&[U]]) -> bool {
        self.admitted(summary) && (!self.others.is_empty() || self.reach(rows))
    }

    /// Whether a part with this summary has enough records and satisfies the models that are shown summaries. Only these list
    /// persons; where there is no such model, whoever asks must see to the persons.
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
