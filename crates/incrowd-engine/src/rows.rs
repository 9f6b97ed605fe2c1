//! Distinct rows with their counts.
//!
//! A hash table with open addressing: slots that refer to a list of rows. It is not taken from a
//! library for one reason. Rows are added in batches, and a batch first reads all slots that it
//! needs. So the cache misses of a batch overlap.

/// The number of rows that are looked up together.
const BATCH: usize = 32;
const SMALLEST: usize = 1 << 10;
/// The number of slots below which a table is small.
const QUICK: usize = 1 << 14;

/// The number of copies of a row's codes when a release is made, and the bytes of a row in addition
/// to them. Measured on tables with a million distinct rows.
const COPIES: usize = 4;
const PER_ROW: usize = 320;

/// A hash table of distinct rows of codes.
#[derive(Debug)]
pub(crate) struct RowTable {
    width: usize,
    /// The upper half of a row's hash in the upper 32 bits, and the row's index plus one in the
    /// lower 32 bits. 0 is an empty slot.
    slots: Vec<u64>,
    keys: Vec<u32>,
    counts: Vec<u64>,
}

/// The hash of a row.
#[inline]
pub(crate) fn hash_row(codes: &[u32]) -> u64 {
    const K: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed =
        codes.iter().fold(0u64, |h, &code| (h.rotate_left(5) ^ u64::from(code)).wrapping_mul(K));
    (mixed ^ (mixed >> 29)).wrapping_mul(K)
}

/// Whether two short rows are equal, without the function call that comparing slices costs.
#[inline]
fn same(a: &[u32], b: &[u32]) -> bool {
    a.iter().zip(b).all(|(x, y)| x == y)
}

const UPPER: u64 = !0 << 32;

impl RowTable {
    pub(crate) fn new(width: usize) -> RowTable {
        RowTable { width, slots: Vec::new(), keys: Vec::new(), counts: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.counts.len()
    }

    /// The bytes of a row with this number of columns, including the data that algorithms derive
    /// from it.
    pub(crate) fn per_row(width: usize) -> u64 {
        (COPIES * width * size_of::<u32>() + PER_ROW) as u64
    }

    /// The codes of all rows, row by row.
    pub(crate) fn keys(&self) -> &[u32] {
        &self.keys
    }

    /// Takes the counts of the rows.
    pub(crate) fn take_counts(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.counts)
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        (hash >> 32) as usize & (self.slots.len() - 1)
    }

    #[inline]
    fn key(&self, row: usize) -> &[u32] {
        &self.keys[row * self.width..][..self.width]
    }

    /// Adds one record to each of these rows. `codes` has rows of the table's width, and `hashes`
    /// their hashes. `found` is called with the index of each row in the table.
    pub(crate) fn add(
        &mut self,
        rows: &[u32],
        codes: &[u32],
        hashes: &[u64],
        mut found: impl FnMut(u32, u32),
    ) {
        for batch in rows.chunks(BATCH) {
            self.make_room(batch.len());
            // Two loops read all slots and then all rows of the batch before any of them is used.
            // The reads do not depend on each other, so their cache misses overlap. `black_box`
            // keeps the compiler from removing the second loop.
            let mut first = [0u64; BATCH];
            for (slot, &row) in first.iter_mut().zip(batch) {
                *slot = self.slots[self.home(hashes[row as usize])];
            }
            let mut touched = 0;
            for (slot, &row) in first.iter().zip(batch) {
                if *slot != 0 && (*slot ^ hashes[row as usize]) & UPPER == 0 {
                    let found = (*slot as u32 - 1) as usize;
                    let key = self.key(found);
                    touched ^= key[0] ^ key[self.width - 1] ^ self.counts[found] as u32;
                }
            }
            std::hint::black_box(touched);
            for &row in batch {
                let number = self.add_one(
                    &codes[row as usize * self.width..][..self.width],
                    hashes[row as usize],
                );
                found(row, number);
            }
        }
    }

    /// Adds `times` records to each of these rows.
    pub(crate) fn add_times(&mut self, rows: &[u32], codes: &[u32], hashes: &[u64], times: &[u64]) {
        self.make_room(rows.len());
        for row in rows.iter().map(|&row| row as usize) {
            let number = self.add_one(&codes[row * self.width..][..self.width], hashes[row]);
            // `add_one` counted one of the records already.
            self.counts[number as usize] += times[row] - 1;
        }
    }

    #[inline]
    fn add_one(&mut self, codes: &[u32], hash: u64) -> u32 {
        let mut at = self.home(hash);
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                self.slots[at] = (hash & UPPER) | (self.counts.len() as u64 + 1);
                self.keys.extend_from_slice(codes);
                self.counts.push(1);
                return self.counts.len() as u32 - 1;
            }
            let found = (slot as u32).wrapping_sub(1) as usize;
            if (slot ^ hash) & UPPER == 0 && same(self.key(found), codes) {
                self.counts[found] += 1;
                return found as u32;
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// The index of a row.
    #[cfg(test)]
    fn find(&self, codes: &[u32], hash: u64) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let mut at = self.home(hash);
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return None;
            }
            let found = slot as u32 - 1;
            if (slot ^ hash) & UPPER == 0 && same(self.key(found as usize), codes) {
                return Some(found);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// Grows the table so that at most three of five slots are used. This keeps probe sequences
    /// short.
    fn make_room(&mut self, more: usize) {
        let needed = (self.counts.len() + more) * 5;
        if needed <= self.slots.len() * 3 {
            return;
        }
        let old = std::mem::take(&mut self.slots);
        // Small tables grow by a factor of four. Repeated allocation costs more than the unused
        // memory.
        let mut size = (old.len() * if old.len() < QUICK { 4 } else { 2 }).max(SMALLEST);
        while needed > size * 3 {
            size *= 2;
        }
        self.slots = vec![0; size];
        let rows = (size * 3 / 5).saturating_sub(self.counts.len());
        self.keys.reserve_exact(rows * self.width);
        self.counts.reserve_exact(rows);
        for slot in old.into_iter().filter(|&slot| slot != 0) {
            // The home slot depends only on the upper half of the hash, which the slot has.
            let mut at = self.home(slot);
            while self.slots[at] != 0 {
                at = (at + 1) & (self.slots.len() - 1);
            }
            self.slots[at] = slot;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn check(rows: &[Vec<u32>], hash: fn(&[u32]) -> u64) {
        let width = rows[0].len();
        let codes: Vec<u32> = rows.iter().flatten().copied().collect();
        let hashes: Vec<u64> = rows.iter().map(|row| hash(row)).collect();
        let mut table = RowTable::new(width);
        table.add(&(0..rows.len() as u32).collect::<Vec<_>>(), &codes, &hashes, |_, _| {});
        let mut expected: BTreeMap<&[u32], u64> = BTreeMap::new();
        rows.iter().for_each(|row| *expected.entry(row).or_insert(0) += 1);
        assert_eq!(table.len(), expected.len());
        for (row, records) in expected {
            let found = table.find(row, hash(row)).expect("every row added is found");
            assert_eq!(table.key(found as usize), row);
            assert_eq!(table.counts[found as usize], records);
        }
        // Rows with counts must give the same result as single rows.
        let mut counted = RowTable::new(width);
        let all: Vec<u32> = (0..rows.len() as u32).collect();
        let times: Vec<u64> = (0..rows.len() as u64).map(|at| at % 3 + 1).collect();
        counted.add_times(&all, &codes, &hashes, &times);
        let often = |row: &[u32]| -> u64 {
            rows.iter().zip(&times).filter(|(own, _)| own.as_slice() == row).map(|(_, n)| n).sum()
        };
        for row in rows.iter().take(50) {
            let found = counted.find(row, hash(row)).expect("every row added is found");
            assert_eq!(counted.counts[found as usize], often(row));
        }
        assert_eq!(counted.len(), table.len());
        let absent = vec![u32::MAX; width];
        assert_eq!(table.find(&absent, hash(&absent)), None);
    }

    proptest! {
        #[test]
        fn counts_like_a_map(rows in prop::collection::vec(prop::collection::vec(0u32..5, 3), 1..400)) {
            check(&rows, hash_row);
        }

        /// The hashes collide in both halves, so only the codes distinguish rows.
        #[test]
        fn colliding_rows_are_told_apart(rows in prop::collection::vec(prop::collection::vec(0u32..9, 2), 1..200)) {
            check(&rows, |row| u64::from(row[0] % 2) << 32);
        }
    }

    #[test]
    fn grows() {
        check(&(0..5000u32).map(|n| vec![n / 2, n % 7]).collect::<Vec<_>>(), hash_row);
    }
}
