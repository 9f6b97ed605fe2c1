//! How an algorithm answers: which rows stand together, and which interval each group covers.

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

/// Where the records of a row go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// All into one group.
    Group(GroupId),
    /// Into several groups: the portions from the first to before the second position.
    Split(u32, u32),
    /// Nowhere: they are left out of the release.
    Suppressed,
}

/// Groups of rows. A row may be divided between groups, as relaxed Mondrian does with ties.
#[derive(Clone, Debug)]
pub struct Partition {
    width: usize,
    spans: Vec<Span>,
    records: Vec<u64>,
    fates: Vec<Fate>,
    portions: Vec<(GroupId, u64)>,
}

/// Collects groups one by one into a [`Partition`].
pub struct PartitionBuilder<'a> {
    partition: Partition,
    weights: &'a dyn Fn(usize) -> u64,
    divided: Vec<(RowId, GroupId, u64)>,
}

impl<'a> PartitionBuilder<'a> {
    /// A partition of `rows` rows without groups; `width` is the number of quasi-identifiers, `weights` the number of
    /// records of a row.
    pub fn new(width: usize, rows: usize, weights: &'a dyn Fn(usize) -> u64) -> Self {
        let fates = vec![Fate::Suppressed; rows];
        let partition =
            Partition { width, spans: Vec::new(), records: Vec::new(), fates, portions: Vec::new() };
        PartitionBuilder { partition, weights, divided: Vec::new() }
    }

    /// Adds a group: the interval it covers on each line, its rows, and how many records of each.
    pub fn group(&mut self, spans: &[Span], members: impl IntoIterator<Item = (RowId, u64)>) -> Result<()> {
        debug_assert_eq!(spans.len(), self.partition.width);
        let group = GroupId(self.partition.records.len() as u32);
        let mut records = 0;
        for (row, count) in members {
            records += count;
            let fate = &mut self.partition.fates[row.index()];
            if count < (self.weights)(row.index()) {
                self.divided.push((row, group, count));
            } else if *fate == Fate::Suppressed {
                *fate = Fate::Group(group);
            } else {
                return Err(Error::bug("a row was put into two groups"));
            }
        }
        self.partition.spans.extend_from_slice(spans);
        self.partition.records.push(records);
        Ok(())
    }

    /// Rows that no group named are suppressed. Fails if some but not all records of a row were named: then records
    /// would be lost or invented.
    pub fn finish(self) -> Result<Partition> {
        let PartitionBuilder { mut partition, weights, mut divided } = self;
        divided.sort_unstable();
        for shares in divided.chunk_by(|a, b| a.0 == b.0) {
            let row = shares[0].0.index();
            let total: u64 = shares.iter().map(|share| share.2).sum();
            if total != weights(row) || partition.fates[row] != Fate::Suppressed {
                return Err(Error::bug("a partition does not account for every record of a row"));
            }
            let from = partition.portions.len() as u32;
            partition.portions.extend(shares.iter().map(|&(_, group, count)| (group, count)));
            partition.fates[row] = Fate::Split(from, partition.portions.len() as u32);
        }
        Ok(partition)
    }
}

impl Partition {
    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.records.len()
    }

    /// The spans of a group, one per quasi-identifier.
    pub fn spans(&self, group: usize) -> &[Span] {
        &self.spans[group * self.width..(group + 1) * self.width]
    }

    /// How many records a group has.
    pub fn records(&self, group: usize) -> u64 {
        self.records[group]
    }

    /// Where the records of a row go.
    pub fn fate(&self, row: usize) -> Fate {
        self.fates[row]
    }

    /// The portions of a divided row.
    pub fn portions(&self, from: u32, to: u32) -> &[(GroupId, u64)] {
        &self.portions[from as usize..to as usize]
    }

    /// Calls `visit` with each group a row has records in, and how many. `weight` is the row's number of records.
    pub fn each_group_of(&self, row: usize, weight: u64, mut visit: impl FnMut(GroupId, u64)) {
        match self.fates[row] {
            Fate::Group(group) => visit(group, weight),
            Fate::Split(from, to) => {
                self.portions(from, to).iter().for_each(|&(group, count)| visit(group, count))
            }
            Fate::Suppressed => {}
        }
    }

    /// Whether any row is divided between groups.
    pub fn divides_rows(&self) -> bool {
        !self.portions.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_neither_lost_nor_invented() {
        let span = [Span { lo: Code(0), hi: Code(1) }];
        let weights = |row: usize| [3, 2, 1][row];
        let mut builder = PartitionBuilder::new(1, 3, &weights);
        builder.group(&span, [(RowId(0), 1), (RowId(1), 2)]).unwrap();
        builder.group(&span, [(RowId(0), 2)]).unwrap();
        assert!(builder.group(&span, [(RowId(1), 2)]).is_err());
        let partition = builder.finish().unwrap();
        assert_eq!(partition.fate(1), Fate::Group(GroupId(0)));
        assert_eq!(partition.fate(2), Fate::Suppressed);
        assert_eq!(partition.portions(0, 2), [(GroupId(0), 1), (GroupId(1), 2)]);

        let mut builder = PartitionBuilder::new(1, 3, &weights);
        builder.group(&span, [(RowId(0), 2)]).unwrap();
        assert!(builder.finish().is_err());
    }
}
