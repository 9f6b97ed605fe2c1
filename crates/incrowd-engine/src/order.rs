//! The order of published records, in bounded memory.
//!
//! A shuffle is uniform if every record draws a bucket at random and every bucket is shuffled
//! independently. Buckets fit into the processor's cache. If there are more records than fit into
//! memory at once, the rows are walked several times. Each record draws at random the walk in which
//! it is published.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

/// The number of values in one walk: 256 MiB.
const WALK: u64 = 1 << 26;
/// The approximate number of records of a bucket.
pub(crate) const BUCKET: u64 = 1 << 15;
/// The minimum number of rows per thread.
const STRETCH: usize = 1 << 14;

/// A fresh generator from the operating system's entropy. Its seed is never stored.
pub(crate) fn generator() -> ChaCha20Rng {
    rand::make_rng()
}

/// Appends the numbers that describe a published record. Every record has equally many numbers, so
/// that a bucket is a flat list. Called once per record, with the row and the record's position in
/// the row.
pub(crate) type Describe<'a> = &'a (dyn Fn(usize, u64, &mut Vec<u32>) + Sync);

/// The records of a bucket. Each thread has filled one of the lists.
pub(crate) type Bucket = Vec<Vec<u32>>;

/// Distributes records to random buckets, which are not shuffled yet. Rows are read sequentially,
/// which is fast. Only writing to the buckets is random access.
pub(crate) struct Shuffled<'a> {
    /// For each row, the number of records that no walk has drawn yet.
    left: Vec<u64>,
    describe: Describe<'a>,
    width: usize,
    walks: u64,
    rng: ChaCha20Rng,
}

impl<'a> Shuffled<'a> {
    /// `width` is the number of numbers per record. There are at least `walks` walks.
    pub(crate) fn new(
        records: Vec<u64>,
        describe: Describe<'a>,
        width: usize,
        walks: u64,
        rng: ChaCha20Rng,
    ) -> Shuffled<'a> {
        let numbers = records.iter().sum::<u64>() * width as u64;
        let walks = if numbers == 0 { 0 } else { walks.max(numbers.div_ceil(WALK)) };
        Shuffled { left: records, describe, width, walks, rng }
    }

    /// A generator for shuffling a bucket in another thread.
    pub(crate) fn fork(&mut self) -> ChaCha20Rng {
        ChaCha20Rng::from_rng(&mut self.rng)
    }

    /// The buckets of the next walk. Each thread has its own rows and its own generator.
    pub(crate) fn next_walk(&mut self) -> Option<Vec<Bucket>> {
        if self.walks == 0 {
            return None;
        }
        let expected = self.left.iter().sum::<u64>() / self.walks;
        let buckets = expected.div_ceil(BUCKET).max(1) as usize;
        let length = self.left.len().div_ceil(rayon::current_num_threads()).max(STRETCH);
        let forks: Vec<ChaCha20Rng> =
            self.left.chunks(length).map(|_| ChaCha20Rng::from_rng(&mut self.rng)).collect();
        let (walks, describe, width) = (self.walks, self.describe, self.width);
        let stretches = self.left.par_chunks_mut(length).zip(forks).enumerate();
        let filled = stretches.map(|(nth, (left, mut rng))| {
            // Capacity for the mean plus six standard deviations, which hardly any bucket exceeds.
            let mean = left.iter().sum::<u64>() as f64 / walks as f64 / buckets as f64;
            let room = ((mean + 6.0 * mean.sqrt()) as usize + 1) * width;
            let mut filled: Vec<Vec<u32>> =
                (0..buckets).map(|_| Vec::with_capacity(room)).collect();
            for (at, left) in left.iter_mut().enumerate() {
                for _ in 0..*left {
                    // With `walks` walks left, a record is in this one with probability 1 /
                    // `walks`. So each record is in each walk with equal probability, and the last
                    // walk takes all that are left.
                    if walks > 1 && rng.random_range(0..walks) != 0 {
                        continue;
                    }
                    *left -= 1;
                    // Maps 32 random bits to a bucket without division. The bias is below buckets /
                    // 2^32.
                    let bucket = (u64::from(rng.next_u32()) * buckets as u64) >> 32;
                    describe(nth * length + at, *left, &mut filled[bucket as usize]);
                }
            }
            filled
        });
        let filled: Vec<Vec<Vec<u32>>> = filled.collect();
        self.walks -= 1;
        let mut by_thread: Vec<_> = filled.into_iter().map(Vec::into_iter).collect();
        let bucket = |_| by_thread.iter_mut().filter_map(Iterator::next).collect();
        Some((0..buckets).map(bucket).collect())
    }
}

/// Shuffles records of `width` numbers each.
pub(crate) fn shuffle(numbers: &mut [u32], width: usize, rng: &mut ChaCha20Rng) {
    match width {
        1 => shuffle_whole(numbers.as_chunks_mut::<1>().0, rng),
        2 => shuffle_whole(numbers.as_chunks_mut::<2>().0, rng),
        3 => shuffle_whole(numbers.as_chunks_mut::<3>().0, rng),
        _ => {
            for last in (1..numbers.len() / width).rev() {
                let other = rng.random_range(0..=last as u32) as usize;
                for i in 0..width {
                    numbers.swap(last * width + i, other * width + i);
                }
            }
        }
    }
}

fn shuffle_whole<const N: usize>(records: &mut [[u32; N]], rng: &mut ChaCha20Rng) {
    for last in (1..records.len()).rev() {
        records.swap(last, rng.random_range(0..=last as u32) as usize);
    }
}

/// Rows with their records in the order of publication, cut into stretches of records.
pub(crate) struct Sorted {
    rows: std::vec::IntoIter<(u32, u64)>,
    pending: Option<(u32, u64)>,
}

impl Sorted {
    /// `rows` are row indices with their numbers of records, in the order of publication.
    pub(crate) fn new(rows: Vec<(u32, u64)>) -> Sorted {
        Sorted { rows: rows.into_iter(), pending: None }
    }

    /// The next stretch of at most `most` records, as rows and positions in the rows. Rows for
    /// which `same` is true stay together, so the stretch may be longer.
    pub(crate) fn next_stretch(
        &mut self,
        most: u64,
        same: impl Fn(u32, u32) -> bool,
    ) -> Option<Vec<(u32, u64)>> {
        let mut stretch: Vec<(u32, u64)> = Vec::new();
        while let Some((row, records)) = self.pending.take().or_else(|| self.rows.next()) {
            let is_full = stretch.len() as u64 >= most;
            let together = stretch.last().is_some_and(|&(last, _)| same(last, row));
            if is_full && !together {
                self.pending = Some((row, records));
                break;
            }
            let now =
                if same(row, row) { records } else { records.min(most - stretch.len() as u64) };
            stretch.extend((records - now..records).map(|nth| (row, nth)));
            if records > now {
                self.pending = Some((row, records - now));
            }
        }
        (!stretch.is_empty()).then_some(stretch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of all buckets, one list per bucket.
    fn all(shuffled: &mut Shuffled<'_>) -> Vec<Vec<u32>> {
        let walks = std::iter::from_fn(|| shuffled.next_walk());
        walks.flatten().map(|bucket| bucket.concat()).collect()
    }

    fn itself(row: usize, _: u64, out: &mut Vec<u32>) {
        out.push(row as u32);
    }

    /// Shuffles three records. With 6,000 shuffles each of the six orders is expected 1,000 times
    /// with a standard deviation of 29. With a random seed the test would fail less than once in
    /// 10^9 runs. The seed is fixed.
    #[test]
    fn every_order_is_equally_likely() {
        let mut seen = std::collections::BTreeMap::new();
        let mut rng = ChaCha20Rng::seed_from_u64(7);
        for _ in 0..6000 {
            let mut shuffled =
                Shuffled::new(vec![1, 1, 1], &itself, 1, 1, ChaCha20Rng::from_rng(&mut rng));
            let mut fork = shuffled.fork();
            let mut order = Vec::new();
            for mut bucket in all(&mut shuffled) {
                shuffle(&mut bucket, 1, &mut fork);
                order.extend(bucket);
            }
            *seen.entry(order).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|n| (820..1180).contains(n)), "{seen:?}");
    }

    /// Small widths have specialized code. All widths must draw the same order.
    #[test]
    fn records_stay_whole_when_shuffled() {
        let orders = (1..5usize).map(|width| {
            let mut records: Vec<u32> =
                (0..50).flat_map(|n| (0..width as u32).map(move |i| n + 100 * i)).collect();
            shuffle(&mut records, width, &mut ChaCha20Rng::seed_from_u64(3));
            let whole =
                |record: &[u32]| (0u32..).zip(record).all(|(i, n)| *n == record[0] + 100 * i);
            assert!(records.chunks(width).all(whole), "{width}");
            records.chunks(width).map(|record| record[0]).collect::<Vec<u32>>()
        });
        let mut orders: Vec<Vec<u32>> = orders.collect();
        assert!(orders.windows(2).all(|pair| pair[0] == pair[1]));
        assert_ne!(orders[0][0], 0);
        orders[0].sort_unstable();
        assert_eq!(orders[0], (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn several_walks_publish_every_record_once() {
        let records = vec![3, 0, 5, 1];
        let mut shuffled =
            Shuffled::new(records.clone(), &itself, 1, 3, ChaCha20Rng::seed_from_u64(1));
        let mut counts = vec![0; 4];
        all(&mut shuffled).concat().into_iter().for_each(|row| counts[row as usize] += 1);
        assert_eq!(counts, records);
    }

    #[test]
    fn threads_walk_over_rows_of_their_own() {
        let records: Vec<u64> = (0..5 * STRETCH as u64).map(|row| row % 3).collect();
        let mut shuffled =
            Shuffled::new(records.clone(), &itself, 1, 1, ChaCha20Rng::seed_from_u64(2));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        let buckets: Vec<Vec<u32>> = pool.install(|| all(&mut shuffled));
        let mut counts = vec![0; records.len()];
        buckets.iter().flatten().for_each(|&row| counts[row as usize] += 1);
        assert_eq!(counts, records);
        // The records of every stretch are spread over all buckets.
        let expected = records.iter().sum::<u64>() as usize / buckets.len() / 5;
        for bucket in &buckets {
            let mut from = [0usize; 5];
            bucket.iter().for_each(|&row| from[row as usize / STRETCH] += 1);
            assert!(
                from.iter().all(|n| n.abs_diff(expected) < expected / 5),
                "{from:?} {expected}"
            );
        }
    }

    /// Each record is described once with its position, in whatever walk it is published.
    #[test]
    fn every_record_of_a_row_is_requested_once() {
        let records = vec![3, 0, 5, 1, 700];
        let record =
            |row: usize, nth: u64, out: &mut Vec<u32>| out.extend([row as u32, nth as u32]);
        let expected: Vec<(u32, u32)> = (0..5u32)
            .flat_map(|row| (0..records[row as usize] as u32).map(move |nth| (row, nth)))
            .collect();
        let mut shuffled =
            Shuffled::new(records.clone(), &record, 2, 3, ChaCha20Rng::seed_from_u64(5));
        let mut pairs: Vec<(u32, u32)> =
            all(&mut shuffled).concat().chunks(2).map(|c| (c[0], c[1])).collect();
        pairs.sort_unstable();
        assert_eq!(pairs, expected);
        let rows: Vec<(u32, u64)> = (0..5).map(|row| (row, records[row as usize])).collect();
        for (most, together) in [(1, false), (4, false), (4, true), (10_000, true)] {
            let mut sorted = Sorted::new(rows.clone());
            let same = |a: u32, b: u32| together && a / 2 == b / 2;
            let stretches: Vec<Vec<(u32, u64)>> =
                std::iter::from_fn(|| sorted.next_stretch(most, same)).collect();
            let whole =
                stretches.windows(2).all(|pair| !same(pair[0].last().unwrap().0, pair[1][0].0));
            assert!(whole, "rows that belong together are in one stretch");
            assert!(together || stretches.iter().all(|stretch| stretch.len() as u64 <= most));
            let mut pairs: Vec<(u32, u32)> =
                stretches.concat().into_iter().map(|(row, nth)| (row, nth as u32)).collect();
            assert!(pairs.is_sorted_by_key(|(row, _)| *row));
            pairs.sort_unstable();
            assert_eq!(pairs, expected);
        }
    }
}
