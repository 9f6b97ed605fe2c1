//! Outer groupings: the groups of many nodes of the lattice are counted from one grouping of the
//! rows.
//!
//! The columns are divided into outer and inner ones. The inner ones together have few values. An
//! outer grouping fixes the levels of the outer columns. Its rows are grouped by the outer classes.
//! Within a group, every combination of inner values is a cell of a small array. A table maps the
//! cells at level 0 to those at higher levels of the inner columns. The groups of a node are
//! counted by adding rows to cells, without hashing and with sequential memory access. Small groups
//! come first, so that most invalid nodes are detected early.

use std::cell::RefCell;

use super::check::{Checker, NodeOutcome};
use super::frequency::{FrequencySet, Scratch, collect};
use super::key::Key;
use super::lattice::{Lattice, Node};
use super::price::Sizes;

/// The greatest number of combinations of inner values. The array of cells then fits into the L1
/// cache.
const MAX_CELLS: usize = 4096;

/// The greatest number of combinations of inner levels.
const MAX_LEVELS: usize = 1024;

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::default();
}

/// Buffers that are reused by all groupings and nodes of a thread.
#[derive(Default)]
struct Buffers {
    cells: Vec<u32>,
    refused: Vec<(u32, u32, u32)>,
    scratch: Scratch,
}

/// The division of the columns, and the tables of the inner columns.
#[derive(Debug)]
pub(super) struct ColumnSplit {
    /// The levels that mean that a column is ignored.
    ignored: Vec<u8>,
    pub(super) outer: Vec<usize>,
    pub(super) inner: Vec<usize>,
    /// The levels of the outer columns.
    pub(super) outers: Lattice,
    /// The levels of the inner columns.
    pub(super) inners: Lattice,
    /// The number of classes of each inner column at level 0.
    radix: Vec<u32>,
    /// The number of cells.
    cells: usize,
    /// The class of each inner column in each cell.
    classes: Vec<Vec<u32>>,
    /// By node of the inner columns: the cell that each cell at level 0 becomes.
    becomes: Vec<Vec<u32>>,
}

impl ColumnSplit {
    /// Divides some of the columns and ignores the others. There is at least one inner column.
    /// `None` if there are too many levels.
    pub(super) fn new<K: Key>(checker: &Checker<'_, K>, columns: &[usize]) -> Option<ColumnSplit> {
        let column_levels = &checker.column_levels;
        let mut order = columns.to_vec();
        order.sort_by_key(|&column| column_levels[column].classes(0));
        let (mut inner, mut cells, mut levels) = (Vec::new(), 1, 1);
        for column in order {
            let (more, higher) =
                (cells * column_levels[column].classes(0), levels * column_levels[column].levels());
            if inner.is_empty() || more <= MAX_CELLS && higher <= MAX_LEVELS {
                (cells, levels) = (more, higher);
                inner.push(column);
            }
        }
        inner.sort_unstable();
        let outer: Vec<usize> =
            columns.iter().copied().filter(|column| !inner.contains(column)).collect();
        let lattice = |columns: &[usize]| {
            Lattice::new(columns.iter().map(|&c| column_levels[c].levels() as u32).collect())
        };
        let (outers, inners) = (lattice(&outer)?, lattice(&inner)?);
        let radix: Vec<u32> =
            inner.iter().map(|&column| column_levels[column].classes(0) as u32).collect();
        let table = |node: Node| {
            let levels = inners.vector(node);
            let becomes = |cell: u32| {
                let (mut rest, mut stride, mut target) = (cell, 1, 0);
                for (i, &column) in inner.iter().enumerate() {
                    let class = rest % radix[i];
                    target += stride
                        * column_levels[column].up(0, usize::from(levels[i]))[class as usize];
                    rest /= radix[i];
                    stride *= radix[i];
                }
                target
            };
            (0..cells as u32).map(becomes).collect()
        };
        let becomes = inners.nodes().map(table).collect();
        let class = |i: usize, cell: u32| cell / radix[..i].iter().product::<u32>() % radix[i];
        let classes = (0..inner.len())
            .map(|i| (0..cells as u32).map(|cell| class(i, cell)).collect())
            .collect();
        let ignored = column_levels.iter().map(|of_column| of_column.levels() as u8).collect();
        Some(ColumnSplit { ignored, outer, inner, outers, inners, radix, cells, classes, becomes })
    }

    /// Returns the levels of all columns.
    pub(super) fn vector(&self, outer: Node, inner: Node) -> Vec<u8> {
        let mut vector = self.ignored.clone();
        self.outer
            .iter()
            .zip(self.outers.vector(outer))
            .for_each(|(&column, level)| vector[column] = level);
        self.inner
            .iter()
            .zip(self.inners.vector(inner))
            .for_each(|(&column, level)| vector[column] = level);
        vector
    }
}

/// The groups at some levels of the outer columns and level 0 of the inner ones.
#[derive(Debug)]
pub(super) enum OuterGrouping<K> {
    /// For models that depend only on the number of records.
    Counted(CountedRows<K>),
    /// For all other models.
    Summed(FrequencySet<K>),
}

/// Rows by outer classes and inner cell.
#[derive(Debug)]
pub(super) struct CountedRows<K> {
    /// The outer classes of each group.
    keys: Vec<K>,
    /// The end of each group's rows.
    ends: Vec<u32>,
    /// The cell and the records of each row.
    rows: Vec<(u32, u32)>,
}

impl<K: Key> OuterGrouping<K> {
    /// Creates the grouping at the bottom.
    pub(super) fn bottom(checker: &Checker<'_, K>, split: &ColumnSplit) -> OuterGrouping<K> {
        let base = &checker.base;
        let total: u64 = base.groups.iter().map(|group| group.1).sum();
        if !checker.counts_only() || u32::try_from(total.max(checker.min_records)).is_err() {
            let bottom = vec![0; checker.column_levels.len()];
            return OuterGrouping::Summed(checker.rolled_up(
                base,
                &bottom,
                &split.vector(Node(0), Node(0)),
            ));
        }
        let outer = |key: K| {
            let fields = split.outer.iter().map(|&column| checker.fields[column]);
            fields.fold(K::default(), |outer, field| outer.set(field, key.get(field)))
        };
        let cell = |key: K| {
            let columns = split.inner.iter().enumerate().rev();
            columns.fold(0, |cell, (i, &c)| cell * split.radix[i] + key.get(checker.fields[c]))
        };
        BUFFERS.with_borrow_mut(|buffers| {
            let entries = base.groups.iter().map(|&(key, records)| (outer(key), records));
            let groups = collect(entries, base.groups.len(), true, &mut buffers.scratch);
            let rows = base.groups.iter().map(|&(key, records)| (cell(key), records as u32));
            let rows: Vec<(u32, u32)> = rows.collect();
            let keys = groups.iter().map(|group| group.0).collect();
            OuterGrouping::Counted(gather(
                keys,
                &rows,
                buffers.scratch.moved(),
                &mut buffers.cells,
                split.cells,
                checker.min_records,
            ))
        })
    }

    /// Returns the grouping at higher levels of the outer columns.
    pub(super) fn rolled_up(
        &self,
        checker: &Checker<'_, K>,
        split: &ColumnSplit,
        from: Node,
        to: Node,
    ) -> OuterGrouping<K> {
        let vector = |outer: Node| split.vector(outer, Node(0));
        match self {
            OuterGrouping::Summed(set) => {
                OuterGrouping::Summed(checker.rolled_up(set, &vector(from), &vector(to)))
            }
            OuterGrouping::Counted(grouping) => BUFFERS.with_borrow_mut(|buffers| {
                let (from, to) = (vector(from), vector(to));
                let climb = |key: K| {
                    split.outer.iter().filter(|&&column| from[column] != to[column]).fold(
                        key,
                        |key, &column| {
                            let table = checker.column_levels[column]
                                .up(usize::from(from[column]), usize::from(to[column]));
                            let field = checker.fields[column];
                            key.set(field, table[key.get(field) as usize])
                        },
                    )
                };
                let entries = grouping.keys.iter().map(|&key| (climb(key), 1));
                let groups = collect(entries, grouping.keys.len(), true, &mut buffers.scratch);
                let keys = groups.iter().map(|group| group.0).collect();
                let mut of_row = Vec::with_capacity(grouping.rows.len());
                let mut start = 0;
                for (&end, &group) in grouping.ends.iter().zip(buffers.scratch.moved()) {
                    of_row.extend(std::iter::repeat_n(group, (end - start) as usize));
                    start = end;
                }
                OuterGrouping::Counted(gather(
                    keys,
                    &grouping.rows,
                    &of_row,
                    &mut buffers.cells,
                    split.cells,
                    checker.min_records,
                ))
            }),
        }
    }

    /// Checks a node of the grouping.
    pub(super) fn check(
        &self,
        checker: &Checker<'_, K>,
        split: &ColumnSplit,
        outer: Node,
        inner: Node,
    ) -> Option<NodeOutcome> {
        let levels = split.vector(outer, inner);
        match self {
            OuterGrouping::Summed(set) => {
                checker.check(set, &split.vector(outer, Node(0)), &levels).1
            }
            OuterGrouping::Counted(grouping) => {
                BUFFERS.with_borrow_mut(|Buffers { cells, refused, .. }| {
                    cells.clear();
                    cells.resize(split.cells, 0);
                    let becomes = &split.becomes[inner.index()];
                    let least = u32::try_from(checker.min_records).unwrap_or(u32::MAX);
                    let sizes = grouping.sizes(becomes, cells, least, checker.suppressible)?;
                    if sizes.suppressed > 0 && checker.prices.charges_cells() {
                        grouping.refused(becomes, cells, least, refused);
                    }
                    checker.outcome(&levels, &sizes, |column, suppressed_classes| {
                        let groups = refused.iter();
                        if let Some(i) = split.inner.iter().position(|&inner| inner == column) {
                            let classes = &split.classes[i];
                            suppressed_classes.extend(groups.map(|&(_, cell, records)| {
                                (classes[cell as usize], records.into())
                            }));
                        } else {
                            let field = checker.fields[column];
                            let class = |group: u32| grouping.keys[group as usize].get(field);
                            suppressed_classes.extend(
                                groups.map(|&(group, _, records)| (class(group), records.into())),
                            );
                        }
                    })
                })
            }
        }
    }

    /// Returns the number of rows.
    pub(super) fn rows(&self) -> usize {
        match self {
            OuterGrouping::Counted(grouping) => grouping.rows.len(),
            OuterGrouping::Summed(set) => set.groups.len(),
        }
    }

    /// Returns its size in bytes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            OuterGrouping::Counted(grouping) => {
                size_of_val(grouping.keys.as_slice())
                    + 4 * grouping.ends.len()
                    + 8 * grouping.rows.len()
            }
            OuterGrouping::Summed(set) => set.bytes(),
        }
    }
}

impl<K: Key> CountedRows<K> {
    /// Counts the groups of a node. `None` if the refused ones have too many records. All `cells`
    /// must be 0 and are 0 afterwards.
    fn sizes(
        &self,
        becomes: &[u32],
        cells: &mut [u32],
        least: u32,
        suppressible: u64,
    ) -> Option<Sizes> {
        // No overflow: a sum of squares is at most the square of the sum, which fits into 32 bits.
        let (mut groups, mut squares, mut occupied, mut all_squares, mut suppressed) =
            (0u64, 0u64, 0u64, 0u64, 0u64);
        let mut start = 0;
        for &end in &self.ends {
            let rows = &self.rows[start..end as usize];
            start = end as usize;
            for &(cell, records) in rows {
                cells[becomes[cell as usize] as usize] += records;
            }
            // A cell is counted at its first row and is empty from then on. The loop has no
            // branches, because they would be hard to predict.
            for &(cell, _) in rows {
                let records = std::mem::take(&mut cells[becomes[cell as usize] as usize]);
                let (admitted, square) =
                    (u64::from(records >= least), u64::from(records) * u64::from(records));
                groups += admitted;
                squares += admitted * square;
                occupied += u64::from(records > 0);
                all_squares += square;
                suppressed += (1 - admitted) * u64::from(records);
            }
            if suppressed > suppressible {
                return None;
            }
        }
        Some(Sizes {
            groups,
            squares: squares.into(),
            refused: occupied - groups,
            refused_squares: (all_squares - squares).into(),
            suppressed,
        })
    }

    /// Collects the refused groups of a node as group of the grouping, cell and records. All
    /// `cells` must be 0 and are 0 afterwards.
    fn refused(
        &self,
        becomes: &[u32],
        cells: &mut [u32],
        least: u32,
        refused: &mut Vec<(u32, u32, u32)>,
    ) {
        refused.clear();
        let mut start = 0;
        for (group, &end) in self.ends.iter().enumerate() {
            let rows = &self.rows[start..end as usize];
            start = end as usize;
            for &(cell, records) in rows {
                cells[becomes[cell as usize] as usize] += records;
            }
            for &(cell, _) in rows {
                let cell = becomes[cell as usize];
                let records = std::mem::take(&mut cells[cell as usize]);
                if records > 0 && records < least {
                    refused.push((group as u32, cell, records));
                }
            }
        }
    }
}

/// Sorts rows by group and merges those with equal cells. Groups with few records come first.
fn gather<K: Key>(
    keys: Vec<K>,
    rows: &[(u32, u32)],
    of_row: &[u32],
    cells: &mut Vec<u32>,
    most: usize,
    least: u64,
) -> CountedRows<K> {
    let mut totals = vec![0u64; keys.len()];
    let mut lens = vec![0u32; keys.len()];
    for (&(_, records), &group) in rows.iter().zip(of_row) {
        totals[group as usize] += u64::from(records);
        lens[group as usize] += 1;
    }
    let order = by_total(&totals, least);
    let mut next = vec![0u32; keys.len()];
    let mut at = 0;
    for &group in &order {
        next[group as usize] = at;
        at += lens[group as usize];
    }
    let mut grouped = vec![(0u32, 0u32); rows.len()];
    for (&row, &group) in rows.iter().zip(of_row) {
        grouped[next[group as usize] as usize] = row;
        next[group as usize] += 1;
    }
    cells.clear();
    cells.resize(most, 0);
    let mut ends = Vec::with_capacity(keys.len());
    let (mut read, mut write) = (0, 0);
    for &group in &order {
        let end = read + lens[group as usize] as usize;
        grouped[read..end].iter().for_each(|&(cell, records)| cells[cell as usize] += records);
        for i in read..end {
            let cell = grouped[i].0;
            let records = std::mem::take(&mut cells[cell as usize]);
            if records > 0 {
                grouped[write] = (cell, records);
                write += 1;
            }
        }
        ends.push(write as u32);
        read = end;
    }
    grouped.truncate(write);
    let keys = order.iter().map(|&group| keys[group as usize]).collect();
    CountedRows { keys, ends, rows: grouped }
}

/// Returns the groups in approximate order of their records, the smallest first (a bucket sort).
fn by_total(totals: &[u64], least: u64) -> Vec<u32> {
    const STEPS: u64 = 32;
    let step = |total: u64| (total.saturating_mul(4) / least).min(STEPS) as usize;
    let mut starts = [0u32; STEPS as usize + 2];
    totals.iter().for_each(|&total| starts[step(total) + 1] += 1);
    (1..starts.len()).for_each(|i| starts[i] += starts[i - 1]);
    let mut order = vec![0; totals.len()];
    for (group, &total) in totals.iter().enumerate() {
        let at = &mut starts[step(total)];
        order[*at as usize] = group as u32;
        *at += 1;
    }
    order
}
