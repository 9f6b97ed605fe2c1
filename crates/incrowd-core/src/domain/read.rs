//! Parsing of published cells, using only the release and the hierarchies.

use std::borrow::Cow;

use super::{Domain, Numbers};
use crate::cell::set_values;
use crate::index::{Code, NodeId};
use crate::number::{parse_date, parse_number};

/// The information in a published cell.
#[derive(Clone, Debug, PartialEq)]
pub enum ReadCell {
    /// No information: `*`.
    Anything,
    /// A number in this closed range.
    Between(f64, f64),
    /// A value below this node.
    Below(NodeId),
    /// One of these values.
    OneOf(Vec<Code>),
    /// The value was missing.
    Missing,
}

impl Domain {
    /// Parses a published cell; `None` if it is not a cell of this domain.
    pub fn read(&self, text: &str) -> Option<ReadCell> {
        match self {
            Domain::Taxonomy(taxonomy) => match taxonomy.node(text) {
                Some(node) if node == taxonomy.root() && taxonomy.leaves() > 1 => {
                    Some(ReadCell::Anything)
                }
                Some(node) => Some(ReadCell::Below(node)),
                None => (text == "*").then_some(ReadCell::Anything),
            },
            _ if text == "*" => Some(ReadCell::Anything),
            Domain::Numbers(line) => {
                if line.missing.as_deref() == Some(text) {
                    return Some(ReadCell::Missing);
                }
                let number = |s: &str| match line.numbers {
                    Numbers::Dates(_) => parse_date(s).map(f64::from),
                    _ => parse_number(s).map(|n| n.as_f64()),
                };
                if let Some(x) = number(text) {
                    return Some(ReadCell::Between(x, x));
                }
                if let Some(lo) = text.strip_prefix(">=").and_then(number) {
                    return Some(ReadCell::Between(lo, line.domain.1.max(lo)));
                }
                if let Some(hi) = text.strip_prefix("<=").and_then(number) {
                    return Some(ReadCell::Between(line.domain.0.min(hi), hi));
                }
                let (lo, hi) = text.strip_prefix('[')?.strip_suffix(']')?.split_once(", ")?;
                let (lo, hi) = (number(lo)?, number(hi)?);
                (lo <= hi).then_some(ReadCell::Between(lo, hi))
            }
            Domain::Labels(line) => {
                if !text.starts_with('{')
                    && let Some(code) = line.code(text)
                {
                    return Some(ReadCell::OneOf(vec![code]));
                }
                let values = set_values(text)?;
                // Sets are written in the order of the leaves, and their members are mostly close
                // together.
                let mut next = None;
                let code = |value: &Cow<'_, str>| {
                    let code =
                        next.map_or_else(|| line.code(value), |next| line.code_after(next, value))?;
                    next = Some(Code(code.0 + 1));
                    Some(code)
                };
                let codes: Option<Vec<Code>> = values.iter().map(code).collect();
                codes.map(ReadCell::OneOf)
            }
        }
    }

    /// Whether a cell covers the value at `code`.
    pub fn covers(&self, cell: &ReadCell, code: Code) -> bool {
        match (cell, self) {
            (ReadCell::Anything, _) => true,
            (ReadCell::Between(lo, hi), Domain::Numbers(line)) => {
                code.index() < line.numbers.len() && (*lo..=*hi).contains(&line.numbers.at(code))
            }
            (ReadCell::Below(node), Domain::Taxonomy(taxonomy)) => {
                let (first, last) = taxonomy.span(*node);
                (first..=last).contains(&code)
            }
            (ReadCell::OneOf(codes), _) => codes.contains(&code),
            (ReadCell::Missing, Domain::Numbers(line)) => code.index() >= line.numbers.len(),
            _ => false,
        }
    }

    /// Normalized certainty penalty of a cell.
    pub fn cell_ncp(&self, cell: &ReadCell) -> f64 {
        match (cell, self) {
            (ReadCell::Anything, _) => f64::from(u8::from(self.varies())),
            (ReadCell::Between(lo, hi), Domain::Numbers(line)) => line.width(*lo, *hi),
            (ReadCell::Below(node), Domain::Taxonomy(taxonomy)) => taxonomy.ncp(*node),
            (ReadCell::OneOf(codes), Domain::Labels(line)) => line.share(codes.len() as u32),
            _ => 0.0,
        }
    }

    /// The information loss of a cell as `wang2009` defines it. For integers an interval counts its
    /// values, so even a single number of a column that varies has a small loss.
    pub fn cell_loss(&self, cell: &ReadCell) -> f64 {
        let beyond_first =
            |count: u32| f64::from(count.saturating_sub(1)) / f64::from((self.leaves() - 1).max(1));
        match (cell, self) {
            (ReadCell::Anything, _) => f64::from(u8::from(self.varies())),
            (ReadCell::Between(lo, hi), Domain::Numbers(line)) => {
                let step = if matches!(line.numbers, Numbers::Reals(_)) { 0.0 } else { 1.0 };
                crate::hierarchy::share((*lo, *hi), line.domain, step)
            }
            (ReadCell::Below(node), Domain::Taxonomy(taxonomy)) => taxonomy.loss(*node),
            (ReadCell::OneOf(codes), _) => beyond_first(codes.len() as u32),
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::column;
    use super::*;
    use crate::hierarchy::HierarchySpec;
    use crate::schema::{ColumnSpec, Kind};

    #[test]
    fn numbers_read_back_as_intervals() {
        let (domain, _) =
            Domain::build(&column(&["20", "40", "30"]), &ColumnSpec::default(), None).unwrap();
        assert_eq!(domain.read("[20, 40]"), Some(ReadCell::Between(20.0, 40.0)));
        assert_eq!(domain.read("20"), Some(ReadCell::Between(20.0, 20.0)));
        assert_eq!(domain.read("[40, 20]"), None);
        assert_eq!(domain.read("x"), None);
        let half = domain.read("[20, 30]").unwrap();
        assert_eq!((domain.cell_ncp(&half), domain.cell_loss(&half)), (0.5, 11.0 / 21.0));
        assert!(domain.covers(&half, Code(1)) && !domain.covers(&half, Code(2)));
    }

    #[test]
    fn sets_read_back_as_codes() {
        let spec = ColumnSpec { kind: Some(Kind::Text), ..ColumnSpec::default() };
        let (domain, _) = Domain::build(&column(&["a", "b", "c"]), &spec, None).unwrap();
        let set = domain.read("{a, c}").unwrap();
        assert_eq!(set, ReadCell::OneOf(vec![Code(0), Code(2)]));
        assert_eq!((domain.cell_ncp(&set), domain.cell_loss(&set)), (2.0 / 3.0, 0.5));
        assert_eq!(domain.read("{a, z}"), None);
    }

    #[test]
    fn an_interval_and_its_label_have_the_same_loss() {
        let kinds = [Some(Kind::Numeric), Some(Kind::Text), None];
        let tree =
            HierarchySpec::Arx { name: "h".into(), text: "1;A;*\n2;A;*\n4;B;*\n9;C;*\n".into() };
        for (kind, hierarchy) in kinds.into_iter().zip([None, None, Some(tree)]) {
            for missing in [None, Some("?")] {
                let spec =
                    ColumnSpec { kind, hierarchy: hierarchy.clone(), ..ColumnSpec::default() };
                let (domain, _) =
                    Domain::build(&column(&["1", "2", "4", "9"]), &spec, missing).unwrap();
                for hi in 0..domain.leaves() {
                    for lo in 0..=hi {
                        let cell = domain.read(&domain.label(Code(lo), Code(hi))).unwrap();
                        assert_eq!(
                            domain.loss(Code(lo), Code(hi)),
                            domain.cell_loss(&cell),
                            "{kind:?} {lo} {hi}"
                        );
                    }
                }
            }
        }
    }
}
