//! How an algorithm answers: which rows stand together, and which interval each group covers.
//!
//! A distinct row is never divided: all records that have it go to the same group, so that an engine can tell a record's
//! group from its values alone.

use crate::error::{Error, Result};
use crate::index::{Code, GroupId, RowId};

/// The leaves a group covers on one line, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First leaf.
    pub lo: Code,
    /// Last leaf.
    pub hi: Code,
}

const SUPPRESSED: GroupId = GroupId(u32::MAX);

/// Groups of rows. A row that is in no group is suppressed.
#[derive(Clone, Debug)]
pub struct Partition {
    width: usize,
    spans: Vec<Span>,
    groups: Vec<GroupId>,
}

impl Partition {
    /// A partition of `rows` rows without groups; `width` is the number of quasi-identifiers.
    pub fn new(width: usize, rows: usize) -> Partition {
        Partition { width, spans: Vec::new(), groups: vec![SUPPRESSED; rows] }
    }

    /// Adds a group: the interval it covers on each line, and its rows. Fails if a row is in another group already.
    pub fn add(&mut self, spans: &[Span], rows: impl IntoIterator<Item = RowId>) -> Result<GroupId> {
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

    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.spans.len() / self.width.max(1)
    }

    /// The spans of a group, one per quasi-identifier.
    pub fn spans(&self, group: GroupId) -> &[Span] {
        &self.spans[group.index() * self.width..(group.index() + 1) * self.width]
    }

    /// The group of a row; `None` if the row is suppressed.
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
}
