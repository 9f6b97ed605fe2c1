//! The end of D-suppression, found by bisection. This code is independent of the code that creates
//! releases.
//!
//! Paper: `xu2010`. After x suppressed records, all larger counts are cut to one level, which x
//! determines. Three functions are monotone: the cost of reaching a level, whether a level is
//! l-eligible at its start, and whether candidacy holds after x records. Each threshold is found by
//! bisection.

use incrowd_core::eligibility::{candidacy, eligible};

/// Counts in descending order that D-suppression reduces.
pub(super) struct Path<'a> {
    counts: &'a [u64],
    /// Prefix sums of the counts.
    sums: Vec<u64>,
    records: u64,
    l: u64,
}

/// State at which D-suppression ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    /// Number of suppressed records.
    pub(super) cuts: u64,
    /// Maximum count.
    pub(super) level: u64,
    /// Number of values that lost one record below the level.
    pub(super) inside: u64,
}

impl<'a> Path<'a> {
    /// Creates a path. `records` is the size of the table before suppression.
    pub(super) fn new(counts: &'a [u64], records: u64, l: u64) -> Path<'a> {
        let mut sums = vec![0];
        counts.iter().for_each(|count| sums.push(sums[sums.len() - 1] + count));
        Path { counts, sums, records, l }
    }

    fn left(&self) -> u64 {
        self.sums[self.counts.len()]
    }

    /// Returns the number of records to suppress until no count exceeds a level.
    fn cost(&self, level: u64) -> u64 {
        let above = self.counts.partition_point(|&count| count > level);
        self.sums[above] - above as u64 * level
    }

    /// Returns the level after `cuts` suppressed records, and the number of values that lost one
    /// record below it.
    fn after(&self, cuts: u64) -> (u64, u64) {
        // Find the number of values that are cut. This runs for every depth of every table, so the
        // bisection is over the values, which are fewer than the levels.
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

    /// Returns the first state that is l-eligible and in which candidacy holds.
    pub(super) fn end(&self) -> End {
        let lth = self.counts[self.l as usize - 1];
        let candidate = least(0, self.cost(lth), |cuts| self.candidacy(cuts));
        // The highest level that is eligible at its start. All lower levels are eligible too.
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
    /// Returns the start of the next level if the end is inside a level.
    pub(super) fn completed(self, path: &Path<'_>) -> End {
        if self.inside == 0 {
            return self;
        }
        End { cuts: path.cost(self.level - 1), level: self.level - 1, inside: 0 }
    }
}

/// Returns the least number from `low` to `high` that satisfies a monotone condition, or `high` if
/// none does.
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

    /// All descending counts of up to five values.
    #[test]
    fn the_level_is_the_least_affordable_one() {
        let mut compared = 0;
        for code in 0..7u64.pow(5) {
            let mut counts: Vec<u64> =
                (0..5).map(|i| code / 7u64.pow(i) % 7).filter(|&n| n > 0).collect();
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
