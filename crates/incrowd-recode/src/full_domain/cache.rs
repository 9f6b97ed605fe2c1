//! Frequency sets that others can be rolled up from, in bounded memory.

use super::frequency::FrequencySet;

/// Sets are kept up to this many bytes.
const MOST_BYTES: usize = 512 << 20;

/// Frequency sets by size, the smallest first.
#[derive(Debug)]
pub(super) struct Cache<K> {
    sets: Vec<(Vec<u8>, FrequencySet<K>)>,
    bytes: usize,
}

impl<K> Default for Cache<K> {
    fn default() -> Self {
        Cache { sets: Vec::new(), bytes: 0 }
    }
}

impl<K: super::key::Key> Cache<K> {
    /// The smallest set of a node that is not above `levels`.
    pub(super) fn below(&self, levels: &[u8]) -> Option<(&[u8], &FrequencySet<K>)> {
        let below = |from: &[u8]| from.iter().zip(levels).all(|(from, to)| from <= to);
        self.sets.iter().find(|(from, _)| below(from)).map(|(from, set)| (from.as_slice(), set))
    }

    /// Keeps a set, and gives up the largest if that takes too much room.
    pub(super) fn keep(&mut self, levels: Vec<u8>, set: FrequencySet<K>) {
        self.bytes += set.bytes();
        let at = self.sets.partition_point(|(_, other)| other.groups.len() <= set.groups.len());
        self.sets.insert(at, (levels, set));
        while self.bytes > MOST_BYTES
            && let Some((_, largest)) = self.sets.pop()
        {
            self.bytes -= largest.bytes();
        }
    }
}
