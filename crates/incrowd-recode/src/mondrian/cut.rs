//! Where to divide a part along one line: the most balanced cut that leaves both sides admissible.

/// A place on a line where a part can be cut, with the records on its left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Position of the last value on the left.
    pub(super) at: u32,
    /// Records on the left.
    pub(super) left: u64,
}

impl Candidate {
    /// How far the halves are from equal, then how small the left one is: less is better.
    pub(super) fn rank(self, total: u64) -> (u64, u64) {
        ((2 * self.left).abs_diff(total), self.left)
    }
}

/// The best cut of `counts` (records by value, in order) that leaves at least `least` records on both sides.
///
/// Only the values around the median need a look: any other cut is farther from the middle on the same side, so less
/// balanced and no more admissible.
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

/// All cuts that leave at least `least` records on both sides, best first.
pub(super) fn all(counts: impl Iterator<Item = (u32, u64)>, total: u64, least: u64) -> Vec<Candidate> {
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
            counts in prop::collection::vec(0u64..6, 1..12), least in 1u64..8,
        ) {
            let total = counts.iter().sum();
            let places = || counts.iter().enumerate().map(|(at, &n)| (at as u32, n));
            prop_assert_eq!(balanced(places(), total, least), all(places(), total, least).first().copied());
        }
    }
}
