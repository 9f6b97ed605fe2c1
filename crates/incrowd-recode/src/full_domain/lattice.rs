//! The lattice of level vectors.
//!
//! A node is a number in a mixed radix whose digits are the levels, that of the first column being
//! the most significant. So nodes are ordered like their vectors lexicographically, and a node has
//! a greater number than all nodes below it.

/// A vector of levels, one per quasi-identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Node(pub(super) u32);

impl Node {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// All level vectors of some columns.
#[derive(Clone, Debug)]
pub(super) struct Lattice {
    /// The number of levels of each column.
    levels: Vec<u32>,
    strides: Vec<u32>,
    nodes: u32,
}

impl Lattice {
    /// The greatest number of nodes that can be searched.
    pub(super) const MAX_NODES: u64 = 1 << 24;

    /// Creates the lattice of columns with these numbers of levels. `None` if it has too many
    /// nodes.
    pub(super) fn new(levels: Vec<u32>) -> Option<Lattice> {
        let nodes = levels.iter().try_fold(1u64, |nodes, &n| nodes.checked_mul(u64::from(n)))?;
        if nodes > Self::MAX_NODES {
            return None;
        }
        let mut strides = vec![1; levels.len()];
        for column in (1..levels.len()).rev() {
            strides[column - 1] = strides[column] * levels[column];
        }
        Some(Lattice { levels, strides, nodes: nodes as u32 })
    }

    /// Returns the number of nodes.
    pub(super) fn len(&self) -> usize {
        self.nodes as usize
    }

    pub(super) fn columns(&self) -> usize {
        self.levels.len()
    }

    pub(super) fn nodes(&self) -> impl DoubleEndedIterator<Item = Node> + use<> {
        (0..self.nodes).map(Node)
    }

    /// Returns the level of a column at a node.
    pub(super) fn level(&self, node: Node, column: usize) -> u8 {
        (node.0 / self.strides[column] % self.levels[column]) as u8
    }

    /// Returns the levels of all columns at a node.
    pub(super) fn vector(&self, node: Node) -> Vec<u8> {
        (0..self.columns()).map(|column| self.level(node, column)).collect()
    }

    /// Returns the node of a vector.
    pub(super) fn node(&self, vector: &[u8]) -> Node {
        Node(
            vector
                .iter()
                .zip(&self.strides)
                .map(|(&level, stride)| u32::from(level) * stride)
                .sum(),
        )
    }

    /// Returns the sum of the levels.
    pub(super) fn height(&self, node: Node) -> u32 {
        (0..self.columns()).map(|column| u32::from(self.level(node, column))).sum()
    }

    /// Returns the nodes one level up in one column.
    pub(super) fn above(&self, node: Node) -> impl Iterator<Item = Node> + '_ {
        let up = move |column: usize| u32::from(self.level(node, column)) + 1 < self.levels[column];
        (0..self.columns())
            .filter(move |&column| up(column))
            .map(move |c| Node(node.0 + self.strides[c]))
    }

    /// Returns the nodes one level down in one column.
    pub(super) fn below(&self, node: Node) -> impl Iterator<Item = Node> + '_ {
        let down = move |column: usize| self.level(node, column) > 0;
        (0..self.columns())
            .filter(move |&column| down(column))
            .map(move |c| Node(node.0 - self.strides[c]))
    }

    /// Returns the nodes by the sum of their levels, in lexicographic order within a sum.
    pub(super) fn by_height(&self) -> Vec<Vec<Node>> {
        let top = self.levels.iter().map(|levels| levels - 1).sum::<u32>() as usize;
        let mut heights = vec![Vec::new(); top + 1];
        for node in self.nodes() {
            heights[self.height(node) as usize].push(node);
        }
        heights
    }

    /// Returns the nodes for which `holds` is true and that have no such node below them.
    pub(super) fn minimal(&self, holds: impl Fn(Node) -> bool) -> Vec<Node> {
        // Whether `holds` is true for the node or any node below it.
        let mut reached = vec![false; self.len()];
        let mut minimal = Vec::new();
        for node in self.nodes() {
            let below = self.below(node).any(|below| reached[below.index()]);
            if !below && holds(node) {
                minimal.push(node);
            }
            reached[node.index()] = below || holds(node);
        }
        minimal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_numbers_have_lexicographic_order() {
        let lattice = Lattice::new(vec![2, 3, 2]).unwrap();
        let vectors: Vec<Vec<u8>> = lattice.nodes().map(|node| lattice.vector(node)).collect();
        assert_eq!((vectors.len(), vectors.is_sorted()), (12, true));
        assert!(lattice.nodes().all(|node| lattice.node(&lattice.vector(node)) == node));
        let node = lattice.node(&[1, 1, 0]);
        assert_eq!(
            lattice.above(node).map(|n| lattice.vector(n)).collect::<Vec<_>>(),
            [[1, 2, 0], [1, 1, 1]]
        );
        assert_eq!(
            lattice.below(node).map(|n| lattice.vector(n)).collect::<Vec<_>>(),
            [[0, 1, 0], [1, 0, 0]]
        );
        assert_eq!(lattice.by_height().iter().map(Vec::len).collect::<Vec<_>>(), [1, 3, 4, 3, 1]);
        assert!(Lattice::new(vec![10; 8]).is_none());
    }
}
