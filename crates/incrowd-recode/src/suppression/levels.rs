//! D-suppression in closed form: where it stops, without going there record by record.
//!
//! Paper: `xu2010`, Figure 2. While the stop condition does not hold, a record of the lowest ranked of the most frequent
//! values is withheld. After x records every value is cut to a level L, and some of those that were above it, the lowest
//! ranked, to L − 1. So the state follows from x, and x from the two conditions: candidacy, once true, stays true;
//! eligibility can become true only where a level starts.
//!
//! Where we differ: O(m) on sorted counts. The paper moves one record at a time.

use incrowd_core::eligibility::{candidacy, eligible};

/// A state of D-suppression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// How many records were withheld to come here.
    pub cuts: u64,
    /// No value is more frequent than this.
    pub level: u64,
    /// How many of the values that were at the level have lost one more record: the lowest ranked.
    pub inside: u64,
}

impl Stop {
    /// The state with the level completed: all values at the top go down to where some are already. `counts` are those
    /// D-suppression began with.
    #[must_use]
    pub fn completed(self, counts: &[u64]) -> Stop {
        if self.inside == 0 {
            return self;
        }
        let top = counts.iter().filter(|&&count| count >= self.level).count() as u64;
        Stop { cuts: self.cuts + top - self.inside, level: self.level - 1, inside: 0 }
    }
}

/// Where Unsafe D-suppression stops: the first time that what is left is l-eligible and l-candidacy holds. `counts` come in
/// descending order and have at least l values; `records` is the size of the table before anything was withheld.
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
    // Candidacy does not hold earlier as long as the l-th value is untouched.
    let need = (records / l + 1).saturating_sub(lth + before);
    let mut above = 0;
    for (i, &count) in counts.iter().enumerate() {
        above += count;
        let next = counts.get(i + 1).copied().unwrap_or(0);
        if count == next {
            continue;
        }
        // The levels from `count` down to `next` have the same values at the top.
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
        // What is left is not l-eligible: that changes where a lower level starts.
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
    // Where the level is that of the l-th value both conditions hold; this is the end of everything.
    Stop { cuts: left, level: 0, inside: 0 }
}

/// Where Safe D-suppression stops: at the start of the level of the l-th value.
pub fn safe_stop(counts: &[u64], l: u64) -> Stop {
    let place = usize::try_from(l).unwrap_or(usize::MAX).clamp(1, counts.len()) - 1;
    let level = counts[place];
    Stop { cuts: counts.iter().map(|count| count.saturating_sub(level)).sum(), level, inside: 0 }
}

/// What is left of each value. `counts` come in the order of their ranks.
pub fn cut(counts: &[u64], stop: Stop) -> Vec<u64> {
    let mut left: Vec<u64> = counts.iter().map(|&count| count.min(stop.level)).collect();
    let top = counts.iter().take_while(|&&count| count >= stop.level).count();
    let lowest = top - (stop.inside as usize).min(top);
    left[lowest..top].iter_mut().for_each(|count| *count -= 1);
    left
}
