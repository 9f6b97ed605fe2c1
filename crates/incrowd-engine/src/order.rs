//! In which order records are published, in bounded memory.
//!
//! A shuffle is uniform if every record draws a bucket at random and every bucket is shuffled by itself. Buckets are small
//! enough for the cache; and if there are more records than fit into memory at once, the table is walked several times,
//! each record drawing at random in which walk it is published.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

/// Records of one walk.
const WALK: u64 = 1 << 24;
/// Records of a bucket, about.
const BUCKET: u64 = 1 << 15;

/// A fresh generator from the operating system's entropy. Nobody ever sees its seed.
pub(crate) fn generator() -> ChaCha20Rng {
    rand::make_rng()
}

/// Buckets of row numbers, each row as often as it has records. The buckets themselves are not shuffled yet.
pub(crate) struct Shuffled {
    left: Vec<u64>,
    walks: u64,
    rng: ChaCha20Rng,
    ready: std::vec::IntoIter<Vec<u32>>,
}

impl Shuffled {
    pub(crate) fn new(records: Vec<u64>, rng: ChaCha20Rng) -> Shuffled {
        let total: u64 = records.iter().sum();
        Shuffled { left: records, walks: total.div_ceil(WALK), rng, ready: Vec::new().into_iter() }
    }

    /// A generator for shuffling a bucket in another thread.
    pub(crate) fn fork(&mut self) -> ChaCha20Rng {
        ChaCha20Rng::from_rng(&mut self.rng)
    }

    fn walk(&mut self) -> Vec<Vec<u32>> {
        let expected = self.left.iter().sum::<u64>() / self.walks;
        let buckets = expected.div_ceil(BUCKET).max(1) as usize;
        let room = (expected / buckets as u64 + expected / buckets as u64 / 8) as usize;
        let mut filled: Vec<Vec<u32>> = (0..buckets).map(|_| Vec::with_capacity(room)).collect();
        for row in 0..self.left.len() {
            for _ in 0..self.left[row] {
                if self.walks > 1 && self.rng.random_range(0..self.walks) != 0 {
                    continue;
                }
                self.left[row] -= 1;
                // The bias of this mapping is below buckets / 2^32.
                let bucket = (u64::from(self.rng.next_u32()) * buckets as u64) >> 32;
                filled[bucket as usize].push(row as u32);
            }
        }
        self.walks -= 1;
        filled
    }
}

impl Iterator for Shuffled {
    type Item = Vec<u32>;

    fn next(&mut self) -> Option<Vec<u32>> {
        loop {
            if let Some(bucket) = self.ready.next() {
                return Some(bucket);
            }
            if self.walks == 0 {
                return None;
            }
            self.ready = self.walk().into_iter();
        }
    }
}

/// Buckets of row numbers in the given order of rows.
pub(crate) struct Sorted {
    rows: std::vec::IntoIter<(u32, u64)>,
    pending: Option<(u32, u64)>,
}

impl Sorted {
    /// `rows` are row numbers with their records, in the order of publication.
    pub(crate) fn new(rows: Vec<(u32, u64)>) -> Sorted {
        Sorted { rows: rows.into_iter(), pending: None }
    }
}

impl Iterator for Sorted {
    type Item = Vec<u32>;

    fn next(&mut self) -> Option<Vec<u32>> {
        let mut bucket = Vec::new();
        while let Some((row, records)) = self.pending.take().or_else(|| self.rows.next()) {
            let room = BUCKET - bucket.len() as u64;
            let now = records.min(room);
            bucket.extend(std::iter::repeat_n(row, now as usize));
            if records > now {
                self.pending = Some((row, records - now));
            }
            if bucket.len() as u64 == BUCKET {
                break;
            }
        }
        (!bucket.is_empty()).then_some(bucket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::seq::SliceRandom;

    /// Draws of three records; with 6,000 shuffles each of the six orders is expected 1,000 times with a standard
    /// deviation of 29. The test fails by chance less than once in 10^9 runs, and the seed is fixed anyway.
    #[test]
    fn every_order_is_equally_likely() {
        let mut seen = std::collections::BTreeMap::new();
        let mut rng = ChaCha20Rng::seed_from_u64(7);
        for _ in 0..6000 {
            let mut shuffled = Shuffled::new(vec![1, 1, 1], ChaCha20Rng::from_rng(&mut rng));
            let mut fork = shuffled.fork();
            let mut order = Vec::new();
            for mut bucket in shuffled {
                bucket.shuffle(&mut fork);
                order.extend(bucket);
            }
            *seen.entry(order).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|n| (820..1180).contains(n)), "{seen:?}");
    }

    #[test]
    fn several_walks_publish_every_record_once() {
        let records = vec![3, 0, 5, 1];
        let mut shuffled = Shuffled::new(records.clone(), ChaCha20Rng::seed_from_u64(1));
        shuffled.walks = 3;
        let mut counts = vec![0; 4];
        shuffled.flatten().for_each(|row| counts[row as usize] += 1);
        assert_eq!(counts, records);
    }

    #[test]
    fn sorted_buckets_repeat_rows() {
        let all: Vec<u32> = Sorted::new(vec![(2, 3), (0, BUCKET), (1, 1)]).flatten().collect();
        assert_eq!(all.len() as u64, BUCKET + 4);
        assert_eq!(&all[..4], [2, 2, 2, 0]);
        assert_eq!(all.last(), Some(&1));
    }
}
