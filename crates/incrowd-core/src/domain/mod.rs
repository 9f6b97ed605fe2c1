//! A column's domain: an ordered list of leaves. Every generalized value is an interval of leaves,
//! so minimum, maximum, median, width and containment have one implementation for numbers, dates,
//! taxonomies and texts.

mod labels;
mod levels;
mod missing;
mod numbers;
mod read;

pub use labels::LabelLine;
pub use numbers::{NumberLine, Numbers};
pub use read::ReadCell;

use crate::error::{Error, Result};
use crate::folded::{FoldedColumn, MISSING};
use crate::hierarchy::{HierarchySpec, Taxonomy};
use crate::index::Code;
use crate::number::{first_inexact, is_quantity, looks_like_date};
use crate::schema::{ColumnSpec, Kind, Labels};

/// An ordered list of leaves, and how its intervals are published.
#[derive(Clone, Debug)]
pub enum Domain {
    /// Numbers or dates in order; an interval is published as `[lo, hi]`.
    Numbers(NumberLine),
    /// A hierarchy; an interval is published as the lowest node that covers it.
    Taxonomy(Taxonomy),
    /// Text without a hierarchy; published as a set or as `*`.
    Labels(LabelLine),
}

/// How an interval of leaves can be split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SplitRule {
    /// It is a single leaf, or a cell that cannot be split.
    Whole,
    /// Between any two leaves.
    Anywhere,
    /// Only into these intervals, which cover it in order.
    Into(Vec<(Code, Code)>),
}

/// The reason why a column could not be encoded.
#[derive(Clone, Debug)]
pub struct Misfit {
    /// The error, without the location.
    pub error: Error,
    /// The folded code of a value that does not fit, so that the engine can report its location.
    pub code: Option<u32>,
}

impl From<Error> for Misfit {
    fn from(error: Error) -> Self {
        Misfit { error, code: None }
    }
}

impl Domain {
    /// Builds the domain of a column. Also returns the leaf of each of its codes. `missing` is the
    /// published text of a missing value, if the column has missing values that are kept.
    pub fn build(
        column: &FoldedColumn,
        spec: &ColumnSpec,
        missing: Option<&str>,
    ) -> Result<(Domain, Vec<Code>), Misfit> {
        Domain::build_counted(column, spec, missing, None)
    }

    /// Like [`Domain::build`], with the number of records per code, for hierarchies that depend on
    /// it.
    pub fn build_counted(
        column: &FoldedColumn,
        spec: &ColumnSpec,
        missing: Option<&str>,
        counts: Option<&[u64]>,
    ) -> Result<(Domain, Vec<Code>), Misfit> {
        let values: Vec<&str> = column.texts.iter().skip(1).map(String::as_str).collect();
        // Bounds and a given range require numbers. Whether these are exact is checked later.
        let bounded = spec.domain.is_some() || !spec.limits.is_none();
        let kind = spec.kind.unwrap_or_else(|| match sniff(&values) {
            Kind::Text
                if bounded && !values.is_empty() && values.iter().all(|v| is_quantity(v)) =>
            {
                Kind::Numeric
            }
            kind => kind,
        });
        let mdr = matches!(spec.hierarchy, Some(HierarchySpec::Mdr(_)));
        if mdr && !values.is_empty() {
            fits_kind(&column.name, spec.kind, &values)?;
        }
        if spec.domain.is_some() && !mdr && (spec.hierarchy.is_some() || kind == Kind::Text) {
            let name = &column.name;
            let error = Error::job(format!(
                "column `{name}` has a `domain`, but is not published as numeric ranges"
            ))
            .help(
                "`domain` is used with kind = \"numeric\" or \"date\" and no hierarchy, or with \
                 hierarchy = \"mdr\"",
            )
            .at(format!("columns.{name}.domain"));
            return Err(error.into());
        }
        crate::limits::check(&column.name, spec)?;
        if let Some(hierarchy) = &spec.hierarchy {
            let (taxonomy, codes) =
                build_taxonomy(&column.name, &values, spec, hierarchy, missing, counts)?;
            return Ok((Domain::Taxonomy(taxonomy), codes));
        }
        match kind {
            Kind::Text => {
                let (line, codes) = LabelLine::build(&values, missing, spec.labels);
                Ok((Domain::Labels(line), codes))
            }
            kind => {
                let (line, codes) = NumberLine::build(column, kind, missing, spec)?;
                Ok((Domain::Numbers(line), codes))
            }
        }
    }

    /// The number of leaves.
    pub fn leaves(&self) -> u32 {
        match self {
            Domain::Numbers(line) => line.leaves(),
            Domain::Taxonomy(taxonomy) => taxonomy.leaves(),
            Domain::Labels(line) => line.leaves(),
        }
    }

    /// The number of a leaf; `None` for a missing value and for domains without numbers. The leaf
    /// of all numbers beyond a bound has the number of the bound.
    pub fn number(&self, leaf: Code) -> Option<f64> {
        match self {
            Domain::Numbers(line) => (!line.is_missing(leaf)).then(|| line.numbers().at(leaf)),
            Domain::Taxonomy(tree) => {
                let node = tree.leaf(leaf);
                // In a tree of intervals every number is below an interval. Only a kept missing
                // value is a child of the root.
                let is_number = tree.parent(node) != Some(tree.root());
                tree.extents().filter(|_| is_number).map(|extents| extents.of_node[node.index()].0)
            }
            Domain::Labels(_) => None,
        }
    }

    /// Whether the original has more than one value. A constant column has no loss.
    fn varies(&self) -> bool {
        let is_wide = |(lo, hi): (f64, f64)| hi > lo;
        // A bounded domain may have one leaf for many numbers.
        let numbers = match self {
            Domain::Numbers(line) => is_wide(line.domain()),
            Domain::Taxonomy(tree) => tree.extents().is_some_and(|extents| is_wide(extents.domain)),
            Domain::Labels(_) => false,
        };
        self.leaves() > 1 || numbers
    }

    /// The normalized certainty penalty of publishing the interval, 0 to 1.
    pub fn ncp(&self, lo: Code, hi: Code) -> f64 {
        match self {
            Domain::Numbers(line) => line.ncp(lo, hi),
            Domain::Taxonomy(taxonomy) => taxonomy.ncp(taxonomy.common(lo, hi)),
            Domain::Labels(line) => line.ncp(lo, hi),
        }
    }

    /// The information loss of the interval's label, see [`Domain::cell_loss`]. A set counts every
    /// leaf of the interval; a group's set may be smaller.
    pub fn loss(&self, lo: Code, hi: Code) -> f64 {
        match self {
            Domain::Numbers(line) => line.loss(lo, hi),
            Domain::Taxonomy(taxonomy) => taxonomy.loss(taxonomy.common(lo, hi)),
            Domain::Labels(line) if line.labels() == Labels::Star => f64::from(u8::from(lo != hi)),
            Domain::Labels(_) => f64::from(hi.0 - lo.0) / f64::from((self.leaves() - 1).max(1)),
        }
    }

    /// How the interval can be split.
    pub fn split_rule(&self, lo: Code, hi: Code) -> SplitRule {
        if lo == hi {
            return SplitRule::Whole;
        }
        match self {
            Domain::Numbers(line) => line.split_rule(lo, hi),
            Domain::Taxonomy(taxonomy) => {
                let children = taxonomy.children(taxonomy.common(lo, hi));
                if children.is_empty() {
                    return SplitRule::Whole;
                }
                SplitRule::Into(children.iter().map(|&child| taxonomy.span(child)).collect())
            }
            Domain::Labels(line) if line.labels() == Labels::Set => SplitRule::Anywhere,
            Domain::Labels(_) => {
                SplitRule::Into((lo.0..=hi.0).map(|c| (Code(c), Code(c))).collect())
            }
        }
    }

    /// Whether groups are published as sets of their own values, so that the label does not follow
    /// from the interval.
    pub fn publishes_sets(&self) -> bool {
        matches!(self, Domain::Labels(line) if line.labels() == Labels::Set)
    }

    /// The published text of an interval.
    pub fn label(&self, lo: Code, hi: Code) -> String {
        match self {
            Domain::Numbers(line) => line.label(lo, hi),
            Domain::Taxonomy(taxonomy) => taxonomy.label(taxonomy.common(lo, hi)).to_owned(),
            Domain::Labels(line) => line.label(lo, hi),
        }
    }

    /// The published text of a set of leaves, for domains that publish sets.
    pub fn set_label(&self, codes: &[Code]) -> String {
        match (self, codes) {
            (Domain::Labels(line), _) => line.set_label(codes),
            (_, [lo, .., hi]) => self.label(*lo, *hi),
            (_, [only]) => self.label(*only, *only),
            (_, []) => "*".to_owned(),
        }
    }

    /// A sort key that breaks ties between children of equal size: their labels, or their lower
    /// bounds for numeric cells.
    pub fn tie_key(&self, lo: Code, hi: Code) -> String {
        match self {
            Domain::Taxonomy(t) if t.extents().is_none() => t.label(t.common(lo, hi)).to_owned(),
            _ => format!("{:010}", lo.0),
        }
    }
}

/// Builds the tree of a column with a hierarchy. Also returns the leaf of each of its codes.
fn build_taxonomy(
    name: &str,
    values: &[&str],
    spec: &ColumnSpec,
    hierarchy: &HierarchySpec,
    missing: Option<&str>,
    counts: Option<&[u64]>,
) -> Result<(Taxonomy, Vec<Code>), Misfit> {
    let built = spec.taxonomy(hierarchy, name, values, counts.map(|c| &c[1..]));
    let mut taxonomy = built.map_err(|error| {
        let unfit = |v: &&str| hierarchy.is_canonical() && hierarchy.canonical(v).is_none();
        Misfit { error, code: values.iter().position(unfit).map(|i| i as u32 + 1) }
    })?;
    let label = missing.unwrap_or("");
    if missing.is_some() && taxonomy.code(label).is_none() {
        taxonomy = taxonomy.with_leaf(label);
    }
    if let Some(level) = spec.min_level.filter(|&level| level > 0 && !spec.measuring) {
        taxonomy = taxonomy
            .coarsened_to(level as usize, missing)
            .map_err(|error| Misfit::from(error.at(format!("columns.{name}.min_level"))))?;
    }
    let code = |value: &&str| {
        let canonical = spec.leaf(hierarchy, value);
        taxonomy.code(canonical.as_deref().unwrap_or(value))
    };
    let codes: Vec<Option<Code>> = values.iter().map(code).collect();
    if let Some(first) = codes.iter().position(Option::is_none) {
        let what = match codes.iter().filter(|code| code.is_none()).count() {
            1 => "a value".to_owned(),
            n => format!("{n} values"),
        };
        let error = Error::input(format!("column `{name}` has {what} missing from its hierarchy"))
            .help("add the value to the hierarchy, or list it in [input] missing")
            .at(format!("columns.{name}.hierarchy"));
        return Err(Misfit { error, code: Some(first as u32 + 1) });
    }
    let of_missing = taxonomy.code(label).unwrap_or(Code(0));
    let codes = std::iter::once(of_missing).chain(codes.into_iter().flatten()).collect();
    Ok((taxonomy, codes))
}

/// Checks that the values of a column with regular intervals are numbers or dates of its kind.
fn fits_kind(column: &str, kind: Option<Kind>, values: &[&str]) -> Result<()> {
    let numbers = values.iter().all(|v| crate::number::parse_number(v).is_some());
    let (message, help) = match kind {
        Some(Kind::Text) => {
            ("is text, which has no intervals", "remove `kind`, or choose another hierarchy")
        }
        Some(Kind::Date) if numbers => (
            "holds dates that look like numbers",
            "regular intervals need dates in the format 2021-03-05",
        ),
        Some(Kind::Numeric) if !numbers => ("holds a value that is not a number", MISSING_TEXTS),
        _ if numbers && !values.iter().all(|v| crate::number::is_exact(v)) => {
            return Err(
                crate::hierarchy::intervals::not_exact(column).at(format!("columns.{column}"))
            );
        }
        _ => return Ok(()),
    };
    Err(Error::input(format!("column `{column}` {message}"))
        .help(help)
        .at(format!("columns.{column}")))
}

/// Detects the type of values: numbers if all are numbers, dates if all are dates, otherwise text.
fn sniff(values: &[&str]) -> Kind {
    if values.is_empty() {
        Kind::Text
    } else if values.iter().all(|v| is_quantity(v)) && first_inexact(values).is_none() {
        Kind::Numeric
    } else if values.iter().all(|v| looks_like_date(v)) {
        Kind::Date
    } else {
        Kind::Text
    }
}

const _: () = assert!(MISSING == 0, "the code of a missing value is the first");

/// Help for a column with values of another type.
const MISSING_TEXTS: &str = "list texts that mean a missing value in [input] missing";

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn column(texts: &[&str]) -> FoldedColumn {
        let texts = std::iter::once("").chain(texts.iter().copied()).map(str::to_owned).collect();
        FoldedColumn { name: "x".into(), texts }
    }

    #[test]
    fn types_are_detected_from_the_values() {
        assert_eq!(sniff(&["1", "2.5", " 3"]), Kind::Numeric);
        assert_eq!(sniff(&["02139", "10001"]), Kind::Text);
        assert_eq!(sniff(&["7", "9007199254740993"]), Kind::Text);
        assert_eq!(sniff(&["2021-03-05"]), Kind::Date);
        assert_eq!(sniff(&["2021-03-05", "1"]), Kind::Text);
        assert_eq!(sniff(&[]), Kind::Text);
    }

    #[test]
    fn a_value_missing_from_its_hierarchy_is_not_printed() {
        let spec = ColumnSpec {
            hierarchy: Some(crate::HierarchySpec::Arx {
                name: "h".into(),
                text: "a;*\nb;*\n".into(),
            }),
            ..ColumnSpec::default()
        };
        let misfit = Domain::build(&column(&["a", "secret"]), &spec, None).unwrap_err();
        assert_eq!(misfit.code, Some(2));
        assert!(!misfit.error.message().contains("secret"));
    }

    #[test]
    fn a_kept_missing_value_becomes_a_separate_leaf() {
        let spec = ColumnSpec {
            hierarchy: Some(crate::HierarchySpec::Arx {
                name: "h".into(),
                text: "a;A;*\nb;A;*\n".into(),
            }),
            ..ColumnSpec::default()
        };
        let (domain, codes) = Domain::build(&column(&["a", "b"]), &spec, Some("?")).unwrap();
        assert_eq!(codes, [Code(2), Code(0), Code(1)]);
        assert_eq!(domain.label(Code(2), Code(2)), "?");
        assert_eq!(domain.label(Code(0), Code(2)), "*");
    }
}
