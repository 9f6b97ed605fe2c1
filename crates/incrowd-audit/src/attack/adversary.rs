//! An adversary: the release under attack, and the other tables and facts somebody may have beside it.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use incrowd_core::outlier::Settings;
use incrowd_core::{Categories, ColumnSpec, Dataset, Folded, Kind, Result};

use super::finding::Risks;
use super::group_values::GroupValues;
use super::journalist::Linked;
use super::persons::GroupPersons;
use crate::classes::Classes;
use crate::cover::{Join, On};
use crate::eligibility::Mechanism;

/// A release as its reader has it.
#[derive(Clone, Debug)]
pub struct Published<'a> {
    /// The published texts: the quasi-identifiers first, then the sensitive columns.
    pub table: &'a Folded,
    /// How the cells of the quasi-identifiers are to be read.
    pub quasi: &'a [ColumnSpec],
    /// Records that look alike in the quasi-identifiers.
    pub groups: Classes,
    /// For each sensitive column which values stand in which group.
    pub values: Vec<GroupValues>,
    /// Whose records they are, if that is known and somebody has several.
    pub persons: Option<GroupPersons>,
}

impl<'a> Published<'a> {
    /// Groups the records of a release.
    pub fn new(table: &'a Folded, quasi: &'a [ColumnSpec]) -> Published<'a> {
        let groups = Classes::new(table, &(0..quasi.len()).collect::<Vec<_>>());
        let values = (quasi.len()..table.columns.len())
            .map(|column| GroupValues::new(table, &groups.of_row, groups.len(), column))
            .collect();
        let persons = table.persons_by_row();
        let persons = persons.map(|rows| GroupPersons::new(&rows, &groups.of_row, groups.len()));
        Published { table, quasi, groups, values, persons }
    }

    /// How large each group is: in persons if it is known whose records they are, else in records.
    pub(super) fn sizes(&self) -> Vec<u64> {
        self.persons.as_ref().map_or_else(|| self.groups.records.clone(), GroupPersons::sizes)
    }

    /// The risks of everybody whose risk is that of the group: of records, or of persons, each in the worst of her groups.
    pub(super) fn risks(&self, by_group: &[f64]) -> Risks {
        match &self.persons {
            None => Risks::of_groups(by_group, &self.groups.records),
            Some(persons) => persons.worst(by_group),
        }
    }

    /// What is counted.
    pub(super) fn unit(&self) -> &'static str {
        if self.persons.is_some() { "persons" } else { "records" }
    }

    /// The names of the sensitive columns.
    pub fn sensitive(&self) -> impl Iterator<Item = &'a str> {
        self.table.columns[self.quasi.len()..].iter().map(|column| column.name.as_str())
    }

    /// The quasi-identifiers that another table has too.
    pub fn shared(&self, other: &Folded) -> Vec<On<'a>> {
        let on = |(i, spec): (usize, &'a ColumnSpec)| {
            Some(On { release: i, table: other.column(&self.table.columns[i].name)?, spec })
        };
        self.quasi.iter().enumerate().filter_map(on).collect()
    }

    /// Joins the release with another table on the quasi-identifiers both have; one that the table lacks may be anything.
    /// The second answer is the group of the join for each group of the release, which may be finer.
    pub(super) fn join(&self, other: &Folded, missing: &str) -> Result<(Join, Vec<u32>)> {
        let join = Join::new(self.table, other, &self.shared(other), missing)?;
        let class = self.groups.first.iter().map(|&row| join.groups.of_row[row as usize]).collect();
        Ok((join, class))
    }
}

/// How near a guess of a number must come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Epsilon {
    /// Within this much.
    Absolute(f64),
    /// Within this share of the guess; below 1.
    Relative(f64),
}

/// A table with names, or anything else that is known about people from elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct External<'a> {
    /// Its plain values; at least the quasi-identifiers it shares with the release.
    pub table: &'a Folded,
    /// How many columns it has beside those: names, identifiers, whatever then attaches to released records.
    pub further: usize,
}

/// What belongs to a k-join-anonymous release beside its table of boxes, whose last quasi-identifier is then the label of the
/// sensitive group, if there are sensitive values.
#[derive(Clone, Copy, Debug)]
pub struct JoinedRelease<'a> {
    /// How many rows every group is said to have at least.
    pub k: u64,
    /// The label of a sensitive group, then the sensitive columns.
    pub sensitive: Option<&'a Folded>,
    /// Whether surplus external people were left out, if that is known.
    pub trimmed: Option<bool>,
}

/// The sensitive groups of a k-join-anonymous release.
pub(super) struct SensitiveGroups {
    /// The sensitive group of each group of the release.
    pub(super) of_group: Vec<u32>,
    /// How many rows of boxes each has.
    pub(super) rows: Vec<u64>,
    /// How many sensitive values each has.
    pub(super) values: Vec<u64>,
}

impl JoinedRelease<'_> {
    /// The sensitive groups; `None` if no sensitive values are published.
    pub(super) fn labels(&self, boxes: &Folded) -> Option<SensitiveGroups> {
        let (sensitive, column) = (self.sensitive?, boxes.columns.len().checked_sub(1)?);
        let groups = Classes::new(boxes, &(0..boxes.columns.len()).collect::<Vec<_>>());
        let labels = Classes::new(boxes, &[column]);
        let text = |row: u32| boxes.columns[column].texts[boxes.row(row as usize)[column] as usize].as_str();
        let number: BTreeMap<&str, usize> =
            labels.first.iter().enumerate().map(|(number, &row)| (text(row), number)).collect();
        let mut values = vec![0; labels.len()];
        for row in 0..sensitive.rows() {
            let label = sensitive.columns[0].texts[sensitive.row(row)[0] as usize].as_str();
            if let Some(&number) = number.get(label) {
                values[number] += sensitive.weights[row];
            }
        }
        let of_group = groups.first.iter().map(|&row| labels.of_row[row as usize]).collect();
        Some(SensitiveGroups { of_group, rows: labels.records, values })
    }

    /// How many records the microdata has, if that is published.
    pub(super) fn microdata(&self) -> Option<u64> {
        self.sensitive.map(Folded::records)
    }
}

/// What is known of a table from which records were withheld because a sensitive value was too frequent.
#[derive(Clone, Debug)]
pub struct Skewed {
    /// How they were withheld.
    pub mechanism: Mechanism,
    /// The sensitive column.
    pub on: String,
    /// How many records the table had, if that is known.
    pub records: Option<u64>,
    /// Whether everybody is told that.
    pub size_is_public: bool,
    /// The counts of its values, if those are known.
    pub shape: Option<Vec<u64>>,
}

/// What an adversary has.
#[derive(Clone, Debug)]
pub struct Adversary<'a> {
    /// The release under attack.
    pub release: Published<'a>,
    /// The kinds of the sensitive columns, where stated.
    pub kinds: Vec<Option<Kind>>,
    /// The categories of the sensitive columns, where stated.
    pub categories: Vec<Option<Categories>>,
    /// The texts that stand for missing values; the first that is not empty is the one that is published.
    pub missing: &'a [String],
    population: Option<&'a Folded>,
    /// People with names.
    pub external: Option<External<'a>>,
    /// Another release about some of the same people.
    pub second: Option<Published<'a>>,
    /// The table the release was made from, and what an outlier of it is.
    pub original: Option<(&'a Dataset, &'a [Settings])>,
    /// What else belongs to a k-join-anonymous release.
    pub joined: Option<JoinedRelease<'a>>,
    /// How near a guess must come, by sensitive column, where stated.
    pub epsilon: BTreeMap<String, Epsilon>,
    /// What is known of how records were withheld.
    pub skewed: Option<Skewed>,
    /// Why it is not known whose records the release has, though it was asked.
    pub persons_unknown: Option<String>,
    /// The join with the population, which two attacks need.
    pub(super) linked: OnceCell<Option<Linked>>,
}

impl<'a> Adversary<'a> {
    /// An adversary who has nothing but the release.
    pub fn new(release: Published<'a>, missing: &'a [String]) -> Adversary<'a> {
        let kinds = vec![None; release.values.len()];
        let categories = vec![None; release.values.len()];
        Adversary {
            release,
            kinds,
            categories,
            missing,
            population: None,
            external: None,
            second: None,
            original: None,
            joined: None,
            epsilon: BTreeMap::new(),
            skewed: None,
            persons_unknown: None,
            linked: OnceCell::new(),
        }
    }

    /// Gives the adversary a table of everybody who might be in the release, in plain values.
    pub fn set_population(&mut self, population: Option<&'a Folded>) {
        self.population = population;
        self.linked = OnceCell::new();
    }

    /// Everybody who might be in the release.
    pub fn population(&self) -> Option<&'a Folded> {
        self.population
    }

    /// The text under which missing values are published.
    pub(super) fn missing_label(&self) -> &'a str {
        self.missing.iter().find(|text| !text.is_empty()).map_or("", String::as_str)
    }

    /// For each group the records of each category of a sensitive column; `None` if it has no categories or a value without.
    pub(super) fn by_category(&self, column: usize) -> Option<Vec<Vec<u64>>> {
        let categories = self.categories[column].as_ref()?;
        let texts = &self.release.table.columns[self.release.quasi.len() + column].texts;
        let values = &self.release.values[column];
        let category: Vec<Option<usize>> = texts.iter().map(|text| categories.of(text)).collect();
        let mut groups = vec![vec![0; categories.len()]; values.groups()];
        for (group, counts) in groups.iter_mut().enumerate() {
            for &(code, records) in values.of(group) {
                counts[category[code as usize]?] += records;
            }
        }
        Some(groups)
    }

    /// Whether a published text stands for a missing value.
    pub(super) fn is_missing(&self, code: u32, text: &str) -> bool {
        code == incrowd_core::MISSING || self.missing.iter().any(|missing| missing == text)
    }
}
