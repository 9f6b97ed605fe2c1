//! One table beside the original it was made from: what its cells cover there, and whether it can be a release of it at all.
//!
//! A reader of the release alone can count its sensitive values and no more: whether somebody is an outlier is a question
//! about the original records. So promises about outliers are judged with both tables at hand, the cells read from the
//! release, the distances taken in the original.

use std::collections::BTreeMap;

use incrowd_core::number::parse_number;
use incrowd_core::{
    Dataset, Error, Extent, Folded, GroupSummary, Histogram, MISSING, Progress, Region, Result,
};

use crate::classes::Classes;

/// A release read on the lines of its original.
#[derive(Debug)]
pub struct Original<'a> {
    data: &'a Dataset,
    regions: Vec<Region>,
    /// For each sensitive column the original's code of each of the release's texts.
    codes: Vec<Vec<Option<u32>>>,
    groups: Classes,
    unmatched: u64,
}

impl<'a> Original<'a> {
    /// Reads a release whose columns are the quasi-identifiers and then the sensitive columns of `data`, in their order.
    /// Fails if a cell is none the original's columns can have, as when a hierarchy is not given.
    pub fn read(release: &Folded, data: &'a Dataset, progress: &dyn Progress) -> Result<Original<'a>> {
        let width = data.quasi().len();
        if release.columns.len() != width + data.sensitive().len() {
            return Err(Error::bug("the release was read without its sensitive columns"));
        }
        let groups = Classes::new(release, &(0..width).collect::<Vec<_>>());
        let mut cells: Vec<Vec<Option<Extent>>> = Vec::with_capacity(width);
        for (quasi, column) in data.quasi().iter().zip(&release.columns) {
            let read =
                |text: &String| quasi.domain.read(text).map(|cell| Extent::of_cell(&quasi.domain, &cell));
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
                        "column `{name}` of the release has a cell that says nothing about the values of the original"
                    ))
                    .help("give the kinds and hierarchies the release was made with as `[columns] hierarchy` or `[input] hierarchies`, or give the job")
                    .at(format!("columns.{name}")));
                };
                extents.push(extent);
            }
            regions.push(Region { extents });
        }
        let codes = data.sensitive().iter().zip(&release.columns[width..]);
        let codes = codes
            .map(|(sensitive, column)| column.texts.iter().map(|text| code_of(sensitive, text)).collect());
        let codes = codes.collect();
        let mut original = Original { data, regions, codes, groups, unmatched: 0 };
        original.unmatched = original.unmatched(release, progress);
        Ok(original)
    }

    /// The original table.
    pub fn data(&self) -> &'a Dataset {
        self.data
    }

    /// What each group of the release covers, in the order of their first rows.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// The records of the release that no record of the original can stand for, each record standing for one.
    pub fn strangers(&self) -> u64 {
        self.unmatched
    }

    /// The groups as models bound to the original see them. Values the original lacks are left out; records that have one are
    /// among the strangers.
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
        };
        lists.into_iter().enumerate().map(summary).collect()
    }

    /// Matches the records of the release with those of the original, one to one: the same sensitive values, and
    /// quasi-identifiers within the cells. Records with different sensitive values do not compete.
    fn unmatched(&self, release: &Folded, progress: &dyn Progress) -> u64 {
        let width = self.data.quasi().len();
        let mut wanted: BTreeMap<Vec<u32>, BTreeMap<u32, u64>> = BTreeMap::new();
        let mut strangers = 0;
        for row in 0..release.rows() {
            let codes =
                self.codes.iter().enumerate().map(|(s, codes)| codes[release.row(row)[width + s] as usize]);
            match codes.collect::<Option<Vec<u32>>>() {
                Some(values) => {
                    *wanted.entry(values).or_default().entry(self.groups.of_row[row]).or_default() +=
                        release.weights[row];
                }
                None => strangers += release.weights[row],
            }
        }
        let mut there: BTreeMap<&[u32], Vec<usize>> = BTreeMap::new();
        for row in 0..self.data.rows() {
            there.entry(self.data.sensitive_codes(row)).or_default().push(row);
        }
        progress.step("matching with the original", Some(wanted.len() as u64));
        for (values, groups) in &wanted {
            progress.advance(1);
            let rows = there.get(values.as_slice()).map_or(&[] as &[usize], Vec::as_slice);
            let mut matching = Matching::new(self, rows, groups);
            strangers += matching.unmatched();
        }
        strangers
    }
}

/// The code of a published text: the same text, or the same number.
fn code_of(sensitive: &incrowd_core::dataset::Sensitive, text: &str) -> Option<u32> {
    if let Ok(position) = sensitive.values.binary_search_by(|value| value.as_str().cmp(text)) {
        return Some(position as u32);
    }
    let number = parse_number(text)?.as_f64();
    sensitive.numbers().ok()?.iter().position(|x| *x == number).map(|position| position as u32)
}

/// Groups of the release against rows of the original, both of the same sensitive values.
struct Matching<'a> {
    regions: Vec<&'a Region>,
    wanted: Vec<u64>,
    rows: Vec<&'a [u32]>,
    left: Vec<u64>,
    /// For each row who has how many of its records.
    given: Vec<Vec<(usize, u64)>>,
    /// The line along which rows are sorted.
    along: usize,
}

impl<'a> Matching<'a> {
    fn new(original: &'a Original<'_>, rows: &[usize], groups: &BTreeMap<u32, u64>) -> Matching<'a> {
        let data = original.data;
        let along = (0..data.quasi().len()).max_by_key(|&q| data.quasi()[q].domain.leaves()).unwrap_or(0);
        let mut rows = rows.to_vec();
        rows.sort_by_key(|&row| data.quasi_codes(row)[along]);
        Matching {
            regions: groups.keys().map(|&group| &original.regions[group as usize]).collect(),
            wanted: groups.values().copied().collect(),
            left: rows.iter().map(|&row| data.weight(row)).collect(),
            given: vec![Vec::new(); rows.len()],
            rows: rows.into_iter().map(|row| data.quasi_codes(row)).collect(),
            along,
        }
    }

    /// The rows a group could have come from.
    fn fitting(&self, group: usize) -> impl Iterator<Item = usize> + use<'_, 'a> {
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

    fn unmatched(&mut self) -> u64 {
        let mut order: Vec<(usize, usize)> =
            (0..self.wanted.len()).map(|group| (self.fitting(group).count(), group)).collect();
        order.sort_unstable();
        let mut lost = 0;
        for (_, group) in order {
            let mut missing = self.wanted[group];
            let free: Vec<usize> = self.fitting(group).filter(|&row| self.left[row] > 0).collect();
            for row in free {
                let records = missing.min(self.left[row]);
                if records > 0 {
                    self.left[row] -= records;
                    self.give(group, row, records);
                    missing -= records;
                }
            }
            while missing > 0 && self.make_room(group) {
                missing -= 1;
            }
            lost += missing;
        }
        lost
    }

    /// Lets others move so that one more record of a group finds a row; false if there is no way.
    fn make_room(&mut self, start: usize) -> bool {
        // For each row the group that would take it, and the row that group would leave.
        let mut came: Vec<Option<(usize, Option<usize>)>> = vec![None; self.rows.len()];
        let mut queue: Vec<usize> = Vec::new();
        for row in self.fitting(start).collect::<Vec<_>>() {
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
                    if let Some(place) = self.given[from].iter().position(|(owner, _)| *owner == group) {
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
                for next in self.fitting(owner).collect::<Vec<_>>() {
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
