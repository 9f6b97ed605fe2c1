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

/// Returns the cuts of `counts` (records by value, in order) that leave at least `least` records on
/// both sides.
fn candidates(
    counts: impl Iterator<Item = (u32, u64)>,
    total: u64,
    least: u64,
) -> impl Iterator<Item = Candidate> {
    let mut left = 0;
    counts.filter_map(move |(at, records)| {
        left += records;
        let fits = records > 0 && left >= least.max(1) && total - left >= least.max(1);
        fits.then_some(Candidate { at, left })
    })
}

/// Returns the best cut.
pub(super) fn balanced(
    counts: impl Iterator<Item = (u32, u64)>,
    total: u64,
    least: u64,
) -> Option<Candidate> {
    candidates(counts, total, least).min_by_key(|candidate| candidate.rank(total))
}

/// Returns all cuts, best first.
pub(super) fn all(
    counts: impl Iterator<Item = (u32, u64)>,
    total: u64,
    least: u64,
) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = candidates(counts, total, least).collect();
    candidates.sort_by_key(|candidate| candidate.rank(total));
    candidates
}
