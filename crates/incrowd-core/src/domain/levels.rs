//! Levels of generalization, for algorithms that publish a whole column at one level.
//!
//! A hierarchy has the levels 0 (the value itself) to its height (the root), see
//! [`Taxonomy::at_level`]. A column without a hierarchy has two levels: the value, and `*`.

use super::{Domain, ReadCell};
use crate::hierarchy::Taxonomy;
use crate::index::Code;
use crate::partition::Span;

impl Domain {
    /// The number of levels; the last one is the root, or `*`.
    pub fn levels(&self) -> usize {
        match self {
            Domain::Taxonomy(taxonomy) => taxonomy.height() + 1,
            _ => 2,
        }
    }

    /// The leaves that are published like `code` at a level.
    pub fn level_span(&self, code: Code, level: usize) -> Span {
        match self {
            Domain::Taxonomy(taxonomy) => {
                let (lo, hi) = taxonomy.span(taxonomy.at_level(code, level));
                Span { lo, hi }
            }
            _ if level == 0 => Span { lo: code, hi: code },
            _ => Span { lo: Code(0), hi: Code(self.leaves().saturating_sub(1)) },
        }
    }

    /// The published text of `code` at a level: the label of its ancestor there. In a chain of
    /// nodes with the same leaves this need not be the lowest node.
    pub fn level_label(&self, code: Code, level: usize) -> String {
        match self {
            Domain::Taxonomy(taxonomy) => taxonomy.label(taxonomy.at_level(code, level)).to_owned(),
            _ if level > 0 => "*".to_owned(),
            _ if self.publishes_sets() => self.set_label(&[code]),
            _ => self.label(code, code),
        }
    }

    /// The depth of the node that `code` is published as at a level.
    pub fn level_depth(&self, code: Code, level: usize) -> usize {
        match self {
            Domain::Taxonomy(taxonomy) => taxonomy.depth(taxonomy.at_level(code, level)),
            _ => usize::from(level == 0),
        }
    }

    /// The depth of a published cell. Without a hierarchy the value itself has depth 1 and every
    /// other cell 0.
    pub fn cell_depth(&self, cell: &ReadCell) -> usize {
        match (cell, self) {
            (ReadCell::Below(node), Domain::Taxonomy(taxonomy)) => taxonomy.depth(*node),
            (ReadCell::Between(lo, hi), _) => usize::from(lo == hi),
            (ReadCell::OneOf(codes), _) => usize::from(codes.len() == 1),
            (ReadCell::Missing, _) => 1,
            _ => 0,
        }
    }
}

impl Taxonomy {
    /// The number of steps from the root to a node.
    pub fn depth(&self, node: crate::index::NodeId) -> usize {
        std::iter::successors(self.parent(node), |&above| self.parent(above)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::column;
    use super::*;
    use crate::HierarchySpec;
    use crate::schema::{ColumnSpec, Kind};

    fn arx(text: &str) -> ColumnSpec {
        let spec = HierarchySpec::Arx { name: "h".into(), text: text.into() };
        ColumnSpec { hierarchy: Some(spec), ..ColumnSpec::default() }
    }

    #[test]
    fn a_level_of_a_hierarchy_is_published_under_its_own_label() {
        let (domain, codes) =
            Domain::build(&column(&["a", "b", "c"]), &arx("a;A;X;*\nb;B;Y;*\nc;B;Y;*\n"), None)
                .unwrap();
        let (a, b) = (codes[1], codes[2]);
        assert_eq!(domain.levels(), 4);
        let labels = |code| (0..4).map(|level| domain.level_label(code, level)).collect::<Vec<_>>();
        // a, A and X have the same single leaf, and still three labels.
        assert_eq!(labels(a), ["a", "A", "X", "*"]);
        assert_eq!(labels(b), ["b", "B", "Y", "*"]);
        assert_eq!(domain.level_span(b, 1), Span { lo: Code(1), hi: Code(2) });
        assert_eq!(
            (0..4).map(|level| domain.level_depth(b, level)).collect::<Vec<_>>(),
            [3, 2, 1, 0]
        );
    }

    #[test]
    fn a_column_without_a_hierarchy_has_the_value_and_a_star() {
        for kind in [Kind::Numeric, Kind::Text] {
            let spec = ColumnSpec { kind: Some(kind), ..ColumnSpec::default() };
            let (domain, codes) = Domain::build(&column(&["1", "2", "3"]), &spec, None).unwrap();
            assert_eq!(domain.levels(), 2);
            assert_eq!(
                (domain.level_label(codes[2], 0), domain.level_label(codes[2], 1)),
                ("2".into(), "*".into())
            );
            assert_eq!(domain.level_span(codes[2], 1), Span { lo: Code(0), hi: Code(2) });
            assert_eq!((domain.level_depth(codes[2], 0), domain.level_depth(codes[2], 1)), (1, 0));
        }
    }
}
