//! The entries of a manifest about columns: their roles, and the data that readers need to
//! interpret their cells.

use incrowd_core::hierarchy::mdr::Mdr;
use incrowd_core::limits::Limits;
use incrowd_core::numerals::DecimalMark;
use incrowd_core::schema::{Kind, Labels};
use incrowd_core::{
    Categories, DateFormat, Error, HierarchySpec, MissingCells, Publish, Result, Role, Schema,
};
use incrowd_engine::{Dialect, Shape};
use serde::{Deserialize, Serialize};

use super::{Ordered, Recipe, RegularIntervals};
use crate::job::{Cells, ColumnJob, Input, OnMissing, Order, RoleName, Suppressed, word};
use crate::making::checked::CheckedJob;
use crate::making::weights;

/// The settings of the job that are published.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobEntry {
    /// The published columns.
    pub columns: Ordered<ColumnEntry>,
    /// The treatment of records with a missing value.
    pub on_missing: String,
    /// The texts that counted as missing, if they differ from the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Vec<String>>,
    /// The maximum share of suppressed records.
    pub suppression_limit: f64,
    /// How suppressed records are published.
    pub suppressed: String,
    /// The order of the records.
    pub order: String,
    /// Whether text cells that a spreadsheet would evaluate as formulas begin with an apostrophe.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub csv_safe: bool,
    /// The format of cells, as far as it does not follow from the file name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<WrittenEntry>,
    /// The grouping with the people of an external table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external: Option<ExternalEntry>,
    /// The source of the population that models refer to, if it is not a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub population: Option<String>,
    /// The treatment of single cells, if they are not only generalized.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<String>,
    /// The values that a missing cell matches, if single cells are suppressed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing_cells: Option<MissingCellsEntry>,
}

/// The values that a missing cell matches, and the strength of a guarantee under this rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingCellsEntry {
    /// `alone` or `any`.
    pub matches: String,
    /// The adversaries against whom the guarantees hold, in words.
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

/// The format of cells.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenEntry {
    /// The delimiter of text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<String>,
    /// The decimal mark of numbers in text, if it is not a point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimal: Option<String>,
    /// The text of a missing value, unless it is `?` and `?` is also the label of missing values:
    /// the first text in `missing` that is not empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// The columns whose ranges are published as two columns: `age` as `age_low` and `age_high`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub low_high: Vec<String>,
    /// The columns whose sets are published as lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<String>,
    /// The columns of which group means are published.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub means: Vec<String>,
}

impl WrittenEntry {
    pub(crate) fn of(dialect: Dialect, shape: &Shape) -> Option<WrittenEntry> {
        let missing = shape.shown.as_ref().unwrap_or(&shape.missing);
        // Without an entry a reader takes `?` for a missing value only if `?` is the label.
        let is_known = missing == DEFAULT_LABEL && shape.missing == DEFAULT_LABEL;
        let entry = WrittenEntry {
            delimiter: dialect.delimiter.map(|byte| char::from(byte).to_string()),
            decimal: (dialect.decimal == DecimalMark::Comma).then(|| ",".to_owned()),
            missing: (!shape.quasi.is_empty() && !is_known).then(|| missing.clone()),
            low_high: shape.ends.iter().map(|(name, _)| name.clone()).collect(),
            lists: shape.lists.clone(),
            means: shape.means.clone(),
        };
        (entry != WrittenEntry::default()).then_some(entry)
    }
}

/// The default label of a missing value.
const DEFAULT_LABEL: &str = "?";

/// The entry about an external table. It does not describe the table's content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExternalEntry {
    /// The grouping method of the join.
    pub method: String,
    /// Whether surplus external people were suppressed.
    pub trim: String,
}

/// A published column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ColumnEntry {
    /// Its role.
    pub role: String,
    /// The type of its values, if it was stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The date format of the original, if it was stated. Published dates have the form 2021-03-05.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// The kind of its hierarchy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hierarchy: Option<String>,
    /// The hierarchy with its parameters, if it needs no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipe: Option<Recipe>,
    /// The labels of text without a hierarchy, if they are not sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<String>,
    /// The regular intervals in which it is published.
    #[serde(default, rename = "mdr", skip_serializing_if = "Option::is_none")]
    pub intervals: Option<RegularIntervals>,
    /// The number from which all greater numbers are published as one value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top: Option<f64>,
    /// The number below which all smaller numbers are published as one value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottom: Option<f64>,
    /// The minimum level of its cells in the hierarchy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_level: Option<u32>,
    /// The importance of the column in the information loss, if it was stated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// The categories of its values, most sensitive first. They are defined by policy, not derived
    /// from the records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub categories: Option<Vec<CategoryEntry>>,
    /// The published form: values, categories or both.
    #[serde(default, alias = "publish_sa", skip_serializing_if = "Option::is_none")]
    pub publish: Option<String>,
    /// `false` if an adversary is assumed not to know its values.
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
        let entry =
            |(name, role)| ColumnEntry { linkable: linkable(name), ..ColumnEntry::of(role) };
        let columns = schema.published().map(|(name, role)| (name.to_owned(), entry((name, role))));
        let weight = checked.published_weight().map(|name| {
            (
                name.to_owned(),
                ColumnEntry { role: weights::ROLE.to_owned(), ..ColumnEntry::default() },
            )
        });
        JobEntry {
            columns: columns.chain(weight).collect(),
            on_missing: word(&OnMissing::ALL, input.on_missing).to_owned(),
            missing: Some(&input.missing).filter(|own| **own != Input::default().missing).cloned(),
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

    /// Returns the values that a missing cell matches, if the manifest contains them.
    pub(crate) fn missing_cells(&self) -> Option<MissingCells> {
        let entry = self.missing_cells.as_ref()?;
        MissingCells::ALL
            .iter()
            .find(|(name, _)| *name == entry.matches)
            .map(|(_, meaning)| *meaning)
    }

    /// Returns the columns that are not published as plain labels.
    pub(crate) fn shape(&self, missing: &str) -> Shape {
        let Some(written) = self.written.clone() else {
            let quasi = if self.on_missing == "keep" { self.quasi() } else { Vec::new() };
            return Shape { missing: missing.to_owned(), quasi, ..Shape::default() };
        };
        let strict =
            |name: &String| self.columns.get(name).is_some_and(|column| column.hierarchy.is_some());
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
        let recipe = hierarchy.and_then(Recipe::of);
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
            recipe,
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

    /// Returns the column as a job entry. A hierarchy from a file or from other columns is absent.
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
        column.spec.format =
            self.format.as_deref().and_then(|format| DateFormat::parse(format).ok());
        column.spec.limits = Limits { top: self.top, bottom: self.bottom };
        column.spec.hierarchy = self.stated()?;
        // A level is meaningless without a hierarchy.
        column.spec.min_level = self.min_level.filter(|_| column.spec.hierarchy.is_some());
        column.spec.weight = self.weight.filter(|weight| *weight >= 0.0);
        if let Some(list) = &self.categories {
            let list = list.iter().map(|c| (c.name.clone(), c.values.clone())).collect();
            column.categories = Some(Categories::new(list)?);
        }
        Ok(column)
    }

    /// Returns the tree of regular intervals, which the manifest contains.
    pub(crate) fn regular(&self) -> Option<HierarchySpec> {
        let grid = self.intervals.as_ref()?.grid()?;
        Some(HierarchySpec::Mdr(Mdr::of_grid(grid)))
    }

    /// Returns the hierarchy, if the manifest contains all of it.
    pub(crate) fn stated(&self) -> Result<Option<HierarchySpec>> {
        if let Some(regular) = self.regular() {
            return Ok(Some(regular));
        }
        let named = || Recipe::named(self.hierarchy.as_deref()?);
        let Some(recipe) = self.recipe.clone().or_else(named) else { return Ok(None) };
        recipe
            .hierarchy()
            .map_err(|e| Error::input(format!("a hierarchy of the manifest: {}", e.message())))
    }
}
