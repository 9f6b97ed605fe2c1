//! The role of each column.

use crate::calendar::DateFormat;
use crate::categories::Categories;
use crate::error::{Error, Result};
use crate::hierarchy::{HierarchySpec, Taxonomy};
use crate::limits::Limits;

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Numbers, generalized to free intervals.
    Numeric,
    /// Calendar dates, generalized to free intervals.
    Date,
    /// Anything else.
    Text,
}

impl Kind {
    /// The names in a job file.
    pub const ALL: [(&'static str, Kind); 3] =
        [("numeric", Kind::Numeric), ("date", Kind::Date), ("text", Kind::Text)];
}

/// How a text column without a hierarchy is published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Labels {
    /// As the set of the group's values, `{Mexico, Peru}`.
    #[default]
    Set,
    /// As the value itself or `*`.
    Star,
}

/// How a quasi-identifier may be generalized. Settings that are not given follow from the values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnSpec {
    /// The type of the values.
    pub kind: Option<Kind>,
    /// The format of its dates, if it is not detected.
    pub format: Option<DateFormat>,
    /// The hierarchy, if it has one.
    pub hierarchy: Option<HierarchySpec>,
    /// How text without a hierarchy is published.
    pub labels: Labels,
    /// The range that counts as the whole domain of a numeric column, if not the range of the data.
    pub domain: Option<(f64, f64)>,
    /// Top and bottom coding: numbers beyond these bounds are published as one value.
    pub limits: Limits,
    /// The lowest level of the hierarchy that may be published.
    pub min_level: Option<u32>,
    /// Importance: the factor of this column in the loss, if not 1.
    pub weight: Option<f64>,
    /// Whether the column is encoded for measuring: see [`ColumnSpec::for_measuring`].
    pub measuring: bool,
}

impl ColumnSpec {
    /// Builds the tree over `values`, the distinct texts of `column`, with the bounds applied.
    pub(crate) fn taxonomy(
        &self,
        hierarchy: &HierarchySpec,
        column: &str,
        values: &[&str],
        counts: Option<&[u64]>,
    ) -> Result<Taxonomy> {
        match hierarchy {
            HierarchySpec::Intervals(intervals) => {
                intervals.build_within(column, values, self.limits, self.measuring)
            }
            _ => hierarchy.build_counted(column, values, counts, self.domain),
        }
    }

    /// Returns the leaf of a value, if it differs from the text.
    pub(crate) fn leaf(&self, hierarchy: &HierarchySpec, text: &str) -> Option<String> {
        let bound = || {
            let bounded = !self.limits.is_none() && !self.measuring;
            let number = crate::number::parse_number(text).filter(|_| bounded)?;
            self.limits.label(number.as_f64())
        };
        bound().or_else(|| hierarchy.canonical(text))
    }

    /// Whether `top`, `bottom` or `min_level` exclude some values from publication, whatever the
    /// size of the groups.
    pub fn is_bounded(&self) -> bool {
        !self.limits.is_none() || self.min_level.is_some_and(|level| level > 0)
    }

    /// Whether this is a number with more digits than the column computes with. Such a value of
    /// another table is outside every published range, because a rounded number may be on the wrong
    /// side of an end.
    pub fn is_too_long(&self, text: &str) -> bool {
        use crate::number::{is_exact, is_rounded, parse_number};
        match &self.hierarchy {
            None => is_rounded(text),
            Some(HierarchySpec::Mdr(_)) => parse_number(text).is_some() && !is_exact(text),
            Some(_) => !self.limits.is_none() && parse_number(text).is_some() && !is_exact(text),
        }
    }

    /// The column encoded for measuring a release: every original value has a leaf, including
    /// values beyond `top` and `bottom` and below `min_level`. Cells generalized by these settings
    /// can be read in this domain. It is never used for publishing.
    #[must_use]
    pub fn for_measuring(&self) -> ColumnSpec {
        ColumnSpec { measuring: true, ..self.clone() }
    }

    /// The importance of the column.
    pub fn weight(&self) -> f64 {
        self.weight.unwrap_or(1.0)
    }
}

/// Order and hierarchy of a sensitive column's values, for models that use them. Settings that are
/// not given follow from the values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SensitiveSpec {
    /// The type of the values.
    pub kind: Option<Kind>,
    /// The format of its dates, if it is not detected.
    pub format: Option<DateFormat>,
    /// The hierarchy, if the column has one; its values are published unmodified nevertheless.
    pub hierarchy: Option<HierarchySpec>,
    /// The categories of its values, most sensitive first.
    pub categories: Option<Categories>,
    /// The published form of the column, if not the default of its models.
    pub publish: Option<Publish>,
    /// The texts that mean a missing value. They are counted as one value, in every
    /// [spelling](crate::means_missing), together with the missing value of the table.
    pub missing: Vec<String>,
}

/// The published form of a sensitive column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Publish {
    /// Its values.
    Value,
    /// The categories of its values.
    Category,
    /// Both, the category in a column of its own.
    Both,
}

impl Publish {
    /// The names in a job file.
    pub const ALL: [(&'static str, Publish); 3] =
        [("value", Publish::Value), ("category", Publish::Category), ("both", Publish::Both)];
}

/// The role of a column, with the settings it requires.
#[derive(Clone, Debug, PartialEq)]
pub enum Role {
    /// Identifies a person: never published, never encoded.
    Identifier,
    /// Can be linked with other sources: generalized.
    Quasi(ColumnSpec),
    /// Must not be learned about a person: published unmodified, in groups that the models admit.
    Sensitive(SensitiveSpec),
    /// Published unmodified, without any protection.
    Passthrough,
    /// Not published.
    Drop,
}

/// The columns of a table, in its order, each with a role.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    columns: Vec<(String, Role)>,
}

impl Schema {
    /// Checks that names are distinct and that there is a quasi-identifier.
    pub fn new(columns: Vec<(String, Role)>) -> Result<Schema> {
        for (i, (name, _)) in columns.iter().enumerate() {
            if columns[..i].iter().any(|(other, _)| other == name) {
                return Err(Error::input(format!("two columns are called `{name}`"))
                    .help("rename one of them: a column name must be unique"));
            }
        }
        let schema = Schema { columns };
        if schema.quasi().next().is_none() {
            return Err(Error::job("no column is a quasi-identifier").help(
                "name the columns that could be linked with other sources with \
                 `[columns] role = \"quasi\"`",
            ));
        }
        Ok(schema)
    }

    /// The schema with the resolved hierarchy of a quasi-identifier.
    #[must_use]
    pub fn with_hierarchy(mut self, column: &str, hierarchy: HierarchySpec) -> Schema {
        for (name, role) in &mut self.columns {
            if let Role::Quasi(spec) = role
                && name == column
            {
                spec.hierarchy = Some(hierarchy.clone());
            }
        }
        self
    }

    /// All columns with their roles, in the table's order.
    pub fn columns(&self) -> &[(String, Role)] {
        &self.columns
    }

    /// The quasi-identifiers.
    pub fn quasi(&self) -> impl Iterator<Item = (&str, &ColumnSpec)> {
        self.columns.iter().filter_map(|(name, role)| match role {
            Role::Quasi(spec) => Some((name.as_str(), spec)),
            _ => None,
        })
    }

    /// The sensitive columns.
    pub fn sensitive(&self) -> impl Iterator<Item = (&str, &SensitiveSpec)> {
        self.columns.iter().filter_map(|(name, role)| match role {
            Role::Sensitive(spec) => Some((name.as_str(), spec)),
            _ => None,
        })
    }

    /// The published columns, in the table's order.
    pub fn published(&self) -> impl Iterator<Item = (&str, &Role)> {
        let kept = |role: &Role| !matches!(role, Role::Identifier | Role::Drop);
        self.columns
            .iter()
            .filter(move |(_, role)| kept(role))
            .map(|(name, role)| (name.as_str(), role))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_duplicate_names_and_no_quasi_identifier() {
        let quasi = || Role::Quasi(ColumnSpec::default());
        let sensitive = || Role::Sensitive(SensitiveSpec::default());
        assert!(Schema::new(vec![("a".into(), quasi()), ("a".into(), sensitive())]).is_err());
        assert!(Schema::new(vec![("a".into(), sensitive())]).is_err());
        let schema =
            Schema::new(vec![("id".into(), Role::Identifier), ("a".into(), quasi())]).unwrap();
        assert_eq!(schema.published().count(), 1);
    }
}
