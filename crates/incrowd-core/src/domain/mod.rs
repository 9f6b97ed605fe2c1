//! A column's domain as a line of leaves. Every generalized value is an interval on it, so that least and greatest
//! value, median, width and containment have one implementation for numbers, dates, taxonomies and plain text.

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
use crate::number::{looks_like_date, looks_numeric};
use crate::schema::{ColumnSpec, Kind, Labels};

/// A line of leaves and the rule by which intervals of it are published.
#[derive(Clone, Debug)]
pub enum Domain {
    /// Numbers or dates in order; an interval is published as `[lo, hi]`.
    Numbers(NumberLine),
    /// A hierarchy; an interval is published as the lowest node that covers it.
    Taxonomy(Taxonomy),
    /// Text without a hierarchy; published as a set or as `*`.
    Labels(LabelLine),
}

/// How an interval of leaves can be divided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SplitRule {
    /// It is a single leaf, or a cell that is not divided any further.
    Whole,
    /// Between any two leaves.
    Anywhere,
    /// Only into these intervals, which cover it in order.
    Into(Vec<(Code, Code)>),
}

/// Why a column could not be laid out on a line.
#[derive(Clone, Debug)]
pub struct Misfit {
    /// The sentence, without the place.
    pub error: Error,
    /// The folded code of a value that does not fit, so that the engine can say where it stands.
    pub code: Option<u32>,
}

impl From<Error> for Misfit {
    fn from(error: Error) -> Self {
        Misfit { error, code: None }
    }
}

impl Domain {
    /// Lays out the values of a column and says where on the line each of its codes lies. `missing` is the text under
    /// which a missing value is published, if the column has missing values that are kept.
    pub fn build(
        column: &FoldedColumn,
        spec: &ColumnSpec,
        missing: Option<&str>,
    ) -> Result<(Domain, Vec<Code>), Misfit> {
        Domain::build_counted(column, spec, missing, None)
    }

    /// The same, told how many records have each code, for hierarchies that are made from the records.
    pub fn build_counted(
        column: &FoldedColumn,
        spec: &ColumnSpec,
        missing: Option<&str>,
        counts: Option<&[u64]>,
    ) -> Result<(Domain, Vec<Code>), Misfit> {
        let values: Vec<&str> = column.texts.iter().skip(1).map(String::as_str).collect();
        let kind = spec.kind.unwrap_or_else(|| sniff(&values));
        let mdr = matches!(spec.hierarchy, Some(HierarchySpec::Mdr(_)));
        if mdr && !values.is_empty() {
            fits_kind(&column.name, spec.kind, &values)?;
        }
        if spec.domain.is_some() && !mdr && (spec.hierarchy.is_some() || kind == Kind::Text) {
            let name = &column.name;
            let error = Error::job(format!(
                "column `{name}` has a stated domain, but is not published as numeric ranges"
            ))
            .help("a domain goes with kind = \"numeric\" or \"date\" and no hierarchy, or with hierarchy = \"mdr\"")
            .at(format!("columns.{name}.domain"));
            return Err(error.into());
        }
        crate::limits::check(&column.name, spec)?;
        if let Some(hierarchy) = &spec.hierarchy {
            let built = spec.taxonomy(hierarchy, &column.name, &values, counts.map(|c| &c[1..]));
            let mut taxonomy = built.map_err(|error| {
                let unfit = |v: &&str| hierarchy.is_canonical() && hierarchy.canonical(v).is_none();
                Misfit { error, code: values.iter().position(unfit).map(|i| i as u32 + 1) }
            })?;
            let label = missing.unwrap_or("");
            if missing.is_some() && taxonomy.code(label).is_none() {
                taxonomy = taxonomy.with_leaf(label);
            }
            if let Some(level) = spec.min_level.filter(|&level| level > 0) {
                taxonomy = taxonomy
                    .coarsened_to(level as usize, missing)
                    .map_err(|error| Misfit::from(error.at(format!("columns.{}.min_level", column.name))))?;
            }
            let mut codes = vec![taxonomy.code(label).unwrap_or(Code(0))];
            for (i, value) in values.iter().enumerate() {
                let canonical = spec.leaf(hierarchy, value);
                let Some(code) = taxonomy.code(canonical.as_deref().unwrap_or(value)) else {
                    let absent = values.iter().filter(|v| {
                        let canonical = spec.leaf(hierarchy, v);
                        taxonomy.code(canonical.as_deref().unwrap_or(v)).is_none()
                    });
                    let (count, name) = (absent.count(), &column.name);
                    let what = if count == 1 { "a value".to_owned() } else { format!("{count} values") };
                    let error =
                        Error::input(format!("column `{name}` has {what} missing from its hierarchy"))
                            .help("add the value to the hierarchy, or list it in [input] missing")
                            .at(format!("columns.{name}.hierarchy"));
                    return Err(Misfit { error, code: Some(i as u32 + 1) });
                };
                codes.push(code);
            }
            return Ok((Domain::Taxonomy(taxonomy), codes));
        }
        match kind {
            Kind::Text => {
                let (line, codes) = LabelLine::build(&values, missing, spec.labels);
                Ok((Domain::Labels(line), codes))
            }
            kind => {
                let (line, codes) = NumberLine::build(column, kind, missing, spec.domain, spec.limits)?;
                Ok((Domain::Numbers(line), codes))
            }
        }
    }

    /// How many leaves the line has.
    pub fn leaves(&self) -> u32 {
        match self {
            Domain::Numbers(line) => line.leaves(),
            Domain::Taxonomy(taxonomy) => taxonomy.leaves(),
            Domain::Labels(line) => line.leaves(),
        }
    }

    /// What publishing the interval would cost: normalized certainty penalty, 0 to 1.
    pub fn ncp(&self, lo: Code, hi: Code) -> f64 {
        match self {
            Domain::Numbers(line) => line.ncp(lo, hi),
            Domain::Taxonomy(taxonomy) => taxonomy.ncp(taxonomy.common(lo, hi)),
            Domain::Labels(line) => line.ncp(lo, hi),
        }
    }

    /// Information loss of the interval's label, as [`Domain::cell_loss`] charges it. A set counts every leaf of the
    /// interval; a group's own set can only be smaller.
    pub fn loss(&self, lo: Code, hi: Code) -> f64 {
        match self {
            Domain::Numbers(line) => line.loss(lo, hi),
            Domain::Taxonomy(taxonomy) => taxonomy.loss(taxonomy.common(lo, hi)),
            Domain::Labels(line) if line.labels() == Labels::Star => f64::from(u8::from(lo != hi)),
            Domain::Labels(_) => f64::from(hi.0 - lo.0) / f64::from((self.leaves() - 1).max(1)),
        }
    }

    /// How the interval can be divided.
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
            Domain::Labels(_) => SplitRule::Into((lo.0..=hi.0).map(|c| (Code(c), Code(c))).collect()),
        }
    }

    /// Whether groups are published as sets of their own values, so that the interval alone does not tell the label.
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

    /// A key by which leaves of a taxonomy's children are ordered when they are equally small: label order, numeric
    /// cells by lower bound, which is line order.
    pub fn tie_key(&self, lo: Code, hi: Code) -> String {
        match self {
            Domain::Taxonomy(t) if t.extents().is_none() => t.label(t.common(lo, hi)).to_owned(),
            _ => format!("{:010}", lo.0),
        }
    }
}

/// Regular intervals are made of numbers and of dates, and told apart by how they are written.
fn fits_kind(column: &str, kind: Option<Kind>, values: &[&str]) -> Result<()> {
    let numbers = values.iter().all(|v| crate::number::parse_number(v).is_some());
    let (message, help) = match kind {
        Some(Kind::Text) => {
            ("is text, which has no intervals", "leave out `kind`, or choose another hierarchy")
        }
        Some(Kind::Date) if numbers => {
            ("holds dates that look like numbers", "regular intervals need dates written like 2021-03-05")
        }
        Some(Kind::Numeric) if !numbers => {
            ("holds a value that is not a number", "list what counts as missing in [input] missing")
        }
        _ => return Ok(()),
    };
    Err(Error::input(format!("column `{column}` {message}")).help(help).at(format!("columns.{column}")))
}

/// Numbers if all are numbers, dates if all are dates, else text.
fn sniff(values: &[&str]) -> Kind {
    if values.is_empty() {
        Kind::Text
    } else if values.iter().all(|v| looks_numeric(v)) {
        Kind::Numeric
    } else if values.iter().all(|v| looks_like_date(v)) {
        Kind::Date
    } else {
        Kind::Text
    }
}

const _: () = assert!(MISSING == 0, "encoding maps put the missing value first");

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn column(texts: &[&str]) -> FoldedColumn {
        let texts = std::iter::once("").chain(texts.iter().copied()).map(str::to_owned).collect();
        FoldedColumn { name: "x".into(), texts }
    }

    #[test]
    fn kinds_are_sniffed_from_the_values() {
        assert_eq!(sniff(&["1", "2.5", " 3"]), Kind::Numeric);
        assert_eq!(sniff(&["02139", "10001"]), Kind::Text);
        assert_eq!(sniff(&["2021-03-05"]), Kind::Date);
        assert_eq!(sniff(&["2021-03-05", "1"]), Kind::Text);
        assert_eq!(sniff(&[]), Kind::Text);
    }

    #[test]
    fn a_value_missing_from_its_hierarchy_is_not_named() {
        let spec = ColumnSpec {
            hierarchy: Some(crate::HierarchySpec::Arx { name: "h".into(), text: "a;*\nb;*\n".into() }),
            ..ColumnSpec::default()
        };
        let misfit = Domain::build(&column(&["a", "secret"]), &spec, None).unwrap_err();
        assert_eq!(misfit.code, Some(2));
        assert!(!misfit.error.message().contains("secret"));
    }

    #[test]
    fn a_kept_missing_value_becomes_a_leaf_of_its_own() {
        let spec = ColumnSpec {
            hierarchy: Some(crate::HierarchySpec::Arx { name: "h".into(), text: "a;A;*\nb;A;*\n".into() }),
            ..ColumnSpec::default()
        };
        let (domain, codes) = Domain::build(&column(&["a", "b"]), &spec, Some("?")).unwrap();
        assert_eq!(codes, [Code(2), Code(0), Code(1)]);
        assert_eq!(domain.label(Code(2), Code(2)), "?");
        assert_eq!(domain.label(Code(0), Code(2)), "*");
    }
}
