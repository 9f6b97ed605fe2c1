//! A tree of labels whose leaves are an ordered domain.

use hashbrown::HashMap;

use super::mdr::Grid;
use crate::error::{Error, Result};
use crate::index::{Code, NodeId};

#[derive(Clone)]
struct Node {
    label: String,
    parent: Option<NodeId>,
    children: Vec<NodeId>,
    first: u32,
    last: u32,
}

/// The numeric intervals of a taxonomy whose nodes are intervals of numbers or dates.
#[derive(Clone, Debug)]
pub struct Extents {
    /// The closed interval of each node.
    pub of_node: Vec<(f64, f64)>,
    /// The column's whole range.
    pub domain: (f64, f64),
    /// Whether the column contains integers only.
    pub integers: bool,
}

/// A tree whose leaves are numbered depth first, children in order of first appearance. Every node
/// is the interval of its leaves, and the lowest common ancestor of a set is that of its first and
/// last leaf.
#[derive(Clone)]
pub struct Taxonomy {
    nodes: Vec<Node>,
    leaves: Vec<NodeId>,
    codes: HashMap<String, Code>,
    labels: HashMap<String, NodeId>,
    height: usize,
    extents: Option<Extents>,
    /// The grid of a tree of regular intervals. The values are leaves then, but the finest
    /// published nodes are cells.
    grid: Option<Grid>,
    /// The finest published node of each leaf if values are not published. None of these nodes is
    /// above another one. Empty if values are published.
    finest: Vec<NodeId>,
}

crate::opaque_debug!(Taxonomy { leaves: |taxonomy| taxonomy.leaves.len(), height });

const ROOT: NodeId = NodeId(0);

impl Taxonomy {
    /// Builds the tree from one path per leaf, each from the leaf up to the common root. Paths may
    /// differ in length.
    pub fn from_paths(paths: &[Vec<String>]) -> Result<Taxonomy> {
        let mut nodes: Vec<Node> = Vec::new();
        let mut known: HashMap<(Option<NodeId>, &str, bool), NodeId> = HashMap::new();
        let mut seen: HashMap<&str, ()> = HashMap::new();
        for path in paths {
            let [leaf, .., root] = path.as_slice() else {
                return Err(Error::input(
                    "a hierarchy needs at least two levels: the values and a root such as `*`",
                ));
            };
            if nodes.first().is_some_and(|n| n.label != *root) {
                return Err(Error::input("the hierarchy has no single root")
                    .help("add a last level that is the same for every value, for example `*`"));
            }
            if seen.insert(leaf, ()).is_some() {
                return Err(Error::input("the hierarchy lists a value twice"));
            }
            let mut parent = None;
            for (depth, label) in path.iter().rev().enumerate() {
                // A leaf and an inner node with the same label are different nodes.
                let is_leaf = depth + 1 == path.len();
                let node = *known.entry((parent, label.as_str(), is_leaf)).or_insert_with(|| {
                    let id = NodeId(nodes.len() as u32);
                    nodes.push(Node {
                        label: label.clone(),
                        parent,
                        children: Vec::new(),
                        first: 0,
                        last: 0,
                    });
                    if let Some(p) = parent {
                        nodes[p.index()].children.push(id);
                    }
                    id
                });
                parent = Some(node);
            }
        }
        let height = paths.iter().map(Vec::len).max().unwrap_or(1) - 1;
        Ok(Self::number(nodes, height))
    }

    /// Numbers the leaves depth first.
    fn number(mut nodes: Vec<Node>, height: usize) -> Taxonomy {
        let mut leaves = Vec::new();
        let mut stack = if nodes.is_empty() { Vec::new() } else { vec![(ROOT, false)] };
        while let Some((id, done)) = stack.pop() {
            let i = id.index();
            if done {
                nodes[i].last = leaves.len() as u32 - 1;
                continue;
            }
            nodes[i].first = leaves.len() as u32;
            if nodes[i].children.is_empty() {
                leaves.push(id);
            }
            stack.push((id, true));
            stack.extend(nodes[i].children.iter().rev().map(|&child| (child, false)));
        }
        let codes = leaves
            .iter()
            .enumerate()
            .map(|(code, id)| (nodes[id.index()].label.clone(), Code(code as u32)))
            .collect();
        let mut labels: HashMap<String, NodeId> = HashMap::new();
        for (i, node) in nodes.iter().enumerate() {
            // An ambiguous label is read as the node with the most leaves: the least information.
            let width = |id: &NodeId| nodes[id.index()].last - nodes[id.index()].first;
            let entry = labels.entry(node.label.clone()).or_insert(NodeId(i as u32));
            if node.last - node.first >= width(entry) {
                *entry = NodeId(i as u32);
            }
        }
        Taxonomy {
            nodes,
            leaves,
            codes,
            labels,
            height,
            extents: None,
            grid: None,
            finest: Vec::new(),
        }
    }

    /// Sets the numeric intervals of the nodes. Information loss is then measured in widths instead
    /// of leaves.
    #[must_use]
    pub(crate) fn with_extents(mut self, extents: Extents) -> Taxonomy {
        debug_assert_eq!(extents.of_node.len(), self.nodes.len());
        self.extents = Some(extents);
        self
    }

    /// The numeric intervals of the nodes, if they have them.
    pub fn extents(&self) -> Option<&Extents> {
        self.extents.as_ref()
    }

    /// Makes the parents of the values the finest published nodes.
    #[must_use]
    pub(super) fn with_grid(mut self, grid: Grid) -> Taxonomy {
        self.grid = Some(grid);
        self.height = self.height.saturating_sub(1).max(1);
        self.hide_values();
        self
    }

    /// Removes the labels of values below a cell: they are not published, so no cell can be one.
    fn hide_values(&mut self) {
        for leaf in &self.leaves {
            let node = &self.nodes[leaf.index()];
            if let Some(parent) = node.parent.filter(|&parent| parent != ROOT)
                && self.labels.get(&node.label) == Some(leaf)
            {
                if self.nodes[parent.index()].label == node.label {
                    self.labels.insert(node.label.clone(), parent);
                } else {
                    self.labels.remove(&node.label);
                }
            }
        }
    }

    /// The grid of a tree of regular intervals.
    pub fn grid(&self) -> Option<&Grid> {
        self.grid.as_ref()
    }

    /// The tree in which no published node has a value fewer than `level` steps below it. A value
    /// with fewer steps to the root is published as the root. The leaf `missing` stays published
    /// unless a published node covers it.
    ///
    /// The finest published nodes are never above each other. Otherwise two values could be
    /// published as different nodes although one of the nodes covers both, and algorithms would
    /// mix up the two cells.
    pub(crate) fn coarsened_to(mut self, level: usize, missing: Option<&str>) -> Result<Taxonomy> {
        if level > self.height {
            return Err(Error::job(format!(
                "`min_level` is {level}, but the hierarchy has {} levels above its values",
                self.height
            )));
        }
        let missing = missing.and_then(|label| self.code(label));
        // In a tree of regular intervals the cells are level 0.
        let steps = level + usize::from(self.grid.is_some());
        let depth = |code: u32| self.up(Code(code)).count();
        let mut depths = (0..self.leaves()).filter(|&code| Some(Code(code)) != missing).map(depth);
        let first = depths.next();
        let is_even = depths.all(|depth| Some(depth) == first);
        // Trees of numeric intervals cannot be built anew without their intervals.
        if is_even || self.extents.is_some() || self.grid.is_some() {
            self.finest = self.topmost(missing, |path| path.get(steps).copied().unwrap_or(ROOT));
        } else {
            self = self.with_even_cells(steps, missing)?;
        }
        let above = |node: &NodeId| {
            std::iter::successors(self.parent(*node), |&above| self.parent(above)).count()
        };
        self.height = self.finest.iter().map(above).max().unwrap_or(1).max(1);
        self.label_visible();
        Ok(self)
    }

    /// The nodes from a leaf up to the root.
    fn up(&self, code: Code) -> impl Iterator<Item = NodeId> {
        std::iter::successors(Some(self.leaves[code.index()]), |&node| self.parent(node))
    }

    /// For each leaf, the node that `choose` returns for its path, or the topmost such node of any
    /// leaf on that path. The missing value is chosen only if no such node covers it.
    fn topmost(&self, missing: Option<Code>, choose: impl Fn(&[NodeId]) -> NodeId) -> Vec<NodeId> {
        let paths: Vec<Vec<NodeId>> =
            (0..self.leaves()).map(|code| self.up(Code(code)).collect()).collect();
        let mut is_chosen = vec![false; self.nodes.len()];
        for (code, path) in paths.iter().enumerate() {
            if missing != Some(Code(code as u32)) {
                is_chosen[choose(path).index()] = true;
            }
        }
        let topmost = |path: &Vec<NodeId>| {
            let chosen = path.iter().rev().find(|node| is_chosen[node.index()]);
            chosen.copied().unwrap_or(path[0])
        };
        let mut finest: Vec<NodeId> = paths.iter().map(topmost).collect();
        // A missing value that is the last leaf has a cell of its own beside the root: the class of
        // all other leaves has another first leaf.
        let last = Code(self.leaves() - 1);
        if missing == Some(last) && finest[last.index()] == ROOT && last != Code(0) {
            finest[last.index()] = self.leaves[last.index()];
        }
        finest
    }

    /// Builds the tree anew for branches of different lengths. A node that has a value fewer than
    /// `steps` below it is never published, so it is left out above the finest published nodes.
    /// Values with fewer steps to the root get a node of their own with the label of the root.
    fn with_even_cells(self, steps: usize, missing: Option<Code>) -> Result<Taxonomy> {
        let mut is_allowed = vec![true; self.nodes.len()];
        for code in (0..self.leaves()).map(Code).filter(|code| Some(*code) != missing) {
            self.up(code).take(steps).for_each(|node| is_allowed[node.index()] = false);
        }
        let is_published = |node: &NodeId| *node != ROOT && is_allowed[node.index()];
        // Of the published nodes on a path, those up to the topmost one that is the lowest of some
        // leaf are left out: that one covers a value whose cell it is.
        let mut is_lowest = vec![false; self.nodes.len()];
        for code in (0..self.leaves()).map(Code).filter(|code| Some(*code) != missing) {
            if let Some(lowest) = self.up(code).find(is_published) {
                is_lowest[lowest.index()] = true;
            }
        }
        let label = |node: &NodeId| self.label(*node).to_owned();
        let root = || label(&ROOT);
        // Each path with the position of the finest published node.
        let path = |code: u32| -> (Vec<String>, usize) {
            let path: Vec<NodeId> = self.up(Code(code)).collect();
            match path.iter().rposition(|node| *node != ROOT && is_lowest[node.index()]) {
                Some(at) => {
                    let above = path[at + 1..].iter();
                    let above = above.filter(|node| **node == ROOT || is_allowed[node.index()]);
                    (path[..=at].iter().chain(above).map(label).collect(), at)
                }
                None if missing == Some(Code(code)) => (vec![label(&path[0]), root()], 0),
                None => (vec![label(&path[0]), root(), root()], 1),
            }
        };
        let (paths, positions): (Vec<Vec<String>>, Vec<usize>) =
            (0..self.leaves()).map(path).unzip();
        let mut tree = Taxonomy::from_paths(&paths)?;
        tree.finest = vec![ROOT; paths.len()];
        for (path, position) in paths.iter().zip(positions) {
            let code = tree.code(&path[0]).ok_or_else(|| Error::bug("a value is lost"))?;
            let node = tree.up(code).nth(position).unwrap_or(ROOT);
            tree.finest[code.index()] = node;
        }
        Ok(tree)
    }

    /// Keeps the labels of published nodes only.
    fn label_visible(&mut self) {
        let mut visible = vec![false; self.nodes.len()];
        for code in 0..self.leaves() {
            let up = std::iter::successors(Some(self.finest(Code(code))), |&n| self.parent(n));
            up.for_each(|node| visible[node.index()] = true);
        }
        self.labels.clear();
        for (i, node) in self.nodes.iter().enumerate().filter(|(i, _)| visible[*i]) {
            let width = |id: &NodeId| self.nodes[id.index()].last - self.nodes[id.index()].first;
            let entry = self.labels.entry(node.label.clone()).or_insert(NodeId(i as u32));
            if node.last - node.first >= width(entry) {
                *entry = NodeId(i as u32);
            }
        }
    }

    /// The finest published node of a leaf: itself, or its cell in a tree of regular intervals.
    fn finest(&self, code: Code) -> NodeId {
        if let Some(node) = self.finest.get(code.index()) {
            return *node;
        }
        let leaf = self.leaves[code.index()];
        match self.nodes[leaf.index()].parent {
            Some(cell) if self.grid.is_some() && cell != ROOT => cell,
            _ => leaf,
        }
    }

    /// Adds a leaf as the last child of the root, for missing values that the hierarchy does not
    /// list.
    #[must_use]
    pub fn with_leaf(self, label: &str) -> Taxonomy {
        let Taxonomy { mut nodes, height, extents, grid, .. } = self;
        let id = NodeId(nodes.len() as u32);
        nodes.push(Node {
            label: label.to_owned(),
            parent: Some(ROOT),
            children: Vec::new(),
            first: 0,
            last: 0,
        });
        nodes[0].children.push(id);
        let mut grown = Self::number(nodes, height.max(1));
        grown.extents = extents.map(|mut e| {
            e.of_node.push((0.0, 0.0));
            e
        });
        if grid.is_some() {
            grown.grid = grid;
            grown.hide_values();
        }
        grown
    }

    /// The number of leaves.
    pub fn leaves(&self) -> u32 {
        self.leaves.len() as u32
    }

    /// The number of nodes; the root has the id 0.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// The number of steps from the deepest leaf to the root.
    pub fn height(&self) -> usize {
        self.height
    }

    /// The root.
    pub fn root(&self) -> NodeId {
        ROOT
    }

    /// The code of a value.
    pub fn code(&self, value: &str) -> Option<Code> {
        self.codes.get(value).copied()
    }

    /// The node with this label; if there are several, the one with the most leaves.
    pub fn node(&self, label: &str) -> Option<NodeId> {
        self.labels.get(label).copied()
    }

    /// The leaf node of a code.
    pub fn leaf(&self, code: Code) -> NodeId {
        self.leaves[code.index()]
    }

    /// A node's label.
    pub fn label(&self, node: NodeId) -> &str {
        &self.nodes[node.index()].label
    }

    /// A node's parent; the root has none.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.nodes[node.index()].parent
    }

    /// A node's published children in leaf order. The values in a cell of a tree of regular
    /// intervals are not among them.
    pub fn children(&self, node: NodeId) -> &[NodeId] {
        let children = &self.nodes[node.index()].children;
        let is_leaf = |child: &NodeId| self.nodes[child.index()].children.is_empty();
        let is_cell = self.grid.is_some() && node != ROOT && children.first().is_some_and(is_leaf);
        // The children are published only if the node is above the finest published node of its
        // first leaf.
        let hidden = || {
            let first = self.nodes[node.index()].first as usize;
            self.finest.get(first).is_some_and(|&finest| {
                !std::iter::successors(self.parent(finest), |&n| self.parent(n)).any(|n| n == node)
            })
        };
        if is_cell || hidden() { &[] } else { children }
    }

    /// The first and the last leaf below a node.
    pub fn span(&self, node: NodeId) -> (Code, Code) {
        let n = &self.nodes[node.index()];
        (Code(n.first), Code(n.last))
    }

    /// The number of leaves below a node; 1 for a leaf.
    pub fn width(&self, node: NodeId) -> u32 {
        let n = &self.nodes[node.index()];
        n.last - n.first + 1
    }

    /// The lowest node that covers all leaves from `lo` to `hi`.
    pub fn common(&self, lo: Code, hi: Code) -> NodeId {
        let mut node = self.finest(lo);
        while self.nodes[node.index()].last < hi.0 {
            // The root covers every leaf, so a parent exists until the loop ends.
            match self.nodes[node.index()].parent {
                Some(parent) => node = parent,
                None => break,
            }
        }
        node
    }

    /// The ancestor of a leaf at a level: 0 is the leaf itself (or its finest cell),
    /// [`Taxonomy::height`] the root. In a branch shorter than the tree, the leaf is used for the
    /// missing levels.
    pub fn at_level(&self, code: Code, level: usize) -> NodeId {
        let mut path = vec![self.finest(code)];
        while let Some(parent) = self.nodes[path[path.len() - 1].index()].parent {
            path.push(parent);
        }
        let skipped = self.height + 1 - path.len();
        path[level.saturating_sub(skipped).min(path.len() - 1)]
    }

    /// The normalized certainty penalty of a node: 0 for a leaf, otherwise its share of the leaves
    /// or of the numeric domain.
    pub fn ncp(&self, node: NodeId) -> f64 {
        if node == ROOT {
            return if self.varies() { 1.0 } else { 0.0 };
        }
        match &self.extents {
            Some(e) => share(e.of_node[node.index()], e.domain, 0.0),
            None if self.width(node) == 1 => 0.0,
            None => f64::from(self.width(node)) / self.leaves.len() as f64,
        }
    }

    /// Whether the original has more than one value; one leaf may represent all numbers beyond a
    /// bound.
    fn varies(&self) -> bool {
        self.leaves.len() > 1 || self.extents.as_ref().is_some_and(|e| e.domain.1 > e.domain.0)
    }

    /// The information loss of `wang2009`: leaves beyond the first, or the numeric width for
    /// intervals.
    pub fn loss(&self, node: NodeId) -> f64 {
        match &self.extents {
            Some(e) if node != ROOT => {
                let step = if e.integers { 1.0 } else { 0.0 };
                share(e.of_node[node.index()], e.domain, step)
            }
            _ if node == ROOT => {
                if self.varies() {
                    1.0
                } else {
                    0.0
                }
            }
            _ if self.leaves.len() <= 1 => 0.0,
            _ => f64::from(self.width(node) - 1) / (self.leaves.len() - 1) as f64,
        }
    }
}

/// `(hi - lo + step) / (domain + step)`, 0 for a constant column, never above 1.
pub(crate) fn share((lo, hi): (f64, f64), (min, max): (f64, f64), step: f64) -> f64 {
    if max <= min { 0.0 } else { crate::number::ratio((lo, hi), (min, max), step).clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn paths(rows: &[&[&str]]) -> Vec<Vec<String>> {
        rows.iter().map(|r| r.iter().map(|s| (*s).to_owned()).collect()).collect()
    }

    #[test]
    fn a_node_with_one_leaf_has_no_loss() {
        let t =
            Taxonomy::from_paths(&paths(&[&["a", "A", "*"], &["b", "B", "*"], &["c", "B", "*"]]))
                .unwrap();
        let a = t.node("A").unwrap();
        assert_eq!((t.width(a), t.ncp(a), t.loss(a)), (1, 0.0, 0.0));
        assert_eq!(t.ncp(t.node("B").unwrap()), 2.0 / 3.0);
    }

    #[test]
    fn ragged_branches_keep_the_leaf_until_its_first_ancestor() {
        let t = Taxonomy::from_paths(&paths(&[&["a", "A1", "A", "*"], &["b", "*"]])).unwrap();
        let b = t.code("b").unwrap();
        assert_eq!(
            (0..=3).map(|l| t.label(t.at_level(b, l))).collect::<Vec<_>>(),
            ["b", "b", "b", "*"]
        );
        let a = t.code("a").unwrap();
        assert_eq!(
            (0..=3).map(|l| t.label(t.at_level(a, l))).collect::<Vec<_>>(),
            ["a", "A1", "A", "*"]
        );
    }

    #[test]
    fn an_ambiguous_label_reads_as_the_wider_node() {
        let t =
            Taxonomy::from_paths(&paths(&[&["x", "x", "*"], &["y", "x", "*"], &["z", "z", "*"]]))
                .unwrap();
        assert_eq!(t.width(t.node("x").unwrap()), 2);
        assert_eq!(t.code("x"), Some(Code(0)));
    }

    #[test]
    fn a_leaf_can_be_added_below_the_root() {
        let t = Taxonomy::from_paths(&paths(&[&["a", "A", "*"], &["b", "A", "*"]]))
            .unwrap()
            .with_leaf("?");
        assert_eq!(t.code("?"), Some(Code(2)));
        assert_eq!(t.common(Code(1), Code(2)), t.root());
        assert_eq!(t.label(t.common(Code(0), Code(1))), "A");
    }

    fn coarsened(rows: &[&[&str]], level: usize, missing: Option<&str>) -> Vec<String> {
        let tree =
            Taxonomy::from_paths(&paths(rows)).unwrap().coarsened_to(level, missing).unwrap();
        let label = |row: &&[&str]| tree.label(tree.finest(tree.code(row[0]).unwrap())).to_owned();
        rows.iter().map(label).collect()
    }

    #[test]
    fn a_published_node_covers_all_values_below_it() {
        // S covers both values, so it is published for both.
        let rows: &[&[&str]] = &[&["B", "G", "S", "*"], &["A", "S", "*"], &["C", "T", "*"]];
        assert_eq!(coarsened(rows, 1, None), ["S", "S", "T"]);
        assert_eq!(coarsened(rows, 2, None), ["*", "*", "*"]);
        // A value with too few levels is published as the root, and the others are not.
        let rows: &[&[&str]] = &[&["u", "*"], &["a", "A", "I", "*"], &["b", "B", "I", "*"]];
        assert_eq!(coarsened(rows, 1, None), ["*", "A", "B"]);
        assert_eq!(coarsened(rows, 2, None), ["*", "I", "I"]);
        // x is one level above B and two above A, so it is published for neither.
        let rows: &[&[&str]] = &[&["A", "u", "x", "*"], &["B", "x", "*"], &["C", "y", "*"]];
        assert_eq!(coarsened(rows, 2, None), ["*", "*", "*"]);
        // A missing value is published, unless a published node covers it.
        let rows: &[&[&str]] = &[&["?", "*"], &["a", "A", "I", "*"], &["b", "B", "*"]];
        assert_eq!(coarsened(rows, 1, Some("?")), ["?", "A", "B"]);
        let rows: &[&[&str]] = &[&["?", "A", "*"], &["a", "A", "*"], &["b", "B", "I", "*"]];
        assert_eq!(coarsened(rows, 1, Some("?")), ["A", "A", "B"]);
    }

    proptest! {
        /// Trees with branches of different lengths: nodes that are published on any level cover
        /// their values in the original tree, have no value fewer than `min` steps below them, and
        /// divide the leaves into classes of adjacent ones.
        #[test]
        fn levels_of_uneven_trees_divide_the_values(
            branches in prop::collection::vec(prop::collection::vec(0u8..3, 0..5), 1..14),
            min in 0usize..4,
            missing in prop::option::of(0usize..14),
        ) {
            let path = |(n, branch): (usize, &Vec<u8>)| -> Vec<String> {
                let inner = (1..=branch.len()).rev().map(|end| format!("{:?}", &branch[..end]));
                [format!("v{n}")].into_iter().chain(inner).chain(["*".to_owned()]).collect()
            };
            let rows: Vec<Vec<String>> = branches.iter().enumerate().map(path).collect();
            let whole = Taxonomy::from_paths(&rows).unwrap();
            let missing = missing.filter(|n| *n < rows.len()).map(|n| rows[n][0].clone());
            let Ok(tree) = whole.clone().coarsened_to(min, missing.as_deref()) else {
                prop_assert!(min > whole.height());
                return Ok(());
            };
            for level in 0..=tree.height() {
                let mut classes: Vec<(NodeId, Code)> = Vec::new();
                for code in (0..tree.leaves()).map(Code) {
                    let node = tree.at_level(code, level);
                    let value = tree.label(tree.leaf(code));
                    let (lo, hi) = tree.span(node);
                    prop_assert!(lo <= code && code <= hi);
                    classes.push((node, lo));
                    let label = tree.label(node);
                    let own = rows.iter().find(|row| row[0] == value).unwrap();
                    let steps = own.iter().position(|step| step == label);
                    let is_missing = missing.as_deref() == Some(value);
                    prop_assert!(label == "*" || is_missing || steps.is_some_and(|n| n >= min));
                    if label != "*" && !is_missing {
                        let below = |row: &&Vec<String>| row.iter().any(|step| step == label);
                        let far = |row: &Vec<String>| {
                            missing.as_ref() == Some(&row[0])
                                || row.iter().position(|step| step == label) >= Some(min)
                        };
                        prop_assert!(rows.iter().filter(below).all(far), "{label}");
                    }
                }
                // Leaves with the same node are adjacent, and nodes differ in their first leaf
                // unless one is the root and the other the missing value, which is the last leaf.
                let runs: Vec<(NodeId, Code)> = {
                    let mut runs = classes.clone();
                    runs.dedup();
                    runs
                };
                let mut firsts: Vec<Code> = runs.iter().map(|run| run.1).collect();
                firsts.sort_unstable();
                prop_assert!(firsts.windows(2).all(|two| two[0] != two[1]), "{level}: {runs:?}");
            }
        }
    }
}
