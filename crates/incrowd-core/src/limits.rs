//! Constraints on single cells: no number beyond a bound, no cell below a level. They are applied
//! when a column is encoded and checked on the published cells.

use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::hierarchy::lint::interval;
use crate::hierarchy::{HierarchySpec, Taxonomy};
use crate::schema::{ColumnSpec, Kind};

/// Top and bottom coding: numbers beyond these bounds are published as one value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Numbers from here on are published as `>=90`.
    pub top: Option<f64>,
    /// Numbers up to here are published as `<=16`.
    pub bottom: Option<f64>,
}

impl Limits {
    /// Whether there is no bound.
    pub fn is_none(self) -> bool {
        self.top.is_none() && self.bottom.is_none()
    }

    /// The number with the bounds applied.
    pub fn clamp(self, x: f64) -> f64 {
        let x = self.top.map_or(x, |top| x.min(top));
        self.bottom.map_or(x, |bottom| x.max(bottom))
    }

    /// The label of a number at or beyond a bound.
    pub fn label(self, x: f64) -> Option<String> {
        match self {
            Limits { top: Some(top), .. } if x >= top => Some(format!(">={top}")),
            Limits { bottom: Some(bottom), .. } if x <= bottom => Some(format!("<={bottom}")),
            _ => None,
        }
    }

    /// Whether a published cell reveals nothing beyond the bounds: it is between them, or unbounded
    /// in the direction of the bound it reaches.
    fn admits(self, text: &str) -> bool {
        let Some((lo, hi, _)) = interval(text).or_else(|| {
            let x = crate::number::parse_number(text)?.as_f64();
            Some((x, x, false))
        }) else {
            return false;
        };
        let top = self.top.is_none_or(|top| if hi.is_finite() { hi < top } else { lo <= top });
        let bottom = self
            .bottom
            .is_none_or(|bottom| if lo.is_finite() { lo > bottom } else { hi >= bottom });
        top && bottom
    }
}

/// Refuses constraints that do not apply to the column.
pub fn check(column: &str, spec: &ColumnSpec) -> Result<()> {
    let limits = spec.limits;
    let refuse = |key: &str, message: String, help: &str| {
        Err(Error::job(message).help(help).at(format!("columns.{column}.{key}")))
    };
    if let (Some(bottom), Some(top)) = (limits.bottom, limits.top)
        && bottom >= top
    {
        return refuse(
            "top",
            format!("the top of column `{column}` must be greater than its bottom"),
            "leave one of them out",
        );
    }
    let numbers = match &spec.hierarchy {
        None => !matches!(spec.kind, Some(Kind::Text | Kind::Date)),
        Some(hierarchy) => matches!(hierarchy, HierarchySpec::Intervals(_)),
    };
    if !limits.is_none() && !numbers {
        return refuse(
            if limits.top.is_some() { "top" } else { "bottom" },
            format!("column `{column}` has a bound, but is not published as numbers"),
            "top and bottom apply to numbers without a hierarchy, with intervals, with cuts and \
             with ages",
        );
    }
    if spec.min_level.is_some_and(|level| level > 0) && spec.hierarchy.is_none() {
        return refuse(
            "min_level",
            format!("column `{column}` has `min_level`, but no hierarchy"),
            "give it a hierarchy, or leave min_level out",
        );
    }
    Ok(())
}

/// The number of published texts of a column that are more precise than its constraints allow. The
/// texts `missing` are missing values, which have no precision. Levels are checked only if the
/// domain is known.
pub fn broken<'a>(
    spec: &ColumnSpec,
    domain: Option<&Domain>,
    texts: impl Iterator<Item = &'a str>,
    missing: &[String],
) -> usize {
    let level = spec.min_level.unwrap_or(0) as usize;
    let is_too_precise = |text: &&str| {
        let beyond = !spec.limits.is_none() && !spec.limits.admits(text);
        let below = match domain {
            Some(Domain::Taxonomy(tree)) if level > 0 => !above_level(tree, text, level),
            _ => false,
        };
        beyond || below
    };
    let has_precision = |text: &&str| *text != "*" && !missing.iter().any(|own| own == text);
    texts.filter(has_precision).filter(is_too_precise).count()
}

/// Whether a label is that of the root, or of a node at least `level` levels above all its leaves.
fn above_level(tree: &Taxonomy, text: &str, level: usize) -> bool {
    let nodes =
        (0..tree.node_count() as u32).map(crate::NodeId).filter(|&node| tree.label(node) == text);
    nodes.into_iter().any(|node| {
        let (first, last) = tree.span(node);
        let steps = |code: u32| {
            let up = std::iter::successors(Some(tree.leaf(crate::Code(code))), |&n| tree.parent(n));
            up.take_while(|&n| n != node).count()
        };
        node == tree.root() || (first.0..=last.0).all(|code| steps(code) >= level)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ReadCell;
    use crate::folded::FoldedColumn;
    use crate::hierarchy::intervals::Intervals;
    use crate::hierarchy::mask::{From, Mask};
    use crate::index::Code;

    fn encoded(texts: &[&str], spec: &ColumnSpec) -> (Domain, Vec<Code>) {
        let texts = std::iter::once("").chain(texts.iter().copied()).map(str::to_owned).collect();
        Domain::build(&FoldedColumn { name: "x".into(), texts }, spec, Some("?"))
            .map_err(|m| m.error)
            .unwrap()
    }

    fn missing() -> [String; 2] {
        ["?", "NA"].map(str::to_owned)
    }

    /// The labels of all intervals of the domain.
    fn every_label(domain: &Domain) -> Vec<String> {
        let n = domain.leaves();
        (0..n)
            .flat_map(|lo| (lo..n).map(move |hi| (lo, hi)))
            .map(|(lo, hi)| domain.label(Code(lo), Code(hi)))
            .collect()
    }

    #[test]
    fn no_cell_of_a_bounded_column_is_beyond_the_bounds() {
        let limits = Limits { top: Some(90.0), bottom: Some(16.0) };
        let plain = ColumnSpec { limits, ..ColumnSpec::default() };
        let intervals = |i| ColumnSpec {
            hierarchy: Some(HierarchySpec::Intervals(i)),
            limits,
            ..ColumnSpec::default()
        };
        let ages = ["3", "16", "17", "33", "34", "88", "89", "90", "95", "96"];
        for spec in [
            plain,
            intervals(Intervals::fixed(5.0, 0.0, 3, 2).unwrap()),
            intervals(Intervals::cuts(vec![vec![18.0, 30.0, 65.0], vec![18.0, 65.0]]).unwrap()),
        ] {
            let (domain, codes) = encoded(&ages, &spec);
            assert_eq!(domain.label(codes[8], codes[10]), ">=90", "{:?}", spec.hierarchy);
            assert_eq!(domain.label(codes[1], codes[2]), "<=16");
            let labels = every_label(&domain);
            assert_eq!(
                broken(&spec, Some(&domain), labels.iter().map(String::as_str), &missing()),
                0,
                "{labels:?}"
            );
            for label in &labels {
                assert!(domain.read(label).is_some(), "{label} is read back");
            }
            // Every group's label covers its members.
            for lo in 0..domain.leaves() {
                for hi in lo..domain.leaves() {
                    let cell = domain.read(&domain.label(Code(lo), Code(hi))).unwrap();
                    assert!(
                        (lo..=hi)
                            .all(|c| cell == ReadCell::Anything || domain.covers(&cell, Code(c)))
                    );
                }
            }
        }
        assert_eq!(
            broken(
                &ColumnSpec { limits, ..ColumnSpec::default() },
                None,
                ["95", "[85, 90]", "3", "<=15"].into_iter(),
                &missing()
            ),
            4
        );
        assert_eq!(
            broken(
                &ColumnSpec { limits, ..ColumnSpec::default() },
                None,
                ["89", "*", "?", "NA", ">=90", "[17, 89]", ">=85"].into_iter(),
                &missing()
            ),
            0
        );
    }

    #[test]
    fn no_cell_is_below_min_level() {
        let mask = HierarchySpec::Mask(Mask { char: '*', from: From::Right });
        let spec =
            ColumnSpec { hierarchy: Some(mask), min_level: Some(2), ..ColumnSpec::default() };
        let (domain, codes) = encoded(&["02138", "02139", "02140", "10001"], &spec);
        assert_eq!(domain.label(codes[1], codes[1]), "021**");
        assert_eq!(domain.label(codes[1], codes[3]), "021**");
        assert_eq!(domain.label(codes[4], codes[4]), "100**");
        assert_eq!(domain.label(codes[0], codes[0]), "?");
        assert_eq!((domain.read("02138"), domain.read("0213*")), (None, None));
        let labels = every_label(&domain);
        assert_eq!(
            broken(&spec, Some(&domain), labels.iter().map(String::as_str), &missing()),
            0,
            "{labels:?}"
        );
        let texts = ["02138", "0213*", "021**", "NA"];
        assert_eq!(broken(&spec, Some(&domain), texts.into_iter(), &missing()), 2);
        assert_eq!(domain.levels(), 4);
        assert_eq!(domain.level_label(codes[1], 0), "021**");
    }

    #[test]
    fn constraints_must_apply_to_the_column() {
        let top = Limits { top: Some(1.0), bottom: None };
        let text = ColumnSpec { kind: Some(Kind::Text), limits: top, ..ColumnSpec::default() };
        assert!(check("x", &text).is_err());
        let both = Limits { top: Some(1.0), bottom: Some(2.0) };
        assert!(check("x", &ColumnSpec { limits: both, ..ColumnSpec::default() }).is_err());
        assert!(check("x", &ColumnSpec { min_level: Some(1), ..ColumnSpec::default() }).is_err());
        assert!(check("x", &ColumnSpec { limits: top, ..ColumnSpec::default() }).is_ok());
    }
}
