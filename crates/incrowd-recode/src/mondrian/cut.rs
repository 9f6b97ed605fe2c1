//! The choice of a cut along one dimension: the most balanced one that leaves enough records on
//! both sides.

/// A position at which a part can be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The last value on the left.
    pub(super) at: u32,
    /// The number of records on the left.
    pub(super) left: u64,
}

impl Candidate {
    /// Returns a sort key: the difference of the halves' sizes, then the size of the left half.
    /// Less is better.
    pub(super) fn rank(self, total: u64) -> (u64, u64) {
        ((2 * self.left).abs_diff(total), self.left)
    }
}

/// Returns the best cut of `counts` (records by value, in order) that leaves at least `least`
/// records on both sides.
///
/// Only the values around the median are considered. On each side of the median, all other cuts are
/// less balanced and leave fewer records on the smaller side.
pub(super) fn balanced(
    counts: impl Iterator<Item = (u32, u64)>,
    total: u64,
    least: u64,
) -> Option<Candidate> {
    let mut left = 0;
    let mut best: Option<Candidate> = None;
    for (at, records) in counts {
        if records == 0 {
            continue;
        }
        left += records;
        let here = Candidate { at, left };
        let fits = left >= least && total - left >= least && left < total;
        if fits && best.is_none_or(|b| here.rank(total) < b.rank(total)) {
            best = Some(here);
        }
        if 2 * left >= total {
            break;
        }
    }
    best
}

/// Returns all cuts that leave at least `least` records on both sides, best first.
pub(super) fn all(
    counts: impl Iterator<Item = (u32, u64)>,
    total: u64,
    least: u64,
) -> Vec<Candidate> {
    let mut left = 0;
    let mut candidates = Vec::new();
    for (at, records) in counts {
        left += records;
        if records > 0 && left >= least.max(1) && total - left >= least.max(1) {
            candidates.push(Candidate { at, left });
        }
    }
    candidates.sort_by_key(|candidate| candidate.rank(total));
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_median_scan_finds_the_best_of_all_cuts(
            counts in prop::collection::vec(0u64..6, 1..12),
            least in 1u64..8,
        ) {
            let total = counts.iter().sum();
            let values = || counts.iter().enumerate().map(|(at, &n)| (at as u32, n));
            let best = all(values(), total, least).first().copied();
            prop_assert_eq!(balanced(values(), total, least), best);
        }
    }
}
