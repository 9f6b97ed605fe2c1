//! In which order records are published, in bounded memory.
//!
//! A shuffle is uniform if every record draws a bucket at random and every bucket is shuffled by itself. Buckets are small
//! enough for the cache; and if there are more records than fit into memory at once, the table is walked several times,
//! each record drawing at random in which walk it is published.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

/// Numbers of the looks of one walk: a quarter of a gigabyte.
const WALK: u64 = 1 << 26;
/// Records of a bucket, about.
const BUCKET: u64 = 1 << 15;
/// Rows that are worth a thread of their own.
const STRETCH: usize = 1 << 14;

/// A fresh generator from the operating system's entropy. Nobody ever sees its seed.
pub(crate) fn generator() -> ChaCha20Rng {
    rand::make_rng()
}

/// What is published of a record, as numbers: always as many, so that a bucket is a flat list of them. Asked with the row and
/// the number of the record among those of the row, each once.
pub(crate) type Look<'a> = &'a (dyn Fn(usize, u64, &mut Vec<u32>) + Sync);

/// Buckets of looks, each row's as often as it has records. A bucket comes in parts, one of each thread, and is not shuffled yet.
/// Rows are walked in order, so that reading them costs nothing; only what is written jumps.
pub(crate) struct Shuffled<'a> {
    left: Vec<u64>,
    look: Look<'a>,
    width: usize,
    walks: u64,
    rng: ChaCha20Rng,
    /// The buckets that each thread filled.
    ready: Vec<std::vec::IntoIter<Vec<u32>>>,
}

impl<'a> Shuffled<'a> {
    /// `width` is how many numbers a look has.
    pub(crate) fn new(records: Vec<u64>, look: Look<'a>, width: usize, rng: ChaCha20Rng) -> Shuffled<'a> {
        let numbers = records.iter().sum::<u64>() * width as u64;
        Shuffled { left: records, look, width, walks: numbers.div_ceil(WALK), rng, ready: Vec::new() }
    }

    /// A generator for shuffling a bucket in another thread.
    pub(crate) fn fork(&mut self) -> ChaCha20Rng {
        ChaCha20Rng::from_rng(&mut self.rng)
    }

    /// The buckets of a walk. Each thread walks over rows of its own and draws with a generator of its own.
    fn walk(&mut self) -> Vec<Vec<Vec<u32>>> {
        let expected = self.left.iter().sum::<u64>() / self.walks;
        let buckets = expected.div_ceil(BUCKET).max(1) as usize;
        let length = self.left.len().div_ceil(rayon::current_num_threads()).max(STRETCH);
        let forks: Vec<ChaCha20Rng> =
            self.left.chunks(length).map(|_| ChaCha20Rng::from_rng(&mut self.rng)).collect();
        let (walks, look, width) = (self.walks, self.look, self.width);
        let stretches = self.left.par_chunks_mut(length).zip(forks).enumerate();
        let filled = stretches.map(|(nth, (left, mut rng))| {
            // Hardly any bucket gets more than the mean and six standard deviations.
            let mean = left.iter().sum::<u64>() as f64 / walks as f64 / buckets as f64;
            let room = ((mean + 6.0 * mean.sqrt()) as usize + 1) * width;
            let mut filled: Vec<Vec<u32>> = (0..buckets).map(|_| Vec::with_capacity(room)).collect();
            for (at, left) in left.iter_mut().enumerate() {
                for _ in 0..*left {
                    if walks > 1 && rng.random_range(0..walks) != 0 {
                        continue;
                    }
                    *left -= 1;
                    // The bias of this mapping is below buckets / 2^32.
                    let bucket = (u64::from(rng.next_u32()) * buckets as u64) >> 32;
                    look(nth * length + at, *left, &mut filled[bucket as usize]);
                }
            }
            filled
        });
        let filled = filled.collect();
        self.walks -= 1;
        filled
    }
}

impl Iterator for Shuffled<'_> {
    type Item = Vec<Vec<u32>>;

    fn next(&mut self) -> Option<Vec<Vec<u32>>> {
        loop {
            let parts: Vec<Vec<u32>> = self.ready.iter_mut().filter_map(Iterator::next).collect();
            if !parts.is_empty() {
                return Some(parts);
            }
            if self.walks == 0 {
                return None;
            }
            self.ready = self.walk().into_iter().map(Vec::into_iter).collect();
        }
    }
}

/// Shuffles looks of `width` numbers each.
pub(crate) fn shuffle(looks: &mut [u32], width: usize, rng: &mut ChaCha20Rng) {
    match width {
        1 => shuffle_whole(looks.as_chunks_mut::<1>().0, rng),
        2 => shuffle_whole(looks.as_chunks_mut::<2>().0, rng),
        _ => {
            for last in (1..looks.len() / width).rev() {
                let other = rng.random_range(0..=last as u32) as usize;
                for i in 0..width {
                    looks.swap(last * width + i, other * width + i);
                }
            }
        }
    }
}

fn shuffle_whole<const N: usize>(looks: &mut [[u32; N]], rng: &mut ChaCha20Rng) {
    for last in (1..looks.len()).rev() {
        looks.swap(last, rng.random_range(0..=last as u32) as usize);
    }
}

/// Buckets of looks in the given order of rows.
pub(crate) struct Sorted<'a> {
    rows: std::vec::IntoIter<(u32, u64)>,
    look: Look<'a>,
    pending: Option<(u32, u64)>,
}

impl<'a> Sorted<'a> {
    /// `rows` are row numbers with their records, in the order of publication.
    pub(crate) fn new(rows: Vec<(u32, u64)>, look: Look<'a>) -> Sorted<'a> {
        Sorted { rows: rows.into_iter(), look, pending: None }
    }
}

impl Iterator for Sorted<'_> {
    type Item = Vec<u32>;

    fn next(&mut self) -> Option<Vec<u32>> {
        let mut bucket = Vec::new();
        let mut room = BUCKET;
        while let Some((row, records)) = self.pending.take().or_else(|| self.rows.next()) {
            let now = records.min(room);
            (records - now..records).for_each(|nth| (self.look)(row as usize, nth, &mut bucket));
            room -= now;
            if records > now {
                self.pending = Some((row, records - now));
            }
            if room == 0 {
                break;
            }
        }
        (!bucket.is_empty()).then_some(bucket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn itself(row: usize, _: u64, out: &mut Vec<u32>) {
        out.push(row as u32);
    }

    /// Draws of three records; with 6,000 shuffles each of the six orders is expected 1,000 times with a standard
    /// deviation of 29. The test fails by chance less than once in 10^9 runs, and the seed is fixed anyway.
    #[test]
    fn every_order_is_equally_likely() {
        let mut seen = std::collections::BTreeMap::new();
        let mut rng = ChaCha20Rng::seed_from_u64(7);
        for _ in 0..6000 {
            let mut shuffled = Shuffled::new(vec![1, 1, 1], &itself, 1, ChaCha20Rng::from_rng(&mut rng));
            let mut fork = shuffled.fork();
            let mut order = Vec::new();
            for parts in shuffled {
                let mut bucket = parts.concat();
                shuffle(&mut bucket, 1, &mut fork);
                order.extend(bucket);
            }
            *seen.entry(order).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|n| (820..1180).contains(n)), "{seen:?}");
    }

    /// One and two numbers have ways of their own: all draw alike.
    #[test]
    fn looks_stay_whole_when_shuffled() {
        let orders = (1..5usize).map(|width| {
            let mut looks: Vec<u32> =
                (0..50).flat_map(|n| (0..width as u32).map(move |i| n + 100 * i)).collect();
            shuffle(&mut looks, width, &mut ChaCha20Rng::seed_from_u64(3));
            let whole = |look: &[u32]| (0u32..).zip(look).all(|(i, n)| *n == look[0] + 100 * i);
            assert!(looks.chunks(width).all(whole), "{width}");
            looks.chunks(width).map(|look| look[0]).collect::<Vec<u32>>()
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
        let mut shuffled = Shuffled::new(records.clone(), &itself, 1, ChaCha20Rng::seed_from_u64(1));
        shuffled.walks = 3;
        let mut counts = vec![0; 4];
        shuffled.flatten().flatten().for_each(|row| counts[row as usize] += 1);
        assert_eq!(counts, records);
    }

    #[test]
    fn threads_walk_over_rows_of_their_own() {
        let records: Vec<u64> = (0..5 * STRETCH as u64).map(|row| row % 3).collect();
        let shuffled = Shuffled::new(records.clone(), &itself, 1, ChaCha20Rng::seed_from_u64(2));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        let buckets: Vec<Vec<u32>> = pool.install(|| shuffled.map(|parts| parts.concat()).collect());
        let mut counts = vec![0; records.len()];
        buckets.iter().flatten().for_each(|&row| counts[row as usize] += 1);
        assert_eq!(counts, records);
        // The records of every stretch are spread over all buckets.
        let expected = records.iter().sum::<u64>() as usize / buckets.len() / 5;
        for bucket in &buckets {
            let mut from = [0usize; 5];
            bucket.iter().for_each(|&row| from[row as usize / STRETCH] += 1);
            assert!(from.iter().all(|n| n.abs_diff(expected) < expected / 5), "{from:?} {expected}");
        }
    }

    /// Whichever walk a record is published in, it is asked for once by its number.
    #[test]
    fn every_record_of_a_row_is_asked_for_once() {
        let records = vec![3, 0, 5, 1, 700];
        let look = |row: usize, nth: u64, out: &mut Vec<u32>| out.extend([row as u32, nth as u32]);
        let expected: Vec<(u32, u32)> =
            (0..5u32).flat_map(|row| (0..records[row as usize] as u32).map(move |nth| (row, nth))).collect();
        let mut shuffled = Shuffled::new(records.clone(), &look, 2, ChaCha20Rng::seed_from_u64(5));
        shuffled.walks = 3;
        let sorted: Vec<(u32, u64)> = (0..5).map(|row| (row, records[row as usize])).collect();
        for looks in [
            shuffled.flatten().flatten().collect::<Vec<u32>>(),
            Sorted::new(sorted, &look).flatten().collect(),
        ] {
            let mut pairs: Vec<(u32, u32)> = looks.chunks(2).map(|c| (c[0], c[1])).collect();
            pairs.sort_unstable();
            assert_eq!(pairs, expected);
        }
    }

    #[test]
    fn sorted_buckets_repeat_rows() {
        let all: Vec<u32> = Sorted::new(vec![(2, 3), (0, BUCKET), (1, 1)], &itself).flatten().collect();
        assert_eq!(all.len() as u64, BUCKET + 4);
        assert_eq!(&all[..4], [2, 2, 2, 0]);
        assert_eq!(all.last(), Some(&1));
    }
}
