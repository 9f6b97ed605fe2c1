//! The tree of divisions, which determines the groups near a group.

use incrowd_core::GroupSummary;

use super::split::Range;

/// A node of the tree.
#[derive(Clone, Copy, Debug)]
struct TreeNode {
    /// The range of its leaves.
    leaves: (u32, u32),
    /// Its parent. The root is its own parent.
    parent: u32,
    /// Its second child. The first child follows the node. 0 for a leaf.
    second: u32,
}

/// The tree. Parents come before their children.
#[derive(Debug)]
pub(super) struct PartTree {
    nodes: Vec<TreeNode>,
    /// The points of each leaf.
    pub(super) leaves: Vec<Range>,
    /// The node of each leaf.
    node_of: Vec<u32>,
}

impl PartTree {
    /// Builds the tree from the point ranges of its nodes, parents before their children.
    pub(super) fn new(ranges: &[Range]) -> PartTree {
        let mut tree = PartTree {
            nodes: Vec::with_capacity(ranges.len()),
            leaves: Vec::new(),
            node_of: Vec::new(),
        };
        let mut open: Vec<u32> = Vec::new();
        for (i, &range) in ranges.iter().enumerate() {
            while open.last().is_some_and(|&above| ranges[above as usize].1 <= range.0) {
                tree.close(&mut open);
            }
            let parent = open.last().copied().unwrap_or(i as u32);
            if parent != i as u32 && parent + 1 != i as u32 {
                tree.nodes[parent as usize].second = i as u32;
            }
            let first = tree.leaves.len() as u32;
            tree.nodes.push(TreeNode { leaves: (first, first), parent, second: 0 });
            let is_leaf = ranges.get(i + 1).is_none_or(|next| next.0 >= range.1);
            if is_leaf {
                tree.leaves.push(range);
                tree.node_of.push(i as u32);
            }
            open.push(i as u32);
        }
        while !open.is_empty() {
            tree.close(&mut open);
        }
        tree
    }

    fn close(&mut self, open: &mut Vec<u32>) {
        if let Some(node) = open.pop() {
            self.nodes[node as usize].leaves.1 = self.leaves.len() as u32;
        }
    }

    /// Returns the leaves of the lowest ancestor of a leaf for which `wide` is true, or all leaves.
    pub(super) fn enclosing(&self, leaf: u32, wide: impl Fn((u32, u32)) -> bool) -> (u32, u32) {
        let mut at = self.node_of[leaf as usize];
        loop {
            let node = self.nodes[at as usize];
            if wide(node.leaves) || node.parent == at {
                return node.leaves;
            }
            at = node.parent;
        }
    }

    /// Returns which groups start a sensitive group. `anchors` are the leaves of the groups,
    /// ascending, and `summaries` their microdata. A node is divided if all its children with
    /// groups are admitted. Otherwise all groups below it form one sensitive group.
    pub(super) fn sensitive_groups(
        &self,
        anchors: &[u32],
        summaries: &[GroupSummary],
        admits: &dyn Fn(&GroupSummary) -> bool,
    ) -> Vec<bool> {
        let mut starts = vec![false; anchors.len()];
        let groups = |node: u32| {
            let (from, to) = self.nodes[node as usize].leaves;
            anchors.partition_point(|&a| a < from)..anchors.partition_point(|&a| a < to)
        };
        let admitted = |node: u32| {
            let range = groups(node);
            let mut all = summaries[range.start].clone();
            summaries[range.start + 1..range.end].iter().for_each(|summary| all.merge(summary));
            admits(&all)
        };
        let mut todo = vec![0u32];
        while let Some(at) = todo.pop() {
            if self.nodes.is_empty() || groups(at).is_empty() {
                continue;
            }
            let second = self.nodes[at as usize].second;
            let mut children = vec![at + 1, second];
            children.retain(|&child| second > 0 && !groups(child).is_empty());
            if !children.is_empty() && children.iter().all(|&child| admitted(child)) {
                todo.extend(children);
            } else {
                starts[groups(at).start] = true;
            }
        }
        starts
    }
}
