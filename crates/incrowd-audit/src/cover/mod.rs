//! Finds the records of a table of original values that are covered by the groups of a release.
//!
//! The other table may be a population, an external table or the original. A group covers a record
//! if every cell of the group covers the record's value: an interval covers its numbers, a label
//! the values below it, a set its members, `*` everything. A missing value is covered by `*` and by
//! the cell of missing values.
//!
//! Groups are sorted by their cells and traversed as a trie, column by column. Each node has the
//! rows of the other table that are covered so far. Rows are sorted by the current column, so a
//! cell selects a contiguous range of them, and the other rows are not visited.

mod compatible;
mod reach;

use std::ops::Range;

use incrowd_core::{ColumnSpec, Folded, Progress, Result, Silent};

use crate::classes::Classes;
use reach::{DecodedColumn, NOWHERE, Reach, UsedColumn};

/// Maximum number of pairs of vector and group in memory.
const PAIRS_AT_ONCE: usize = 1 << 24;

/// A column that a release and another table share.
#[derive(Clone, Copy, Debug)]
pub struct SharedColumn<'a> {
    /// Position in the release.
    pub release: usize,
    /// Position in the other table.
    pub table: usize,
    /// How to read the cells of the release.
    pub spec: &'a ColumnSpec,
}

/// A join of a release with another table.
#[derive(Clone, Debug)]
pub struct Join {
    /// The groups of the release: rows with equal cells in the columns of the join.
    pub groups: Classes,
    /// The vectors of the other table: rows with equal values in the columns of the join.
    pub vectors: Classes,
    /// Per column, the number of records of the release whose cell covers no value of the table.
    pub unread: Vec<u64>,
    /// Per column, the number of records of the table whose value is covered only by `*`.
    pub foreign: Vec<u64>,
    columns: Vec<JoinColumn>,
    /// The groups in the order of the trie.
    sorted: Vec<u32>,
    /// For each column of the join, its position in the table, and its texts with dates in the
    /// published format if it has dates. Empty for a join of two releases.
    texts: Vec<(usize, Option<Vec<String>>)>,
}

/// A column in the order of the traversal.
#[derive(Clone, Debug)]
struct JoinColumn {
    reach: Vec<Reach>,
    /// The cell of each group.
    cell: Vec<u32>,
    /// The position of each vector in the domain.
    place: Vec<u32>,
}

/// Numbers of covered records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// Number of covered records of the table per group.
    pub group_records: Vec<u64>,
    /// Number of covered vectors per group.
    pub group_vectors: Vec<u64>,
    /// Number of groups that cover each vector.
    pub vector_groups: Vec<u64>,
    /// Number of records of the release in these groups, per vector.
    pub vector_records: Vec<u64>,
    /// Number of records of the table that no group covers.
    pub uncovered: u64,
}

/// Joins a release with a table. The first columns of both are the quasi-identifiers, in the order
/// of `specs`. `missing` is the text with which missing values are published.
pub fn cover(
    release: &Folded,
    specs: &[ColumnSpec],
    table: &Folded,
    missing: &str,
    progress: &dyn Progress,
) -> Result<(Join, Covered)> {
    let shared = |(i, spec)| SharedColumn { release: i, table: i, spec };
    let on: Vec<SharedColumn<'_>> = specs.iter().enumerate().map(shared).collect();
    let join = Join::new(release, table, &on, missing)?;
    let covered = join.covered(progress);
    Ok((join, covered))
}

impl Join {
    /// Decodes the cells of the release with the values of the table. Returns an error if no cell
    /// of a column can be decoded, e.g. because a hierarchy is missing.
    pub fn new(
        release: &Folded,
        table: &Folded,
        on: &[SharedColumn<'_>],
        missing: &str,
    ) -> Result<Join> {
        let groups = Classes::new(release, &on.iter().map(|on| on.release).collect::<Vec<_>>());
        let vectors = Classes::new(table, &on.iter().map(|on| on.table).collect::<Vec<_>>());
        let (mut unread, mut foreign, mut joined) = (Vec::new(), Vec::new(), Vec::new());
        let mut texts = Vec::new();
        for on in on {
            let column = UsedColumn::new(release, on.release);
            let values = UsedColumn::new(table, on.table);
            let decoded = DecodedColumn::new(&column, on.spec, &values, missing)?;
            let cell: Vec<u32> =
                groups.first.iter().map(|&row| release.row(row as usize)[on.release]).collect();
            let at = |&row: &u32| decoded.code[table.row(row as usize)[on.table] as usize];
            let place: Vec<u32> = vectors.first.iter().map(at).collect();
            let records = |classes: &Classes, counts: &dyn Fn(usize) -> bool| {
                (0..classes.len()).filter(|&i| counts(i)).map(|i| classes.records[i]).sum()
            };
            unread.push(records(&groups, &|g| !decoded.understood[cell[g] as usize]));
            foreign.push(records(&vectors, &|v| place[v] == NOWHERE));
            joined.push(JoinColumn { reach: decoded.reach, cell, place });
            texts.push((on.table, decoded.dates));
        }
        Ok(Join { texts, ..Join::ordered(groups, vectors, unread, foreign, joined) })
    }

    /// Joins the groups of two releases: pairs of groups that may share a person. The groups of
    /// `second` are the vectors of the join.
    pub fn of_releases(
        first: &Folded,
        second: &Folded,
        on: &[SharedColumn<'_>],
        missing: &str,
    ) -> Result<Join> {
        let groups = Classes::new(first, &on.iter().map(|on| on.release).collect::<Vec<_>>());
        let vectors = Classes::new(second, &on.iter().map(|on| on.table).collect::<Vec<_>>());
        let cells = |table: &Folded, classes: &Classes, column: usize| -> Vec<u32> {
            classes.first.iter().map(|&row| table.row(row as usize)[column]).collect()
        };
        let mut joined = Vec::new();
        for on in on {
            let ours = UsedColumn::new(first, on.release);
            let theirs = UsedColumn::new(second, on.table);
            joined.push(JoinColumn {
                reach: compatible::compatible(&ours, &theirs, on.spec, missing)?,
                cell: cells(first, &groups, on.release),
                place: cells(second, &vectors, on.table),
            });
        }
        Ok(Join::ordered(groups, vectors, vec![0; on.len()], vec![0; on.len()], joined))
    }

    fn ordered(
        groups: Classes,
        vectors: Classes,
        unread: Vec<u64>,
        foreign: Vec<u64>,
        mut columns: Vec<JoinColumn>,
    ) -> Join {
        columns.sort_by_key(|column| column.branching(vectors.len() as u64));
        let mut sorted: Vec<u32> = (0..groups.len() as u32).collect();
        let cells = |group: &u32| -> Vec<u32> {
            columns.iter().map(|column| column.cell[*group as usize]).collect()
        };
        sorted.sort_by_cached_key(cells);
        Join { groups, vectors, unread, foreign, columns, sorted, texts: Vec::new() }
    }

    /// Returns the value of a vector in a column of the join, with a date in the published format.
    /// `table` is the table of the vectors.
    pub(crate) fn value<'t>(&'t self, table: &'t Folded, column: usize, vector: u32) -> &'t str {
        let (position, dates) = &self.texts[column];
        let texts = dates.as_ref().unwrap_or(&table.columns[*position].texts);
        let row = self.vectors.first[vector as usize] as usize;
        &texts[table.row(row)[*position] as usize]
    }

    /// Calls `visit` once for every group that covers a vector, with its vectors in unspecified
    /// order.
    pub fn each(&self, progress: &dyn Progress, visit: &mut dyn FnMut(usize, &[u32])) {
        progress.step("joining", Some(self.groups.len() as u64));
        self.walk(0..self.vectors.len(), progress, visit);
    }

    fn walk(
        &self,
        vectors: Range<usize>,
        progress: &dyn Progress,
        visit: &mut dyn FnMut(usize, &[u32]),
    ) {
        let vectors: Vec<u32> = vectors.map(|vector| vector as u32).collect();
        let mut walk = Traversal { join: self, progress, visit, spare: Vec::new() };
        walk.descend(0, &self.sorted, &vectors);
    }

    /// Calls `visit` once for every vector, in order, with the groups that cover it.
    pub fn candidates(&self, progress: &dyn Progress, visit: &mut dyn FnMut(usize, &[u32])) {
        self.candidates_in_parts(PAIRS_AT_ONCE, progress, visit);
    }

    fn candidates_in_parts(
        &self,
        most: usize,
        progress: &dyn Progress,
        visit: &mut dyn FnMut(usize, &[u32]),
    ) {
        let mut counts = vec![0usize; self.vectors.len()];
        self.each(progress, &mut |_, vectors| {
            vectors.iter().for_each(|&v| counts[v as usize] += 1)
        });
        progress.step("comparing", Some(self.vectors.len() as u64));
        // All pairs may exceed the memory. They are collected for a range of vectors at a time.
        let mut from = 0;
        while from < counts.len() {
            let (mut to, mut pairs, mut ends) = (from, 0, Vec::new());
            while to < counts.len() && (to == from || pairs + counts[to] <= most) {
                ends.push(pairs);
                pairs += counts[to];
                to += 1;
            }
            let mut groups = vec![0u32; pairs];
            self.walk(from..to, &Silent, &mut |group, vectors| {
                for &vector in vectors {
                    let end = &mut ends[vector as usize - from];
                    groups[*end] = group as u32;
                    *end += 1;
                }
            });
            let mut start = 0;
            for (i, &end) in ends.iter().enumerate() {
                visit(from + i, &groups[start..end]);
                start = end;
            }
            progress.advance((to - from) as u64);
            from = to;
        }
    }

    /// Counts covered records.
    pub fn covered(&self, progress: &dyn Progress) -> Covered {
        let (groups, vectors) = (self.groups.len(), self.vectors.len());
        let mut covered = Covered {
            group_records: vec![0; groups],
            group_vectors: vec![0; groups],
            vector_groups: vec![0; vectors],
            vector_records: vec![0; vectors],
            uncovered: 0,
        };
        self.each(progress, &mut |group, vectors| {
            covered.group_vectors[group] = vectors.len() as u64;
            for &vector in vectors {
                let vector = vector as usize;
                covered.group_records[group] += self.vectors.records[vector];
                covered.vector_groups[vector] += 1;
                covered.vector_records[vector] += self.groups.records[group];
            }
        });
        let uncovered = (0..vectors).filter(|&v| covered.vector_groups[v] == 0);
        covered.uncovered = uncovered.map(|v| self.vectors.records[v]).sum();
        covered
    }
}

impl JoinColumn {
    /// Returns the total length of the lists into which the cells of this column divide all
    /// vectors. Columns with a small total come first: many groups share their cells, and they
    /// divide the vectors well.
    fn branching(&self, vectors: u64) -> u64 {
        let mut used: Vec<u32> = self.cell.clone();
        used.sort_unstable();
        used.dedup();
        let mut places: Vec<u32> = self.place.clone();
        places.sort_unstable();
        let below = |code: u32| places.partition_point(|&p| p < code) as u64;
        let length = |cell: &u32| match &self.reach[*cell as usize] {
            Reach::Everything => vectors,
            Reach::Span(lo, hi) => below(hi + 1) - below(*lo),
            Reach::Codes(codes) => codes.iter().map(|&c| below(c + 1) - below(c)).sum(),
            Reach::Nothing => 0,
        };
        used.iter().map(length).sum()
    }
}

/// A depth-first traversal of the trie.
struct Traversal<'a> {
    join: &'a Join,
    progress: &'a dyn Progress,
    visit: &'a mut dyn FnMut(usize, &[u32]),
    /// Unused lists, kept for reuse.
    spare: Vec<Vec<u32>>,
}

impl Traversal<'_> {
    /// Visits a node. `groups` have equal cells in the columns before `depth`, and `vectors` are
    /// the vectors that these cells cover.
    fn descend(&mut self, depth: usize, groups: &[u32], vectors: &[u32]) {
        let join = self.join;
        if vectors.is_empty() {
            return self.progress.advance(groups.len() as u64);
        }
        if let &[group] = groups {
            let rest = &join.columns[depth..];
            let covers = |column: &JoinColumn, v: u32| {
                column.reach[column.cell[group as usize] as usize].covers(column.place[v as usize])
            };
            let mut kept = self.spare.pop().unwrap_or_default();
            kept.extend(vectors.iter().filter(|&&v| rest.iter().all(|column| covers(column, v))));
            if !kept.is_empty() {
                (self.visit)(group as usize, &kept);
            }
            self.put_back(kept);
            return self.progress.advance(1);
        }
        let column = &join.columns[depth];
        let cell = |group: &u32| column.cell[*group as usize];
        let runs = groups.chunk_by(|a, b| cell(a) == cell(b));
        // With few cells, testing every vector for every cell is faster than sorting the vectors.
        let few = runs.clone().take(5).count() < 5;
        let sorted = if few { Vec::new() } else { sorted_by_place(column, vectors) };
        for run in runs {
            let mut kept = self.spare.pop().unwrap_or_default();
            match &column.reach[cell(&run[0]) as usize] {
                Reach::Everything => kept.extend_from_slice(vectors),
                Reach::Nothing => {}
                reach if few => {
                    let covers = |v: &&u32| reach.covers(column.place[**v as usize]);
                    kept.extend(vectors.iter().filter(covers));
                }
                Reach::Span(lo, hi) => extend_with_range(&sorted, *lo, *hi, &mut kept),
                Reach::Codes(codes) => {
                    codes.iter().for_each(|&c| extend_with_range(&sorted, c, c, &mut kept))
                }
            }
            self.descend(depth + 1, run, &kept);
            self.put_back(kept);
        }
    }

    fn put_back(&mut self, mut list: Vec<u32>) {
        list.clear();
        self.spare.push(list);
    }
}

/// Returns the vectors with their positions, sorted by position.
fn sorted_by_place(column: &JoinColumn, vectors: &[u32]) -> Vec<(u32, u32)> {
    let mut sorted: Vec<(u32, u32)> =
        vectors.iter().map(|&v| (column.place[v as usize], v)).collect();
    sorted.sort_unstable();
    sorted
}

/// Appends the vectors with positions from `lo` to `hi`.
fn extend_with_range(sorted: &[(u32, u32)], lo: u32, hi: u32, out: &mut Vec<u32>) {
    let from = sorted.partition_point(|&(place, _)| place < lo);
    let to = from + sorted[from..].partition_point(|&(place, _)| place <= hi);
    out.extend(sorted[from..to].iter().map(|&(_, vector)| vector));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_of_a_vector_is_a_date_in_the_published_format() {
        let table = |text| Folded::from_records(&["born"], vec![vec![Some(text)]], false);
        let (release, people) = (table("[2004-01-03, 2004-01-21]"), table("17.01.2004"));
        let spec = ColumnSpec::default();
        let on = [SharedColumn { release: 0, table: 0, spec: &spec }];
        let join = Join::new(&release, &people, &on, "?").unwrap();
        assert_eq!(join.value(&people, 0, 0), "2004-01-17");
    }

    #[test]
    fn candidates_do_not_depend_on_the_number_of_pairs_in_memory() {
        let records = |texts: &[&'static str]| {
            Folded::from_records(
                &["age"],
                texts.iter().map(|text| vec![Some(*text)]).collect::<Vec<_>>(),
                false,
            )
        };
        let release = records(&["[0, 9]", "[3, 5]", "[4, 20]", "7", "*", "[30, 31]"]);
        let table = records(&["1", "4", "5", "7", "25", "12", "3"]);
        let spec = ColumnSpec::default();
        let on = [SharedColumn { release: 0, table: 0, spec: &spec }];
        let join = Join::new(&release, &table, &on, "?").unwrap();
        let candidates = |most: usize| {
            let mut all: Vec<(usize, Vec<u32>)> = Vec::new();
            join.candidates_in_parts(most, &Silent, &mut |vector, groups| {
                let mut groups = groups.to_vec();
                groups.sort_unstable();
                all.push((vector, groups));
            });
            all
        };
        // The groups that cover 1, 4, 5, 7, 25, 12 and 3, determined by hand.
        let expected: [&[u32]; 7] =
            [&[0, 4], &[0, 1, 2, 4], &[0, 1, 2, 4], &[0, 2, 3, 4], &[4], &[2, 4], &[0, 1, 4]];
        for most in [0, 1, 2, 3, 4, 5, 7, 100] {
            let found = candidates(most);
            assert!(
                found.iter().map(|(vector, _)| *vector).eq(0..7),
                "every vector once, in order"
            );
            assert!(found.iter().map(|(_, groups)| groups.as_slice()).eq(expected), "{most}");
        }
    }
}
