//! The result of an algorithm: the group of each row and the interval each group covers.
//!
//! Most algorithms never split a distinct row: all its records go to the same group, and an engine
//! can derive a record's group from its values. An algorithm that splits rows
//! ([`Partition::divide`]) states how many records are split off. The engine chooses which ones.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::index::{Code, GroupId, RowId};

/// The leaves a group covers in one domain, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First leaf.
    pub lo: Code,
    /// Last leaf.
    pub hi: Code,
}

const SUPPRESSED: GroupId = GroupId(u32::MAX);

/// Groups of rows. A row without a group is suppressed. Suppressed rows may also form a group in
/// which every cell is `*`.
#[derive(Clone, Debug)]
pub struct Partition {
    width: usize,
    spans: Vec<Span>,
    groups: Vec<GroupId>,
    starred: Option<GroupId>,
    levels: Option<Vec<u32>>,
    /// Records split off from their rows; they are rows after the last.
    divided: Vec<Divided>,
}

/// Groups produced by one parallel task.
#[derive(Clone, Copy, Debug)]
pub struct Groups<'a> {
    /// The first and the last leaf of each group, for each quasi-identifier, group by group.
    pub spans: &'a [(u32, u32)],
    /// The rows of all groups, one group after another.
    pub rows: &'a [u32],
    /// The end of each group in `rows`.
    pub ends: &'a [usize],
}

/// Some of the records of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divided {
    /// The original row.
    pub row: RowId,
    /// The number of records; less than the count of the row.
    pub records: u64,
}

impl Partition {
    /// A partition of `rows` rows without groups; `width` is the number of quasi-identifiers.
    pub fn new(width: usize, rows: usize) -> Partition {
        Partition {
            width,
            spans: Vec::new(),
            groups: vec![SUPPRESSED; rows],
            starred: None,
            divided: Vec::new(),
            levels: None,
        }
    }

    /// The rows of each group, ascending. `rows` is the number of rows.
    pub fn members(&self, rows: usize) -> Vec<Vec<u32>> {
        let mut members = vec![Vec::new(); self.groups()];
        for row in 0..rows {
            if let Some(group) = self.group(row) {
                members[group.index()].push(row as u32);
            }
        }
        members
    }

    /// The groups, published with every cell of a quasi-identifier at one level: one level per
    /// quasi-identifier. Each span must be that of a cell at the level
    /// ([`Domain::level_span`](crate::Domain::level_span)).
    #[must_use]
    pub fn at_levels(mut self, levels: Vec<u32>) -> Partition {
        debug_assert_eq!(levels.len(), self.width);
        self.levels = Some(levels);
        self
    }

    /// The level of each quasi-identifier, if all its cells are published at one level. Otherwise a
    /// group is published with the smallest cells that cover its spans.
    pub fn levels(&self) -> Option<&[u32]> {
        self.levels.as_deref()
    }

    /// Adds a group: the interval it covers for each quasi-identifier, and its rows. Fails if a row
    /// already has a group.
    pub fn add(
        &mut self,
        spans: &[Span],
        rows: impl IntoIterator<Item = RowId>,
    ) -> Result<GroupId> {
        debug_assert_eq!(spans.len(), self.width);
        let group = GroupId(self.groups() as u32);
        for row in rows {
            let place = &mut self.groups[row.index()];
            if *place != SUPPRESSED {
                return Err(Error::bug("a row was put into two groups"));
            }
            *place = group;
        }
        self.spans.extend_from_slice(spans);
        Ok(group)
    }

    /// Concatenates the groups of several tasks over `rows` rows. Fails if a row is in two groups.
    pub fn of_parts(width: usize, rows: usize, parts: &[Groups<'_>]) -> Result<Partition> {
        let groups: Vec<AtomicU32> =
            (0..rows).into_par_iter().map(|_| AtomicU32::new(SUPPRESSED.0)).collect();
        let firsts = parts
            .iter()
            .scan(0, |next, part| Some(std::mem::replace(next, *next + part.ends.len())));
        let firsts: Vec<usize> = firsts.collect();
        parts.par_iter().zip(firsts).for_each(|(part, first)| {
            let starts = std::iter::once(0).chain(part.ends.iter().copied());
            for (at, (start, &end)) in starts.zip(part.ends).enumerate() {
                let put =
                    |&row: &u32| groups[row as usize].store((first + at) as u32, Ordering::Relaxed);
                part.rows[start..end].iter().for_each(put);
            }
        });
        // A row in two groups is stored once, so fewer rows have a group than were stored.
        let put: usize = parts.iter().filter_map(|part| part.ends.last()).sum();
        let has_group = |group: &&AtomicU32| group.load(Ordering::Relaxed) != SUPPRESSED.0;
        if groups.par_iter().filter(has_group).count() != put {
            return Err(Error::bug("a row was put into two groups"));
        }
        let span = |&(lo, hi): &(u32, u32)| Span { lo: Code(lo), hi: Code(hi) };
        let spans = parts.iter().flat_map(|part| part.spans.iter().map(span)).collect();
        let groups = groups.into_iter().map(|group| GroupId(group.into_inner())).collect();
        Ok(Partition { spans, groups, ..Partition::new(width, 0) })
    }

    /// Splits off some of a row's records as a new row and returns its number. The table must be
    /// divided in the same way ([`Dataset::divided`](crate::Dataset::divided)) before the partition
    /// is used.
    pub fn divide(&mut self, row: RowId, records: u64) -> RowId {
        self.divided.push(Divided { row, records });
        self.groups.push(SUPPRESSED);
        RowId(self.groups.len() as u32 - 1)
    }

    /// The records split off from their rows, in the order of the new rows.
    pub fn divided(&self) -> &[Divided] {
        &self.divided
    }

    /// Publishes the rows without a group as one group in which every cell is `*`.
    pub fn star(&mut self, leaves: impl Iterator<Item = u32>) -> Result<()> {
        let whole: Vec<Span> =
            leaves.map(|n| Span { lo: Code(0), hi: Code(n.saturating_sub(1)) }).collect();
        let rows: Vec<RowId> = (0..self.groups.len() as u32)
            .map(RowId)
            .filter(|r| self.group(r.index()).is_none())
            .collect();
        if !rows.is_empty() {
            self.starred = Some(self.add(&whole, rows)?);
        }
        Ok(())
    }

    /// The group in which every cell is `*`, if there is one.
    pub fn starred(&self) -> Option<GroupId> {
        self.starred
    }

    /// The partition without the marked groups; their rows are suppressed. Groups are renumbered.
    #[must_use]
    pub fn without(&self, leaving: &[bool]) -> Partition {
        let mut kept = Partition::new(self.width, self.groups.len());
        kept.levels.clone_from(&self.levels);
        kept.divided.clone_from(&self.divided);
        let mut renamed = vec![SUPPRESSED; self.groups()];
        for group in (0..self.groups()).filter(|&group| !leaving[group]) {
            renamed[group] = GroupId(kept.groups() as u32);
            kept.spans.extend_from_slice(self.spans(GroupId(group as u32)));
        }
        for (new, old) in kept.groups.iter_mut().zip(&self.groups) {
            *new = if *old == SUPPRESSED { SUPPRESSED } else { renamed[old.index()] };
        }
        kept
    }

    /// The number of groups.
    pub fn groups(&self) -> usize {
        self.spans.len() / self.width.max(1)
    }

    /// The spans of a group, one per quasi-identifier.
    pub fn spans(&self, group: GroupId) -> &[Span] {
        &self.spans[group.index() * self.width..(group.index() + 1) * self.width]
    }

    /// The group of a row; `None` if the row is suppressed.
    #[inline]
    pub fn group(&self, row: usize) -> Option<GroupId> {
        Some(self.groups[row]).filter(|group| *group != SUPPRESSED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_one_group_or_none() {
        let span = [Span { lo: Code(0), hi: Code(1) }];
        let mut partition = Partition::new(1, 3);
        partition.add(&span, [RowId(0)]).unwrap();
        partition.add(&span, [RowId(2)]).unwrap();
        assert!(partition.add(&span, [RowId(2)]).is_err());
        assert_eq!(partition.group(1), None);
        assert_eq!(partition.group(2), Some(GroupId(1)));
        assert_eq!(partition.groups(), 2);
    }

    #[test]
    fn groups_of_several_tasks_are_concatenated() {
        let spans = [(0, 1), (2, 2), (3, 4)];
        let front = Groups { spans: &spans[..2], rows: &[4, 0, 2], ends: &[2, 3] };
        let back = Groups { spans: &spans[2..], rows: &[1], ends: &[1] };
        let made = Partition::of_parts(1, 5, &[front, back]).unwrap();
        let mut slow = Partition::new(1, 5);
        let span = |(lo, hi)| [Span { lo: Code(lo), hi: Code(hi) }];
        for (own, rows) in spans.into_iter().zip([&[4, 0][..], &[2], &[1]]) {
            slow.add(&span(own), rows.iter().map(|&row| RowId(row))).unwrap();
        }
        assert_eq!((&made.spans, &made.groups), (&slow.spans, &slow.groups));
        assert_eq!(made.group(3), None);
        let twice = Groups { rows: &[2], ..back };
        assert!(Partition::of_parts(1, 5, &[front, twice]).is_err());
    }
}
