//! What a manifest tells of columns: their roles, and what a reader needs to judge their cells.

use incrowd_core::hierarchy::mdr::Mdr;
use incrowd_core::limits::Limits;
use incrowd_core::numerals::DecimalMark;
use incrowd_core::schema::{Kind, Labels};
use incrowd_core::{Categories, DateFormat, HierarchySpec, MissingCells, Publish, Result, Role, Schema};
use incrowd_engine::{Dialect, Shape};
use serde::{Deserialize, Serialize};

use super::{Ordered, RegularIntervals};
use crate::checked::CheckedJob;
use crate::job::{Cells, ColumnJob, OnMissing, Order, RoleName, Suppressed, word};
use crate::weights;

/// How a release was made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobEntry {
    /// The published columns.
    pub columns: Ordered<ColumnEntry>,
    /// What became of records with a missing value.
    pub on_missing: String,
    /// The share of records that might be suppressed.
    pub suppression_limit: f64,
    /// How suppressed records are published.
    pub suppressed: String,
    /// The order of the records.
    pub order: String,
    /// Whether cells of text that a spreadsheet would take for formulas begin with an apostrophe.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub csv_safe: bool,
    /// How its cells are written, where that does not follow from the name of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<WrittenEntry>,
    /// How people of an external table were grouped with those of the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external: Option<ExternalEntry>,
    /// How the population is known that promises are about, if not by a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub population: Option<String>,
    /// What became of single cells, if they were not simply generalized.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<String>,
    /// What a missing cell matches, where single cells are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_cells: Option<MissingCellsEntry>,
}

/// What a missing cell matches, and what a promise that counts like this is worth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingCellsEntry {
    /// `alone` or `any`.
    pub matches: String,
    /// Against whom the promises hold, in words.
    pub worth: String,
}

impl MissingCellsEntry {
    pub(crate) fn of(missing_cells: MissingCells) -> MissingCellsEntry {
        MissingCellsEntry {
            matches: missing_cells.name().to_owned(),
            worth: missing_cells.worth().to_owned(),
        }
    }

    pub(crate) fn to_json(&self) -> serde_json::Value {
        serde_json::json!({ "matches": self.matches, "worth": self.worth })
    }
}

/// How cells are written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenEntry {
    /// What separates the cells of text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<String>,
    /// What stands before the fractions of numbers in text, if not a point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimal: Option<String>,
    /// The text of a missing value, if not `?`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// The columns of which the ends of ranges are published: of `age` the columns `age_low` and `age_high`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub low_high: Vec<String>,
    /// The columns whose sets are lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<String>,
    /// The columns of which the means of groups are published.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub means: Vec<String>,
}

impl WrittenEntry {
    pub(crate) fn of(dialect: Dialect, shape: &Shape) -> Option<WrittenEntry> {
        let entry = WrittenEntry {
            delimiter: dialect.delimiter.map(|byte| char::from(byte).to_string()),
            decimal: (dialect.decimal == DecimalMark::Comma).then(|| ",".to_owned()),
            missing: shape
                .shown
                .clone()
                .or(Some(shape.missing.clone()))
                .filter(|shown| !shape.quasi.is_empty() && shown != USUAL_LABEL),
            low_high: shape.ends.iter().map(|(name, _)| name.clone()).collect(),
            lists: shape.lists.clone(),
            means: shape.means.clone(),
        };
        (entry != WrittenEntry::default()).then_some(entry)
    }
}

/// The label of a missing value where nobody states another.
const USUAL_LABEL: &str = "?";

/// What is told of an external table: that there was one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalEntry {
    /// How the join was grouped.
    pub method: String,
    /// Whether surplus external people were left out.
    pub trim: String,
}

/// A published column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ColumnEntry {
    /// Its role.
    pub role: String,
    /// What its values are, if that was stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// How the dates of the original are written, if that was stated. Published dates are written 2021-03-05.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// What kind of hierarchy it was generalized along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hierarchy: Option<String>,
    /// How text without a hierarchy is published, if not as sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<String>,
    /// The regular intervals it is published in.
    #[serde(default, rename = "mdr", skip_serializing_if = "Option::is_none")]
    pub intervals: Option<RegularIntervals>,
    /// The number from which on all are published as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top: Option<f64>,
    /// The number down from which all are published as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottom: Option<f64>,
    /// The level of its hierarchy below which no cell lies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_level: Option<u32>,
    /// How much its loss weighs, if that was stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// The categories of its values, most sensitive first. They are a list of policy, not of people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub categories: Option<Vec<CategoryEntry>>,
    /// What is published of it: values, categories or both.
    #[serde(default, alias = "publish_sa", skip_serializing_if = "Option::is_none")]
    pub publish: Option<String>,
    /// `false` if nobody else is said to know its values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linkable: Option<bool>,
}

/// A category.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CategoryEntry {
    /// Its name.
    pub name: String,
    /// Its values.
    pub values: Vec<String>,
}

impl JobEntry {
    pub(crate) fn new(checked: &CheckedJob, schema: &Schema) -> JobEntry {
        let (input, algorithm) = (&checked.job.input, &checked.job.algorithm);
        let order = checked.job.output.as_ref().map(|output| output.order).unwrap_or_default();
        let linkable = |name: &str| checked.job.column(name).and_then(|column| column.linkable);
        let entry = |(name, role)| ColumnEntry { linkable: linkable(name), ..ColumnEntry::of(role) };
        let columns = schema.published().map(|(name, role)| (name.to_owned(), entry((name, role))));
        let weight = checked.published_weight().map(|name| {
            (name.to_owned(), ColumnEntry { role: weights::ROLE.to_owned(), ..ColumnEntry::default() })
        });
        JobEntry {
            columns: columns.chain(weight).collect(),
            on_missing: word(&OnMissing::ALL, input.on_missing).to_owned(),
            suppression_limit: algorithm.suppression_limit,
            suppressed: word(&Suppressed::ALL, algorithm.suppressed).to_owned(),
            order: word(&Order::ALL, order).to_owned(),
            csv_safe: checked.job.output.as_ref().is_some_and(|output| output.csv_safe),
            written: None,
            external: None,
            population: checked.estimates().then(|| weights::ESTIMATED.to_owned()),
            cells: (algorithm.cells != Cells::default())
                .then(|| word(&Cells::ALL, algorithm.cells).to_owned()),
            missing_cells: (algorithm.cells != Cells::default())
                .then(|| MissingCellsEntry::of(algorithm.missing_cells)),
        }
    }

    /// What a missing cell matches, if that is told.
    pub(crate) fn missing_cells(&self) -> Option<MissingCells> {
        let told = self.missing_cells.as_ref()?;
        MissingCells::ALL.iter().find(|(name, _)| *name == told.matches).map(|(_, meaning)| *meaning)
    }

    /// What the release shows in another way than its label.
    pub(crate) fn shape(&self, missing: &str) -> Shape {
        let Some(written) = self.written.clone() else {
            let quasi = if self.on_missing == "keep" { self.quasi() } else { Vec::new() };
            return Shape { missing: missing.to_owned(), quasi, ..Shape::default() };
        };
        let strict = |name: &String| self.columns.get(name).is_some_and(|column| column.hierarchy.is_some());
        let strict: Vec<bool> = written.low_high.iter().map(strict).collect();
        Shape {
            missing: missing.to_owned(),
            shown: written.missing,
            quasi: self.quasi(),
            ends: written.low_high.into_iter().zip(strict).collect(),
            lists: written.lists,
            means: written.means,
        }
    }

    fn quasi(&self) -> Vec<String> {
        let quasi = self.columns.iter().filter(|(_, column)| column.role == "quasi");
        quasi.map(|(name, _)| name.to_owned()).collect()
    }
}

impl ColumnEntry {
    fn of(role: &Role) -> ColumnEntry {
        let (name, kind, format, hierarchy) = match role {
            Role::Quasi(spec) => ("quasi", spec.kind, spec.format, spec.hierarchy.as_ref()),
            Role::Sensitive(spec) => ("sensitive", spec.kind, spec.format, spec.hierarchy.as_ref()),
            _ => ("passthrough", None, None, None),
        };
        let hierarchy = hierarchy.map(|hierarchy| match hierarchy {
            HierarchySpec::Arx { .. } => "file",
            HierarchySpec::Nested(_) => "tree",
            HierarchySpec::Mask(_) => "mask",
            HierarchySpec::Intervals(_) => "intervals",
            HierarchySpec::Dates(_) => "dates",
            HierarchySpec::Bands => "bands",
            HierarchySpec::Known(known) => known.name,
            HierarchySpec::Columns(_) => "columns",
            HierarchySpec::Mdr(_) => "mdr",
        });
        let mut entry = ColumnEntry {
            role: name.to_owned(),
            kind: kind.map(|kind| word(&Kind::ALL, kind).to_owned()),
            format: format.map(|format| format.to_string()),
            hierarchy: hierarchy.map(str::to_owned),
            ..ColumnEntry::default()
        };
        match role {
            Role::Quasi(spec) => {
                entry.labels = (spec.labels == Labels::Star).then(|| "star".to_owned());
                entry.weight = spec.weight;
                (entry.top, entry.bottom) = (spec.limits.top, spec.limits.bottom);
                entry.min_level = spec.min_level;
                if let Some(HierarchySpec::Mdr(mdr)) = &spec.hierarchy {
                    entry.intervals = mdr.grid().map(RegularIntervals::of);
                }
            }
            Role::Sensitive(spec) => {
                entry.categories = spec.categories.as_ref().map(|categories| {
                    let entry = |(name, values): (&str, &[String])| CategoryEntry {
                        name: name.to_owned(),
                        values: values.to_vec(),
                    };
                    categories.iter().map(entry).collect()
                });
                entry.publish = spec.publish.map(|publish| word(&Publish::ALL, publish).to_owned());
            }
            _ => {}
        }
        entry
    }

    /// The column as a job would state it. A hierarchy is told only where it follows from the release.
    pub(crate) fn column(&self) -> Result<ColumnJob> {
        fn of<T: Copy>(words: &[(&str, T)], word: &Option<String>) -> Option<T> {
            let word = word.as_deref()?;
            words.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning)
        }
        let mut column = ColumnJob {
            role: of(&RoleName::ALL, &Some(self.role.clone())).unwrap_or_default(),
            publish: of(&Publish::ALL, &self.publish),
            linkable: self.linkable,
            ..ColumnJob::default()
        };
        column.spec.kind = of(&Kind::ALL, &self.kind);
        column.spec.format = self.format.as_deref().and_then(|format| DateFormat::parse(format).ok());
        column.spec.limits = Limits { top: self.top, bottom: self.bottom };
        // A level is about a hierarchy, which the manifest does not tell.
        column.spec.min_level = self.min_level.filter(|_| self.intervals.is_some());
        column.spec.weight = self.weight.filter(|weight| *weight >= 0.0);
        column.spec.hierarchy = self.regular();
        if let Some(list) = &self.categories {
            let list = list.iter().map(|c| (c.name.clone(), c.values.clone())).collect();
            column.categories = Some(Categories::new(list)?);
        }
        Ok(column)
    }

    /// The tree of regular intervals, which the manifest itself tells.
    pub(crate) fn regular(&self) -> Option<HierarchySpec> {
        let grid = self.intervals.as_ref()?.grid()?;
        Some(HierarchySpec::Mdr(Mdr::of_grid(grid)))
    }
}
