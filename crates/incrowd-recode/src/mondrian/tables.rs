//! Lookup tables for the costs and the splits of intervals of a line. Without them, walking the
//! tree of a hierarchy took as long as counting records.

use incrowd_core::dataset::Quasi;
use incrowd_core::domain::SplitRule;
use incrowd_core::{Code, Dataset, Domain, NodeId, Taxonomy};

/// A line of leaves. Its costs are multiplied by the importance of its column.
#[derive(Debug)]
pub(super) struct Line<'a> {
    domain: &'a Domain,
    weight: f64,
    /// Whether its cells are regular intervals.
    pub(super) is_regular: bool,
    tree: Option<Tree>,
}

#[derive(Debug)]
struct Tree {
    /// For each leaf, the finest node that covers it.
    finest: Vec<u32>,
    /// The last leaf and the parent of each node.
    ups: Vec<(u32, u32)>,
    nodes: Vec<Node>,
    /// The children of all nodes as intervals. Those of one node are adjacent.
    children: Vec<(u32, u32)>,
    /// For each depth of a node: for each leaf, the index of the child that covers it, among the
    /// children of its node at that depth.
    child_of: Vec<Vec<u16>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Node {
    depth: u32,
    /// The range of this node's children in [`Tree::children`].
    children: (u32, u32),
    cost: f64,
}

/// The slots of an interval. They are numbered from 0 in the order of the line.
#[derive(Clone, Copy, Debug)]
pub(super) enum Slots<'t> {
    /// Children of a node: the intervals of all children, and for each leaf of the line the index
    /// of its child.
    Children(&'t [(u32, u32)], &'t [u16]),
    /// Single values: the first value, and their number.
    Values(u32, usize),
    /// All values as one slot and the missing value, which is the last, as another: the first and
    /// the last code.
    Missing(u32, u32),
}

/// The possible splits of an interval.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rule<'t> {
    Whole,
    Anywhere,
    Into(Slots<'t>),
}

impl Slots<'_> {
    pub(super) fn len(self) -> usize {
        match self {
            Slots::Children(children, _) => children.len(),
            Slots::Values(_, count) => count,
            Slots::Missing(..) => 2,
        }
    }

    /// The first and the last leaf of a slot.
    fn span(self, slot: usize) -> (u32, u32) {
        match self {
            Slots::Children(children, _) => children[slot],
            Slots::Values(first, _) => (first + slot as u32, first + slot as u32),
            Slots::Missing(first, last) if slot == 0 => (first, last - 1),
            Slots::Missing(_, last) => (last, last),
        }
    }
}

impl<'a> Line<'a> {
    /// The lines of a table. Each line must have at most 2¹⁶ leaves.
    pub(super) fn all(data: &'a Dataset) -> Vec<Line<'a>> {
        data.quasi().iter().map(Line::new).collect()
    }

    fn new(quasi: &'a Quasi) -> Line<'a> {
        let Quasi { domain, weight, .. } = quasi;
        let taxonomy = if let Domain::Taxonomy(taxonomy) = domain { Some(taxonomy) } else { None };
        let is_regular = taxonomy.is_some_and(|taxonomy| taxonomy.grid().is_some());
        let tree = taxonomy.map(|taxonomy| Tree::new(taxonomy, *weight));
        Line { domain, weight: *weight, is_regular, tree }
    }

    /// The cost per record of publishing an interval, multiplied by the importance.
    #[inline]
    pub(super) fn cost(&self, lo: u32, hi: u32) -> f64 {
        match &self.tree {
            Some(tree) => tree.nodes[tree.common(lo, hi)].cost,
            None => self.weight * self.domain.ncp(Code(lo), Code(hi)),
        }
    }

    /// The possible splits of an interval.
    pub(super) fn rule(&self, lo: u32, hi: u32) -> Rule<'_> {
        if lo == hi {
            return Rule::Whole;
        }
        if let Some(tree) = &self.tree {
            let node = &tree.nodes[tree.common(lo, hi)];
            let children = &tree.children[node.children.0 as usize..node.children.1 as usize];
            return match children {
                [] => Rule::Whole,
                _ => Rule::Into(Slots::Children(children, &tree.child_of[node.depth as usize])),
            };
        }
        if matches!(self.domain, Domain::Labels(_)) && !self.domain.publishes_sets() {
            return Rule::Into(Slots::Values(lo, (hi - lo) as usize + 1));
        }
        match self.domain.split_rule(Code(lo), Code(hi)) {
            SplitRule::Whole => Rule::Whole,
            SplitRule::Anywhere => Rule::Anywhere,
            SplitRule::Into(_) => Rule::Into(Slots::Missing(lo, hi)),
        }
    }

    /// Identifies the place at which an interval is split. Intervals within each other with equal
    /// results are split at the same place. It is the index of a node, or 0 where a line can be cut
    /// anywhere.
    pub(super) fn place(&self, lo: u32, hi: u32) -> Option<u32> {
        match (&self.tree, self.domain) {
            (Some(tree), _) => Some(tree.common(lo, hi) as u32),
            (None, Domain::Labels(_)) if !self.domain.publishes_sets() => None,
            _ => matches!(self.domain.split_rule(Code(lo), Code(hi)), SplitRule::Anywhere)
                .then_some(0),
        }
    }

    /// The key that orders slots with equally few records.
    pub(super) fn tie_key(&self, slots: Slots<'_>, slot: usize) -> String {
        let (lo, hi) = slots.span(slot);
        self.domain.tie_key(Code(lo), Code(hi))
    }
}

impl Tree {
    fn new(taxonomy: &Taxonomy, weight: f64) -> Tree {
        let leaves = taxonomy.leaves();
        let mut tree = Tree {
            finest: (0..leaves).map(|code| taxonomy.common(Code(code), Code(code)).0).collect(),
            ups: vec![(0, 0); taxonomy.node_count()],
            nodes: vec![Node::default(); taxonomy.node_count()],
            children: Vec::new(),
            child_of: Vec::new(),
        };
        // All nodes are stored, including those below the published ones. The leaves of a branch
        // that ends early may be there.
        for id in (0..taxonomy.node_count() as u32).map(NodeId) {
            let children = taxonomy.children(id);
            let start = tree.children.len();
            let interval = |child: &NodeId| (taxonomy.span(*child).0.0, taxonomy.span(*child).1.0);
            tree.children.extend(children.iter().map(interval));
            let (_, last) = taxonomy.span(id);
            let parent = taxonomy.parent(id).map_or(id.0, |parent| parent.0);
            let depth =
                std::iter::successors(taxonomy.parent(id), |&up| taxonomy.parent(up)).count();
            tree.ups[id.index()] = (last.0, parent);
            tree.nodes[id.index()] = Node {
                depth: depth as u32,
                children: (start as u32, tree.children.len() as u32),
                cost: weight * taxonomy.ncp(id),
            };
            if !children.is_empty() && tree.child_of.len() <= depth {
                tree.child_of.resize(depth + 1, vec![0; leaves as usize]);
            }
            for (number, &(first, last)) in tree.children[start..].iter().enumerate() {
                tree.child_of[depth][first as usize..=last as usize].fill(number as u16);
            }
        }
        tree
    }

    /// The lowest node that covers an interval.
    #[inline]
    fn common(&self, lo: u32, hi: u32) -> usize {
        let mut node = self.finest[lo as usize];
        loop {
            let (last, parent) = self.ups[node as usize];
            // The root covers every leaf.
            if last >= hi {
                return node as usize;
            }
            node = parent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incrowd_core::hierarchy::nested;
    use incrowd_core::{ColumnSpec, Folded, HierarchySpec, Kind, Labels};

    fn slots_of(rule: Rule<'_>) -> Option<Vec<(Code, Code)>> {
        let Rule::Into(slots) = rule else { return None };
        Some(
            (0..slots.len())
                .map(|slot| slots.span(slot))
                .map(|(lo, hi)| (Code(lo), Code(hi)))
                .collect(),
        )
    }

    #[test]
    fn tables_say_what_domains_say() {
        let tree =
            "A = [\"1\", \"2\", \"3\"]\nB = { C = [\"4\", \"5\"], D = [\"6\"] }\nE = [\"7\"]";
        let tree = HierarchySpec::Nested(nested::Tree::parse("tree", tree).unwrap());
        // A branch that ends early hides its siblings where values are not published.
        let ragged = ["1,*", "2,P,*", "3,B,P,*", "4,B,P,*", "5,Q,*", "6,D,Q,*", "7,*"];
        let ragged: Vec<Vec<String>> =
            ragged.iter().map(|path| path.split(',').map(str::to_owned).collect()).collect();
        let ragged = Taxonomy::from_paths(&ragged).unwrap();
        for (lo, hi) in (0..7).flat_map(|lo| (lo..7).map(move |hi| (lo, hi))) {
            let node = Tree::new(&ragged, 1.0).common(lo, hi);
            assert_eq!(node, ragged.common(Code(lo), Code(hi)).index());
        }
        let specs = [
            ColumnSpec {
                hierarchy: Some(tree.clone()),
                min_level: Some(1),
                ..ColumnSpec::default()
            },
            ColumnSpec { hierarchy: Some(tree), weight: Some(0.3), ..ColumnSpec::default() },
            ColumnSpec::default(),
            ColumnSpec { kind: Some(Kind::Text), ..ColumnSpec::default() },
            ColumnSpec { kind: Some(Kind::Text), labels: Labels::Set, ..ColumnSpec::default() },
            ColumnSpec::default(),
        ];
        let texts: Vec<String> = (1..8).map(|n| n.to_string()).collect();
        let records = texts.iter().enumerate().map(|(n, text)| {
            let last = if n == 3 { None } else { Some(text.as_str()) };
            vec![Some(text.as_str()), Some(text), Some(text), Some(text), Some(text), last]
        });
        let folded = Folded::from_records(&["a", "b", "c", "d", "e", "f"], records, false);
        let data = Dataset::encode(folded, &specs.iter().collect::<Vec<_>>(), &[], "?").unwrap();
        for (line, quasi) in Line::all(&data).iter().zip(data.quasi()) {
            for (lo, hi) in (0..7).flat_map(|lo| (lo..7).map(move |hi| (lo, hi))) {
                assert_eq!(line.cost(lo, hi), quasi.weight * quasi.domain.ncp(Code(lo), Code(hi)));
                match quasi.domain.split_rule(Code(lo), Code(hi)) {
                    SplitRule::Whole => assert!(matches!(line.rule(lo, hi), Rule::Whole)),
                    SplitRule::Anywhere => assert!(matches!(line.rule(lo, hi), Rule::Anywhere)),
                    SplitRule::Into(children) => {
                        assert_eq!(slots_of(line.rule(lo, hi)), Some(children.clone()));
                        let Rule::Into(slots) = line.rule(lo, hi) else { continue };
                        for (slot, (first, last)) in children.into_iter().enumerate() {
                            assert_eq!(
                                line.tie_key(slots, slot),
                                quasi.domain.tie_key(first, last)
                            );
                            let Slots::Children(_, child_of) = slots else { continue };
                            let own = &child_of[first.index()..=last.index()];
                            assert!(own.iter().all(|&child| usize::from(child) == slot));
                        }
                    }
                }
            }
        }
    }
}
