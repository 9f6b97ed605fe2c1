//! Which records of a table of plain values are covered by the cells of which group of a release.
//!
//! The other table may be a population, an external database or the original. A record is covered by a group if every
//! cell of the group admits the record's value: an interval its numbers, a label the values below it, a set its members,
//! `*` anything. A missing value is covered by `*` and by the cell under which missing values are published.
//!
//! Groups are sorted by their cells and walked as a trie, column by column, each node carrying the rows of the other table
//! that are still covered. Rows are sorted along the column at hand, so that a cell takes a stretch of them and what is
//! not covered is never looked at.

mod compatible;
mod reach;

use std::ops::Range;

use incrowd_core::{ColumnSpec, Folded, Progress, Result, Silent};

use crate::classes::Classes;
use reach::{Line, NOWHERE, Reach};

/// How many pairs of vector and group are kept at a time.
const PAIRS_AT_ONCE: usize = 1 << 24;

/// A column by which a release and another table are joined.
#[derive(Clone, Copy, Debug)]
pub struct On<'a> {
    /// Its position in the release.
    pub release: usize,
    /// Its position in the other table.
    pub table: usize,
    /// How its cells are to be read.
    pub spec: &'a ColumnSpec,
}

/// A release and another table, ready to be joined.
#[derive(Clone, Debug)]
pub struct Join {
    /// The groups of the release: rows that are alike in the columns of the join.
    pub groups: Classes,
    /// The rows of the other table, those alike in the columns of the join taken together.
    pub vectors: Classes,
    /// For each column how many records of the release have a cell that says nothing about any value of the table.
    pub unread: Vec<u64>,
    /// For each column how many records of the table have a value that no cell but `*` can cover.
    pub strange: Vec<u64>,
    lines: Vec<Walked>,
    sorted: Vec<u32>,
}

/// A column in the order of the walk.
#[derive(Clone, Debug)]
struct Walked {
    reach: Vec<Reach>,
    /// The cell of each group.
    cell: Vec<u32>,
    /// The place of each vector on the line.
    place: Vec<u32>,
}

/// Who is covered by whom, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// For each group how many records of the table it covers.
    pub group_records: Vec<u64>,
    /// For each group how many distinct combinations of values it covers.
    pub group_vectors: Vec<u64>,
    /// For each vector of the table how many groups cover it.
    pub vector_groups: Vec<u64>,
    /// For each vector how many records of the release are in those groups.
    pub vector_records: Vec<u64>,
    /// How many records of the table no group covers.
    pub uncovered: u64,
}

/// Joins a release whose first columns are the quasi-identifiers, in the order of `specs`, with a table that has the same
/// columns first. `missing` is the text under which missing values are published.
pub fn cover(
    release: &Folded,
    specs: &[ColumnSpec],
    table: &Folded,
    missing: &str,
    progress: &dyn Progress,
) -> Result<(Join, Covered)> {
    let on: Vec<On<'_>> =
        specs.iter().enumerate().map(|(i, spec)| On { release: i, table: i, spec }).collect();
    let join = Join::new(release, table, &on, missing)?;
    let covered = join.covered(progress);
    Ok((join, covered))
}

impl Join {
    /// Reads the cells of the release on the values of the table. Fails if a column has cells and none of them says
    /// anything about the table's values, as when a hierarchy is not given.
    pub fn new(release: &Folded, table: &Folded, on: &[On<'_>], missing: &str) -> Result<Join> {
        let groups = Classes::new(release, &on.iter().map(|on| on.release).collect::<Vec<_>>());
        let vectors = Classes::new(table, &on.iter().map(|on| on.table).collect::<Vec<_>>());
        let (mut unread, mut strange, mut lines) = (Vec::new(), Vec::new(), Vec::new());
        for on in on {
            let (column, values) = (&release.columns[on.release], &table.columns[on.table]);
            let line = Line::new(column, on.spec, values, missing)?;
            let cell: Vec<u32> =
                groups.first.iter().map(|&row| release.row(row as usize)[on.release]).collect();
            let at = |&row: &u32| line.code[table.row(row as usize)[on.table] as usize];
            let place: Vec<u32> = vectors.first.iter().map(at).collect();
            let records = |classes: &Classes, odd: &dyn Fn(usize) -> bool| {
                (0..classes.len()).filter(|&i| odd(i)).map(|i| classes.records[i]).sum()
            };
            unread.push(records(&groups, &|g| !line.understood[cell[g] as usize]));
            strange.push(records(&vectors, &|v| place[v] == NOWHERE));
            lines.push(Walked { reach: line.reach, cell, place });
        }
        Ok(Join::ordered(groups, vectors, unread, strange, lines))
    }

    /// Joins the groups of two releases: a pair whose cells some person could have both. The groups of `second` take the
    /// place of vectors.
    pub fn of_releases(first: &Folded, second: &Folded, on: &[On<'_>], missing: &str) -> Result<Join> {
        let groups = Classes::new(first, &on.iter().map(|on| on.release).collect::<Vec<_>>());
        let vectors = Classes::new(second, &on.iter().map(|on| on.table).collect::<Vec<_>>());
        let cells = |table: &Folded, classes: &Classes, column: usize| -> Vec<u32> {
            classes.first.iter().map(|&row| table.row(row as usize)[column]).collect()
        };
        let mut lines = Vec::new();
        for on in on {
            let (ours, theirs) = (&first.columns[on.release], &second.columns[on.table]);
            lines.push(Walked {
                reach: compatible::compatible(ours, theirs, on.spec, missing)?,
                cell: cells(first, &groups, on.release),
                place: cells(second, &vectors, on.table),
            });
        }
        Ok(Join::ordered(groups, vectors, vec![0; on.len()], vec![0; on.len()], lines))
    }

    fn ordered(
        groups: Classes,
        vectors: Classes,
        unread: Vec<u64>,
        strange: Vec<u64>,
        mut lines: Vec<Walked>,
    ) -> Join {
        lines.sort_by_key(|line| line.branching(vectors.len() as u64));
        let mut sorted: Vec<u32> = (0..groups.len() as u32).collect();
        let cells = |group: &u32| lines.iter().map(|line| line.cell[*group as usize]).collect::<Vec<_>>();
        sorted.sort_by_cached_key(cells);
        Join { groups, vectors, unread, strange, lines, sorted }
    }

    /// Calls `visit` once for every group that covers somebody, with the vectors it covers in no particular order.
    pub fn each(&self, progress: &dyn Progress, visit: &mut dyn FnMut(usize, &[u32])) {
        progress.step("joining", Some(self.groups.len() as u64));
        self.walk(0..self.vectors.len(), progress, visit);
    }

    fn walk(&self, vectors: Range<usize>, progress: &dyn Progress, visit: &mut dyn FnMut(usize, &[u32])) {
        let vectors: Vec<u32> = vectors.map(|vector| vector as u32).collect();
        let mut walk = Walk { join: self, progress, visit, spare: Vec::new() };
        walk.down(0, &self.sorted, &vectors);
    }

    /// Calls `visit` once for every vector, in their order, with the groups that cover it.
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
        self.each(progress, &mut |_, vectors| vectors.iter().for_each(|&v| counts[v as usize] += 1));
        progress.step("comparing", Some(self.vectors.len() as u64));
        // Pairs are kept for some vectors at a time, since all of them together may be more than memory holds.
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

    /// Counts who is covered by whom.
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
        let bare = (0..vectors).filter(|&v| covered.vector_groups[v] == 0);
        covered.uncovered = bare.map(|v| self.vectors.records[v]).sum();
        covered
    }
}

impl Walked {
    /// How long the lists are that this column makes out of all vectors, summed over its cells. A column that makes little
    /// is walked first: its cells are shared by many groups and part the vectors well.
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

/// The walk down the trie.
struct Walk<'a> {
    join: &'a Join,
    progress: &'a dyn Progress,
    visit: &'a mut dyn FnMut(usize, &[u32]),
    /// Lists that are not in use.
    spare: Vec<Vec<u32>>,
}

impl Walk<'_> {
    /// `groups` are alike in the columns before `depth`, and `vectors` are those their common cells cover.
    fn down(&mut self, depth: usize, groups: &[u32], vectors: &[u32]) {
        let join = self.join;
        if vectors.is_empty() {
            return self.progress.advance(groups.len() as u64);
        }
        if let &[group] = groups {
            let rest = &join.lines[depth..];
            let covers = |line: &Walked, v: u32| {
                line.reach[line.cell[group as usize] as usize].covers(line.place[v as usize])
            };
            let mut kept = self.spare.pop().unwrap_or_default();
            kept.extend(vectors.iter().filter(|&&v| rest.iter().all(|line| covers(line, v))));
            if !kept.is_empty() {
                (self.visit)(group as usize, &kept);
            }
            self.put_back(kept);
            return self.progress.advance(1);
        }
        let line = &join.lines[depth];
        let cell = |group: &u32| line.cell[*group as usize];
        let runs = groups.chunk_by(|a, b| cell(a) == cell(b));
        // Looking at every vector for every cell is quicker than sorting them if there are few cells.
        let few = runs.clone().take(5).count() < 5;
        let sorted = if few { Vec::new() } else { sorted_along(line, vectors) };
        for run in runs {
            let mut kept = self.spare.pop().unwrap_or_default();
            match &line.reach[cell(&run[0]) as usize] {
                Reach::Everything => kept.extend_from_slice(vectors),
                Reach::Nothing => {}
                reach if few => {
                    kept.extend(vectors.iter().filter(|&&v| reach.covers(line.place[v as usize])));
                }
                Reach::Span(lo, hi) => stretch(&sorted, *lo, *hi, &mut kept),
                Reach::Codes(codes) => codes.iter().for_each(|&c| stretch(&sorted, c, c, &mut kept)),
            }
            self.down(depth + 1, run, &kept);
            self.put_back(kept);
        }
    }

    fn put_back(&mut self, mut list: Vec<u32>) {
        list.clear();
        self.spare.push(list);
    }
}

/// Place and vector, in the order of the places.
fn sorted_along(line: &Walked, vectors: &[u32]) -> Vec<(u32, u32)> {
    let mut sorted: Vec<(u32, u32)> = vectors.iter().map(|&v| (line.place[v as usize], v)).collect();
    sorted.sort_unstable();
    sorted
}

fn stretch(sorted: &[(u32, u32)], lo: u32, hi: u32, out: &mut Vec<u32>) {
    let from = sorted.partition_point(|&(place, _)| place < lo);
    let to = from + sorted[from..].partition_point(|&(place, _)| place <= hi);
    out.extend(sorted[from..to].iter().map(|&(_, vector)| vector));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_do_not_depend_on_how_many_pairs_are_kept_at_a_time() {
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
        let join = Join::new(&release, &table, &[On { release: 0, table: 0, spec: &spec }], "?").unwrap();
        let candidates = |most: usize| {
            let mut all: Vec<(usize, Vec<u32>)> = Vec::new();
            join.candidates_in_parts(most, &Silent, &mut |vector, groups| {
                let mut groups = groups.to_vec();
                groups.sort_unstable();
                all.push((vector, groups));
            });
            all
        };
        // The groups that fit 1, 4, 5, 7, 25, 12 and 3, by hand.
        let expected: [&[u32]; 7] =
            [&[0, 4], &[0, 1, 2, 4], &[0, 1, 2, 4], &[0, 2, 3, 4], &[4], &[2, 4], &[0, 1, 4]];
        for most in [0, 1, 2, 3, 4, 5, 7, 100] {
            let found = candidates(most);
            assert!(found.iter().map(|(vector, _)| *vector).eq(0..7), "every vector once, in order");
            assert!(found.iter().map(|(_, groups)| groups.as_slice()).eq(expected), "{most}");
        }
    }
}
