//! Which column plays which role, checked once.

use crate::calendar::DateFormat;
use crate::categories::Categories;
use crate::error::{Error, Result};
use crate::hierarchy::{HierarchySpec, Taxonomy};
use crate::limits::Limits;

/// What a column's values are.
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

/// How a quasi-identifier may be generalized. What is not stated is decided from the values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnSpec {
    /// What the values are.
    pub kind: Option<Kind>,
    /// How its dates are written, if that is not to be told from them.
    pub format: Option<DateFormat>,
    /// The hierarchy, if it has one.
    pub hierarchy: Option<HierarchySpec>,
    /// How text without a hierarchy is published.
    pub labels: Labels,
    /// The range that counts as the whole domain of a numeric column, if not that of the data.
    pub domain: Option<(f64, f64)>,
    /// The bounds from which on numbers are published as one.
    pub limits: Limits,
    /// The level of its hierarchy below which no cell lies, if there is one.
    pub min_level: Option<u32>,
    /// How much the loss of this column weighs against that of the others, if not 1.
    pub weight: Option<f64>,
}

impl ColumnSpec {
    /// The tree over `values`, the distinct texts of `column`, its numbers within their bounds.
    pub(crate) fn taxonomy(
        &self,
        hierarchy: &HierarchySpec,
        column: &str,
        values: &[&str],
        counts: Option<&[u64]>,
    ) -> Result<Taxonomy> {
        match hierarchy {
            HierarchySpec::Intervals(intervals) => intervals.build_within(column, values, self.limits),
            _ => hierarchy.build_counted(column, values, counts, self.domain),
        }
    }

    /// The leaf of a value, where it is spelled otherwise.
    pub(crate) fn leaf(&self, hierarchy: &HierarchySpec, text: &str) -> Option<String> {
        let bound = || {
            let number = crate::number::parse_number(text).filter(|_| !self.limits.is_none())?;
            self.limits.label(number.as_f64())
        };
        bound().or_else(|| hierarchy.canonical(text))
    }

    /// How much the column's loss weighs.
    pub fn weight(&self) -> f64 {
        self.weight.unwrap_or(1.0)
    }
}

/// How the values of a sensitive column relate to each other, for models that ask. What is not stated is decided from the
/// values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SensitiveSpec {
    /// What the values are.
    pub kind: Option<Kind>,
    /// How its dates are written, if that is not to be told from them.
    pub format: Option<DateFormat>,
    /// The hierarchy, if the column has one; its values are published as they are all the same.
    pub hierarchy: Option<HierarchySpec>,
    /// The categories of its values, most sensitive first.
    pub categories: Option<Categories>,
    /// What is published of the column, if not what its models suggest.
    pub publish: Option<Publish>,
}

/// What is published of a sensitive column.
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

/// What a column is to the release. A role carries what it needs.
#[derive(Clone, Debug, PartialEq)]
pub enum Role {
    /// Names a person: never published, never even encoded.
    Identifier,
    /// Could be linked with other sources: generalized.
    Quasi(ColumnSpec),
    /// Must not be learned about a person: published as it is, in groups the models admit.
    Sensitive(SensitiveSpec),
    /// Published as it is and protected by nothing.
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
    /// Checks that names are distinct and that something is to be protected.
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
                "name the columns that could be linked with other sources with `[columns] role = \"quasi\"`",
            ));
        }
        Ok(schema)
    }

    /// The same roles, with the hierarchy of a quasi-identifier as it turned out to be.
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

    /// The columns a release has, in the table's order.
    pub fn published(&self) -> impl Iterator<Item = (&str, &Role)> {
        let kept = |role: &Role| !matches!(role, Role::Identifier | Role::Drop);
        self.columns.iter().filter(move |(_, role)| kept(role)).map(|(name, role)| (name.as_str(), role))
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
        let schema = Schema::new(vec![("id".into(), Role::Identifier), ("a".into(), quasi())]).unwrap();
        assert_eq!(schema.published().count(), 1);
    }
}
