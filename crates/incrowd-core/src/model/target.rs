//! The sensitive column that a model protects.

use std::borrow::Cow;

use super::unit::Unit;
use crate::dataset::{Dataset, Sensitive};
use crate::error::{Error, Result};
use crate::group::{GroupSummary, Histogram, merge_equal};

/// A sensitive column of a table, with the unit of counting.
#[derive(Clone, Debug)]
pub(super) struct TargetColumn {
    /// Its index among the sensitive columns.
    pub(super) column: usize,
    /// The unit of counting.
    pub(super) unit: Unit,
    /// For each code, the code under which its value is counted; set if values have several codes.
    synonyms: Option<Vec<u32>>,
    codes: usize,
    /// The counted code of each class of holdings, if persons are counted.
    of_class: Vec<u32>,
}

impl TargetColumn {
    /// Finds the column `on`; an empty name stands for the only one.
    pub(super) fn find<'d>(data: &'d Dataset, on: &str) -> Result<(TargetColumn, &'d Sensitive)> {
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
        let synonyms = sensitive.synonyms().map(<[u32]>::to_vec);
        let (codes, unit) = (sensitive.values.len(), Unit::of(data));
        let mut target = TargetColumn { column, unit, synonyms, codes, of_class: Vec::new() };
        if let Some(persons) = data.persons() {
            let code = |&row: &u32| target.counted_as(data.sensitive_codes(row as usize)[column]);
            target.of_class = persons.examples().iter().map(code).collect();
        }
        Ok((target, sensitive))
    }

    /// The number of codes.
    pub(super) fn codes(&self) -> usize {
        self.codes
    }

    /// The code under which a value is counted.
    pub(super) fn counted_as(&self, code: u32) -> u32 {
        self.synonyms.as_ref().map_or(code, |first| first[code as usize])
    }

    /// Whether every code is counted under itself.
    pub(super) fn counts_all_codes(&self) -> bool {
        self.synonyms.is_none()
    }

    /// The size of a group, in records or persons.
    pub(super) fn size(&self, group: &GroupSummary) -> u64 {
        self.unit.size(group)
    }

    /// The number of records or persons of a group per value, under the code that represents all
    /// its spellings. A person may have several values.
    pub(super) fn holders<'g>(&self, group: &'g GroupSummary) -> Cow<'g, Histogram> {
        if self.unit.persons().is_some() {
            let mut holders = Vec::new();
            self.each_person(group, |values| {
                holders.extend(values.iter().map(|&(code, _)| (code, 1)))
            });
            return Cow::Owned(Histogram::count(self.codes, holders.into_iter()));
        }
        let spelled = &group.sensitive[self.column];
        match &self.synonyms {
            None => Cow::Borrowed(spelled),
            Some(first) => {
                let entries = spelled
                    .entries()
                    .iter()
                    .map(|&(code, records)| (first[code as usize], records));
                Cow::Owned(Histogram::count(self.codes, entries))
            }
        }
    }

    /// A histogram of counted codes with weights.
    pub(super) fn weighted(&self, weights: Vec<(u32, u64)>) -> Histogram {
        Histogram::count(self.codes, weights.into_iter())
    }

    /// Calls `visit` for each person of a group, if persons are counted, with her values in
    /// ascending order and their numbers of records.
    pub(super) fn each_person(&self, group: &GroupSummary, mut visit: impl FnMut(&[(u32, u64)])) {
        let Some((persons, own)) = self.unit.of_group(group) else { return };
        let mut values: Vec<(u32, u64)> = Vec::new();
        for run in own.entries().chunk_by(|a, b| persons.person(a.0) == persons.person(b.0)) {
            values.clear();
            values.extend(run.iter().map(|&(holding, records)| {
                (self.of_class[persons.class(holding) as usize], records)
            }));
            values.sort_unstable();
            merge_equal(&mut values);
            visit(&values);
        }
    }

    /// The counts of the most uneven choice of one record per person, in descending order: every
    /// choice is at least as even. If records are counted, the counts of the values.
    pub(super) fn extremal(&self, group: &GroupSummary) -> Vec<u64> {
        self.extremal_of(group, |code| code)
    }

    /// The most uneven counts of an image of the values, for example of their categories.
    pub(super) fn extremal_of(&self, group: &GroupSummary, image: impl Fn(u32) -> u32) -> Vec<u64> {
        let mut counts = self.holders_of(group, image);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        if self.unit.persons().is_some() {
            // Greedy: each value gets as many of the remaining persons as possible.
            let mut left = self.size(group);
            for count in &mut counts {
                *count = (*count).min(left);
                left -= *count;
            }
            counts.retain(|&count| count > 0);
        }
        counts
    }

    /// The positive numbers of records or persons per image of the values, in any order.
    pub(super) fn holders_of(&self, group: &GroupSummary, image: impl Fn(u32) -> u32) -> Vec<u64> {
        let mut holders: Vec<(u32, u64)> = Vec::new();
        if self.unit.persons().is_some() {
            let mut own = Vec::new();
            self.each_person(group, |values| {
                own.clear();
                own.extend(values.iter().map(|&(code, _)| image(code)));
                own.sort_unstable();
                own.dedup();
                holders.extend(own.iter().map(|&code| (code, 1)));
            });
        } else {
            holders.extend(self.holders(group).entries().iter().map(|&(code, n)| (image(code), n)));
        }
        holders.sort_unstable();
        merge_equal(&mut holders);
        holders.into_iter().map(|entry| entry.1).collect()
    }

    /// The holders of each value in the whole table, by code; 0 for codes that do not occur or are
    /// counted under another code.
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
