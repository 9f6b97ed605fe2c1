//! The sensitive column a model is about.

use std::borrow::Cow;

use super::unit::Unit;
use crate::dataset::{Dataset, Sensitive};
use crate::error::{Error, Result};
use crate::group::{GroupSummary, Histogram};

/// A sensitive column found in a table.
#[derive(Clone, Debug)]
pub(super) struct Watched {
    /// Its position among the sensitive columns.
    pub(super) column: usize,
    /// What is counted.
    pub(super) unit: Unit,
    /// For each code the first one that means the same, if any two do.
    synonyms: Option<Vec<u32>>,
    codes: usize,
    /// The counted code of each class of holdings, where persons are counted.
    of_class: Vec<u32>,
}

impl Watched {
    /// Finds the column `on`; an empty name is the only one there is.
    pub(super) fn find<'d>(data: &'d Dataset, on: &str) -> Result<(Watched, &'d Sensitive)> {
        let columns = data.sensitive();
        let position = match columns {
            [_] if on.is_empty() => Some(0),
            _ => columns.iter().position(|column| column.name == on),
        };
        let Some(column) = position else {
            return Err(Error::job(format!("`{on}` is not a sensitive column of the table"))
                .help_near(on, columns.iter().map(|c| c.name.as_str()))
                .at("on"));
        };
        let sensitive = &columns[column];
        let (synonyms, codes, unit) = (sensitive.synonyms(), sensitive.values.len(), Unit::of(data));
        let mut watched = Watched { column, unit, synonyms, codes, of_class: Vec::new() };
        if let Some(persons) = data.persons() {
            let code = |&row: &u32| watched.counted_as(data.sensitive_codes(row as usize)[column]);
            watched.of_class = persons.examples().iter().map(code).collect();
        }
        Ok((watched, sensitive))
    }

    /// How many codes there are.
    pub(super) fn codes(&self) -> usize {
        self.codes
    }

    /// The code under which a value is counted, that of its first spelling.
    pub(super) fn counted_as(&self, code: u32) -> u32 {
        self.synonyms.as_ref().map_or(code, |first| first[code as usize])
    }

    /// Whether every code is counted as itself.
    pub(super) fn counts_all_codes(&self) -> bool {
        self.synonyms.is_none()
    }

    /// How large a group is, in records or persons.
    pub(super) fn size(&self, group: &GroupSummary) -> u64 {
        self.unit.size(group)
    }

    /// How many records or persons of a group have each value, one code for each value however it is spelled. A person may
    /// have several.
    pub(super) fn holders<'g>(&self, group: &'g GroupSummary) -> Cow<'g, Histogram> {
        if self.unit.persons().is_some() {
            let mut held = Vec::new();
            self.each_person(group, |values| held.extend(values.iter().map(|&(code, _)| (code, 1))));
            return Cow::Owned(Histogram::count(self.codes, held.into_iter()));
        }
        let spelled = &group.sensitive[self.column];
        match &self.synonyms {
            None => Cow::Borrowed(spelled),
            Some(first) => {
                let entries =
                    spelled.entries().iter().map(|&(code, records)| (first[code as usize], records));
                Cow::Owned(Histogram::count(self.codes, entries))
            }
        }
    }

    /// A histogram of counted codes with weights.
    pub(super) fn weighted(&self, weights: Vec<(u32, u64)>) -> Histogram {
        Histogram::count(self.codes, weights.into_iter())
    }

    /// Shows for each person of a group, where persons are counted, which values she has there in how many records: codes
    /// ascending.
    pub(super) fn each_person(&self, group: &GroupSummary, mut see: impl FnMut(&[(u32, u64)])) {
        let Some((persons, own)) = self.unit.of_group(group) else { return };
        let mut values: Vec<(u32, u64)> = Vec::new();
        for run in own.entries().chunk_by(|a, b| persons.person(a.0) == persons.person(b.0)) {
            values.clear();
            values.extend(
                run.iter()
                    .map(|&(holding, records)| (self.of_class[persons.class(holding) as usize], records)),
            );
            values.sort_unstable();
            values.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                kept.1 += if same { next.1 } else { 0 };
                same
            });
            see(&values);
        }
    }

    /// The most uneven histogram of values that one record of each person can have, greatest count first: every choice of one
    /// record per person is at least as even. Of records it is simply how many have each value.
    pub(super) fn extremal(&self, group: &GroupSummary) -> Vec<u64> {
        self.extremal_of(group, |code| code)
    }

    /// The same for what values stand for, such as their categories.
    pub(super) fn extremal_of(&self, group: &GroupSummary, stands_for: impl Fn(u32) -> u32) -> Vec<u64> {
        let mut counts = self.holders_of(group, stands_for);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        if self.unit.persons().is_some() {
            let mut left = self.size(group);
            for count in &mut counts {
                *count = (*count).min(left);
                left -= *count;
            }
            counts.retain(|&count| count > 0);
        }
        counts
    }

    /// How many records or persons have each of what values stand for, where somebody has it; in no order that matters.
    pub(super) fn holders_of(&self, group: &GroupSummary, stands_for: impl Fn(u32) -> u32) -> Vec<u64> {
        let mut held: Vec<(u32, u64)> = Vec::new();
        if self.unit.persons().is_some() {
            let mut own = Vec::new();
            self.each_person(group, |values| {
                own.clear();
                own.extend(values.iter().map(|&(code, _)| stands_for(code)));
                own.sort_unstable();
                own.dedup();
                held.extend(own.iter().map(|&code| (code, 1)));
            });
        } else {
            held.extend(self.holders(group).entries().iter().map(|&(code, n)| (stands_for(code), n)));
        }
        held.sort_unstable();
        held.chunk_by(|a, b| a.0 == b.0).map(|run| run.iter().map(|entry| entry.1).sum()).collect()
    }

    /// The holders of each value in the whole table: the count of each code, 0 where it does not occur or is another spelling.
    pub(super) fn overall(&self, data: &Dataset) -> Vec<u64> {
        let mut counts = vec![0; self.codes];
        if self.unit.persons().is_some() {
            let whole = data.summary(0..data.rows());
            self.holders(&whole).entries().iter().for_each(|&(code, n)| counts[code as usize] = n);
            return counts;
        }
        for row in 0..data.rows() {
            let code = self.counted_as(data.sensitive_codes(row)[self.column]);
            counts[code as usize] += data.weight(row);
        }
        counts
    }
}
