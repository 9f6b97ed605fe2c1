//! Where D-suppression stops, found by bisection: the judge's own way, apart from the one that makes releases.
//!
//! Paper: `xu2010`. After x records every value is cut to a level, and x tells which. Three things are monotone: what it
//! costs to reach a level, whether a level is l-eligible where it starts, and whether candidacy holds after x records. So
//! each is found by halving.

use incrowd_core::eligibility::{candidacy, eligible};

/// Counts in descending order on their way down.
pub(super) struct Path<'a> {
    counts: &'a [u64],
    /// The sum of the first so many counts.
    sums: Vec<u64>,
    records: u64,
    l: u64,
}

/// Where it stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub(super) cuts: u64,
    pub(super) level: u64,
    /// How many of the values at the level lost one more.
    pub(super) inside: u64,
}

impl<'a> Path<'a> {
    /// `records` is the size of the table before anything was withheld.
    pub(super) fn new(counts: &'a [u64], records: u64, l: u64) -> Path<'a> {
        let mut sums = vec![0];
        counts.iter().for_each(|count| sums.push(sums[sums.len() - 1] + count));
        Path { counts, sums, records, l }
    }

    fn left(&self) -> u64 {
        self.sums[self.counts.len()]
    }

    /// How many records it takes to cut every value to a level.
    fn cost(&self, level: u64) -> u64 {
        let above = self.counts.partition_point(|&count| count > level);
        self.sums[above] - above as u64 * level
    }

    /// The level after so many records, and how many values at it have lost one more.
    fn after(&self, cuts: u64) -> (u64, u64) {
        // How many values have been reached: this is asked for every depth of every table, so the values are halved and not
        // the levels.
        let (mut low, mut high) = (1, self.counts.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let reached = self.sums[middle] - middle as u64 * self.counts[middle] <= cuts;
            if reached { low = middle + 1 } else { high = middle }
        }
        let top = low as u64;
        let level = self.sums[low].saturating_sub(cuts).div_ceil(top);
        (level, (cuts + top * level).saturating_sub(self.sums[low]))
    }

    fn candidacy(&self, cuts: u64) -> bool {
        let (level, inside) = self.after(cuts);
        let top = self.counts.partition_point(|&count| count >= level) as u64;
        let lth = match () {
            () if top - inside >= self.l => level,
            () if top >= self.l => level - 1,
            () => self.counts[self.l as usize - 1],
        };
        candidacy(lth, self.records - self.left() + cuts, self.records, self.l)
    }

    /// The first time that what is left is l-eligible and candidacy holds.
    pub(super) fn end(&self) -> End {
        let lth = self.counts[self.l as usize - 1];
        let candidate = least(0, self.cost(lth), |cuts| self.candidacy(cuts));
        // The highest level that is eligible where it starts: all below it are.
        let depth = least(0, self.counts[0], |depth| {
            let level = self.counts[0] - depth;
            eligible(level, self.left() - self.cost(level), self.l)
        });
        let highest = self.counts[0] - depth;
        let (level, inside) = self.after(candidate);
        if level > highest {
            return End { cuts: self.cost(highest), level: highest, inside: 0 };
        }
        if eligible(level, self.left() - candidate, self.l) {
            return End { cuts: candidate, level, inside };
        }
        End { cuts: self.cost(level - 1), level: level - 1, inside: 0 }
    }
}

impl End {
    /// The start of the next level, if it stops inside one.
    pub(super) fn completed(self, path: &Path<'_>) -> End {
        if self.inside == 0 {
            return self;
        }
        End { cuts: path.cost(self.level - 1), level: self.level - 1, inside: 0 }
    }
}

/// The least number from `low` to `high` for which a monotone condition holds; `high` if it holds for none.
pub(super) fn least(mut low: u64, mut high: u64, holds: impl Fn(u64) -> bool) -> u64 {
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All descending counts of up to five values: the level is the least that can be paid for.
    #[test]
    fn the_level_is_the_least_that_is_paid_for() {
        let mut compared = 0;
        for code in 0..7u64.pow(5) {
            let mut counts: Vec<u64> = (0..5).map(|i| code / 7u64.pow(i) % 7).filter(|&n| n > 0).collect();
            counts.sort_unstable_by(|a, b| b.cmp(a));
            if counts.is_empty() {
                continue;
            }
            let records = counts.iter().sum();
            let path = Path::new(&counts, records, 2);
            for cuts in 0..=records {
                let level = least(0, counts[0], |level| path.cost(level) <= cuts);
                assert_eq!(path.after(cuts), (level, cuts - path.cost(level)), "{counts:?} {cuts}");
                compared += 1;
            }
        }
        assert!(compared > 100_000, "{compared}");
    }
}
