//! The adversary: the release under attack and the background knowledge.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use incrowd_core::outlier::Settings;
use incrowd_core::{
    Categories, ColumnSpec, Dataset, Folded, Kind, Result, SensitiveSpec, SensitiveValues,
};

use super::finding::Risks;
use super::group_values::{GroupValues, counted_codes, named_values};
use super::journalist::PopulationJoin;
use super::persons::GroupPersons;
use super::population_risk::WeightedGroups;
use super::singling_out::UnmodifiedColumns;
use crate::classes::Classes;
use crate::cover::{Join, SharedColumn};
use crate::eligibility::Mechanism;

/// A release as its reader sees it.
#[derive(Clone, Debug)]
pub struct Published<'a> {
    /// The published texts: quasi-identifiers first, then the sensitive columns.
    pub table: &'a Folded,
    /// How to read the cells of the quasi-identifiers.
    pub quasi: &'a [ColumnSpec],
    /// Groups of records with equal quasi-identifier cells.
    pub groups: Classes,
    /// For each sensitive column, the values in each group.
    pub values: Vec<GroupValues>,
    /// For each sensitive column, the representative code of each of its codes. Spellings of one
    /// value have one representative.
    pub counted: Vec<Vec<u32>>,
    /// For each sensitive column, its specification, and the texts that mean a missing value.
    specs: Vec<SensitiveSpec>,
    missing: Vec<String>,
    /// The persons of each group, if they are known and a person has several records.
    pub persons: Option<GroupPersons>,
}

impl<'a> Published<'a> {
    /// Groups the records of a release.
    pub fn new(table: &'a Folded, quasi: &'a [ColumnSpec]) -> Published<'a> {
        let groups = Classes::new(table, &(0..quasi.len()).collect::<Vec<_>>());
        let persons = table.persons_by_row();
        let persons = persons.map(|rows| GroupPersons::new(&rows, &groups.of_row, groups.len()));
        let (values, counted, missing) = (Vec::new(), Vec::new(), Vec::new());
        let specs = vec![SensitiveSpec::default(); table.columns.len() - quasi.len()];
        Published { table, quasi, groups, values, counted, specs, missing, persons }
            .with_missing(&[])
    }

    /// Sets how the texts of the sensitive columns are read: the specifications by name, and the
    /// texts that mean a missing value.
    #[must_use]
    pub fn with_specs(
        mut self,
        specs: &[(String, SensitiveSpec)],
        missing: &[String],
    ) -> Published<'a> {
        let of = |name: &str| specs.iter().find(|(own, _)| own == name).map(|(_, own)| own.clone());
        self.specs = self.sensitive().map(|name| of(name).unwrap_or_default()).collect();
        self.with_missing(missing)
    }

    /// Sets the texts that mean a missing value in sensitive columns. All of them count as one
    /// value.
    #[must_use]
    pub fn with_missing(mut self, missing: &[String]) -> Published<'a> {
        self.missing = missing.to_vec();
        let first = self.quasi.len();
        let counted = |(i, spec): (usize, &SensitiveSpec)| {
            counted_codes(self.table, first + i, spec, missing)
        };
        self.counted = self.specs.iter().enumerate().map(counted).collect();
        self.values = self.values_within(&self.groups.of_row, self.groups.len());
        self
    }

    /// Returns the values of a sensitive column with names that do not depend on the spelling, and
    /// which codes occur.
    pub(super) fn named_values(&self, column: usize) -> (SensitiveValues, Vec<bool>) {
        let at = self.quasi.len() + column;
        named_values(self.table, at, &self.specs[column], &self.missing)
    }

    /// Counts the values of each sensitive column within the given groups.
    pub(super) fn values_within(&self, of_row: &[u32], groups: usize) -> Vec<GroupValues> {
        let column = |(i, counted): (usize, &Vec<u32>)| {
            GroupValues::new(self.table, of_row, groups, self.quasi.len() + i, counted)
        };
        self.counted.iter().enumerate().map(column).collect()
    }

    /// Returns the size of each group, in persons if they are known, else in records.
    pub(super) fn sizes(&self) -> Vec<u64> {
        self.persons.as_ref().map_or_else(|| self.groups.records.clone(), GroupPersons::sizes)
    }

    /// Applies the risk of each group to its records, or to its persons if they are known. A person
    /// in several groups has the greatest of their risks.
    pub(super) fn risks(&self, by_group: &[f64]) -> Risks {
        match &self.persons {
            None => Risks::of_groups(by_group, &self.groups.records),
            Some(persons) => persons.worst(by_group),
        }
    }

    /// Returns the name of the counted unit.
    pub(super) fn unit(&self) -> &'static str {
        if self.persons.is_some() { "persons" } else { "records" }
    }

    /// Returns the names of the sensitive columns.
    pub fn sensitive(&self) -> impl Iterator<Item = &'a str> {
        self.table.columns[self.quasi.len()..].iter().map(|column| column.name.as_str())
    }

    /// Returns the quasi-identifiers that another table has too.
    pub fn shared(&self, other: &Folded) -> Vec<SharedColumn<'a>> {
        let shared = |(i, spec): (usize, &'a ColumnSpec)| {
            let table = other.column(&self.table.columns[i].name)?;
            Some(SharedColumn { release: i, table, spec })
        };
        self.quasi.iter().enumerate().filter_map(shared).collect()
    }

    /// Joins the release with another table on their shared quasi-identifiers. A quasi-identifier
    /// that the table lacks matches every value. Also returns, for each group of the release, its
    /// group in the join. The join may merge groups, because it uses fewer columns.
    pub(super) fn join(&self, other: &Folded, missing: &str) -> Result<(Join, Vec<u32>)> {
        let join = Join::new(self.table, other, &self.shared(other), missing)?;
        let class = self.groups.first.iter().map(|&row| join.groups.of_row[row as usize]).collect();
        Ok((join, class))
    }
}

/// Tolerance of a guessed number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Epsilon {
    /// Absolute error.
    Absolute(f64),
    /// Error relative to the guess. It is below 1.
    Relative(f64),
}

/// A table with names or other knowledge about people.
#[derive(Clone, Copy, Debug)]
pub struct External<'a> {
    /// The original values. It has at least one quasi-identifier of the release.
    pub table: &'a Folded,
    /// Number of other columns: names, identifiers and other facts that the join adds to released
    /// records.
    pub further: usize,
}

/// The other parts of a k-join-anonymous release. The release under attack is its table of boxes.
/// If there are sensitive values, the last quasi-identifier of that table is the label of the
/// sensitive group.
#[derive(Clone, Copy, Debug)]
pub struct JoinedRelease<'a> {
    /// Guaranteed minimum number of rows per group.
    pub k: u64,
    /// The table of sensitive values: the label of the sensitive group, then the sensitive columns.
    pub sensitive: Option<&'a Folded>,
    /// Whether external people were trimmed, if that is known.
    pub trimmed: Option<bool>,
}

/// The sensitive groups of a k-join-anonymous release.
pub(super) struct SensitiveGroups {
    /// The sensitive group of each group of the release.
    pub(super) of_group: Vec<u32>,
    /// Number of rows of boxes per sensitive group.
    pub(super) rows: Vec<u64>,
    /// Number of sensitive values per sensitive group.
    pub(super) values: Vec<u64>,
}

impl JoinedRelease<'_> {
    /// Returns the sensitive groups. `None` if no sensitive values are published.
    pub(super) fn labels(&self, boxes: &Folded) -> Option<SensitiveGroups> {
        let (sensitive, column) = (self.sensitive?, boxes.columns.len().checked_sub(1)?);
        let groups = Classes::new(boxes, &(0..boxes.columns.len()).collect::<Vec<_>>());
        let labels = Classes::new(boxes, &[column]);
        let text = |row: u32| boxes.text(row as usize, column);
        let number: BTreeMap<&str, usize> =
            labels.first.iter().enumerate().map(|(number, &row)| (text(row), number)).collect();
        let mut values = vec![0; labels.len()];
        for row in 0..sensitive.rows() {
            if let Some(&number) = number.get(sensitive.text(row, 0)) {
                values[number] += sensitive.weights[row];
            }
        }
        let of_group = groups.first.iter().map(|&row| labels.of_row[row as usize]).collect();
        Some(SensitiveGroups { of_group, rows: labels.records, values })
    }

    /// Returns the number of records of the microdata, if it is published.
    pub(super) fn microdata(&self) -> Option<u64> {
        self.sensitive.map(Folded::records)
    }
}

/// Knowledge about a table from which records were suppressed because a sensitive value was too
/// frequent.
#[derive(Clone, Debug)]
pub struct KnownSuppression {
    /// The suppression mechanism.
    pub mechanism: Mechanism,
    /// The sensitive column.
    pub on: String,
    /// Number of records of the table, if it is known.
    pub records: Option<u64>,
    /// Whether that number is public.
    pub size_is_public: bool,
    /// The counts of the values in the table, if they are known.
    pub shape: Option<Vec<u64>>,
}

/// An adversary with a release and background knowledge.
#[derive(Clone, Debug)]
pub struct Adversary<'a> {
    /// The release under attack.
    pub release: Published<'a>,
    /// Kinds of the sensitive columns, where declared.
    pub kinds: Vec<Option<Kind>>,
    /// Categories of the sensitive columns, where declared.
    pub categories: Vec<Option<Categories>>,
    /// Texts that mean a missing value. The first non-empty one is used in releases.
    pub missing: &'a [String],
    population: Option<&'a Folded>,
    /// A table of people with names.
    pub external: Option<External<'a>>,
    /// Another release that contains some of the same people.
    pub second: Option<Published<'a>>,
    /// The table from which the release was created, and definitions of its outliers.
    pub original: Option<(&'a Dataset, &'a [Settings])>,
    /// The other parts of a k-join-anonymous release.
    pub joined: Option<JoinedRelease<'a>>,
    /// Tolerance of guesses by sensitive column, where declared.
    pub epsilon: BTreeMap<String, Epsilon>,
    /// Knowledge about suppressed records.
    pub suppression: Option<KnownSuppression>,
    /// Why the persons of the records are unknown although they were requested.
    pub persons_unknown: Option<String>,
    /// The columns that are published unchanged.
    pub unmodified: Option<UnmodifiedColumns<'a>>,
    /// Sums of sampling weights per group, if the table is a weighted sample.
    pub weighted: Option<WeightedGroups>,
    /// The join with the population, cached because two attacks use it.
    pub(super) population_join: OnceCell<Option<PopulationJoin>>,
}

impl<'a> Adversary<'a> {
    /// Creates an adversary who has only the release.
    pub fn new(release: Published<'a>, missing: &'a [String]) -> Adversary<'a> {
        let kinds = vec![None; release.values.len()];
        let categories = vec![None; release.values.len()];
        Adversary {
            release: release.with_missing(missing),
            kinds,
            categories,
            missing,
            population: None,
            external: None,
            second: None,
            original: None,
            joined: None,
            epsilon: BTreeMap::new(),
            suppression: None,
            persons_unknown: None,
            unmodified: None,
            weighted: None,
            population_join: OnceCell::new(),
        }
    }

    /// Sets the table of all people who may be in the release, in original values.
    pub fn set_population(&mut self, population: Option<&'a Folded>) {
        self.population = population;
        self.population_join = OnceCell::new();
    }

    /// Returns the table of all people who may be in the release.
    pub fn population(&self) -> Option<&'a Folded> {
        self.population
    }

    /// Returns the text with which missing values are published.
    pub(super) fn missing_label(&self) -> &'a str {
        self.missing.iter().find(|text| !text.is_empty()).map_or("", String::as_str)
    }

    /// Counts the records of each category of a sensitive column in each group. Returns `None` if
    /// the column has no categories, or a value without one.
    pub(super) fn by_category(&self, column: usize) -> Option<Vec<Vec<u64>>> {
        let categories = self.categories[column].as_ref()?;
        let (table, column) = (self.release.table, self.release.quasi.len() + column);
        let texts = &table.columns[column].texts;
        // Two spellings of one value may be in two categories.
        let category: Vec<Option<usize>> = texts.iter().map(|text| categories.of(text)).collect();
        let mut groups = vec![vec![0; categories.len()]; self.release.groups.len()];
        for row in 0..table.rows() {
            let counts = &mut groups[self.release.groups.of_row[row] as usize];
            counts[category[table.row(row)[column] as usize]?] += table.weights[row];
        }
        Some(groups)
    }

    /// Returns whether a published text means a missing value.
    pub(super) fn is_missing(&self, code: u32, text: &str) -> bool {
        code == incrowd_core::MISSING || incrowd_core::means_missing(text, self.missing)
    }
}
