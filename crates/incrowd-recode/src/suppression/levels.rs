//! D-suppression in closed form: computes its end state without removing single records.
//!
//! Paper: `xu2010`, Figure 2. While the stop condition does not hold, a record of the lowest ranked
//! of the most frequent values is suppressed. After x records, every value is cut to a level L, and
//! the lowest ranked of the values above L are cut to L − 1. So x determines the state. The two
//! stop conditions determine x: candidacy, once true, stays true; eligibility can become true only
//! at the start of a level.
//!
//! Differences from the paper: O(m) on sorted counts. The paper removes one record at a time.

use incrowd_core::eligibility::{candidacy, eligible};

/// A state of D-suppression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The number of records suppressed to reach this state.
    pub cuts: u64,
    /// The upper bound of all counts.
    pub level: u64,
    /// The number of values that have one record fewer than `level`: the lowest ranked of those
    /// whose count was at least `level`.
    pub inside: u64,
}

impl Stop {
    /// Returns the state after the level is completed: all values at `level` are cut to `level -
    /// 1`, where the `inside` lowest ranked are already. `counts` are the initial counts.
    #[must_use]
    pub fn completed(self, counts: &[u64]) -> Stop {
        if self.inside == 0 {
            return self;
        }
        let top = counts.iter().filter(|&&count| count >= self.level).count() as u64;
        Stop { cuts: self.cuts + top - self.inside, level: self.level - 1, inside: 0 }
    }
}

/// Returns the end state of Unsafe D-suppression: the first state in which the remaining records
/// are l-eligible and l-candidacy holds. `counts` must be in descending order and contain at least
/// l values. `records` is the size of the table before any suppression.
pub fn stop(counts: &[u64], records: u64, l: u64) -> Stop {
    let left: u64 = counts.iter().sum();
    let before = records - left;
    let place = usize::try_from(l).unwrap_or(usize::MAX).clamp(1, counts.len()) - 1;
    let lth = counts[place];
    let holds = |cuts: u64, level: u64, top: u64, inside: u64| {
        let lth = match top {
            _ if top < l => lth,
            _ if top - inside >= l => level,
            _ => level - 1,
        };
        eligible(level, left - cuts, l) && candidacy(lth, before + cuts, records, l)
    };
    // While the l-th value keeps its count, candidacy does not hold before this number of cuts.
    let need = (records / l + 1).saturating_sub(lth + before);
    let mut above = 0;
    for (i, &count) in counts.iter().enumerate() {
        above += count;
        let next = counts.get(i + 1).copied().unwrap_or(0);
        if count == next {
            continue;
        }
        // At all levels from `count` down to `next`, the same `top` values are at the top.
        let top = i as u64 + 1;
        let start = above - top * count;
        let end = above - top * next - 1;
        if end < need {
            continue;
        }
        let cuts = start.max(need);
        let (level, inside) = (count - (cuts - start) / top, (cuts - start) % top);
        if holds(cuts, level, top, inside) {
            return Stop { cuts, level, inside };
        }
        // The rest is not l-eligible. That can change only at the start of a lower level.
        let mut lower = match top {
            _ if top >= l => level - 1,
            _ => (level - 1).min((left - above) / (l - top)),
        };
        while lower > next {
            let cuts = above - top * lower;
            if holds(cuts, lower, top, 0) {
                return Stop { cuts, level: lower, inside: 0 };
            }
            lower -= 1;
        }
    }
    // Not reached with at least l values: both conditions hold at the level of the l-th value.
    Stop { cuts: left, level: 0, inside: 0 }
}

/// Returns the end state of Safe D-suppression: the start of the level of the l-th value.
pub fn safe_stop(counts: &[u64], l: u64) -> Stop {
    let place = usize::try_from(l).unwrap_or(usize::MAX).clamp(1, counts.len()) - 1;
    let level = counts[place];
    Stop { cuts: counts.iter().map(|count| count.saturating_sub(level)).sum(), level, inside: 0 }
}

/// Returns the remaining count of each value. `counts` must be in the order of the ranks.
pub fn cut(counts: &[u64], stop: Stop) -> Vec<u64> {
    let mut left: Vec<u64> = counts.iter().map(|&count| count.min(stop.level)).collect();
    let top = counts.iter().take_while(|&&count| count >= stop.level).count();
    let lowest = top - (stop.inside as usize).min(top);
    left[lowest..top].iter_mut().for_each(|count| *count -= 1);
    left
}
