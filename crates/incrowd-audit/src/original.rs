//! A release compared with its original table: which original values its cells cover, and whether
//! it can be a release of the original at all.
//!
//! Outliers are defined by the original records. On the release alone only the number of sensitive
//! values can be checked. Models about outliers are therefore verified with both tables: the cells
//! come from the release, the distances from the original.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;

use hashbrown::HashMap;
use incrowd_core::dataset::Sensitive;
use incrowd_core::{
    Dataset, Error, Extent, Folded, GroupSummary, Histogram, MISSING, Progress, Region, Result,
    value_key,
};

use crate::classes::Classes;

/// A release whose cells are decoded with the domains of its original.
#[derive(Debug)]
pub struct Original<'a> {
    data: &'a Dataset,
    regions: Vec<Region>,
    /// For each sensitive column, the original's code of each text of the release.
    codes: Vec<Vec<Option<u32>>>,
    groups: Classes,
    unmatched: u64,
}

impl<'a> Original<'a> {
    /// Reads a release whose columns are the quasi-identifiers and then the sensitive columns of
    /// `data`, in this order. Returns an error if a cell is not in the domain of its column, e.g.
    /// because a hierarchy is missing.
    pub fn read(
        release: &Folded,
        data: &'a Dataset,
        progress: &dyn Progress,
    ) -> Result<Original<'a>> {
        let width = data.quasi().len();
        if release.columns.len() != width + data.sensitive().len() {
            return Err(Error::bug("the release was read without its sensitive columns"));
        }
        let groups = Classes::new(release, &(0..width).collect::<Vec<_>>());
        let mut cells: Vec<Vec<Option<Extent>>> = Vec::with_capacity(width);
        for (quasi, column) in data.quasi().iter().zip(&release.columns) {
            let read = |text: &String| {
                quasi.domain.read(text).map(|cell| Extent::of_cell(&quasi.domain, &cell))
            };
            cells.push(column.texts.iter().map(read).collect());
        }
        let mut regions = Vec::with_capacity(groups.len());
        for &row in &groups.first {
            let mut extents = Vec::with_capacity(width);
            for (q, &code) in release.row(row as usize)[..width].iter().enumerate() {
                let extent = cells[q][code as usize].clone().filter(|_| code != MISSING);
                let Some(extent) = extent else {
                    let name = &data.quasi()[q].name;
                    return Err(Error::input(format!(
                        "column `{name}` of the release has a cell that covers no value of the \
                         original"
                    ))
                    .help(
                        "provide the kinds and hierarchies of the release as \
                         `[columns] hierarchy` or `[input] hierarchies`, or provide the job",
                    )
                    .at(format!("columns.{name}")));
                };
                extents.push(extent);
            }
            regions.push(Region { extents });
        }
        let codes = data.sensitive().iter().zip(&release.columns[width..]);
        let codes = codes.map(|(sensitive, column)| codes_of(sensitive, &column.texts)).collect();
        let mut original = Original { data, regions, codes, groups, unmatched: 0 };
        original.unmatched = original.unmatched(release, progress);
        Ok(original)
    }

    /// Returns the original table.
    pub fn data(&self) -> &'a Dataset {
        self.data
    }

    /// Returns the region of each group of the release, in the order of their first rows.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// Returns the number of records of the release without a record of the original, in a maximum
    /// one-to-one matching.
    pub fn unmatched_records(&self) -> u64 {
        self.unmatched
    }

    /// Returns the groups with the codes of the original, for models that are bound to the
    /// original. Values that the original lacks are omitted. Their records are unmatched.
    pub fn summaries(&self, release: &Folded) -> Vec<GroupSummary> {
        let width = self.data.quasi().len();
        let mut lists: Vec<Vec<Vec<(u32, u64)>>> =
            vec![vec![Vec::new(); self.codes.len()]; self.groups.len()];
        for row in 0..release.rows() {
            let group = &mut lists[self.groups.of_row[row] as usize];
            for (s, codes) in self.codes.iter().enumerate() {
                if let Some(code) = codes[release.row(row)[width + s] as usize] {
                    group[s].push((code, release.weights[row]));
                }
            }
        }
        let summary = |(group, columns): (usize, Vec<Vec<(u32, u64)>>)| GroupSummary {
            records: self.groups.records[group],
            sensitive: columns
                .into_iter()
                .zip(self.data.sensitive())
                .map(|(list, sensitive)| Histogram::count(sensitive.values.len(), list.into_iter()))
                .collect(),
            population: 0,
            region: Some(self.regions[group].clone()),
            persons: None,
            represented: 0,
        };
        lists.into_iter().enumerate().map(summary).collect()
    }

    /// Matches the records of the release with those of the original, one to one. Matched records
    /// have equal sensitive values, and the cells cover the quasi-identifiers. Records with
    /// different sensitive values are matched independently.
    fn unmatched(&self, release: &Folded, progress: &dyn Progress) -> u64 {
        let width = self.data.quasi().len();
        let mut released: BTreeMap<Vec<u32>, BTreeMap<u32, u64>> = BTreeMap::new();
        let mut unmatched = 0;
        for row in 0..release.rows() {
            let codes = self
                .codes
                .iter()
                .enumerate()
                .map(|(s, codes)| codes[release.row(row)[width + s] as usize]);
            match codes.collect::<Option<Vec<u32>>>() {
                Some(values) => {
                    *released
                        .entry(values)
                        .or_default()
                        .entry(self.groups.of_row[row])
                        .or_default() += release.weights[row];
                }
                None => unmatched += release.weights[row],
            }
        }
        let mut originals: BTreeMap<Vec<u32>, Vec<usize>> = BTreeMap::new();
        for row in 0..self.data.rows() {
            let codes = self.data.sensitive().iter().zip(self.data.sensitive_codes(row));
            let values = codes.map(|(column, &code)| column.counted_as(code)).collect();
            originals.entry(values).or_default().push(row);
        }
        progress.step("matching with the original", Some(released.len() as u64));
        for (values, groups) in &released {
            progress.advance(1);
            let rows = originals.get(values.as_slice()).map_or(&[] as &[usize], Vec::as_slice);
            unmatched += RecordMatching::new(self, rows, groups).unmatched();
        }
        unmatched
    }
}

/// Returns the original's code of each published text: the code of the same text, or of another
/// spelling of it, as typed formats have.
fn codes_of(sensitive: &Sensitive, texts: &[String]) -> Vec<Option<u32>> {
    let by_key: OnceCell<HashMap<Cow<'_, str>, usize>> = OnceCell::new();
    let code_of = |text: &String| {
        let known = match sensitive.values.binary_search(text) {
            Ok(code) => Some(code),
            Err(_) => {
                let keys = || {
                    sensitive
                        .values
                        .iter()
                        .enumerate()
                        .map(|(code, value)| (value_key(value), code))
                        .collect()
                };
                by_key.get_or_init(keys).get(&value_key(text)).copied()
            }
        };
        known.map(|code| sensitive.counted_as(code as u32))
    };
    texts.iter().map(code_of).collect()
}

/// A bipartite matching between groups of the release and rows of the original with equal sensitive
/// values.
struct RecordMatching<'a> {
    /// Regions of the groups.
    regions: Vec<&'a Region>,
    /// Number of records of each group.
    wanted: Vec<u64>,
    /// Quasi-identifier codes of the rows.
    rows: Vec<&'a [u32]>,
    /// Number of records of each row that are not assigned.
    left: Vec<u64>,
    /// For each row, the groups to which its records are assigned, with numbers.
    given: Vec<Vec<(usize, u64)>>,
    /// The column by which the rows are sorted.
    along: usize,
}

impl<'a> RecordMatching<'a> {
    fn new(
        original: &'a Original<'_>,
        rows: &[usize],
        groups: &BTreeMap<u32, u64>,
    ) -> RecordMatching<'a> {
        let data = original.data;
        let along =
            (0..data.quasi().len()).max_by_key(|&q| data.quasi()[q].domain.leaves()).unwrap_or(0);
        let mut rows = rows.to_vec();
        rows.sort_by_key(|&row| data.quasi_codes(row)[along]);
        RecordMatching {
            regions: groups.keys().map(|&group| &original.regions[group as usize]).collect(),
            wanted: groups.values().copied().collect(),
            left: rows.iter().map(|&row| data.weight(row)).collect(),
            given: vec![Vec::new(); rows.len()],
            rows: rows.into_iter().map(|row| data.quasi_codes(row)).collect(),
            along,
        }
    }

    /// Returns the rows that the region of a group covers.
    fn matching(&self, group: usize) -> impl Iterator<Item = usize> + use<'_, 'a> {
        let region = self.regions[group];
        let (lo, hi) = match &region.extents[self.along].covers {
            incrowd_core::Covers::Span(lo, hi) => (*lo, *hi),
            incrowd_core::Covers::Set(codes) => {
                (codes.first().copied().unwrap_or(1), codes.last().copied().unwrap_or(0))
            }
        };
        let from = self.rows.partition_point(|codes| codes[self.along] < lo);
        let to = self.rows.partition_point(|codes| codes[self.along] <= hi).max(from);
        (from..to).filter(move |&row| region.covers(self.rows[row]))
    }

    fn give(&mut self, group: usize, row: usize, records: u64) {
        match self.given[row].iter_mut().find(|(owner, _)| *owner == group) {
            Some((_, n)) => *n += records,
            None => self.given[row].push((group, records)),
        }
    }

    /// Computes a maximum matching and returns the number of released records without a row. Groups
    /// with few matching rows come first. Each group takes free rows first. The rest is placed with
    /// augmenting paths.
    fn unmatched(&mut self) -> u64 {
        let mut order: Vec<(usize, usize)> =
            (0..self.wanted.len()).map(|group| (self.matching(group).count(), group)).collect();
        order.sort_unstable();
        let mut lost = 0;
        for (_, group) in order {
            let mut missing = self.wanted[group];
            let free: Vec<usize> = self.matching(group).filter(|&row| self.left[row] > 0).collect();
            for row in free {
                let records = missing.min(self.left[row]);
                if records > 0 {
                    self.left[row] -= records;
                    self.give(group, row, records);
                    missing -= records;
                }
            }
            while missing > 0 && self.augment(group) {
                missing -= 1;
            }
            lost += missing;
        }
        lost
    }

    /// Finds an augmenting path by breadth-first search and places one more record of a group.
    /// Returns false if there is none; then the matching is maximal for this group.
    fn augment(&mut self, start: usize) -> bool {
        // For each visited row: the group that would take it, and the row that this group would
        // release. `None` marks the start group, which releases no row.
        let mut came: Vec<Option<(usize, Option<usize>)>> = vec![None; self.rows.len()];
        let mut queue: Vec<usize> = Vec::new();
        for row in self.matching(start).collect::<Vec<_>>() {
            came[row] = Some((start, None));
            queue.push(row);
        }
        let mut at = 0;
        while at < queue.len() {
            let row = queue[at];
            at += 1;
            if self.left[row] > 0 {
                self.left[row] -= 1;
                let mut to = row;
                while let Some((group, from)) = came[to] {
                    self.give(group, to, 1);
                    let Some(from) = from else { break };
                    if let Some(place) =
                        self.given[from].iter().position(|(owner, _)| *owner == group)
                    {
                        self.given[from][place].1 -= 1;
                        if self.given[from][place].1 == 0 {
                            self.given[from].swap_remove(place);
                        }
                    }
                    to = from;
                }
                return true;
            }
            for owner in self.given[row].iter().map(|(owner, _)| *owner).collect::<Vec<_>>() {
                for next in self.matching(owner).collect::<Vec<_>>() {
                    if came[next].is_none() {
                        came[next] = Some((owner, Some(row)));
                        queue.push(next);
                    }
                }
            }
        }
        false
    }
}
